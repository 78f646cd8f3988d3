/* Packets while they are written.
 *
 * A packet is filled in memory and appended to its file when complete, with its final header. Of very many streams only
 * some have a packet at a time: the one that has waited longest for an event is closed for another.
 *
 * If the source has begins of packets, ours are the same, with the same times and counters. One that must be divided
 * has its lost events in its last part, and later numbers increase. Readers count the lost events of a first packet
 * only if its number is 0, in 2010 always; the first number is chosen so that what counted in the source still
 * counts. */
#include "format/ctf/write/ctf_write_packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/ctf/ctf_layout.h"

enum { BIG = false, SPARE_MAX = 1 << 20 };

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "ctf: no memory to write events");
}

/* --- which packets are open --- */

static void unlink_stream(ctf_writer *w, const ctf_stream *s)
{
    if (s->newer == UINT32_MAX)
        w->newest = s->older;
    else
        w->stream[s->newer].older = s->older;
    if (s->older == UINT32_MAX)
        w->oldest = s->newer;
    else
        w->stream[s->older].newer = s->newer;
}

static void link_newest(ctf_writer *w, ctf_stream *s)
{
    const uint32_t i = (uint32_t)(s - w->stream);
    s->newer = UINT32_MAX;
    s->older = w->newest;
    if (w->newest == UINT32_MAX)
        w->oldest = i;
    else
        w->stream[w->newest].newer = i;
    w->newest = i;
}

static void account(ctf_writer *w, ctf_stream *s)
{
    w->open_bytes += s->room.capacity - s->accounted;
    s->accounted = s->room.capacity;
}

/* Forgets the open packet; keeps its memory for the next one. */
static void recycle(ctf_writer *w, ctf_stream *s)
{
    unlink_stream(w, s);
    w->nopen--;
    w->open_bytes -= s->accounted;
    s->accounted = 0;
    if (!w->spare.data && s->room.capacity <= SPARE_MAX)
        w->spare = s->room;
    else
        free(s->room.data);
    s->room = (ctf_room){0};
}

/* --- closing --- */

static bool source_is_2010(const ctf_writer *w)
{
    const char *v = w->context.trace->version;
    return w->from_ctf && v && *v < '2' && strcmp(v, "1.8") != 0;
}

/* How far a counter of the source advanced, as our reader counts: a slightly lower value of one with many bits was set
 * back. */
static uint64_t advance(const ctf_writer *w, uint64_t now, uint64_t before, unsigned bits)
{
    const uint64_t mask = bits == 0 || bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t steps = (now - before) & mask;
    return !source_is_2010(w) && mask > UINT16_MAX && steps > mask / 2 ? 0 : steps;
}

/* The same for numbers of packets. */
static uint64_t advance_number(const ctf_writer *w, const ctf_given *g, uint64_t before)
{
    const uint64_t steps = advance(w, g->sequence, before, g->sequence_bits);
    if (steps == 0 && source_is_2010(w) && g->sequence_bits > 0 && g->sequence_bits < 64)
        return UINT64_C(1) << g->sequence_bits;
    return steps ? steps : 1;
}

/* Number and lost events of the packet being closed. */
static void count_packet(const ctf_writer *w, ctf_stream *s, bool divided)
{
    const ctf_given *g = s->has_given ? &s->given : NULL;
    const bool first = s->packets == 0;
    if (first)
        s->counts_first = g ? source_is_2010(w) || (g->has_sequence && g->sequence == 0) : !w->packets;
    if (first)
        s->sequence = s->counts_first ? 0 : g && g->has_sequence ? g->sequence : 1;
    else if (g && g->has_sequence && !g->rest && s->any_sequence)
        s->sequence += advance_number(w, g, s->given_sequence);
    else
        s->sequence++;
    if (g && g->has_sequence) {
        s->given_sequence = g->sequence;
        s->any_sequence = true;
    }
    if (!g || !g->has_discarded)
        return;
    if (!s->any_discarded) {
        s->discarded = s->discarded_base = s->counts_first ? 0 : g->discarded;
        s->given_discarded = s->discarded;
        s->any_discarded = true;
    }
    if (!divided) {
        s->discarded += advance(w, g->discarded, s->given_discarded, g->discarded_bits);
        s->given_discarded = g->discarded;
    }
}

static void fill_header(const ctf_writer *w, ctf_stream *s, uint64_t end)
{
    uint8_t *p = s->room.data;
    if (w->dialect == CTF_2010) {
        tl_store32(p + CTF_2010_COUNT, (uint32_t)s->sequence, BIG);
        tl_store64(p + CTF_2010_END, end, BIG);
        tl_store32(p + CTF_2010_DISCARDED, (uint32_t)(s->discarded - s->discarded_base), BIG);
        p[CTF_2010_COUNT_BITS] = 32;
        return;
    }
    const size_t less = w->sc[s->cls].timeless ? CTF_WRITTEN_TIMES : 0;
    if (less == 0)
        tl_store64(p + CTF_WRITTEN_END, end, BIG);
    tl_store64(p + CTF_WRITTEN_CONTENT_SIZE - less, (uint64_t)s->room.n * 8 - s->tail, BIG);
    tl_store64(p + CTF_WRITTEN_PACKET_SIZE - less, (uint64_t)s->room.n * 8, BIG);
    tl_store64(p + CTF_WRITTEN_SEQUENCE - less, s->sequence, BIG);
    tl_store64(p + CTF_WRITTEN_DISCARDED - less, s->discarded, BIG);
}

static int append_2010(ctf_writer *w, ctf_stream *s, tl_error *e)
{
    static const uint8_t zeros[CTF_WRITE_PAGE];
    uint8_t *packet = s->room.data;
    size_t n = s->room.n, padding;
    int r = ctf_seal(&w->sealing, false, &packet, &n, &padding, e);
    if (r == 0)
        r = tl_output_folder_append(w->context.folder, s->file, packet, n, e);
    if (r == 0)
        r = tl_output_folder_append(w->context.folder, s->file, zeros, padding, e);
    s->bytes += n + padding;
    return r;
}

static int append_packet(ctf_writer *w, ctf_stream *s, tl_error *e)
{
    if (w->dialect == CTF_2010)
        return append_2010(w, s, e);
    const int r = tl_output_folder_append(w->context.folder, s->file, s->room.data, s->room.n, e);
    if (r < 0)
        return r;
    const uint64_t offset = s->bytes;
    s->bytes += s->room.n;
    return ctf_index_add(w, s, offset, s->room.data, e);
}

/* Remembers the fields of the source's packet context, for packets without events. */
static int keep_context(ctf_stream *s, tl_error *e)
{
    const size_t n = s->header - s->context;
    if (n == 0)
        return 0;
    if (!TL_RESIZE(s->last_context, n))
        return no_memory(e);
    s->nlast_context = n;
    memcpy(s->last_context, s->room.data + s->context, n);
    return 0;
}

/* divided: the packet of the source continues. */
static int close_packet(ctf_writer *w, ctf_stream *s, bool divided, tl_error *e)
{
    const bool worth = s->events > 0 || (s->has_given && !divided);
    int r = 0;
    if (worth) {
        uint64_t end = s->latest;
        if (s->has_given && s->given.has_end && !divided && s->given.end > end)
            end = s->given.end;
        s->end = end;
        count_packet(w, s, divided && s->has_given);
        fill_header(w, s, end);
        r = append_packet(w, s, e);
        if (r == 0)
            r = keep_context(s, e);
        s->packets++;
    }
    if (divided && s->has_given) {
        s->waiting = s->given;
        s->has_waiting = true;
        if (worth) {
            s->waiting.rest = s->waiting.has_begin = true;
            s->waiting.begin = s->latest;
        }
    }
    recycle(w, s);
    return r;
}

/* --- opening --- */

static void put_fixed(const ctf_writer *w, ctf_stream *s)
{
    uint8_t *p = s->room.data;
    const ctf_written_stream_class *c = &w->sc[s->cls];
    const tl_track *t = s->track == UINT32_MAX ? NULL : &w->context.trace->track[s->track];
    tl_store32(p, (uint32_t)CTF_MAGIC_PACKET, BIG);
    if (w->dialect == CTF_2010) {
        memset(p + 4, 0, CTF_2010_HEADER - 4);
        memcpy(p + CTF_2010_SESSION, w->uuid, 4);
        tl_store64(p + CTF_2010_BEGIN, s->begin, BIG);
        s->room.n = CTF_2010_HEADER;
        return;
    }
    memcpy(p + CTF_WRITTEN_UUID, w->uuid, sizeof w->uuid);
    tl_store32(p + CTF_WRITTEN_STREAM, (uint32_t)c->id, BIG);
    tl_store64(p + CTF_WRITTEN_INSTANCE, (uint64_t)(s - w->stream), BIG);
    if (!c->timeless)
        tl_store64(p + CTF_WRITTEN_BEGIN, s->begin, BIG);
    p += CTF_WRITTEN_HEADER - (c->timeless ? CTF_WRITTEN_TIMES : 0);
    if (c->has_cpu) {
        tl_store32(p, (uint32_t)s->cpu, BIG);
        p += 4;
    }
    if (t && c->has_pid) {
        tl_store64(p, (uint64_t)t->pid, BIG);
        p += 8;
    }
    if (t && c->has_tid) {
        tl_store64(p, (uint64_t)t->tid, BIG);
        p += 8;
    }
    s->room.n = (size_t)(p - s->room.data);
}

/* Fields of the source in the packet context: of the current event, or those of the last packet, or zeros. */
static int put_context(ctf_writer *w, ctf_stream *s, const ctf_room *context, tl_error *e)
{
    const ctf_shape *shape = &w->forms.shape[w->sc[s->cls].shape];
    const uint8_t *data = context ? context->data : s->last_context;
    const size_t n = context ? context->n : s->nlast_context;
    w->lost_contexts += shape->loses_packet;
    s->tail = 0;
    if (!shape->has_packet)
        return 0;
    w->made_contexts += !context;
    if (data) {
        if (!ctf_room_grow(&s->room, n))
            return no_memory(e);
        memcpy(s->room.data + s->room.n, data, n);
        s->room.n += n;
        s->tail = s->context_tail = context ? w->packet_tail : s->context_tail;
        return 0;
    }
    w->put.room = &s->room;
    w->put.misfit = w->put.no_memory = false;
    w->put.tail = 0;
    ctf_put_zeros(&w->put, shape->packet);
    s->tail = s->context_tail = w->put.tail;
    if (w->put.misfit)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "ctf: a packet without events has a context that cannot be made up");
    return w->put.no_memory ? no_memory(e) : 0;
}

/* The largest number of bytes before the fields of the source. */
enum { FIXED_MAX = CTF_WRITTEN_HEADER + 4 + 8 + 8 };

/* `ts`: of the first event. */
static int open_packet(ctf_writer *w, ctf_stream *s, uint64_t ts, int32_t cpu, const ctf_room *context, tl_error *e)
{
    if (w->nopen >= CTF_WRITE_OPEN_MAX) {
        const int r = close_packet(w, &w->stream[w->oldest], true, e);
        if (r < 0)
            return r;
    }
    s->room = w->spare;
    s->room.n = 0;
    w->spare = (ctf_room){0};
    if (!ctf_room_grow(&s->room, FIXED_MAX)) {
        w->spare = s->room;
        s->room = (ctf_room){0};
        return no_memory(e);
    }
    w->nopen++;
    link_newest(w, s);
    account(w, s);
    s->has_given = s->has_waiting;
    s->given = s->waiting;
    s->has_waiting = false;
    /* Times in headers only advance from the begin. */
    s->begin = s->has_given && s->given.has_begin && s->given.begin < ts ? s->given.begin : ts;
    if (w->dialect == CTF_1_8 && s->begin < s->end)
        s->begin = s->end;
    s->clock = s->latest = s->begin;
    s->events = 0;
    s->cpu = cpu;
    put_fixed(w, s);
    s->context = s->room.n;
    const int r = put_context(w, s, context, e);
    s->header = s->room.n;
    return r;
}

int ctf_stream_ready(ctf_writer *w, ctf_stream *s, uint64_t ts, int32_t cpu, const ctf_room *context, tl_error *e)
{
    if (w->dialect == CTF_2010) {
        w->lost_cpus += cpu >= 0 && cpu != s->cpu;
        cpu = s->cpu;
    }
    if (s->room.data) {
        if (!ctf_stream_precedes(w, s, ts) && s->cpu == cpu &&
            (!context || (context->n == s->header - s->context &&
                          memcmp(s->room.data + s->context, context->data, context->n) == 0)))
            return 0;
        const int r = close_packet(w, s, true, e);
        if (r < 0)
            return r;
    }
    return open_packet(w, s, ts, cpu, context, e);
}

int ctf_stream_added(ctf_writer *w, ctf_stream *s, tl_error *e)
{
    if (TL_UNLIKELY(w->newest != (uint32_t)(s - w->stream))) {
        unlink_stream(w, s);
        link_newest(w, s);
    }
    if (TL_UNLIKELY(s->room.n >= (s->has_given ? CTF_WRITE_PACKET_KEPT : CTF_WRITE_PACKET)))
        return close_packet(w, s, true, e);
    if (TL_LIKELY(s->accounted == s->room.capacity))
        return 0;
    account(w, s);
    int r = 0;
    while (r == 0 && w->open_bytes > CTF_WRITE_OPEN_BYTES && w->nopen > 1)
        r = close_packet(w, &w->stream[w->oldest], true, e);
    return r;
}

/* --- packets of the source --- */

static int write_empty(ctf_writer *w, ctf_stream *s, tl_error *e)
{
    const ctf_given *g = &s->waiting;
    const tl_trace *t = w->context.trace;
    uint64_t ts = g->has_begin ? g->begin : g->end;
    if (!g->has_begin && !g->has_end)
        ts = s->packets ? s->latest : ctf_write_time(w, t->has_range ? t->begin : w->context.options->begin);
    const int32_t cpu = w->dialect == CTF_2010 || g->cpu < 0 ? s->cpu : g->cpu;
    const int r = open_packet(w, s, ts, cpu, NULL, e);
    return r < 0 ? r : close_packet(w, s, false, e);
}

int ctf_stream_given(ctf_writer *w, ctf_stream *s, const ctf_given *g, tl_error *e)
{
    if (w->dialect == CTF_1_8 && s->has_given && g->has_begin && g->begin < s->given.end)
        s->given.end = g->begin; /* so that events of the next packet are not moved to that time */
    int r = s->room.data ? close_packet(w, s, false, e) : 0;
    if (r == 0 && s->has_waiting)
        r = write_empty(w, s, e);
    s->waiting = *g;
    s->has_waiting = true;
    return r;
}

int ctf_stream_end(ctf_writer *w, ctf_stream *s, tl_error *e)
{
    int r = s->room.data ? close_packet(w, s, false, e) : 0;
    if (r == 0 && s->has_waiting)
        r = write_empty(w, s, e);
    s->has_waiting = false;
    return r < 0 || w->dialect == CTF_2010 ? r : ctf_index_end(w, s, e);
}
