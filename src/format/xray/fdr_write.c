/* Writes FDR files of versions 1 to 5, always little-endian, with zeros in all unused bytes; see fdr_layout.h.
 *
 * The file is canonical: it depends only on the events of each track, the order in which tracks appear, and the
 * version, so that reading a file written here and writing it again gives the same bytes. Three rules ensure that:
 *
 *   Packing   A buffer is filled until the next event does not fit. An entry and its arguments stay together.
 *   Tracks    The first buffer of a track comes after the first buffers of all tracks that had events earlier: readers
 *             meet the tracks in the order that the writer did.
 *   Order     Readers order the buffers of a thread by wall time, then first time, then place. The wall time is the
 *             first time of the buffer in microseconds, but never less than that of the buffer before, and one more
 *             if the first time alone would sort it before that one.
 *
 * Times: a difference that the record cannot hold (u32 for functions, i32 for events, or negative) is preceded by
 * TSCWrap and becomes 0. A NewCPUId sets the time, too, and replaces the TSCWrap. */
#include "format/xray/fdr_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/xray/fdr_layout.h"
#include "format/xray/fdr_typed.h"

enum { BIG = false, NANOSECONDS = 1000, MICROSECONDS = 1000000 };

static uint8_t *metadata(uint8_t *p, int kind)
{
    memset(p, 0, FDR_METADATA_SIZE);
    p[0] = FDR_BYTE0(kind, BIG);
    return p;
}

int fdr_create(void *writer, const tl_write_context *context, tl_error *e)
{
    fdr_writer *w = writer;
    w->context = *context;
    int status = xray_write_version(context, "xray-fdr", FDR_VERSION_MAX, &w->version, e);
    if (status < 0)
        return status;
    w->action = xray_write_actions(context->trace);
    if (!w->action)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xray-fdr: no memory for the event classes");
    for (uint32_t i = 0; i < context->trace->ncls; i++)
        if (fdr_typed_event(context->trace, &context->trace->cls[i]))
            w->action[i] = FDR_WRITE_KNOWN;

    uint8_t header[FDR_HEADER_SIZE] = {0};
    tl_store16(header + FDR_HEADER_VERSION, (uint16_t)w->version, BIG);
    tl_store16(header + FDR_HEADER_TYPE, FDR_TYPE, BIG);
    tl_store32(header + FDR_HEADER_FLAGS, FDR_FLAG_CONSTANT_TSC | FDR_FLAG_NONSTOP_TSC, BIG);
    tl_store64(header + FDR_HEADER_HZ, context->trace->clock.hz, BIG);
    tl_store64(header + FDR_HEADER_BUFFER_SIZE, w->version == 1 ? FDR_SLOT_SIZE : FDR_BUFFER_MAX, BIG);
    const bool recorded = context->trace->recording != NULL, notes = recorded && w->version == FDR_VERSION_MAX;
    w->no_notes = recorded && !notes;
    if (notes)
        memcpy(header + FDR_HEADER_MARK, FDR_MARK_DONE, FDR_MARK_SIZE);
    tl_output_write(context->out, header, sizeof header);
    if (notes)
        fdr_write_notes(w);
    return 0;
}

tl_accept fdr_accept(void *writer, const tl_class *c)
{
    const fdr_writer *w = writer;
    if (c->kind == TL_FORMAT)
        return TL_ACCEPT_IGNORE;
    if (fdr_typed_event(w->context.trace, c))
        return TL_ACCEPT_KEEP;
    return xray_write_action(c) == XRAY_WRITE_NOTHING ? TL_ACCEPT_DROP : TL_ACCEPT_KEEP;
}

/* Buffers */

/* The limit of a buffer's content, and of what precedes it in the file. */
static size_t buffer_limit(const fdr_writer *w)
{
    return w->version == 1 ? FDR_SLOT_SIZE - FDR_METADATA_SIZE /* EndOfBuffer */
                           : FDR_METADATA_SIZE + FDR_BUFFER_MAX /* BufferExtents */;
}

static void write_buffer(fdr_writer *w, fdr_open *b)
{
    static const uint8_t zeros[1024];
    if (w->version > 1) {
        tl_store64(b->data + FDR_BUFFER_EXTENTS_BYTES, b->n - FDR_METADATA_SIZE, BIG);
        tl_output_write(w->context.out, b->data, b->n);
        return;
    }
    metadata(b->data + b->n, FDR_END_OF_BUFFER); /* buffer_limit() left room */
    b->n += FDR_METADATA_SIZE;
    tl_output_write(w->context.out, b->data, b->n);
    for (size_t rest = FDR_SLOT_SIZE - b->n; rest > 0;) {
        size_t n = rest < sizeof zeros ? rest : sizeof zeros;
        tl_output_write(w->context.out, zeros, n);
        rest -= n;
    }
}

static void close_buffer(fdr_writer *w, uint32_t index)
{
    fdr_open *b = &w->open[index];
    write_buffer(w, b);
    w->track[b->track].flushed = true;
    w->track[b->track].open = 0;
    w->last = 0;
    fdr_open *end = &w->open[--w->nopen];
    if (b != end) { /* the last one moves into the gap; this one's memory is reused */
        fdr_open gap = *b;
        *b = *end;
        *end = gap;
        w->track[b->track].open = index + 1;
    }
    if (end->capacity > FDR_SLOT_SIZE + FDR_METADATA_SIZE) { /* a large event must not hold memory for ever */
        free(end->data);
        *end = (fdr_open){0};
    }
}

/* Writes the open buffer of a track, after the first buffers of all tracks that began before it. */
static void flush_track(fdr_writer *w, uint32_t track)
{
    while (!w->track[track].flushed) {
        fdr_track *first = &w->track[w->order[w->order_flushed++]];
        if (first->open && !first->flushed)
            close_buffer(w, first->open - 1);
    }
    if (w->track[track].open)
        close_buffer(w, w->track[track].open - 1);
}

static void flush_longest_waiting(fdr_writer *w)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < w->nopen; i++)
        if (w->open[i].used < w->open[oldest].used)
            oldest = i;
    flush_track(w, w->open[oldest].track);
}

static bool ensure(fdr_open *b, size_t n)
{
    return TL_GROW(b->data, b->n, n, b->capacity);
}

static fdr_track *get_track(fdr_writer *w, uint32_t track)
{
    return TL_GROW_TO(w->track, w->ntrack, track, TL_TRACKS_MAX) ? &w->track[track] : NULL;
}

/* Records that a track has its first event. */
static bool begin_track(fdr_writer *w, fdr_track *t, uint32_t track)
{
    if (!TL_GROW(w->order, w->norder, 1, w->order_capacity))
        return false;
    w->order[w->norder++] = track;
    const tl_trace *trace = w->context.trace;
    t->tid = xray_write_tid(trace, track, &w->cut_id);
    t->has_pid = xray_write_pid(trace, track, &t->pid, &w->cut_id);
    if (t->has_pid && w->version < 3) {
        t->has_pid = false;
        w->no_pid++;
    }
    t->begun = true;
    return true;
}

static void put_walltime(fdr_writer *w, fdr_track *t, uint8_t *p, uint64_t tsc)
{
    uint64_t wall = tl_scale_ns(&w->context.trace->scale, tsc) / NANOSECONDS;
    if (t->flushed) {
        if (wall < t->wall)
            wall = t->wall;
        if (wall == t->wall && tsc < t->first_tsc)
            wall++;
    }
    t->wall = wall;
    t->first_tsc = tsc;
    tl_store64(p + FDR_WALLTIME_SECONDS, wall / MICROSECONDS, BIG);
    tl_store32(p + FDR_WALLTIME_MICROSECONDS, (uint32_t)(wall % MICROSECONDS), BIG);
}

static void put_cpu(fdr_open *b, uint16_t cpu, uint64_t tsc)
{
    uint8_t *p = metadata(b->data + b->n, FDR_NEW_CPU_ID);
    tl_store16(p + FDR_NEW_CPU_ID_CPU, cpu, BIG);
    tl_store64(p + FDR_NEW_CPU_ID_TSC, tsc, BIG);
    b->n += FDR_METADATA_SIZE;
    b->cpu = cpu;
    b->tsc = tsc;
}

/* BufferExtents, NewBuffer, WalltimeMarker, Pid, NewCPUId. */
enum { PREAMBLE_MAX = 5 * FDR_METADATA_SIZE };

/* A new buffer for a track without an open one; NULL when memory runs out. */
static fdr_open *open_buffer(fdr_writer *w, uint32_t track, uint64_t tsc, uint16_t cpu)
{
    fdr_track *t = get_track(w, track);
    if (!t || (!t->begun && !begin_track(w, t, track)))
        return NULL;
    if (w->nopen == FDR_OPEN_MAX)
        flush_longest_waiting(w);
    fdr_open *b = &w->open[w->nopen];
    b->n = 0;
    if (!ensure(b, buffer_limit(w) + FDR_METADATA_SIZE))
        return NULL;
    t->open = ++w->nopen;
    b->track = track;
    b->used = ++w->turn;
    w->last = t->open;

    uint8_t *p = b->data;
    if (w->version > 1) {
        metadata(p, FDR_BUFFER_EXTENTS);
        p += FDR_METADATA_SIZE;
    }
    metadata(p, FDR_NEW_BUFFER);
    tl_store32(p + FDR_NEW_BUFFER_TID, t->tid, BIG);
    p += FDR_METADATA_SIZE;
    put_walltime(w, t, metadata(p, FDR_WALLTIME), tsc);
    p += FDR_METADATA_SIZE;
    if (t->has_pid) {
        tl_store32(metadata(p, FDR_PID) + FDR_PID_PID, t->pid, BIG);
        p += FDR_METADATA_SIZE;
    }
    b->n = (size_t)(p - b->data);
    put_cpu(b, cpu, tsc);
    return b;
}

static fdr_open *find_buffer(fdr_writer *w, uint32_t track)
{
    if (TL_LIKELY(w->last > 0 && w->open[w->last - 1].track == track))
        return &w->open[w->last - 1];
    if (track >= w->ntrack || !w->track[track].open)
        return NULL;
    w->last = w->track[track].open;
    w->open[w->last - 1].used = ++w->turn;
    return &w->open[w->last - 1];
}

/* Records */

/* How a record expresses its time. */
typedef enum fdr_timing { ADD_U32, ADD_I32, ABSOLUTE_TIME, ABSOLUTE_TIME_AND_CPU } fdr_timing;

static bool reaches(fdr_timing timing, uint64_t difference)
{
    if (timing == ADD_U32)
        return difference <= UINT32_MAX;
    if (timing == ADD_I32)
        return difference + ((uint64_t)1 << 31) <= UINT32_MAX; /* -2^31 .. 2^31 - 1 */
    return true;
}

/* Room for `size` bytes of an event in the buffer of its track, after the records that set processor and time for it.
 * *out is NULL if the event cannot be held. */
static inline int make_room(fdr_writer *w, uint32_t track, uint64_t tsc, uint16_t cpu, fdr_timing timing, size_t size,
                            fdr_open **out)
{
    fdr_open *b = find_buffer(w, track);
    if (TL_LIKELY(b)) {
        bool new_cpu = timing != ABSOLUTE_TIME_AND_CPU && b->cpu != cpu;
        bool wrap = !new_cpu && !reaches(timing, tsc - b->tsc);
        if (TL_LIKELY(size + (new_cpu || wrap ? FDR_METADATA_SIZE : 0) <= buffer_limit(w) - b->n)) {
            if (new_cpu) {
                put_cpu(b, cpu, tsc);
            } else if (wrap) {
                tl_store64(metadata(b->data + b->n, FDR_TSC_WRAP) + FDR_TSC_WRAP_TSC, tsc, BIG);
                b->n += FDR_METADATA_SIZE;
                b->tsc = tsc;
            }
            *out = b;
            return 0;
        }
    }
    *out = NULL;
    if (w->version == 1 && size > buffer_limit(w) - (PREAMBLE_MAX - 2 * FDR_METADATA_SIZE)) {
        w->wide_slot++;
        return 0;
    }
    if (b)
        flush_track(w, track);
    b = open_buffer(w, track, tsc, cpu);
    if (!b || !ensure(b, size))
        return TL_ENOMEM;
    *out = b;
    return 0;
}

/* Writes a buffer at once if it outgrew its limit for one event. */
static inline void event_done(fdr_writer *w, const fdr_open *b)
{
    if (TL_UNLIKELY(b->n > buffer_limit(w)))
        flush_track(w, b->track);
}

static uint16_t known_cpu(fdr_writer *w, const tl_batch *b, uint32_t i)
{
    int32_t cpu = b->cpu ? b->cpu[i] : -1;
    if (TL_UNLIKELY(cpu > UINT16_MAX))
        w->wide_cpu++;
    return cpu < 0 ? 0 : (uint16_t)(uint32_t)cpu;
}

static inline int write_function(fdr_writer *w, const tl_batch *b, uint32_t i, xray_action action)
{
    uint64_t id = b->key[i];
    if (TL_UNLIKELY(id > FDR_ID_MAX)) {
        w->wide_id++;
        return 0;
    }
    size_t size = FDR_FUNCTION_SIZE;
    if (TL_UNLIKELY(action == XRAY_WRITE_ENTER_ARGS)) {
        if (!xray_write_arguments(&w->args, b, i, &w->other_args))
            return TL_ENOMEM;
        size += (size_t)w->args.n * FDR_METADATA_SIZE;
    }
    fdr_open *o;
    int status = make_room(w, b->track[i], b->ts[i], known_cpu(w, b, i), ADD_U32, size, &o);
    if (status < 0 || !o)
        return status;

    uint8_t *p = o->data + o->n;
    uint32_t word = (uint32_t)id << FDR_ID_SHIFT_LITTLE | (uint32_t)action << FDR_ACTION_SHIFT_LITTLE;
    tl_store32(p + FDR_FUNCTION_WORD, word, BIG);
    tl_store32(p + FDR_FUNCTION_DELTA, (uint32_t)(b->ts[i] - o->tsc), BIG);
    o->tsc = b->ts[i];
    o->n += size;
    if (TL_UNLIKELY(action == XRAY_WRITE_ENTER_ARGS)) {
        p += FDR_FUNCTION_SIZE;
        for (uint32_t k = 0; k < w->args.n; k++, p += FDR_METADATA_SIZE)
            tl_store64(metadata(p, FDR_CALL_ARGUMENT) + FDR_CALL_ARGUMENT_VALUE, w->args.v[k], BIG);
        event_done(w, o);
    }
    return 0;
}

/* The parts of a custom or typed event. */
static bool event_parts(const tl_batch *b, uint32_t i, xray_action action, uint64_t *type, const tl_value **data)
{
    if (!b->val)
        return false;
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    if (action == XRAY_WRITE_TYPED && v < end) {
        *type = v->as.u;
        v++;
    }
    *data = v;
    return v < end && v->type == TL_BYTES;
}

static int write_event(fdr_writer *w, const tl_batch *b, uint32_t i, xray_action action)
{
    static const tl_value nothing = {.type = TL_BYTES};
    uint64_t type = 0;
    tl_value made = nothing;
    const tl_value *data = &made;
    if ((int)action == FDR_WRITE_KNOWN) {
        if (!fdr_write_known(w, b, i, &type, &made))
            return TL_ENOMEM;
        action = XRAY_WRITE_TYPED;
    } else if (!event_parts(b, i, action, &type, &data)) {
        data = &nothing;
    }
    if (type > UINT16_MAX || data->n > INT32_MAX) {
        uint64_t *count = type > UINT16_MAX ? &w->wide_type : &w->wide_payload;
        ++*count;
        return 0;
    }
    const bool typed = action == XRAY_WRITE_TYPED, adds = w->version >= 5, has_cpu = w->version == 4 && !typed;
    fdr_timing timing = adds ? ADD_I32 : has_cpu ? ABSOLUTE_TIME_AND_CPU : ABSOLUTE_TIME;
    uint16_t cpu = known_cpu(w, b, i);
    size_t size = FDR_METADATA_SIZE + (size_t)data->n;
    fdr_open *o;
    int status = make_room(w, b->track[i], b->ts[i], cpu, timing, size, &o);
    if (status < 0 || !o)
        return status;

    uint8_t *p = metadata(o->data + o->n, typed ? FDR_TYPED_EVENT : FDR_CUSTOM_EVENT);
    tl_store32(p + FDR_EVENT_SIZE, data->n, BIG);
    if (adds) {
        tl_store32(p + FDR_EVENT_DELTA, (uint32_t)(b->ts[i] - o->tsc), BIG);
        o->tsc = b->ts[i];
    } else {
        tl_store64(p + FDR_EVENT_TSC, b->ts[i], BIG);
    }
    if (typed)
        tl_store16(p + (adds ? FDR_TYPED_TYPE : FDR_TYPED_TYPE_OLD), (uint16_t)type, BIG);
    else if (has_cpu)
        tl_store16(p + FDR_CUSTOM_CPU, cpu, BIG);
    if (data->n > 0)
        memcpy(p + FDR_METADATA_SIZE, data->as.p, data->n);
    o->n += size;
    event_done(w, o);
    return 0;
}

int fdr_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    fdr_writer *w = writer;
    int status = 0;
    for (uint32_t i = from; i < to && status == 0; i++) {
        xray_action action = (xray_action)w->action[b->cls[i]];
        if (TL_LIKELY(action <= XRAY_WRITE_ENTER_ARGS))
            status = write_function(w, b, i, action);
        else if (action != XRAY_WRITE_NOTHING)
            status = write_event(w, b, i, action);
    }
    return status < 0 ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xray-fdr: no memory for a buffer") : 0;
}

int fdr_finish(void *writer, tl_error *e)
{
    fdr_writer *w = writer;
    if (w->wide_id > 0 && w->norder == 0 && !w->context.is_part)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "xray-fdr: numbers of functions have 28 bits there, and these are addresses");
    for (uint32_t i = 0; i < w->norder; i++)
        flush_track(w, w->order[i]);
    const struct {
        const char *what;
        uint64_t n;
    } drop[] = {
        {"function events with ids over 28 bits", w->wide_id},
        {"typed events with types over 16 bits", w->wide_type},
        {"events of 2 GiB and more", w->wide_payload},
        {"events larger than a slot of version 1", w->wide_slot},
        {"arguments that are not whole numbers", w->other_args},
        {"function names", w->context.trace->recording && !w->no_notes ? 0 : xray_write_names(w->context.trace)},
        {"processor numbers over 16 bits (truncated)", w->wide_cpu},
        {"process or thread ids over 32 bits (truncated)", w->cut_id},
        {"process ids, which versions 1 and 2 do not hold", w->no_pid},
    };
    for (size_t i = 0; i < TL_COUNT(drop); i++)
        if (drop[i].n > 0)
            tl_drops_add(w->context.drops, drop[i].what, drop[i].n);
    if (w->no_notes)
        tl_drops_add(w->context.drops, "the notes of the recording, which only version 5 holds", 1);
    return 0;
}

void fdr_discard(void *writer)
{
    fdr_writer *w = writer;
    for (uint32_t i = 0; i < FDR_OPEN_MAX; i++)
        free(w->open[i].data);
    free(w->action);
    free(w->track);
    free(w->order);
    free(w->args.v);
    free(w->payload);
}
