/* Writing CTF: which stream an event goes to, and writing at the end.
 *
 * A stream is a file. Events of a track go to one stream, or to several if they cannot share a stream class: if their
 * contexts differ, or only some have a processor. The names of functions are a separate stream, so that events need
 * only ids; our reader treats it as a table. The metadata is written last, when all stream classes are known. */
#include "format/ctf/write/ctf_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/grow.h"
#include "format/ctf/plan/ctf_fields.h"
#include "format/ctf/write/ctf_write_packet.h"

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "ctf: no memory to write events");
}

int ctf_create(void *writer, const tl_write_context *context, tl_error *e)
{
    ctf_writer *w = writer;
    w->context = *context;
    return ctf_write_open(w, e);
}

tl_accept ctf_accept(void *writer, const tl_class *c)
{
    const ctf_writer *w = writer;
    const ctf_written_class *own = &w->cls[c->id];
    return own->keeps || own->is_packet ? TL_ACCEPT_KEEP : TL_ACCEPT_IGNORE;
}

/* --- events --- */

/* Remembers that a function occurred. */
static bool note_call(ctf_writer *w, uint64_t key)
{
    uint64_t *recent = &w->recent[key % TL_COUNT(w->recent)];
    if (TL_LIKELY(*recent == key) || tl_hash_get(&w->called, key) != TL_HASH_NONE) {
        *recent = key;
        return true;
    }
    if (!TL_GROW(w->call, w->ncall, 1, w->call_capacity) || !tl_hash_put(&w->called, key, w->ncall))
        return false;
    w->call[w->ncall++] = (int64_t)key;
    *recent = key;
    return true;
}

/* The header of an event. */
static void put_header(ctf_writer *w, ctf_stream *s, const ctf_written_stream_class *sc, uint32_t id, uint64_t ts)
{
    uint8_t *p = s->room.data + s->room.n;
    const uint64_t step = ts - s->clock;
    if (sc->timeless) {
        tl_store32(p, id, false);
        s->room.n += 4;
        return;
    }
    const bool is_2010 = w->dialect == CTF_2010;
    if (sc->large) {
        const bool extended = id >= 65535 || step >> 32;
        if (is_2010)
            tl_store32(p, (uint32_t)ts, false);
        tl_store16(p + (is_2010 ? 4 : 0), (uint16_t)(extended ? 65535 : id), false);
        if (extended) {
            tl_store32(p + (is_2010 ? 14 : 2), id, false);
            tl_store64(p + 6, ts, false);
        } else if (!is_2010) {
            tl_store32(p + 2, (uint32_t)ts, false);
        }
        s->room.n += !extended ? 6 : is_2010 ? 18 : 14;
    } else {
        const bool extended = id >= 31 || step >> 27;
        const uint32_t word = (uint32_t)(ts << 5) | (extended ? 31 : id);
        if (!extended || is_2010)
            tl_store32(p, word, false);
        else
            *p = 31;
        if (extended) {
            p += is_2010 ? 4 : 1;
            tl_store32(p, id, false);
            tl_store64(p + 4, ts, false);
        }
        s->room.n += !extended ? 4 : is_2010 ? 16 : 13;
    }
}

enum { HEADER_MAX = 18 };

int ctf_write_event(ctf_writer *w, ctf_stream *s, const ctf_written_class *c, uint64_t ts, const tl_value *v,
                    tl_error *e)
{
    ctf_written_stream_class *sc = &w->sc[s->cls];
    const ctf_shape *shape = &w->forms.shape[c->shape];
    ctf_put *p = &w->put;
    const size_t before = s->room.n;
    p->room = &s->room;
    p->misfit = p->large = p->no_memory = false;
    p->size_at = 0;
    p->tail = 0;
    if (!ctf_room_grow(&s->room, HEADER_MAX))
        return no_memory(e);
    if (TL_UNLIKELY(ts < s->clock) && w->dialect == CTF_1_8 && !sc->timeless) {
        ts = s->clock; /* its readers stop at a time that goes back */
        w->back++;
    }
    put_header(w, s, sc, c->id, ts);
    v = ctf_put_struct(p, shape->stream, v);
    const size_t payload = s->room.n;
    v = ctf_put_struct(p, c->context, v);
    v = ctf_put_struct(p, c->payload, v);
    if (p->no_memory)
        return no_memory(e);
    if (TL_UNLIKELY(p->misfit || v != p->end)) {
        s->room.n = before;
        *(p->large ? &w->large : &w->misfits) += 1;
        return 0;
    }
    if (p->size_at)
        tl_store32(s->room.data + p->size_at, (uint32_t)(s->room.n - payload), false);
    sc->used[c->id / 64] |= UINT64_C(1) << (c->id % 64);
    s->clock = ts;
    s->tail = p->tail;
    s->latest = s->events == 0 || ts > s->latest ? ts : s->latest;
    s->events++;
    return ctf_stream_added(w, s, e);
}

/* The packet context's values of an event, in w->scratch. Returns the value after them, NULL for a misfit. */
static const tl_value *packet_context(ctf_writer *w, const ctf_shape *shape, const tl_value *v, tl_error *e,
                                      int *status)
{
    ctf_put *p = &w->put;
    w->scratch.n = 0;
    p->room = &w->scratch;
    p->misfit = p->large = p->no_memory = false;
    *status = ctf_room_grow(&w->scratch, 1) ? 0 : no_memory(e);
    p->tail = 0;
    if (*status == 0)
        v = ctf_put_struct(p, shape->packet, v);
    w->packet_tail = p->tail;
    if (*status == 0 && p->no_memory)
        *status = no_memory(e);
    return *status < 0 || p->misfit ? NULL : v;
}

static int write_one(ctf_writer *w, const tl_batch *b, uint32_t i, tl_error *e)
{
    const ctf_written_class *c = &w->cls[b->cls[i]];
    const ctf_shape *shape = &w->forms.shape[c->shape];
    const uint32_t track = b->track[i];
    const int32_t cpu = b->cpu ? b->cpu[i] : -1;
    const uint64_t ts = ctf_write_time(w, b->ts[i]);
    if (w->dialect == CTF_1_8) {
        w->far += b->ts[i] - w->base > w->latest;
        w->made_times += w->forms.timed && (c->cls->flags & TL_CLASS_TIMELESS);
    }
    const tl_value *v = b->v + b->val[i];
    w->put.end = b->v + b->val[i + 1];
    w->put.key = b->key[i];
    int r = 0;
    if (shape->packet->npart > 0 && !(v = packet_context(w, shape, v, e, &r))) {
        w->misfits += r == 0;
        return r;
    }
    const uint32_t last = w->track[track].last;
    ctf_stream *s = last != UINT32_MAX ? &w->stream[last] : NULL;
    if (TL_UNLIKELY(!s || w->sc[s->cls].shape != c->shape ||
                    (w->dialect != CTF_2010 && w->sc[s->cls].has_cpu != (cpu >= 0))))
        r = ctf_stream_find(w, track, c->shape, cpu, &s, e);
    if (r == 0 && TL_UNLIKELY(!s->room.data || s->cpu != cpu || shape->has_packet || ctf_stream_precedes(w, s, ts)))
        r = ctf_stream_ready(w, s, ts, cpu, shape->has_packet ? &w->scratch : NULL, e);
    if (r == 0 && c->calls && !note_call(w, b->key[i]))
        r = no_memory(e);
    return r < 0 ? r : ctf_write_event(w, s, c, ts, v, e);
}

/* --- packets of the source --- */

static bool get_u64(const tl_value *v, uint64_t *out)
{
    *out = v->as.u;
    return v->type == TL_U64;
}

/* Keeps a packet of a track without events so far. */
static int keep_given(ctf_written_track *t, const ctf_given *g, tl_error *e)
{
    if (!TL_GROW(t->pending, t->npending, 1, t->capacity))
        return no_memory(e);
    t->pending[t->npending++] = *g;
    return 0;
}

static int begin_packet(ctf_writer *w, const tl_batch *b, uint32_t i, tl_error *e)
{
    const tl_value *v = b->v + b->val[i];
    ctf_written_track *t = &w->track[b->track[i]];
    ctf_given g = {.cpu = b->cpu ? b->cpu[i] : -1};
    if (b->val[i + 1] - b->val[i] != CTF_PACKET_FIELDS)
        return 0;
    g.has_begin = get_u64(&v[CTF_PACKET_BEGIN], &g.begin);
    g.has_end = get_u64(&v[CTF_PACKET_END], &g.end);
    g.has_discarded = get_u64(&v[CTF_PACKET_DISCARDED], &g.discarded);
    g.has_sequence = get_u64(&v[CTF_PACKET_SEQUENCE], &g.sequence);
    g.discarded_bits = v[CTF_PACKET_DISCARDED].n;
    g.sequence_bits = v[CTF_PACKET_SEQUENCE].n;
    g.begin = ctf_write_time(w, g.begin);
    g.end = ctf_write_time(w, g.end);
    return t->last == UINT32_MAX ? keep_given(t, &g, e) : ctf_stream_given(w, &w->stream[t->last], &g, e);
}

int ctf_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    ctf_writer *w = writer;
    for (uint32_t i = from; i < to; i++) {
        const ctf_written_class *c = &w->cls[b->cls[i]];
        int r = 0;
        if (TL_UNLIKELY(b->track[i] >= w->ntrack) && !ctf_write_tracks(w, w->context.trace->ntrack))
            return no_memory(e);
        if (TL_LIKELY(c->keeps))
            r = write_one(w, b, i, e);
        else if (c->is_packet)
            r = begin_packet(w, b, i, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- the end --- */

/* Tracks with packets but without events. */
static int write_empty_tracks(ctf_writer *w, tl_error *e)
{
    for (uint32_t i = 0; i < w->ntrack; i++) {
        ctf_stream *s;
        if (w->track[i].npending == 0)
            continue;
        const int r = ctf_stream_find(w, i, 0, w->track[i].pending[0].cpu, &s, e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int write_metadata(ctf_writer *w, tl_error *e)
{
    tl_output *out;
    int r = tl_output_folder_file(w->context.folder, "metadata", &out, e);
    if (r < 0)
        return r;
    if (w->dialect == CTF_2)
        ctf_metadata_json(w, out);
    else if (w->dialect == CTF_1_8)
        ctf_metadata_tsdl(w, out);
    else
        r = ctf_metadata_2010(w, out, e);
    if (r == 0)
        r = tl_output_finish(out, e);
    tl_output_close(out);
    return r;
}

static void say_drops(const ctf_writer *w)
{
    const bool is_2010 = w->dialect == CTF_2010;
    const tl_clock *clock = &w->context.trace->clock;
    const struct {
        const char *what;
        uint64_t n;
    } drop[] = {
        {"events whose values are not as their class says", w->misfits},
        {"events with a stack of more than 32 MiB", w->large},
        {"numbers that do not fit their field (truncated)", w->put.narrow},
        {"values that are null (written as 0)", w->put.nulls},
        {"values of another type than their field's (written as 0)", w->put.others},
        {"texts and bytes that do not fit their field (truncated)", w->put.cuts},
        {"values of fields without a description", w->put.unknown},
        {"sets of labels of bits, which this version does not hold", w->forms.labels},
        {"events with a processor, which this version says by the file", w->lost_cpus},
        {"packet contexts, which this version does not hold", w->lost_contexts},
        {"contexts of packets without events (written as before, or as 0)", w->made_contexts},
        {"events without a time, beside others that have one (written at time 0)", w->made_times},
        {"times that go back (written as the time before)", w->back},
        {"times that are too far from the clock's origin (truncated)", w->far},
        {"the offset of a clock that does not count from 1970",
         w->dialect == CTF_1_8 && !clock->has_utc && ctf_origin_ns(clock, &w->context.trace->origin) != 0},
        {"the origin of the clock, from which times are too far (written since the begin)", w->base > 0},
        {"environment entries, which this version does not hold", is_2010 ? w->context.trace->nproperty : 0},
    };
    for (size_t i = 0; i < TL_COUNT(drop); i++)
        tl_drops_add(w->context.drops, drop[i].what, drop[i].n);
}

uint64_t ctf_written(const void *writer)
{
    const ctf_writer *w = writer;
    uint64_t bytes = w->open_bytes;
    for (uint32_t i = 0; i < w->nstream; i++)
        bytes += w->stream[i].bytes;
    return bytes;
}

int ctf_finish(void *writer, tl_error *e)
{
    ctf_writer *w = writer;
    int r = write_empty_tracks(w, e);
    if (r == 0)
        r = ctf_table_write(w, e);
    for (uint32_t i = 0; r == 0 && i < w->nstream; i++)
        r = ctf_stream_end(w, &w->stream[i], e);
    if (r == 0)
        r = write_metadata(w, e);
    if (r == 0)
        say_drops(w);
    return r;
}

void ctf_discard(void *writer)
{
    ctf_writer *w = writer;
    for (uint32_t i = 0; i < w->nstream; i++)
        ctf_stream_free(&w->stream[i]);
    for (uint32_t i = 0; i < w->nsc; i++) {
        free(w->sc[i].used);
        free(w->sc[i].name);
    }
    for (uint32_t i = 0; i < w->ntrack; i++)
        free(w->track[i].pending);
    free(w->stream);
    free(w->sc);
    free(w->track);
    free(w->cls);
    free(w->call);
    free(w->put.place);
    tl_stack_frames_fini(&w->put.frames);
    free(w->spare.data);
    free(w->scratch.data);
    free(w->sealing.room.data);
    tl_hash_fini(&w->called);
    tl_strings_fini(&w->names);
    tl_strings_fini(&w->sections);
    ctf_forms_fini(&w->forms);
}
