/* Opens a trace for writing: the dialect, the forms of all classes, and an identity. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/grow.h"
#include "format/ctf/plan/ctf_fields.h"
#include "format/ctf/write/ctf_write.h"

static const struct {
    const char *version;
    ctf_dialect dialect;
} versions[] = {{"2", CTF_2}, {"2.0", CTF_2}, {"1.8", CTF_1_8}, {"1.1", CTF_2010}};

static bool find_version(const char *version, ctf_dialect *out)
{
    for (size_t i = 0; version && i < TL_COUNT(versions); i++)
        if (strcmp(version, versions[i].version) == 0) {
            *out = versions[i].dialect;
            return true;
        }
    return false;
}

static int choose_dialect(ctf_writer *w, tl_error *e)
{
    const char *wanted = w->context.options->version;
    const tl_trace *t = w->context.trace;
    w->dialect = CTF_2;
    if (wanted && !find_version(wanted, &w->dialect))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "ctf: there is no version %s, only 2, 1.8 and 1.1", wanted);
    w->from_ctf = t->format && strcmp(t->format, "ctf") == 0;
    if (!wanted && w->from_ctf)
        find_version(t->version, &w->dialect);
    return 0;
}

/* LTTng's function tracing is known by its names. */
static bool is_function_tracing(const tl_class *c)
{
    const char *colon = strrchr(c->name, ':');
    return colon && (strcmp(colon, ":func_entry") == 0 || strcmp(colon, ":func_exit") == 0);
}

/* Later ones are only for analyses: fields have the same information. */
static tl_key written_key(const tl_class *c)
{
    return c->key <= TL_KEY_STACK ? c->key : TL_KEY_NONE;
}

/* The kind and key of a class for our reader; NULL if it knows them anyway. */
static const char *make_uri(ctf_forms *f, const tl_class *c)
{
    static const char *const kind[] = {
        [TL_ENTER] = "enter",   [TL_EXIT] = "exit", [TL_INSTANT] = "instant", [TL_COUNTER] = "counter",
        [TL_SAMPLE] = "sample", [TL_INSN] = "insn", [TL_MEM] = "mem",         [TL_REGS] = "regs",
        [TL_STATE] = "state",   [TL_LOSS] = "loss", [TL_FORMAT] = "format",   [TL_BEGIN] = "begin",
        [TL_END] = "end"};
    static const char *const key[] = {[TL_KEY_NONE] = "",
                                      [TL_KEY_FUNCTION] = ":function",
                                      [TL_KEY_PC] = ":pc",
                                      [TL_KEY_ADDRESS] = ":address",
                                      [TL_KEY_STACK] = ":stack"};
    if ((c->kind == TL_INSTANT && written_key(c) == TL_KEY_NONE) || is_function_tracing(c))
        return NULL;
    char text[64];
    const int n = snprintf(text, sizeof text, "traceloom:%s%s", kind[c->kind], key[written_key(c)]);
    return tl_arena_strndup(&f->arena, text, (size_t)n);
}

static bool lower_class(ctf_writer *w, const tl_class *c, ctf_written_class *out)
{
    *out = (ctf_written_class){.cls = c};
    out->shows_payload = c->scopes >> TL_SCOPE_PAYLOAD & 1;
    if (c->kind == TL_FORMAT) {
        out->is_packet = strcmp(c->name, ctf_packet_class.name) == 0 && c->nfield == CTF_PACKET_FIELDS;
        w->packets = w->packets || out->is_packet;
        return true;
    }
    out->shape = ctf_forms_shape(&w->forms, c);
    if (out->shape == UINT32_MAX)
        return false;
    ctf_shape *s = &w->forms.shape[out->shape];
    out->id = s->nclass++;
    out->keeps = true;
    out->calls = c->key == TL_KEY_FUNCTION;
    out->uri = make_uri(&w->forms, c);
    const bool has_key =
        written_key(c) != TL_KEY_NONE && !(c->flags & TL_CLASS_KEY_IS_FIELD) && !is_function_tracing(c);
    if (!ctf_forms_class(&w->forms, s, c, has_key, &out->context, &out->payload))
        return false;
    const bool is_empty = c->ncontext <= s->nfield; /* else its fields show it, or are in the payload */
    out->shows_context = (c->scopes >> TL_SCOPE_EVENT & 1) && is_empty;
    return true;
}

/* 1.8: readers reject a trace in which only some streams have a clock. */
static bool some_have_time(const tl_trace *t)
{
    for (uint32_t i = 0; i < t->ncls; i++)
        if (t->cls[i].kind != TL_FORMAT && !(t->cls[i].flags & TL_CLASS_TIMELESS))
            return true;
    return false;
}

static bool lower_classes(ctf_writer *w)
{
    const tl_trace *t = w->context.trace;
    w->forms.timed = w->dialect == CTF_1_8 && some_have_time(t);
    w->ncls = t->ncls + CTF_TABLE_CLASSES;
    w->cls = calloc(w->ncls, sizeof *w->cls);
    if (!w->cls)
        return false;
    for (uint32_t i = 0; i < t->ncls; i++)
        if (!lower_class(w, &t->cls[i], &w->cls[i]))
            return false;
    /* With one section it has the classes of the table, otherwise a separate stream class, in a shape that no other
     * class has. */
    w->one_section = w->dialect == CTF_2010 && !w->from_ctf &&
                     (w->forms.nshape == 0 || (w->forms.nshape == 1 && w->forms.shape[0].nfield == 0));
    tl_hash shapes = w->forms.shapes;
    if (!w->one_section)
        w->forms.shapes = (tl_hash){0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < CTF_TABLE_CLASSES; i++) {
        tl_class *c = &w->table_class[i];
        *c = ctf_table_class[i];
        if (w->dialect == CTF_1_8 && !w->forms.timed && t->ncls > 0)
            c->flags |= TL_CLASS_TIMELESS;
        ok = lower_class(w, c, &w->cls[t->ncls + i]);
        w->cls[t->ncls + i].keeps = false;
    }
    if (!w->one_section) {
        tl_hash_fini(&w->forms.shapes);
        w->forms.shapes = shapes;
    }
    w->put.place = calloc(w->forms.places + 1, sizeof *w->put.place);
    return ok && w->put.place;
}

/* Identifies the trace by its content, so that the same trace gives the same bytes. */
static void make_uuid(ctf_writer *w)
{
    const tl_trace *t = w->context.trace;
    const char *const texts[] = {t->format, t->version, t->clock.name, t->build_id};
    const uint64_t numbers[] = {t->lost_events, t->lost_packets, t->clock.hz, (uint64_t)t->clock.utc_offset_ns,
                                t->begin,       t->end,          t->ncls};
    tl_hasher h = tl_hasher_stable();
    tl_hasher_add(&h, w->dialect);
    for (size_t i = 0; i < TL_COUNT(texts); i++)
        tl_hasher_text(&h, texts[i]);
    for (size_t i = 0; i < TL_COUNT(numbers); i++)
        tl_hasher_add(&h, numbers[i]);
    for (uint32_t i = 0; i < t->ncls; i++) {
        tl_hasher_text(&h, t->cls[i].name);
        for (uint32_t k = 0; k < t->cls[i].nfield; k++)
            ctf_hash_field(&h, &t->cls[i].field[k]);
    }
    for (uint32_t i = 0; i < t->ntrack; i++)
        tl_hasher_text(&h, t->track[i].name);
    tl_store64(w->uuid, tl_hasher_end(h), true);
    tl_hasher_add(&h, 0);
    tl_store64(w->uuid + 8, tl_hasher_end(h), true);
    w->uuid[6] = (uint8_t)((w->uuid[6] & 0x0f) | 0x80); /* version 8: custom */
    w->uuid[8] = (uint8_t)((w->uuid[8] & 0x3f) | 0x80);
}

/* 1.8: babeltrace2 2.0.4 keeps times in ns since the origin as int64_t, and converts ticks through double. */
static void bound_times(ctf_writer *w)
{
    const uint64_t margin = UINT64_C(1) << 30, all = (uint64_t)INT64_MAX - margin;
    const tl_trace *t = w->context.trace;
    const int64_t offset = t->clock.has_utc ? t->clock.utc_offset_ns : 0;
    const uint64_t ahead = offset > 0 ? (uint64_t)offset : 0, begin = w->context.options->begin;
    w->latest = ahead < all ? tl_scale_ticks(&t->scale, all - ahead) : 0;
    if ((t->has_range ? t->end : begin) <= w->latest)
        return;
    w->base = begin;
    w->latest = tl_scale_ticks(&t->scale, all);
}

uint64_t ctf_write_time(const ctf_writer *w, uint64_t ts)
{
    if (w->dialect == CTF_1_8) {
        ts = ts > w->base ? ts - w->base : 0;
        return ts < w->latest ? ts : w->latest;
    }
    if (!w->scales)
        return ts;
    const uint64_t begin = w->context.options->begin;
    return ts < begin ? 0 : tl_scale_ns(&w->context.trace->scale, ts - begin);
}

bool ctf_write_tracks(ctf_writer *w, uint32_t n)
{
    if (!TL_RESIZE(w->track, n))
        return false;
    for (; w->ntrack < n; w->ntrack++)
        w->track[w->ntrack] = (ctf_written_track){.first = UINT32_MAX, .last = UINT32_MAX};
    return true;
}

int ctf_write_open(ctf_writer *w, tl_error *e)
{
    const tl_trace *t = w->context.trace;
    w->newest = w->oldest = w->table = UINT32_MAX;
    int r = choose_dialect(w, e);
    if (r == 0)
        r = ctf_seal_open(w, e);
    if (r < 0)
        return r;
    w->forms.dialect = w->dialect;
    if (w->dialect == CTF_1_8)
        bound_times(w);
    w->scales = w->dialect == CTF_2010 && t->clock.hz != 0 && t->clock.hz != 1000000000;
    if (!ctf_write_tracks(w, t->ntrack) || !lower_classes(w))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "ctf: no memory for the classes of events");
    for (size_t i = 0; i < TL_COUNT(w->recent); i++)
        w->recent[i] = i + 1; /* a key that belongs elsewhere */
    make_uuid(w);
    return 0;
}

bool ctf_class_listed(const ctf_writer *w, const ctf_written_stream_class *sc, const ctf_written_class *c)
{
    if (!c->payload || c->shape != sc->shape)
        return false;
    if (sc->used[c->id / 64] >> (c->id % 64) & 1)
        return true;
    if (!sc->first || c >= w->cls + w->context.trace->ncls)
        return false;
    for (uint32_t i = 0; i < w->nsc; i++)
        if (w->sc[i].shape == c->shape && w->sc[i].used[c->id / 64] >> (c->id % 64) & 1)
            return false;
    return true;
}

int64_t ctf_origin_ns(const tl_clock *c, const tl_origin *origin)
{
    return c->has_utc ? c->utc_offset_ns : origin && origin->known ? origin->ns : 0;
}

void ctf_clock_offset(const tl_clock *c, const tl_origin *origin, int64_t *seconds, uint64_t *cycles)
{
    enum { NS = 1000000000 };
    const uint64_t hz = CTF_WRITE_HZ(c);
    const bool knows = origin && origin->known;
    const int64_t offset = ctf_origin_ns(c, origin);
    int64_t s = offset / NS, ns = offset % NS;
    if (ns < 0) {
        ns += NS;
        s--;
    }
    *seconds = s;
    /* (ns * hz + rest) / 10^9, or the nearest for an unknown rest, without 128 bits */
    const uint64_t n = (uint64_t)ns, rest = knows ? origin->rest : c->has_utc ? NS / 2 : 0;
    *cycles = n * (hz / NS) + rest / NS + (n * (hz % NS) + rest % NS) / NS;
    if (*cycles >= hz)
        *cycles = hz - 1;
}
