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
 *         trace. (The default would be BOOTTIME, which no tick counter here is.) It ties UTC to that where it is known.
 * Losses  A TL_LOSS event becomes the flag "previous packet dropped" in a packet that clears the state of the sequence:
 *         readers forget what they have interned. If the input was damaged or lost events, nobody knows where: then no
 *         sequence has the flag "first packet" and all begin with "dropped".
 * Calls   Ends nest: an exit closes the calls above its own, exits of functions that are not open are dropped, times
 *         that go back are moved forward. Calls that are open at the end stay open. */
#include <stdlib.h>
#include <string.h>

#include "base/io/base_name.h"
#include "format/perfetto/perfetto_writer.h"

size_t perfetto_begin_packet(tl_pb *p)
{
    tl_pb_clear(p);
    return tl_pb_begin(p, TRACE_PACKET);
}

bool perfetto_end_packet(perfetto_writer *w, size_t at)
{
    tl_pb_end(&w->packet, at);
    if (w->packet.failed)
        return false;
    tl_output_write(w->context.out, w->packet.data, w->packet.n);
    return true;
}

bool perfetto_has_damage(const tl_trace *t)
{
    return t->damage_count > 0 || t->lost_events > 0 || t->lost_packets > 0;
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
    const tl_trace *t = w->context.trace;
    tl_pb *p = &w->packet;
    size_t packet = perfetto_begin_packet(p);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, FILE_SEQUENCE);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    tl_pb_u64(p, PACKET_FIRST_ON_SEQUENCE, 1);
    size_t snapshot = tl_pb_begin(p, PACKET_CLOCK_SNAPSHOT);
    put_clock(p, CLOCK_MONOTONIC_ID, 0);
    if (t->clock.has_utc)
        put_clock(p, CLOCK_REALTIME_ID,
                  (uint64_t)t->clock.utc_offset_ns + tl_scale_ns(&t->scale, w->context.options->begin));
    tl_pb_u64(p, SNAPSHOT_PRIMARY, CLOCK_MONOTONIC_ID);
    tl_pb_end(p, snapshot);
    return perfetto_end_packet(w, packet);
}

static int perfetto_create(void *writer, const tl_write_context *context, tl_error *e)
{
    perfetto_writer *w = writer;
    w->context = *context;
    bool ok =
        perfetto_runtime_init(w) && perfetto_fields_init(&w->fields, context->trace->ncls) && write_clock_snapshot(w);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "perfetto: no memory for a packet");
}

static tl_accept perfetto_accept(void *writer, const tl_class *c)
{
    (void)writer;
    return c->kind == TL_FORMAT ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

/* What to call the traced program: the title, or the file name of the binary or of the trace. */
const char *perfetto_process_name(const tl_write_context *c)
{
    if (c->options->title)
        return c->options->title;
    return tl_base_name(c->trace->exe ? c->trace->exe : c->trace->path ? c->trace->path : "trace");
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
    size_t packet = perfetto_begin_packet(p);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, FILE_SEQUENCE);
    size_t descriptor = tl_pb_begin(p, PACKET_TRACK_DESCRIPTOR);
    tl_pb_u64(p, DESCRIPTOR_UUID, perfetto_process_uuid(pid));
    size_t process = tl_pb_begin(p, DESCRIPTOR_PROCESS);
    tl_pb_u64(p, PROCESS_PID, (uint64_t)(int64_t)(int32_t)pid);
    tl_pb_string(p, PROCESS_NAME, perfetto_process_name(&w->context));
    tl_pb_end(p, process);
    tl_pb_end(p, descriptor);
    return perfetto_end_packet(w, packet) && tl_hash_put(&w->process, (uint64_t)pid, 1);
}

/* Why the state of a sequence is cleared. */
typedef enum clear_reason { CLEAR_FIRST, CLEAR_LOSS, CLEAR_FORGOTTEN } clear_reason;

/* Begins a sequence, or begins it again with cleared state. */
static bool begin_sequence(perfetto_writer *w, uint32_t index, clear_reason reason)
{
    const tl_track *track = tl_trace_track(w->context.trace, index);
    const int64_t pid = tl_track_pid(w->context.trace, index);
    int64_t tid;
    if (!tl_track_tid(&w->ids, w->context.trace, index, &tid) || !describe_process(w, pid))
        return false;
    tl_pb *p = &w->packet;
    size_t packet = perfetto_begin_packet(p);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, (uint64_t)index + FIRST_TRACK_SEQUENCE);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    if (reason == CLEAR_FIRST && !perfetto_has_damage(w->context.trace))
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

/* Makes sure that the sequence of a track has begun and knows what the writer thinks it knows. */
static inline bool ready_sequence(perfetto_writer *w, uint32_t index)
{
    if (TL_UNLIKELY(index >= w->ntrack)) {
        uint32_t n = w->ntrack ? w->ntrack : 16;
        while (n <= index && n < TL_TRACKS_MAX)
            n *= 2;
        perfetto_track *track = index < n ? realloc(w->track, n * sizeof *track) : NULL;
        if (!track)
            return false;
        memset(track + w->ntrack, 0, (n - w->ntrack) * sizeof *track);
        w->track = track;
        w->ntrack = n;
    }
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
    iid = w->context.trace->ncls + w->function.n + 1;
    return tl_hash_put(&w->function, id, iid) ? iid : 0;
}

/* Forgets all names when they have become too many; all sequences then begin again. */
static void keep_bound(perfetto_writer *w)
{
    if (TL_LIKELY(w->function.n < INTERNED_MAX && w->interned.n < INTERNED_MAX))
        return;
    tl_hash_fini(&w->function);
    tl_hash_fini(&w->interned);
    w->epoch++;
}

/* InternedData with one name, if the sequence was not told it yet. */
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

/* Most bytes of a packet with nothing but sequence, time, type and iid: 1 byte of length is enough for it. */
enum { SMALL_PACKET_MAX = 64 };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* iid 0: none. */
TL_ALWAYS_INLINE void write_small(perfetto_writer *w, uint32_t track, uint64_t ns, unsigned type, uint32_t iid)
{
    char *start = tl_output_reserve(w->context.out, SMALL_PACKET_MAX), *p = start + 2;
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
    tl_output_commit(w->context.out, p);
}

void perfetto_begin_event(perfetto_writer *w, uint32_t track, uint64_t ns, unsigned type, size_t at[2])
{
    tl_pb *p = &w->packet;
    at[0] = perfetto_begin_packet(p);
    tl_pb_u64(p, PACKET_TIMESTAMP, ns);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, (uint64_t)track + FIRST_TRACK_SEQUENCE);
    tl_pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    at[1] = tl_pb_begin(p, PACKET_TRACK_EVENT);
    tl_pb_u64(p, EVENT_TYPE, type);
}

/* The text of a name: of a function, or of a class if `c` has no function. */
static const char *name_text(const perfetto_writer *w, const tl_class *c, uint64_t key, char text[static 24])
{
    if (c->key != TL_KEY_FUNCTION)
        return c->name;
    const tl_function *f = tl_trace_function(w->context.trace, (int64_t)key);
    if (f && f->name)
        return f->name;
    text[0] = '#';
    *tl_put_i64(text + 1, (int64_t)key) = 0;
    return text;
}

/* A begin or an instant: small if the sequence knows the name and there is nothing else to say. */
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
    perfetto_begin_event(w, track, ns, type, at);
    tl_pb_u64(&w->packet, EVENT_NAME_IID, iid);
    perfetto_annotations(&w->packet, &w->fields, c, b, i);
    tl_pb_end(&w->packet, at[1]);
    if (!known && !intern_name(w, track, iid, name_text(w, c, b->key[i], text)))
        return false;
    return perfetto_end_packet(w, at[0]);
}

/* Counters */

static bool describe_counter(perfetto_writer *w, uint64_t uuid, uint32_t track, const tl_class *c, uint32_t field)
{
    if (tl_hash_get(&w->counter, uuid) != TL_HASH_NONE)
        return true;
    tl_pb *p = &w->packet;
    size_t packet = perfetto_begin_packet(p);
    tl_pb_u64(p, PACKET_SEQUENCE_ID, (uint64_t)track + FIRST_TRACK_SEQUENCE);
    size_t descriptor = tl_pb_begin(p, PACKET_TRACK_DESCRIPTOR);
    tl_pb_u64(p, DESCRIPTOR_UUID, uuid);
    tl_pb_u64(p, DESCRIPTOR_PARENT, UUID_THREAD | track);
    size_t name = tl_pb_begin(p, DESCRIPTOR_NAME);
    tl_pb_raw(p, c->name, strlen(c->name));
    if (c->nfield - c->ncontext > 1) {
        tl_pb_raw(p, " ", 1);
        tl_pb_raw(p, c->field[field].name, strlen(c->field[field].name));
    }
    tl_pb_end(p, name);
    tl_pb_end(p, tl_pb_begin(p, DESCRIPTOR_COUNTER));
    tl_pb_end(p, descriptor);
    return perfetto_end_packet(w, packet) && tl_hash_put(&w->counter, uuid, 1);
}

static bool write_value(perfetto_writer *w, uint32_t track, uint64_t uuid, uint64_t ns, const tl_value *v)
{
    size_t at[2];
    perfetto_begin_event(w, track, ns, TYPE_COUNTER, at);
    tl_pb_u64(&w->packet, EVENT_TRACK_UUID, uuid);
    if (v->type == TL_F64)
        perfetto_double(&w->packet, EVENT_DOUBLE_COUNTER_VALUE, v->as.f);
    else if (v->type == TL_U64 && v->as.u > INT64_MAX)
        perfetto_double(&w->packet, EVENT_DOUBLE_COUNTER_VALUE, (double)v->as.u);
    else
        tl_pb_u64(&w->packet, EVENT_COUNTER_VALUE, v->as.u);
    tl_pb_end(&w->packet, at[1]);
    return perfetto_end_packet(w, at[0]);
}

/* Each numeric field of a counter is a counter track below its thread. */
static bool write_counter(perfetto_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns)
{
    bool any = false;
    const tl_value *end = b->val ? b->v + b->val[i + 1] : NULL;
    const tl_value *v = b->val ? tl_values_skip(b->v + b->val[i], end, c->ncontext) : NULL;
    for (uint32_t f = c->ncontext; f < c->nfield && v < end; v = tl_value_skip(v, end), f++) {
        bool number = v->type == TL_U64 || v->type == TL_I64 || v->type == TL_F64 || v->type == TL_BOOL;
        if (!number || f >> COUNTER_FIELDS_BITS || c->id >> COUNTER_CLASS_BITS)
            continue;
        uint64_t uuid = UUID_COUNTER | (uint64_t)b->track[i] << (COUNTER_FIELDS_BITS + COUNTER_CLASS_BITS) |
                        (uint64_t)c->id << COUNTER_FIELDS_BITS | f;
        if (!describe_counter(w, uuid, b->track[i], c, f) || !write_value(w, b->track[i], uuid, ns, v))
            return false;
        any = true;
    }
    w->no_number += !any;
    return true;
}

static inline uint64_t to_ns(perfetto_writer *w, uint64_t ts)
{
    uint64_t begin = w->context.options->begin;
    if (TL_LIKELY(ts >= begin))
        return tl_scale_ns(&w->context.trace->scale, ts - begin);
    w->before_begin++;
    return 0;
}

static bool write_one(perfetto_writer *w, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &w->context.trace->cls[b->cls[i]];
    uint32_t track = b->track[i];
    tl_nest_track *t = tl_nest_get(&w->nest, track);
    if (!t)
        return false;
    bool function = c->key == TL_KEY_FUNCTION;
    uint32_t exits = 0;
    if (function && c->kind == TL_EXIT && (exits = tl_nest_exit(&w->nest, t, b->key[i])) == 0)
        return true;
    keep_bound(w);
    if (!ready_sequence(w, track))
        return false;
    const uint64_t ts =
        TL_LIKELY(function || !w->managed) ? tl_nest_time(&w->nest, t, b->ts[i]) : tl_nest_own_time(t, b->ts[i]);
    const uint64_t ns = to_ns(w, ts);

    if (exits > 0) {
        w->closed_early += exits - 1;
        for (; exits > 0; exits--) {
            tl_nest_pop(t);
            write_small(w, track, ns, TYPE_SLICE_END, 0);
        }
        return true;
    }
    if (function && c->kind == TL_ENTER) {
        tl_nest_result opened = tl_nest_enter(&w->nest, t, b->key[i]);
        return opened == TL_NEST_TOO_DEEP ||
               (opened == TL_NEST_OPENED && write_named(w, c, b, i, ns, TYPE_SLICE_BEGIN));
    }
    const perfetto_use use = (perfetto_use)w->use[c->id];
    if (use != PERFETTO_EVENT && !perfetto_runtime_event(w, c, b, i, ts))
        return false;
    if (use != PERFETTO_EVENT && use != PERFETTO_CODE)
        return true;
    if (c->kind == TL_COUNTER)
        return write_counter(w, c, b, i, ns);
    if (c->kind == TL_LOSS && !begin_sequence(w, track, CLEAR_LOSS))
        return false;
    return write_named(w, c, b, i, ns, TYPE_INSTANT);
}

static int perfetto_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    perfetto_writer *w = writer;
    tl_stack_nodes_run(&w->stacks, b);
    for (uint32_t i = from; i < to; i++)
        if (!write_one(w, b, i))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "perfetto: no memory for a packet");
    return 0;
}

static int perfetto_finish(void *writer, tl_error *e)
{
    perfetto_writer *w = writer;
    if (!perfetto_runtime_finish(w))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "perfetto: no memory for a packet");
    for (uint32_t i = 0; i < w->nest.ntrack; i++)
        w->open_at_end += w->nest.track[i].n;
    const struct {
        const char *what;
        uint64_t n;
    } drop[] = {
        {"exits of functions that were not open", w->nest.unmatched_exits},
        {"entries deeper than 1048576 calls", w->nest.too_deep},
        {"counters without a number", w->no_number},
        {"calls without an exit of their own (closed with their caller)", w->closed_early},
        {"calls still open at the end (left unfinished)", w->open_at_end},
        {"times that went back (moved forward)", w->nest.moved},
        {"times before the begin (moved there)", w->before_begin},
    };
    for (size_t i = 0; i < TL_COUNT(drop); i++)
        if (drop[i].n > 0)
            tl_drops_add(w->context.drops, drop[i].what, drop[i].n);
    perfetto_runtime_report(w);
    return 0;
}

static void perfetto_discard(void *writer)
{
    perfetto_writer *w = writer;
    tl_nest_fini(&w->nest);
    free(w->track);
    tl_hash_fini(&w->function);
    tl_hash_fini(&w->interned);
    tl_hash_fini(&w->process);
    tl_hash_fini(&w->counter);
    perfetto_fields_fini(&w->fields);
    perfetto_runtime_fini(w);
    tl_pb_fini(&w->packet);
}

const tl_format tl_format_perfetto = {
    .name = "perfetto",
    .summary = "Perfetto protobuf trace, for ui.perfetto.dev",
    .suffixes = ".pftrace .perfetto-trace",
    .track_order = true,
    .writes_fields = true,
    .writes_calls = true,
    .writer_size = sizeof(perfetto_writer),
    .create = perfetto_create,
    .accept = perfetto_accept,
    .write = perfetto_write,
    .finish = perfetto_finish,
    .discard = perfetto_discard,
};
