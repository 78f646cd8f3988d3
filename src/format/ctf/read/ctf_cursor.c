/* A cursor: the events of one data stream file, or of the files of one stream, in order.
 *
 * The walk provides packets, a window their bytes. A packet larger than the window is decoded piece by piece: an event
 * that does not fit into the rest of the window is begun again after the window was moved to it. The window begins at a
 * multiple of the largest alignment of all fields, so that positions in it are aligned as those in the packet. */
#include "format/ctf/read/ctf_cursor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/ctf/ctf_layout.h"
#include "format/ctf/plan/ctf_fields.h"
#include "format/ctf/read/ctf_event.h"

#define WINDOW_MOST  (1u << 18)  /* bytes of an ordinary window */
#define WINDOW_LEAST (64u << 10) /* for a trace with very many files */
#define EVENT_MOST   (64u << 20) /* larger events are not decoded */

/* Opens a file; its first packet comes next. On failure only ctf_cursor_close() may follow. */
static int open_file(ctf_cursor *c, const ctf_file *f, tl_error *e)
{
    /* Two units of alignment, so that a window can always move on. */
    const uint64_t least = 2 * (uint64_t)f->unit->plans->align;
    uint64_t capacity = f->folder->n > 64 ? WINDOW_LEAST : WINDOW_MOST;
    if (capacity < least)
        capacity = least;
    if (f->size < capacity)
        capacity = f->size + 1;
    c->file = f;
    c->walk = (ctf_walk){.file = f, .window = &c->window};
    const int status = tl_folder_input(f->folder, f->index, &c->in, e);
    return status < 0 ? status : tl_window_init(&c->window, c->in, (size_t)capacity, e);
}

/* Leaves the file. complete: all of it was read. */
static void close_file(ctf_cursor *c, bool complete)
{
    if (c->out_of_order && complete && c->from == 0 && c->to == UINT64_MAX)
        tl_trace_add_out_of_order(c->trace, c->file->index, c->out_of_order);
    c->out_of_order = 0;
    tl_window_fini(&c->window);
    tl_input_close(c->in);
    c->in = NULL;
}

int ctf_cursor_open(ctf_cursor *c, const ctf_file *f, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    const uint32_t registers = ctf_plans_registers(f->unit->plans);
    *c = (ctf_cursor){.file = f, .trace = t, .want = want, .progress = progress, .to = UINT64_MAX};
    c->run.reg = calloc(registers + 1, sizeof *c->run.reg);
    c->last = calloc(f->unit->schema.nstream + 1, sizeof *c->last);
    int status =
        c->run.reg && c->last ? open_file(c, f, e) : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a cursor");
    if (status == 0 && want->packets)
        status = tl_batch_init(&c->scratch, t, &(tl_want){.fields = true}, 1, e);
    if (status < 0)
        ctf_cursor_close(c);
    return status;
}

void ctf_cursor_close(void *cursor)
{
    ctf_cursor *c = cursor;
    close_file(c, c->at_end);
    free(c->content);
    free(c->run.reg);
    free(c->last);
    tl_batch_fini(&c->scratch);
    *c = (ctf_cursor){0};
}

/* Skips what has ended at c->from, as far as the index knows. */
static void skip_early(ctf_cursor *c)
{
    const ctf_file *f = c->file;
    if (!f->has_begin || f->npoint == 0)
        return;
    uint32_t low = 0, high = f->npoint; /* the last point before which everything has ended at `from` */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (f->point[middle].latest < c->from)
            low = middle;
        else
            high = middle;
    }
    c->walk.offset = f->point[low].offset;
    c->walk.number = f->point[low].number;
}

int ctf_cursor_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e)
{
    ctf_cursor *c = cursor;
    (void)e;
    c->from = from;
    c->to = to;
    skip_early(c);
    return 0;
}

uint64_t ctf_cursor_time(const ctf_cursor *c, uint32_t stream, uint64_t value)
{
    return ctf_ticks(&c->file->time[stream], value);
}

/* Makes the bytes of the packet from `byte` on visible to the run. */
static int show(ctf_cursor *c, uint64_t byte, tl_error *e)
{
    const uint64_t left = c->finish - byte * 8;
    if (c->content) {
        c->run.data = c->content + (size_t)byte;
        c->run.end = left;
    } else {
        const uint64_t bytes = left / 8 + (left % 8 != 0);
        const size_t need = bytes < c->window.capacity ? (size_t)bytes : c->window.capacity;
        size_t available = 0;
        const uint8_t *data = tl_window_at(&c->window, c->packet.offset + byte, need, &available, e);
        if (!data)
            return e ? e->code : TL_EIO;
        c->run.data = data;
        c->run.end = left < 8 * (uint64_t)available ? left : 8 * (uint64_t)available;
        if (available < need) /* the file has become shorter */
            c->finish = byte * 8 + c->run.end;
    }
    c->base = byte;
    return 0;
}

/* The event at bit `at` of the window needs more bytes: 1: the window has moved or grown; 0: there are no more, or it
 * is too large; < 0. Positions are relative to the window, so *at changes. */
int ctf_cursor_slide(ctf_cursor *c, uint64_t *at, tl_error *e)
{
    if (c->content || c->base * 8 + c->run.end >= c->finish)
        return 0;
    const uint64_t align = c->file->unit->plans->align;
    const uint64_t byte = c->base + *at / 8 / align * align;
    if (byte == c->base) {
        const size_t larger = 2 * c->window.capacity;
        if (larger > EVENT_MOST)
            return 0;
        tl_window grown;
        int status = tl_window_init(&grown, c->in, larger, e);
        if (status < 0)
            return status;
        tl_window_fini(&c->window);
        c->window = grown;
    }
    *at -= (byte - c->base) * 8;
    int status = show(c, byte, e);
    return status < 0 ? status : 1;
}

/* The bit of the packet for a position in the window. */
uint64_t ctf_cursor_bit(const ctf_cursor *c, uint64_t at)
{
    return c->base * 8 + at;
}

static int add_packet_event(ctf_cursor *c, tl_batch *b, tl_error *e)
{
    const ctf_packet *p = &c->packet;
    const ctf_plans *plans = c->file->unit->plans;
    const uint64_t begin = p->has_begin ? ctf_cursor_time(c, p->stream, p->begin) : c->last[p->stream];
    tl_value *v = tl_batch_slots(b, CTF_PACKET_FIELDS);
    if (!v)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a packet");
    const uint32_t n = b->n++;
    v[CTF_PACKET_BEGIN] = (tl_value){.type = p->has_begin ? TL_U64 : TL_ABSENT, .as.u = begin};
    v[CTF_PACKET_END] = (tl_value){.type = p->has_end ? TL_U64 : TL_ABSENT,
                                   .as.u = p->has_end ? ctf_cursor_time(c, p->stream, p->end) : begin};
    v[CTF_PACKET_DISCARDED] =
        (tl_value){.type = p->has_discarded ? TL_U64 : TL_ABSENT, .n = p->discarded_bits, .as.u = p->discarded};
    v[CTF_PACKET_SEQUENCE] =
        (tl_value){.type = p->has_sequence ? TL_U64 : TL_ABSENT, .n = p->sequence_bits, .as.u = p->sequence};
    b->ts[n] = begin;
    b->key[n] = 0;
    b->cls[n] = plans->packet_cls;
    b->track[n] = c->file->track[p->stream];
    if (b->cpu)
        b->cpu[n] = p->cpu;
    b->val[n + 1] = b->nval;
    return 0;
}

/* Keeps the values of the packet context that every event shows in c->scratch. */
static int keep_context(ctf_cursor *c, const ctf_stream_plan *s, uint64_t at, tl_error *e)
{
    tl_batch_clear(&c->scratch);
    if (!s->shown_context.op)
        return 0;
    if (s->shown_context.slots > c->scratch.val_capacity) {
        if (!tl_batch_slots(&c->scratch, s->shown_context.slots))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a packet context");
        c->scratch.nval = 0;
    }
    ctf_run r = {.data = c->run.data, .at = at, .end = c->run.end, .reg = c->run.reg, .batch = &c->scratch};
    const ctf_run_status status = ctf_run_store(&r, &s->shown_context);
    return status == CTF_RUN_OK ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a packet context");
}

/* Prepares the packet that the walk found: 1: it can be decoded; 0: it has nothing to decode; < 0. */
static int open_packet(ctf_cursor *c, tl_batch *b, tl_error *e)
{
    const ctf_plans *plans = c->file->unit->plans;
    ctf_packet *p = &c->packet;
    const bool is_2010 = plans->schema->dialect == CTF_2010;
    c->finish = p->content;
    free(c->content);
    c->content = NULL;
    if (is_2010) {
        bool skip = false;
        c->walk.report = c->trace; /* the scan has reported problems of packets, but not of their contents */
        int status = ctf_2010_content(&c->walk, p, &c->content, &c->ncontent, &skip, e);
        c->walk.report = NULL;
        if (status < 0 || skip)
            return status;
        if (c->content)
            c->finish = 8 * (uint64_t)c->ncontent;
    }
    int status = show(c, 0, e);
    if (status < 0)
        return status;
    c->run.at = p->first;
    if (!is_2010) {
        ctf_packet again;
        uint64_t bad;
        char what[160];
        c->run.at = 0;
        /* In version 2 every packet begins at clock 0; in 1.8 the clock continues unless the packet has a begin. */
        if (plans->schema->dialect == CTF_2 || p->has_begin)
            c->run.clock = 0;
        (void)ctf_packet_header_run(plans, &c->run, &again, &bad, what); /* for the registers; the walk checked it */
        p->context = again.context;
        c->run.at = p->first;
    }
    if (is_2010)
        c->run.clock = p->begin;
    if (b->val && c->want->packets) {
        status = add_packet_event(c, b, e);
        if (status == 0 && !is_2010)
            status = keep_context(c, &ctf_plans_set(plans, p->big)->stream[p->stream], p->context, e);
    }
    return status < 0 ? status : 1;
}

/* No packet of this stream class existed when the trace was opened, or the cached index made: it has no track. */
TL_COLD static int no_track(const ctf_cursor *c, tl_error *e)
{
    return tl_fail(e, TL_EIO, c->packet.offset,
                   "%s: the file, or its index in the cache, changed: stream class %" PRIu64 " is new", c->file->name,
                   c->file->unit->schema.stream[c->packet.stream]->id);
}

/* Advances to the next file of the stream: 1, 0 if there is none, < 0. */
static int next_file(ctf_cursor *c, tl_error *e)
{
    const ctf_file *next = c->file->next;
    if (!next)
        return 0;
    close_file(c, true);
    const int status = open_file(c, next, e);
    if (status < 0)
        return status;
    if (c->from > 0)
        skip_early(c);
    return 1;
}

/* Advances to the next wanted packet: 1, 0 at the end, < 0. */
static int next_packet(ctf_cursor *c, tl_batch *b, tl_error *e)
{
    for (;;) {
        int status = ctf_walk_next(&c->walk, &c->packet, e);
        if (status == 0 && (status = next_file(c, e)) > 0)
            continue;
        if (status <= 0) {
            c->at_end = true;
            return status;
        }
        const ctf_packet *p = &c->packet;
        if (TL_UNLIKELY(c->file->track[p->stream] == UINT32_MAX && !c->before_tracks))
            return no_track(c, e);
        if (c->file->has_begin) {
            if (p->has_end && p->end > p->begin && ctf_cursor_time(c, p->stream, p->end) < c->from)
                continue;
            if (!c->file->regresses && p->has_begin && c->to != UINT64_MAX &&
                ctf_cursor_time(c, p->stream, p->begin) >= c->to) {
                c->at_end = true;
                return 0;
            }
        }
        status = open_packet(c, b, e);
        if (status != 0)
            return status;
    }
}

int ctf_cursor_next(void *cursor, tl_batch *b, tl_error *e)
{
    ctf_cursor *c = cursor;
    c->run.batch = b->val ? b : NULL;
    c->run.text = c->run.text_end = NULL;
    while (b->n < b->capacity && !c->at_end) {
        int status = 1;
        if (!c->in_packet) {
            status = next_packet(c, b, e);
            if (status < 0)
                return status;
            c->in_packet = status > 0;
            continue;
        }
        status = ctf_cursor_events(c, b, e);
        if (status < 0)
            return status;
        c->in_packet = status > 0;
        if (!c->in_packet && c->packet.has_end && c->packet.end > c->run.clock)
            c->run.clock = c->packet.end; /* where a next packet without a begin continues */
        if (!c->in_packet && c->progress)
            __atomic_fetch_add(c->progress, c->packet.size, __ATOMIC_RELAXED);
    }
    return b->n > 0;
}
