/* Perfetto packets of managed runtimes: spans and gauges.
 *
 *   packet  sequence n: TrackDescriptor {"JIT", below the thread}; TrackEvent {begin, name, annotations}, {end}
 *   packet  sequence n: TrackDescriptor {"CPU %", counter, below the thread}; TrackEvent {counter value}
 *
 * Slices of one Perfetto track must nest. Spans of a class therefore have tracks of their own below the thread, as many
 * as there are at the same time; viewers show those of one name as one. They are written when they end, which is fine:
 * readers sort. */
#include <string.h>

#include "format/perfetto/perfetto_writer.h"

static void put_words(tl_pb *p, unsigned field, const char *const *word, size_t n)
{
    size_t at = tl_pb_begin(p, field);
    tl_timeline_words(p, word, n);
    tl_pb_end(p, at);
}

/* The number of a track of our own; *known: whether it existed before. TL_HASH_NONE when memory runs out. */
static uint32_t own_track(perfetto_writer *w, uint64_t key, bool *known)
{
    uint32_t n = tl_hash_get(&w->own_track, key);
    *known = n != TL_HASH_NONE;
    if (*known)
        return n;
    n = w->own_track.n;
    return tl_hash_put(&w->own_track, key, n) ? n : TL_HASH_NONE;
}

static bool describe_lane(perfetto_writer *w, const tl_span *s, uint64_t *uuid)
{
    bool known;
    size_t at[2];
    const uint64_t cls = s->cls->id & ((1u << COUNTER_CLASS_BITS) - 1);
    const uint32_t n = own_track(w, (uint64_t)s->track << 28 | cls << 8 | s->lane, &known);
    *uuid = UUID_SPANS | n;
    if (known || n == TL_HASH_NONE)
        return known;
    perfetto_begin_track(w, s->track, *uuid, UUID_THREAD | s->track, at);
    tl_pb_string(&w->packet, DESCRIPTOR_NAME, tl_span_title(s));
    return perfetto_end_event(w, at);
}

bool perfetto_write_span(void *writer, const tl_span *s, uint64_t begin, uint64_t end)
{
    perfetto_writer *w = writer;
    tl_pb *p = &w->packet;
    uint64_t uuid;
    size_t at[2];
    char buf[24];
    if (!describe_lane(w, s, &uuid))
        return false;
    const char *word[] = {tl_span_title(s), tl_span_label(s, w->line.context.trace, buf)};
    perfetto_begin_event(w, s->track, begin, TYPE_SLICE_BEGIN, uuid, at);
    tl_pb_string(p, EVENT_CATEGORIES, tl_span_title(s));
    put_words(p, EVENT_NAME, word, TL_COUNT(word));
    tl_pb_raw(p, s->args, s->nargs);
    if (!perfetto_end_event(w, at))
        return false;
    if (!s->ended)
        return true;
    perfetto_begin_event(w, s->track, end, TYPE_SLICE_END, uuid, at);
    return perfetto_end_event(w, at);
}

static bool describe_gauge(perfetto_writer *w, const tl_gauge *g, uint64_t *uuid)
{
    bool known;
    size_t at[2];
    const int64_t pid = tl_track_pid(w->line.context.trace, g->track);
    const uint64_t whose = g->of_process ? (uint64_t)1 << 32 | (uint32_t)(uint64_t)pid : g->track;
    const uint32_t n = own_track(w, UUID_GAUGE | whose << 16 | g->id, &known);
    *uuid = UUID_GAUGE | n;
    if (known || n == TL_HASH_NONE)
        return known;
    const char *word[] = {g->name, g->part, g->suffix, g->unit};
    perfetto_begin_track(w, g->track, *uuid, g->of_process ? perfetto_process_uuid(pid) : UUID_THREAD | g->track, at);
    put_words(&w->packet, DESCRIPTOR_NAME, word, TL_COUNT(word));
    size_t counter = tl_pb_begin(&w->packet, DESCRIPTOR_COUNTER);
    if (!g->is_real)
        tl_pb_u64(&w->packet, COUNTER_UNIT, strcmp(g->unit, "bytes") == 0 ? UNIT_BYTES : UNIT_COUNT);
    tl_pb_end(&w->packet, counter);
    return perfetto_end_event(w, at);
}

bool perfetto_write_gauge(void *writer, const tl_gauge *g, uint64_t ns)
{
    uint64_t uuid;
    tl_value v = {.type = TL_U64, .as.u = g->value};
    if (g->is_real)
        v = (tl_value){.type = TL_F64, .as.f = g->real};
    return describe_gauge(writer, g, &uuid) && perfetto_write_value(writer, g->track, uuid, ns, &v);
}
