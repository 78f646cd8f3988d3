/* Perfetto's protobuf traces, for ui.perfetto.dev and trace_processor; see perfetto_layout.h for the field numbers.
 *
 *   packet  sequence 1: ClockSnapshot; ProcessDescriptor, one a process
 *   packet  sequence n: ThreadDescriptor, defaults (clock, track), flag "state cleared", "first packet"
 *   packet  sequence n: timestamp, flag "needs state", TrackEvent {begin, name iid}, and once InternedData {iid, name}
 *   packet  sequence n: timestamp, flag "needs state", TrackEvent {end}
 *
 * Each track is a packet sequence of its own, with its own names, so that streams may come one after the other: the
 * viewer sorts. An event takes about 17 bytes.
 *
 * Clock   Timestamps are ns since the begin of the trace on MONOTONIC, which the snapshot declares the clock of the
 *         trace. (The default would be BOOTTIME, which no tick counter here is.) It ties UTC to that if it is known.
 * Losses  A TL_LOSS event becomes the flag "previous packet dropped" in a packet that clears the state of the sequence:
 *         readers forget what they have interned. If the input was damaged or lost events, nobody knows where: then no
 *         sequence has the flag "first packet" and all begin with "dropped".
 * Calls   Ends nest: an exit closes the calls above its own, exits of functions that are not open are dropped, times
 *         that go back are moved forward. Calls that are open at the end stay open. */
#include <stdlib.h>

#include "base/grow.h"
#include "format/perfetto/perfetto_writer.h"

/* Packets */

bool perfetto_has_damage(const tl_trace *t)
{
    return t->damage_count > 0 || t->lost_events > 0 || t->lost_packets > 0;
}

size_t perfetto_begin_packet(perfetto_writer *w, uint64_t sequence)
{
    tl_pb_clear(&w->packet);
    const size_t at = tl_pb_begin(&w->packet, TRACE_PACKET);
    tl_pb_u64(&w->packet, PACKET_SEQUENCE_ID, sequence);
    return at;
}

size_t perfetto_begin_timed(perfetto_writer *w, uint64_t sequence, uint64_t ns)
{
    tl_pb *p = &w->packet;
    tl_pb_clear(p);
    const size_t at = tl_pb_begin(p, TRACE_PACKET);
    tl_pb_u64(p, PACKET_TIMESTAMP, ns);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, sequence);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    return at;
}

bool perfetto_end_packet(perfetto_writer *w, size_t at)
{
    tl_pb_end(&w->packet, at);
    if (w->packet.failed)
        return false;
    tl_output_write(w->line.context.out, w->packet.data, w->packet.n);
    return true;
}

void perfetto_begin_event(perfetto_writer *w, uint32_t track, uint64_t ns, unsigned type, uint64_t uuid, size_t at[2])
{
    at[0] = perfetto_begin_timed(w, (uint64_t)track + FIRST_TRACK_SEQUENCE, ns);
    at[1] = tl_pb_begin(&w->packet, PACKET_TRACK_EVENT);
    tl_pb_u64(&w->packet, EVENT_TYPE, type);
    if (uuid)
        tl_pb_u64(&w->packet, EVENT_TRACK_UUID, uuid);
}

bool perfetto_end_event(perfetto_writer *w, const size_t at[2])
{
    tl_pb_end(&w->packet, at[1]);
    return perfetto_end_packet(w, at[0]);
}

void perfetto_begin_track(perfetto_writer *w, uint32_t track, uint64_t uuid, uint64_t parent, size_t at[2])
{
    at[0] = perfetto_begin_packet(w, (uint64_t)track + FIRST_TRACK_SEQUENCE);
    at[1] = tl_pb_begin(&w->packet, PACKET_TRACK_DESCRIPTOR);
    tl_pb_u64(&w->packet, DESCRIPTOR_UUID, uuid);
    tl_pb_u64(&w->packet, DESCRIPTOR_PARENT, parent);
}

static void put_clock(tl_pb *p, uint64_t id, uint64_t timestamp)
{
    size_t at = tl_pb_begin(p, SNAPSHOT_CLOCKS);
    tl_pb_u64(p, CLOCK_ID, id);
    tl_pb_u64(p, CLOCK_TIMESTAMP, timestamp);
    tl_pb_end(p, at);
}

static bool write_clock_snapshot(perfetto_writer *w)
{
    const tl_trace *t = w->line.context.trace;
    tl_pb *p = &w->packet;
    size_t packet = perfetto_begin_packet(w, FILE_SEQUENCE);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    tl_pb_u64(p, PACKET_FIRST_ON_SEQUENCE, 1);
    size_t snapshot = tl_pb_begin(p, PACKET_CLOCK_SNAPSHOT);
    put_clock(p, CLOCK_MONOTONIC_ID, 0);
    if (t->clock.has_utc)
        put_clock(p, CLOCK_REALTIME_ID,
                  (uint64_t)t->clock.utc_offset_ns + tl_scale_ns(&t->scale, w->line.context.options->begin));
    tl_pb_u64(p, SNAPSHOT_PRIMARY, CLOCK_MONOTONIC_ID);
    tl_pb_end(p, snapshot);
    return perfetto_end_packet(w, packet);
}

uint64_t perfetto_process_uuid(int64_t pid)
{
    return UUID_PROCESS | (uint32_t)(uint64_t)pid;
}

static bool describe_process(perfetto_writer *w, int64_t pid)
{
    if (tl_hash_get(&w->process, (uint64_t)pid) != TL_HASH_NONE)
        return true;
    tl_pb *p = &w->packet;
    size_t packet = perfetto_begin_packet(w, FILE_SEQUENCE);
    size_t descriptor = tl_pb_begin(p, PACKET_TRACK_DESCRIPTOR);
    tl_pb_u64(p, DESCRIPTOR_UUID, perfetto_process_uuid(pid));
    size_t process = tl_pb_begin(p, DESCRIPTOR_PROCESS);
    tl_pb_u64(p, PROCESS_PID, (uint64_t)(int64_t)(int32_t)pid);
    tl_pb_string(p, PROCESS_NAME, tl_timeline_process(&w->line));
    tl_pb_end(p, process);
    tl_pb_end(p, descriptor);
    return perfetto_end_packet(w, packet) && tl_hash_put(&w->process, (uint64_t)pid, 1);
}

/* Reasons for clearing a sequence's state. */
typedef enum clear_reason { CLEAR_FIRST, CLEAR_LOSS, CLEAR_FORGOTTEN } clear_reason;

/* Begins a sequence, or begins it again with cleared state. */
static bool begin_sequence(perfetto_writer *w, uint32_t index, clear_reason reason)
{
    const tl_track *track = tl_trace_track(w->line.context.trace, index);
    const int64_t pid = tl_track_pid(w->line.context.trace, index);
    int64_t tid;
    if (!tl_track_tid(&w->line.ids, w->line.context.trace, index, &tid) || !describe_process(w, pid))
        return false;
    tl_pb *p = &w->packet;
    size_t packet = perfetto_begin_packet(w, (uint64_t)index + FIRST_TRACK_SEQUENCE);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    if (reason == CLEAR_FIRST && !perfetto_has_damage(w->line.context.trace))
        tl_pb_u64(p, PACKET_FIRST_ON_SEQUENCE, 1);
    else if (reason != CLEAR_FORGOTTEN)
        tl_pb_u64(p, PACKET_PREVIOUS_DROPPED, 1);

    size_t defaults = tl_pb_begin(p, PACKET_DEFAULTS);
    size_t event = tl_pb_begin(p, DEFAULTS_TRACK_EVENT);
    tl_pb_u64(p, EVENT_DEFAULTS_TRACK_UUID, UUID_THREAD | index);
    tl_pb_end(p, event);
    tl_pb_u64(p, DEFAULTS_CLOCK_ID, CLOCK_MONOTONIC_ID);
    tl_pb_end(p, defaults);

    size_t descriptor = tl_pb_begin(p, PACKET_TRACK_DESCRIPTOR);
    tl_pb_u64(p, DESCRIPTOR_UUID, UUID_THREAD | index);
    tl_pb_u64(p, DESCRIPTOR_PARENT, perfetto_process_uuid(pid));
    size_t thread = tl_pb_begin(p, DESCRIPTOR_THREAD);
    tl_pb_u64(p, THREAD_PID, (uint64_t)(int64_t)(int32_t)pid);
    tl_pb_u64(p, THREAD_TID, (uint64_t)tid);
    tl_pb_string(p, THREAD_NAME, track ? track->name : "thread");
    tl_pb_end(p, thread);
    tl_pb_end(p, descriptor);
    w->track[index].generation++;
    w->track[index].epoch = w->epoch;
    return perfetto_end_packet(w, packet);
}

/* Forgets all names when there are too many; all sequences then begin again. */
static TL_COLD void forget_names(perfetto_writer *w)
{
    tl_hash_fini(&w->function);
    tl_hash_fini(&w->interned);
    w->epoch++;
}

/* Makes sure that the sequence of a track has begun and has the state that the writer assumes. */
static inline bool ready_sequence(void *writer, uint32_t index, bool started)
{
    perfetto_writer *w = writer;
    (void)started;
    if (TL_UNLIKELY(w->function.n >= INTERNED_MAX || w->interned.n >= INTERNED_MAX))
        forget_names(w);
    if (TL_UNLIKELY(index >= w->ntrack) && !TL_GROW_TO(w->track, w->ntrack, index, TL_TRACKS_MAX))
        return false;
    const perfetto_track *t = &w->track[index];
    if (TL_LIKELY(t->generation > 0 && t->epoch == w->epoch))
        return true;
    return begin_sequence(w, index, t->generation > 0 ? CLEAR_FORGOTTEN : CLEAR_FIRST);
}

/* Names */

/* The iid of a function; 0 when memory runs out. */
static inline uint32_t function_iid(perfetto_writer *w, uint64_t id)
{
    uint32_t iid = tl_hash_get(&w->function, id);
    if (TL_LIKELY(iid != TL_HASH_NONE))
        return iid;
    iid = w->line.context.trace->ncls + w->function.n + 1;
    return tl_hash_put(&w->function, id, iid) ? iid : 0;
}

/* InternedData with one name, if the sequence does not have it yet. */
static bool intern_name(perfetto_writer *w, uint32_t track, uint32_t iid, const char *name)
{
    tl_pb *p = &w->packet;
    size_t interned = tl_pb_begin(p, PACKET_INTERNED_DATA);
    size_t entry = tl_pb_begin(p, INTERNED_EVENT_NAMES);
    tl_pb_u64(p, INTERNED_IID, iid);
    tl_pb_string(p, INTERNED_NAME, name);
    tl_pb_end(p, entry);
    tl_pb_end(p, interned);
    return tl_hash_put(&w->interned, (uint64_t)track << 32 | iid, w->track[track].generation);
}

/* Events */

static inline char *put_varint(char *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (char)(v | 0x80);
    *p++ = (char)v;
    return p;
}

/* Most bytes of a packet with only sequence, time, type and iid: its length takes 1 byte. */
enum { SMALL_PACKET_MAX = 64 };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* iid 0: none. */
TL_ALWAYS_INLINE void write_small(perfetto_writer *w, uint32_t track, uint64_t ns, unsigned type, uint32_t iid)
{
    char *start = tl_output_reserve(w->line.context.out, SMALL_PACKET_MAX), *p = start + 2;
    *p++ = PACKET_TIMESTAMP << 3 | WIRE_VARINT;
    p = put_varint(p, ns);
    *p++ = PACKET_SEQUENCE_ID << 3 | WIRE_VARINT;
    p = put_varint(p, (uint64_t)track + FIRST_TRACK_SEQUENCE);
    *p++ = PACKET_SEQUENCE_FLAGS << 3 | WIRE_VARINT;
    *p++ = SEQUENCE_NEEDS_STATE;
    *p++ = PACKET_TRACK_EVENT << 3 | WIRE_BYTES;
    char *length = p++;
    *p++ = EVENT_TYPE << 3 | WIRE_VARINT;
    *p++ = (char)type;
    if (iid > 0) {
        *p++ = EVENT_NAME_IID << 3 | WIRE_VARINT;
        p = put_varint(p, iid);
    }
    *length = (char)(p - length - 1);
    start[0] = TRACE_PACKET << 3 | WIRE_BYTES;
    start[1] = (char)(p - start - 2);
    tl_output_commit(w->line.context.out, p);
}

/* A begin or an instant: small if the sequence has the name and there is nothing else to write. */
static inline bool write_named(perfetto_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns,
                               unsigned type)
{
    uint32_t track = b->track[i];
    uint32_t iid = c->key == TL_KEY_FUNCTION ? function_iid(w, b->key[i]) : c->id + 1;
    bool known = tl_hash_get(&w->interned, (uint64_t)track << 32 | iid) == w->track[track].generation;
    if (iid == 0)
        return false;
    if (TL_LIKELY(known && c->nfield == 0 && !tl_key_name(c))) {
        write_small(w, track, ns, type, iid);
        return true;
    }
    size_t at[2];
    char text[24];
    perfetto_begin_event(w, track, ns, type, 0, at);
    tl_pb_u64(&w->packet, EVENT_NAME_IID, iid);
    perfetto_annotations(&w->packet, &w->fields, c, b, i);
    tl_pb_end(&w->packet, at[1]);
    if (!known && !intern_name(w, track, iid,
                               c->key == TL_KEY_FUNCTION ? tl_timeline_function(&w->line, b->key[i], text) : c->name))
        return false;
    return perfetto_end_packet(w, at[0]);
}

static inline bool write_enter(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns)
{
    return write_named(writer, c, b, i, ns, TYPE_SLICE_BEGIN);
}

static inline bool write_exit(void *writer, uint32_t track, uint64_t function, uint64_t ns)
{
    (void)function;
    write_small(writer, track, ns, TYPE_SLICE_END, 0);
    return true;
}

static inline bool write_instant(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns)
{
    return (c->kind != TL_LOSS || begin_sequence(writer, b->track[i], CLEAR_LOSS)) &&
           write_named(writer, c, b, i, ns, TYPE_INSTANT);
}

/* Counters */

static bool describe_counter(perfetto_writer *w, uint64_t uuid, uint32_t track, const tl_class *c, uint32_t field)
{
    size_t at[2];
    if (tl_hash_get(&w->counter, uuid) != TL_HASH_NONE)
        return true;
    perfetto_begin_track(w, track, uuid, UUID_THREAD | track, at);
    size_t name = tl_pb_begin(&w->packet, DESCRIPTOR_NAME);
    tl_timeline_counter_name(&w->packet, c, field);
    tl_pb_end(&w->packet, name);
    tl_pb_end(&w->packet, tl_pb_begin(&w->packet, DESCRIPTOR_COUNTER));
    return perfetto_end_event(w, at) && tl_hash_put(&w->counter, uuid, 1);
}

bool perfetto_write_value(perfetto_writer *w, uint32_t track, uint64_t uuid, uint64_t ns, const tl_value *v)
{
    size_t at[2];
    perfetto_begin_event(w, track, ns, TYPE_COUNTER, uuid, at);
    if (v->type == TL_F64)
        perfetto_double(&w->packet, EVENT_DOUBLE_COUNTER_VALUE, v->as.f);
    else if (v->type == TL_U64 && v->as.u > INT64_MAX)
        perfetto_double(&w->packet, EVENT_DOUBLE_COUNTER_VALUE, (double)v->as.u);
    else
        tl_pb_u64(&w->packet, EVENT_COUNTER_VALUE, v->as.u);
    return perfetto_end_event(w, at);
}

/* Each numeric field of a counter is a counter track below its thread. */
static bool write_counter(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns, bool *any)
{
    const uint64_t of_class = UUID_COUNTER | (uint64_t)b->track[i] << (COUNTER_FIELDS_BITS + COUNTER_CLASS_BITS) |
                              (uint64_t)c->id << COUNTER_FIELDS_BITS;
    tl_payload p = tl_payload_of(c, b, i);
    while (tl_payload_next_number(&p)) {
        if (p.field >> COUNTER_FIELDS_BITS || c->id >> COUNTER_CLASS_BITS)
            break;
        if (!describe_counter(writer, of_class | p.field, b->track[i], c, p.field) ||
            !perfetto_write_value(writer, b->track[i], of_class | p.field, ns, p.v))
            return false;
        *any = true;
    }
    return true;
}

/* What only the end of a span knows. */
static const tl_pb *span_args(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, const tl_span *s)
{
    perfetto_writer *w = writer;
    tl_pb_clear(&w->packet);
    if (s->ended)
        perfetto_new_annotations(&w->packet, &w->fields, c, s->cls, b, i);
    else
        perfetto_annotations(&w->packet, &w->fields, c, b, i);
    return w->packet.failed ? NULL : &w->packet;
}

static const tl_drawing drawing = {
    .no_memory = "perfetto: no memory for a packet",
    .open_calls = "calls still open at the end (left unfinished)",
    .open_spans = "begins still open at the end (left unfinished)",
    .deep_stacks = "samples of stacks of over 1024 calls (written without the innermost)",
    .depth_most = PERFETTO_DEPTH_MAX,
    .ready = ready_sequence,
    .enter = write_enter,
    .exit = write_exit,
    .instant = write_instant,
    .counter = write_counter,
    .args = span_args,
    .span = perfetto_write_span,
    .gauge = perfetto_write_gauge,
    .samples = perfetto_write_samples,
};

/* The writer */

static int perfetto_create(void *writer, const tl_write_context *context, tl_error *e)
{
    perfetto_writer *w = writer;
    int status = tl_timeline_init(&w->line, context, &drawing, e);
    if (status < 0)
        return status;
    return perfetto_fields_init(&w->fields, context->trace->ncls) && write_clock_snapshot(w)
               ? 0
               : tl_timeline_no_memory(&w->line, e);
}

static int perfetto_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    return tl_timeline_write(writer, &drawing, b, from, to, e);
}

static int perfetto_finish(void *writer, tl_error *e)
{
    int status = tl_timeline_finish(writer, e);
    if (status >= 0)
        tl_timeline_report(writer, 0);
    return status;
}

static void perfetto_discard(void *writer)
{
    perfetto_writer *w = writer;
    tl_timeline_fini(&w->line);
    free(w->track);
    free(w->last_sample);
    tl_hash_fini(&w->function);
    tl_hash_fini(&w->interned);
    tl_hash_fini(&w->process);
    tl_hash_fini(&w->counter);
    tl_hash_fini(&w->own_track);
    tl_hash_fini(&w->told_label);
    tl_hash_fini(&w->told_node);
    tl_fields_fini(&w->fields);
    tl_pb_fini(&w->packet);
}

const tl_format tl_format_perfetto = {
    .name = "perfetto",
    .summary = "Perfetto protobuf trace, for ui.perfetto.dev",
    .suffixes = ".pftrace .perfetto-trace",
    .event_writer = &(const tl_event_writer){.track_order = true,
                                             .wants = {.fields = true, .calls = true},
                                             .size = sizeof(perfetto_writer),
                                             .create = perfetto_create,
                                             .accept = tl_accept_events,
                                             .write = perfetto_write,
                                             .finish = perfetto_finish,
                                             .discard = perfetto_discard},
};
