/* Turns the facts of a trace into rows. */
#include "analysis/trace/catalog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "model/trace_impl.h"
#include "op/loss_text.h"
#include "op/source_impl.h"

#define NS_PER_S 1000000000

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a list of what is in a trace");
}

/* A copy; *ok becomes false when memory runs out. */
static const char *keep(tl_catalog *c, const char *text, bool *ok)
{
    const char *copy = text ? tl_strings_get(&c->strings, text, strlen(text)) : NULL;
    *ok = *ok && (copy || !text);
    return copy;
}

/* The time of day of a tick, UTC, with the decimals of its clock: 3 if it counts ms, else 9. */
static const char *utc_text(tl_catalog *c, const tl_trace *t, uint64_t ticks, bool *ok)
{
    const tl_clock *clock = tl_trace_clock(t);
    const int64_t ns = (int64_t)(tl_trace_time(t, ticks) + (uint64_t)clock->utc_offset_ns);
    const bool is_ms = clock->hz == 1000 && clock->utc_offset_ns % 1000000 == 0;
    const int64_t rest = (ns % NS_PER_S + NS_PER_S) % NS_PER_S, second = (ns - rest) / NS_PER_S;
    const time_t when = (time_t)second;
    struct tm tm;
    char text[64];
    size_t n = 0;
    if (!clock->has_utc || !clock->hz)
        return NULL;
    if ((int64_t)when == second && gmtime_r(&when, &tm))
        n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof text - n, ".%0*" PRId64 "Z", is_ms ? 3 : 9, is_ms ? rest / 1000000 : rest);
    return keep(c, text, ok);
}

static bool add_classes(tl_catalog *c, const tl_trace *t, const tl_count *count, bool counted)
{
    tl_hash known = {0}; /* name and kind -> index */
    bool ok = TL_GROW(c->cls, c->ncls, tl_trace_classes(t) + 1, c->cls_room);
    for (uint32_t i = 0; ok && i < tl_trace_classes(t); i++) {
        const tl_class *cls = tl_trace_class(t, i);
        if (cls->kind == TL_FORMAT || (counted && count->by_class[i] == 0))
            continue;
        const char *name = keep(c, cls->name, &ok); /* equal names, equal pointers */
        const uint64_t key = (uint64_t)(uintptr_t)name * 16 + (uint64_t)cls->kind;
        uint32_t at = tl_hash_get(&known, key);
        if (at == TL_HASH_NONE) {
            at = c->ncls++;
            c->cls[at] = (tl_class_row){.trace = c->number, .name = name, .kind = tl_kind_name(cls->kind)};
            ok = ok && tl_hash_put(&known, key, at);
        }
        c->cls[at].events += count->by_class[i];
        c->cls[at].share = count->events ? (double)c->cls[at].events / (double)count->events : 0;
    }
    tl_hash_fini(&known);
    return ok;
}

/* Those that have events, or a time that they cover. */
static bool add_tracks(tl_catalog *c, const tl_trace *t, const tl_count *count, bool counted, uint64_t zero)
{
    bool ok = TL_GROW(c->track, c->ntrack, tl_trace_tracks(t) + 1, c->track_room);
    for (uint32_t i = 0; ok && i < tl_trace_tracks(t); i++) {
        const tl_track *track = tl_trace_track(t, i);
        const uint64_t events = count->by_track[i];
        if (!counted || events || track->has_range)
            c->track[c->ntrack++] = (tl_track_row){.trace = c->number,
                                                   .id = i,
                                                   .name = keep(c, track->name, &ok),
                                                   .has_pid = track->has_pid,
                                                   .has_tid = track->has_tid,
                                                   .is_cpu = track->is_cpu,
                                                   .has_times = events || track->has_range,
                                                   .pid = track->pid,
                                                   .tid = track->tid,
                                                   .events = events,
                                                   .ts = tl_trace_time(t, count->begin[i] - zero),
                                                   .end_ts = tl_trace_time(t, count->end[i] - zero),
                                                   .share = count->events ? (double)events / (double)count->events : 0};
    }
    return ok;
}

static bool add_place(tl_catalog *c, const tl_damage *d, const char *kind)
{
    bool ok = TL_GROW(c->damage, c->ndamage, 1, c->damage_room);
    if (ok)
        c->damage[c->ndamage++] = (tl_damage_row){.trace = c->number,
                                                  .has_offset = d->offset != TL_NO_OFFSET,
                                                  .is_fault = d->kind & TL_DAMAGE_FAULT,
                                                  .offset = d->offset,
                                                  .bytes = d->bytes,
                                                  .at = d->at,
                                                  .what = keep(c, d->what, &ok),
                                                  .file = keep(c, d->file, &ok),
                                                  .kind = kind,
                                                  .rule = d->rule};
    return ok;
}

static bool add_places(tl_catalog *c, const tl_trace *t)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < tl_trace_damages(t); i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        ok = add_place(c, d, d->kind & TL_DAMAGE_LOSS ? "loss" : "fault");
    }
    for (uint32_t i = 0; ok && i < tl_trace_notes(t); i++)
        ok = add_place(c, tl_trace_note(t, i), "note");
    return ok;
}

static bool add_property(tl_catalog *c, const char *of, const char *name, const tl_cell *value, bool of_header)
{
    char path[128];
    bool ok = TL_GROW(c->property, c->nproperty, 1, c->property_room);
    snprintf(path, sizeof path, "%s.%s", of ? of : "", name);
    if (ok)
        c->property[c->nproperty++] = (tl_property_row){
            .trace = c->number, .name = keep(c, of ? path : name, &ok), .value = *value, .of_header = of_header};
    return ok;
}

/* Of several properties of one name the first. */
static bool add_properties(tl_catalog *c, const tl_trace *t)
{
    tl_hash seen = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < tl_trace_properties(t); i++) {
        const tl_property *p = tl_trace_property(t, i);
        const uint64_t key = (uint64_t)(uintptr_t)p->name; /* interned: equal names, equal pointers */
        tl_cell value = {.kind = TL_CELL_INT, .i64 = p->number};
        if (tl_hash_get(&seen, key) != TL_HASH_NONE)
            continue;
        if (p->text)
            tl_cell_text(&value, keep(c, p->text, &ok));
        ok = ok && tl_hash_put(&seen, key, 1) && add_property(c, NULL, p->name, &value, false);
    }
    tl_hash_fini(&seen);
    return ok;
}

/* Numbers, texts, and what is not known; a header has nothing else but structs of these. */
static bool add_field(tl_catalog *c, const char *of, const char *name, const tl_value *v)
{
    tl_cell value = {.kind = TL_CELL_NULL};
    char hex[24];
    bool ok = true;
    snprintf(hex, sizeof hex, "0x%" PRIx64, v->as.u);
    if (v->type == TL_U64)
        tl_cell_u64(&value, v->as.u);
    else if (v->type == TL_I64)
        tl_cell_i64(&value, v->as.i);
    else if (v->type == TL_HEX)
        tl_cell_text(&value, keep(c, hex, &ok));
    else if (v->type == TL_STRING)
        tl_cell_text(&value, tl_strings_get_text(&c->strings, v->as.p, v->n));
    return ok && (v->type != TL_STRING || value.kind) && add_property(c, of, name, &value, true);
}

static bool add_header(tl_catalog *c, const tl_trace *t)
{
    const tl_field *field;
    uint32_t n;
    const tl_value *v = tl_trace_header(t, &field, &n);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++, v++) {
        if (v->type != TL_STRUCT) {
            ok = add_field(c, NULL, field[i].name, v);
            continue;
        }
        for (uint32_t k = 0, members = v->n; ok && k < members; k++)
            ok = add_field(c, field[i].name, field[i].member[k].name, ++v);
    }
    return ok;
}

static bool add_patched(tl_catalog *c, const tl_trace *t)
{
    uint32_t n;
    const tl_patched *list = tl_trace_patched(t, &n);
    bool ok = TL_GROW(c->patched, c->npatched, n, c->patched_room);
    for (uint32_t i = 0; ok && i < n; i++) {
        tl_patched_row *r = &c->patched[c->npatched++];
        *r = (tl_patched_row){.trace = c->number, .counts = list[i]};
        r->counts.path = keep(c, list[i].path, &ok);
        r->counts.why = keep(c, list[i].why, &ok);
        r->object = r->counts.path ? tl_base_name(r->counts.path) : NULL;
        r->left_out = list[i].functions > list[i].patched ? list[i].functions - list[i].patched : 0;
    }
    return ok;
}

/* What the reader of a profile counted. */
static void take_profile(tl_trace_row *r, const tl_trace *t)
{
    r->has_hz = t->clock.hz != 0;
    r->threads = t->profile_threads;
    r->trees = t->profile_trees;
    r->has_trees = t->profile_trees && t->profile_trees < t->profile_threads;
    r->paths = t->profile_paths;
    r->calls = t->profile_calls;
    r->self = tl_trace_time(t, t->profile_self);
    r->self_ticks = t->profile_self;
    r->clamped = t->profile_clamped;
    r->is_sampled = t->profile_sampled;
    r->is_inclusive = t->profile_inclusive;
}

static void take_losses(tl_trace_row *r, const tl_trace *t)
{
    r->lost_events = tl_trace_lost_events(t);
    r->lost_packets = tl_trace_lost_packets(t);
    r->out_of_order = tl_trace_out_of_order(t);
    r->damage = tl_damages_of(t, TL_DAMAGE_LOSS);
    r->faults = tl_harmless_faults(t);
    r->notes = tl_trace_notes(t);
}

static bool add_trace(tl_catalog *c, const tl_trace *t, const tl_count *count, bool counted)
{
    const tl_clock *clock = tl_trace_clock(t);
    const uint64_t zero = clock->from_zero || !count ? 0 : count->first;
    bool ok = TL_GROW(c->trace, c->ntrace, 1, c->trace_room);
    if (!ok)
        return false;
    tl_trace_row *r = &c->trace[c->ntrace++];
    *r = (tl_trace_row){.trace = c->number,
                        .path = keep(c, tl_trace_path(t), &ok),
                        .format = tl_trace_format(t),
                        .version = keep(c, tl_trace_version(t), &ok),
                        .byte_order = tl_trace_byte_order(t),
                        .unit = tl_trace_unit(t),
                        .clock = keep(c, clock->name, &ok),
                        .build_id = keep(c, tl_trace_build_id(t), &ok),
                        .exe = keep(c, tl_trace_exe(t), &ok),
                        .bytes = tl_trace_bytes(t),
                        .hz = clock->hz,
                        .has_hz = true,
                        .is_profile = !count,
                        .counts_insns = tl_trace_counts_insns(t),
                        .is_counted = counted,
                        .events = count ? count->events : 0};
    r->name = ok ? tl_base_name(r->path) : NULL;
    take_losses(r, t);
    if (!count) {
        take_profile(r, t);
        return ok;
    }
    r->has_times = true;
    r->ts = tl_trace_time(t, count->first - zero);
    r->end_ts = tl_trace_time(t, count->last - zero);
    r->dur = tl_trace_time(t, count->last - count->first + (r->counts_insns && count->events));
    r->utc = utc_text(c, t, zero, &ok);
    r->first_utc = utc_text(c, t, count->first, &ok);
    r->has_cpus = tl_trace_tracks(t) > 0;
    r->has_threads = !r->has_cpus;
    for (uint32_t i = 0; i < tl_trace_tracks(t); i++) {
        r->has_cpus = r->has_cpus && tl_trace_track(t, i)->is_cpu;
        r->has_threads = r->has_threads || tl_trace_track(t, i)->has_tid;
    }
    return ok && add_classes(c, t, count, counted) && add_tracks(c, t, count, counted, zero);
}

int tl_catalog_add_damage(tl_catalog *c, const tl_trace *t, tl_error *e)
{
    c->number++;
    return add_places(c, t) ? 0 : no_memory(e);
}

int tl_catalog_take(tl_catalog *c, const tl_trace *t, const tl_count *count, bool counted, tl_error *e)
{
    c->number++;
    if (add_trace(c, t, count, counted) && add_places(c, t) && add_properties(c, t) && add_header(c, t) &&
        add_patched(c, t))
        return 0;
    return no_memory(e);
}

int tl_catalog_add(tl_catalog *c, tl_source *s, bool counted, unsigned threads, tl_error *e)
{
    const tl_trace *t = tl_source_trace(s);
    tl_count count = {0};
    if (tl_source_is_profile(s))
        return tl_catalog_take(c, t, NULL, true, e);
    int status = counted ? tl_source_count(s, threads, &count, e) : tl_count_known(t, &count, e);
    if (status == 0)
        status = tl_catalog_take(c, t, &count, counted, e);
    tl_count_free(&count);
    return status;
}

void tl_catalog_fini(void *catalog)
{
    tl_catalog *c = catalog;
    free(c->trace);
    free(c->cls);
    free(c->track);
    free(c->damage);
    free(c->property);
    free(c->patched);
    tl_strings_fini(&c->strings);
}
