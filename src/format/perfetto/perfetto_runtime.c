/* Perfetto packets of managed runtimes: spans, gauges, samples.
 *
 *   packet  sequence n: TrackDescriptor {"JIT", below the thread}; TrackEvent {begin, name, annotations}, {end}
 *   packet  sequence n: TrackDescriptor {"CPU %", counter, below the thread}; TrackEvent {counter value}
 *   packet  last sequence: PerfSample {pid, tid, callstack iid}, and once InternedData {names, frames, callstack}
 *
 * Slices of one Perfetto track must nest. Spans of a class therefore have tracks of their own below the thread, as many
 * as there are at the same time; viewers show those of one name as one. They are written when they are over, which is
 * fine: readers sort.
 *
 * Samples are those of perf, which readers know for long. They have one sequence for all threads, so that each name and
 * each stack is written once. A stack is a list of frames, the outermost first. The frames have no address: they are
 * told apart by their name, in a mapping that is called like the process. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/perfetto/perfetto_writer.h"

/* Deepest stack that is written, of deeper ones the outermost frames: every different stack is written in full. */
#define PERFETTO_DEPTH_MAX   1024u
/* Samples that one event may stand for: a hostile file would blow up the output. */
#define PERFETTO_SAMPLES_MAX 1000u

enum { MAPPING_IID = 1 };

/* The samples of a track. */
typedef struct perfetto_samples {
    uint64_t last; /* ns */
} perfetto_samples;

static uint64_t to_ns(const perfetto_writer *w, uint64_t ts)
{
    const uint64_t begin = w->context.options->begin;
    return ts > begin ? tl_scale_ns(&w->context.trace->scale, ts - begin) : 0;
}

static void put_words(tl_pb *p, unsigned field, const char *const *word, size_t n)
{
    size_t at = tl_pb_begin(p, field);
    for (size_t i = 0, written = 0; i < n; i++)
        if (word[i]) {
            tl_pb_raw(p, " ", written++ > 0);
            tl_pb_raw(p, word[i], strlen(word[i]));
        }
    tl_pb_end(p, at);
}

/* A track below another, to be ended by end_track(). */
static void begin_track(perfetto_writer *w, uint32_t track, uint64_t uuid, uint64_t parent, size_t at[2])
{
    tl_pb *p = &w->packet;
    at[0] = perfetto_begin_packet(p);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, (uint64_t)track + FIRST_TRACK_SEQUENCE);
    at[1] = tl_pb_begin(p, PACKET_TRACK_DESCRIPTOR);
    tl_pb_u64(p, DESCRIPTOR_UUID, uuid);
    tl_pb_u64(p, DESCRIPTOR_PARENT, parent);
}

static bool end_track(perfetto_writer *w, const size_t at[2])
{
    tl_pb_end(&w->packet, at[1]);
    return perfetto_end_packet(w, at[0]);
}

/* The number of a track of our own; *known: was it there before? TL_HASH_NONE when memory runs out. */
static uint32_t own_track(perfetto_writer *w, uint64_t key, bool *known)
{
    uint32_t n = tl_hash_get(&w->own_track, key);
    *known = n != TL_HASH_NONE;
    if (*known)
        return n;
    n = w->own_track.n;
    return tl_hash_put(&w->own_track, key, n) ? n : TL_HASH_NONE;
}

/* Spans */

static const char *title_of(const tl_span *s)
{
    return s->cls->title ? s->cls->title : s->cls->name;
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
    begin_track(w, s->track, *uuid, UUID_THREAD | s->track, at);
    tl_pb_string(&w->packet, DESCRIPTOR_NAME, title_of(s));
    return end_track(w, at);
}

static bool write_span(void *arg, const tl_span *s)
{
    perfetto_writer *w = arg;
    tl_pb *p = &w->packet;
    uint64_t uuid;
    size_t at[2];
    char buf[24];
    if (!describe_lane(w, s, &uuid))
        return false;
    const char *word[] = {title_of(s), tl_span_label(s, w->context.trace, buf)};
    perfetto_begin_event(w, s->track, to_ns(w, s->begin), TYPE_SLICE_BEGIN, at);
    tl_pb_u64(p, EVENT_TRACK_UUID, uuid);
    tl_pb_string(p, EVENT_CATEGORIES, title_of(s));
    put_words(p, EVENT_NAME, word, TL_COUNT(word));
    tl_pb_raw(p, s->args, s->nargs);
    tl_pb_end(p, at[1]);
    if (!perfetto_end_packet(w, at[0]))
        return false;
    if (!s->ended)
        return true;
    perfetto_begin_event(w, s->track, to_ns(w, s->end), TYPE_SLICE_END, at);
    tl_pb_u64(p, EVENT_TRACK_UUID, uuid);
    tl_pb_end(p, at[1]);
    return perfetto_end_packet(w, at[0]);
}

static bool keep_args(perfetto_writer *w, tl_span *s)
{
    return !w->packet.failed && tl_span_keep(&w->spans, s, w->packet.data, w->packet.n);
}

static bool begin_span(perfetto_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    tl_span *s;
    if (!tl_spans_begin(&w->spans, b, i, ts, &s))
        return false;
    if (!s)
        return true;
    tl_pb_clear(&w->packet);
    perfetto_annotations(&w->packet, &w->fields, c, b, i);
    return keep_args(w, s);
}

/* An end adds what its begin could not know. */
static bool end_span(perfetto_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    tl_span *s;
    if (!tl_spans_end(&w->spans, b, i, ts, &s))
        return false;
    if (s) {
        tl_pb_clear(&w->packet);
        perfetto_new_annotations(&w->packet, &w->fields, c, s->cls, b, i);
        if (!keep_args(w, s))
            return false;
    }
    return tl_spans_flush(&w->spans);
}

/* Gauges */

static bool describe_gauge(perfetto_writer *w, const tl_gauge *g, uint64_t *uuid)
{
    bool known;
    size_t at[2];
    const int64_t pid = tl_track_pid(w->context.trace, g->track);
    const uint64_t whose = g->of_process ? (uint64_t)1 << 32 | (uint32_t)(uint64_t)pid : g->track;
    const uint32_t n = own_track(w, UUID_GAUGE | whose << 16 | g->id, &known);
    *uuid = UUID_GAUGE | n;
    if (known || n == TL_HASH_NONE)
        return known;
    const char *word[] = {g->name, g->part, g->suffix, g->unit};
    begin_track(w, g->track, *uuid, g->of_process ? perfetto_process_uuid(pid) : UUID_THREAD | g->track, at);
    put_words(&w->packet, DESCRIPTOR_NAME, word, TL_COUNT(word));
    size_t counter = tl_pb_begin(&w->packet, DESCRIPTOR_COUNTER);
    if (!g->is_real)
        tl_pb_u64(&w->packet, COUNTER_UNIT, strcmp(g->unit, "bytes") == 0 ? UNIT_BYTES : UNIT_COUNT);
    tl_pb_end(&w->packet, counter);
    return end_track(w, at);
}

static bool write_gauge(void *arg, const tl_gauge *g)
{
    perfetto_writer *w = arg;
    uint64_t uuid;
    size_t at[2];
    if (!describe_gauge(w, g, &uuid))
        return false;
    perfetto_begin_event(w, g->track, to_ns(w, g->ts), TYPE_COUNTER, at);
    tl_pb_u64(&w->packet, EVENT_TRACK_UUID, uuid);
    if (g->is_real || g->value > INT64_MAX)
        perfetto_double(&w->packet, EVENT_DOUBLE_COUNTER_VALUE, g->is_real ? g->real : (double)g->value);
    else
        tl_pb_u64(&w->packet, EVENT_COUNTER_VALUE, g->value);
    tl_pb_end(&w->packet, at[1]);
    return perfetto_end_packet(w, at[0]);
}

/* Samples */

static perfetto_samples *get_samples(perfetto_writer *w, uint32_t track)
{
    return TL_GROW_TO(w->samples, w->nsamples, track, TL_TRACKS_MAX) ? &w->samples[track] : NULL;
}

/* The sequence of samples, with the mapping that all frames are in. */
static bool begin_samples(perfetto_writer *w)
{
    if (w->sampled)
        return true;
    tl_pb *p = &w->packet;
    const size_t packet = perfetto_begin_packet(p);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, SAMPLES_SEQUENCE);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    tl_pb_u64(p, perfetto_has_damage(w->context.trace) ? PACKET_PREVIOUS_DROPPED : PACKET_FIRST_ON_SEQUENCE, 1);
    const size_t defaults = tl_pb_begin(p, PACKET_DEFAULTS);
    tl_pb_u64(p, DEFAULTS_CLOCK_ID, CLOCK_MONOTONIC_ID);
    tl_pb_end(p, defaults);
    const size_t interned = tl_pb_begin(p, PACKET_INTERNED_DATA);
    const size_t path = tl_pb_begin(p, INTERNED_MAPPING_PATHS);
    tl_pb_u64(p, INTERNED_IID, MAPPING_IID);
    tl_pb_string(p, INTERNED_NAME, perfetto_process_name(&w->context));
    tl_pb_end(p, path);
    const size_t mapping = tl_pb_begin(p, INTERNED_MAPPINGS);
    tl_pb_u64(p, INTERNED_IID, MAPPING_IID);
    tl_pb_u64(p, MAPPING_PATH, MAPPING_IID);
    tl_pb_end(p, mapping);
    tl_pb_end(p, interned);
    w->sampled = true;
    return perfetto_end_packet(w, packet);
}

/* A name and its frame, which have the same iid, if they are new. */
static bool intern_label(perfetto_writer *w, uint32_t label)
{
    tl_pb *p = &w->packet;
    if (tl_hash_get(&w->told_label, label) != TL_HASH_NONE)
        return true;
    const size_t name = tl_pb_begin(p, INTERNED_FUNCTION_NAMES);
    tl_pb_u64(p, INTERNED_IID, (uint64_t)label + 1);
    tl_pb_string(p, INTERNED_NAME, w->stacks.label[label]);
    tl_pb_end(p, name);
    const size_t frame = tl_pb_begin(p, INTERNED_FRAMES);
    tl_pb_u64(p, INTERNED_IID, (uint64_t)label + 1);
    tl_pb_u64(p, FRAME_FUNCTION_NAME, (uint64_t)label + 1);
    tl_pb_u64(p, FRAME_MAPPING, MAPPING_IID);
    tl_pb_u64(p, FRAME_REL_PC, 0);
    tl_pb_end(p, frame);
    return tl_hash_put(&w->told_label, label, 1);
}

/* InternedData with what the sequence does not know of a stack. */
static bool intern_stack(perfetto_writer *w, uint32_t node)
{
    tl_pb *p = &w->packet;
    uint32_t path[PERFETTO_DEPTH_MAX], n = 0;
    for (uint32_t at = node; at && n < PERFETTO_DEPTH_MAX; at = w->stacks.node[at].parent)
        path[n++] = w->stacks.node[at].label;
    const size_t interned = tl_pb_begin(p, PACKET_INTERNED_DATA);
    for (uint32_t i = n; i-- > 0;)
        if (!intern_label(w, path[i]))
            return false;
    const size_t stack = tl_pb_begin(p, INTERNED_CALLSTACKS);
    tl_pb_u64(p, INTERNED_IID, node);
    for (uint32_t i = n; i-- > 0;)
        tl_pb_u64(p, CALLSTACK_FRAMES, (uint64_t)path[i] + 1);
    tl_pb_end(p, stack);
    tl_pb_end(p, interned);
    return tl_hash_put(&w->told_node, node, 1);
}

static bool write_sample(perfetto_writer *w, uint32_t track, int64_t tid, uint32_t node, uint64_t ns)
{
    tl_pb *p = &w->packet;
    const size_t packet = perfetto_begin_packet(p);
    tl_pb_u64(p, PACKET_TIMESTAMP, ns);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, SAMPLES_SEQUENCE);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    if (node && tl_hash_get(&w->told_node, node) == TL_HASH_NONE && !intern_stack(w, node))
        return false;
    const size_t sample = tl_pb_begin(p, PACKET_PERF_SAMPLE);
    tl_pb_u64(p, SAMPLE_PID, (uint32_t)(uint64_t)tl_track_pid(w->context.trace, track));
    tl_pb_u64(p, SAMPLE_TID, (uint32_t)(uint64_t)tid);
    if (node)
        tl_pb_u64(p, SAMPLE_CALLSTACK, node);
    tl_pb_end(p, sample);
    return perfetto_end_packet(w, packet);
}

/* As many samples as the event stands for, each at the end of its period. */
static bool add_samples(perfetto_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    const tl_sample s = tl_sample_get(b, i, c);
    uint32_t node;
    int64_t tid;
    if (s.count == 0)
        return true;
    const tl_stack_found found = tl_stack_nodes_get(&w->stacks, &s, &node);
    if (found != TL_STACK_NODE)
        return found == TL_STACK_TOO_MANY;
    perfetto_samples *t = get_samples(w, b->track[i]);
    if (!t || !begin_samples(w) || !tl_track_tid(&w->ids, w->context.trace, b->track[i], &tid))
        return false;
    const uint64_t n = s.count < PERFETTO_SAMPLES_MAX ? s.count : PERFETTO_SAMPLES_MAX;
    const uint64_t end = to_ns(w, ts), each = tl_scale_ns(&w->context.trace->scale, s.weight);
    w->too_many_in_one += s.count - n;
    for (uint64_t k = n; k-- > 0;) {
        const uint64_t back = k == 0 ? 0 : each <= end / k ? k * each : end;
        t->last = end - back > t->last ? end - back : t->last;
        if (!write_sample(w, b->track[i], tid, node, t->last))
            return false;
    }
    return true;
}

/* All together */

static perfetto_use use_of(const tl_trace *t, const tl_class *c)
{
    const tl_class *other = tl_trace_class(t, c->pair);
    if (c->kind == TL_BEGIN && other && other->kind == TL_END)
        return PERFETTO_BEGIN;
    if (c->kind == TL_END && other && other->kind == TL_BEGIN)
        return PERFETTO_END;
    if (c->role == TL_ROLE_CODE)
        return PERFETTO_CODE;
    return tl_gauge_class(c) ? PERFETTO_GAUGE : tl_sample_class(c) ? PERFETTO_SAMPLE : PERFETTO_EVENT;
}

bool perfetto_runtime_init(perfetto_writer *w)
{
    const tl_trace *t = w->context.trace;
    w->use = calloc((size_t)t->ncls + 1, sizeof *w->use);
    for (uint32_t i = 0; w->use && i < t->ncls; i++) {
        w->use[i] = (uint8_t)use_of(t, &t->cls[i]);
        w->managed = w->managed || w->use[i] != PERFETTO_EVENT;
    }
    tl_spans_init(&w->spans, t, write_span, w);
    tl_gauges_init(&w->gauges, t, write_gauge, w);
    tl_stack_nodes_init(&w->stacks, t, PERFETTO_DEPTH_MAX);
    return w->use != NULL;
}

void perfetto_runtime_fini(perfetto_writer *w)
{
    if (w->spans.trace)
        tl_spans_fini(&w->spans);
    tl_gauges_fini(&w->gauges);
    tl_stack_nodes_fini(&w->stacks);
    tl_hash_fini(&w->own_track);
    tl_hash_fini(&w->told_label);
    tl_hash_fini(&w->told_node);
    tl_track_ids_fini(&w->ids);
    free(w->samples);
    free(w->use);
}

bool perfetto_runtime_event(perfetto_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    switch ((perfetto_use)w->use[c->id]) {
    case PERFETTO_BEGIN:
        return begin_span(w, c, b, i, ts);
    case PERFETTO_END:
        return end_span(w, c, b, i, ts);
    case PERFETTO_CODE:
        return tl_spans_code(&w->spans, b, i);
    case PERFETTO_GAUGE:
        return tl_gauges_event(&w->gauges, b, i);
    case PERFETTO_SAMPLE:
        return add_samples(w, c, b, i, ts);
    default:
        return true;
    }
}

bool perfetto_runtime_finish(perfetto_writer *w)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < w->nest.ntrack; i++)
        if (w->nest.track[i].started && w->nest.track[i].last > last)
            last = w->nest.track[i].last;
    return tl_spans_finish(&w->spans, last) && tl_gauges_finish(&w->gauges);
}

void perfetto_runtime_report(const perfetto_writer *w)
{
    tl_drops *d = w->context.drops;
    tl_drops_add(d, TL_DROP_NO_BEGIN, w->spans.no_begin);
    tl_drops_add(d, "begins still open at the end (left unfinished)", w->spans.open_at_end);
    tl_drops_add(d, TL_DROP_MANY_SPANS, w->spans.too_many);
    tl_drops_add(d, TL_DROP_LONG_ARGS, w->spans.too_long);
    tl_drops_add(d, TL_DROP_NO_INTERVAL, w->gauges.no_interval);
    tl_drops_add(d, TL_DROP_MANY_PARTS, w->gauges.too_many_parts);
    tl_drops_add(d, TL_DROP_TYPES, w->gauges.types);
    tl_drops_add(d, TL_DROP_MANY_STACKS, w->stacks.too_many);
    tl_drops_add(d, "samples of stacks of over 1024 calls (written without the innermost)", w->stacks.cut);
    tl_drops_add(d, "samples beyond 1000 of one event", w->too_many_in_one);
}
