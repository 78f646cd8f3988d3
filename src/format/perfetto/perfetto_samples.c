/* Samples in Perfetto traces, as from perf, which readers have long supported.
 *
 *   packet  last sequence: PerfSample {pid, tid, callstack iid}, and once InternedData {names, frames, callstack}
 *
 * They have one sequence for all threads, so that each name and each stack is written once. A stack is a list of
 * frames, the outermost first. The frames have no address: names identify them, in a mapping named after the
 * process. */
#include "base/grow.h"
#include "format/perfetto/perfetto_writer.h"

enum { MAPPING_IID = 1 };

/* Begins the sequence of samples, with the mapping of all frames. */
static bool begin_samples(perfetto_writer *w)
{
    if (w->sampled)
        return true;
    tl_pb *p = &w->packet;
    const size_t packet = perfetto_begin_packet(w, SAMPLES_SEQUENCE);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    tl_pb_u64(p, perfetto_has_damage(w->line.context.trace) ? PACKET_PREVIOUS_DROPPED : PACKET_FIRST_ON_SEQUENCE, 1);
    const size_t defaults = tl_pb_begin(p, PACKET_DEFAULTS);
    tl_pb_u64(p, DEFAULTS_CLOCK_ID, CLOCK_MONOTONIC_ID);
    tl_pb_end(p, defaults);
    const size_t interned = tl_pb_begin(p, PACKET_INTERNED_DATA);
    const size_t path = tl_pb_begin(p, INTERNED_MAPPING_PATHS);
    tl_pb_u64(p, INTERNED_IID, MAPPING_IID);
    tl_pb_string(p, INTERNED_NAME, tl_timeline_process(&w->line));
    tl_pb_end(p, path);
    const size_t mapping = tl_pb_begin(p, INTERNED_MAPPINGS);
    tl_pb_u64(p, INTERNED_IID, MAPPING_IID);
    tl_pb_u64(p, MAPPING_PATH, MAPPING_IID);
    tl_pb_end(p, mapping);
    tl_pb_end(p, interned);
    w->sampled = true;
    return perfetto_end_packet(w, packet);
}

/* Writes a name and its frame, which have the same iid, if they are new. */
static bool intern_label(perfetto_writer *w, uint32_t label)
{
    tl_pb *p = &w->packet;
    if (tl_hash_get(&w->told_label, label) != TL_HASH_NONE)
        return true;
    const size_t name = tl_pb_begin(p, INTERNED_FUNCTION_NAMES);
    tl_pb_u64(p, INTERNED_IID, (uint64_t)label + 1);
    tl_pb_string(p, INTERNED_NAME, w->line.stacks.label[label]);
    tl_pb_end(p, name);
    const size_t frame = tl_pb_begin(p, INTERNED_FRAMES);
    tl_pb_u64(p, INTERNED_IID, (uint64_t)label + 1);
    tl_pb_u64(p, FRAME_FUNCTION_NAME, (uint64_t)label + 1);
    tl_pb_u64(p, FRAME_MAPPING, MAPPING_IID);
    tl_pb_u64(p, FRAME_REL_PC, 0);
    tl_pb_end(p, frame);
    return tl_hash_put(&w->told_label, label, 1);
}

/* InternedData for the parts of a stack that are new to the sequence. */
static bool intern_stack(perfetto_writer *w, uint32_t node)
{
    tl_pb *p = &w->packet;
    uint32_t path[PERFETTO_DEPTH_MAX], n = 0;
    for (uint32_t at = node; at && n < PERFETTO_DEPTH_MAX; at = w->line.stacks.node[at].parent)
        path[n++] = w->line.stacks.node[at].label;
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
    const size_t packet = perfetto_begin_timed(w, SAMPLES_SEQUENCE, ns);
    if (node && tl_hash_get(&w->told_node, node) == TL_HASH_NONE && !intern_stack(w, node))
        return false;
    const size_t sample = tl_pb_begin(p, PACKET_PERF_SAMPLE);
    tl_pb_u64(p, SAMPLE_PID, (uint32_t)(uint64_t)tl_track_pid(w->line.context.trace, track));
    tl_pb_u64(p, SAMPLE_TID, (uint32_t)(uint64_t)tid);
    if (node)
        tl_pb_u64(p, SAMPLE_CALLSTACK, node);
    tl_pb_end(p, sample);
    return perfetto_end_packet(w, packet);
}

/* As many samples as the event represents, each at the end of its period. */
bool perfetto_write_samples(void *writer, const tl_timeline_samples *s)
{
    perfetto_writer *w = writer;
    int64_t tid;
    if (!TL_GROW_TO(w->last_sample, w->nlast, s->track, TL_TRACKS_MAX) || !begin_samples(w) ||
        !tl_track_tid(&w->line.ids, w->line.context.trace, s->track, &tid))
        return false;
    uint64_t *last = &w->last_sample[s->track];
    for (uint64_t k = tl_timeline_count(&w->line, s->count); k-- > 0;) {
        const uint64_t back = k == 0 ? 0 : s->each <= s->end / k ? k * s->each : s->end;
        *last = s->end - back > *last ? s->end - back : *last;
        if (!write_sample(w, s->track, tid, s->node, *last))
            return false;
    }
    return true;
}
