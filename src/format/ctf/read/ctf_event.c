/* Decoding the events of a packet: header, event class, contexts and payload. The hot path of reading. */
#include "format/ctf/read/ctf_event.h"

#include <string.h>

/* The contents of a header. */
typedef struct header {
    uint64_t id;
    uint64_t begin; /* its first bit, after alignment */
} header;

enum { HEADER_END, HEADER_OK, HEADER_SHORT };

TL_ALWAYS_INLINE uint64_t align_up(uint64_t at, uint32_t align)
{
    return (at + align - 1) & ~(uint64_t)(align - 1);
}

TL_ALWAYS_INLINE uint64_t load(const uint8_t *p, const ctf_load *l)
{
    return ctf_load_int(p, l, l->flags & CTF_LOAD_BIG);
}

/* A header of the usual shape. */
TL_ALWAYS_INLINE int short_header(ctf_run *r, const ctf_short_header *h, header *out)
{
    const uint64_t at = align_up(r->at, h->align);
    out->begin = at;
    if (TL_UNLIKELY(at >= r->end))
        return HEADER_END;
    if (TL_UNLIKELY(h->bits > r->end - at))
        return HEADER_SHORT;
    const uint8_t *p = r->data + at / 8;
    out->id = h->has_id ? load(p, &h->id) : 0;
    if (h->has_extension && TL_UNLIKELY(out->id == h->escape)) {
        if (TL_UNLIKELY(h->long_bits > r->end - at))
            return HEADER_SHORT;
        if (h->has_long_id)
            out->id = load(p, &h->long_id);
        if (h->has_long_time)
            r->clock = ctf_clock_update(r->clock, load(p, &h->long_time), h->long_time_bits);
        r->at = at + h->long_bits;
        return HEADER_OK;
    }
    if (h->has_time)
        r->clock = ctf_clock_update(r->clock, load(p, &h->time), h->time_bits);
    r->at = at + h->bits;
    return HEADER_OK;
}

/* Any header. */
static int any_header(ctf_run *r, const ctf_stream_plan *s, header *out, ctf_run_status *status)
{
    out->begin = align_up(r->at, s->header_align);
    out->id = 0;
    if (out->begin >= r->end)
        return HEADER_END;
    r->seen = 0;
    *status = ctf_run_skip(r, &s->header);
    if (*status != CTF_RUN_OK)
        return HEADER_SHORT;
    if (r->seen & CTF_ROLE_EVENT_CLASS)
        out->id = r->role[ctf_role_number(CTF_ROLE_EVENT_CLASS)];
    return HEADER_OK;
}

/* Puts the values of the packet context before an event's. */
static bool put_context(const ctf_cursor *c, tl_batch *b)
{
    tl_value *v = b->v + b->nval;
    memcpy(v, c->scratch.v, c->scratch.nval * sizeof *v);
    for (uint32_t i = 0; i < c->scratch.nval; i++) {
        if (v[i].type != TL_STRING && v[i].type != TL_BYTES)
            continue;
        char *copy = tl_arena_alloc(b->arena, v[i].n);
        if (!copy)
            return false;
        memcpy(copy, v[i].as.p, v[i].n);
        v[i].as.p = copy;
    }
    b->nval += c->scratch.nval;
    return true;
}

/* Contexts and payload onto the tape. */
static ctf_run_status store(ctf_cursor *c, const ctf_event_plan *ev, tl_batch *b)
{
    const uint32_t slots = ev->store.slots + c->scratch.nval;
    if (TL_UNLIKELY(b->val_capacity - b->nval < slots)) {
        if (!tl_batch_slots(b, slots))
            return CTF_RUN_MEMORY;
        b->nval -= slots;
    }
    if (c->scratch.nval && !put_context(c, b))
        return CTF_RUN_MEMORY;
    return ctf_run_store(&c->run, &ev->store);
}

TL_ALWAYS_INLINE ctf_run_status body(ctf_cursor *c, const ctf_event_plan *ev, tl_batch *b)
{
    ctf_run *r = &c->run;
    for (uint32_t i = 0; i < ev->nclear; i++)
        r->reg[ev->clear[i]] = 0;
    if (b->val)
        return store(c, ev, b);
    if (TL_LIKELY(ev->skip.is_fixed)) {
        if (TL_LIKELY(r->at <= r->end && ev->skip.bits <= r->end - r->at)) {
            r->at += ev->skip.bits;
            return CTF_RUN_OK;
        }
    }
    return ctf_run_skip(r, &ev->skip);
}

/* An event of unknown class at bit `start`: 1: it was skipped, or needs another look with more bytes; 0: the rest of
 * the packet is lost; < 0. */
static int unknown(ctf_cursor *c, const ctf_stream_plan *s, const header *h, uint64_t start, uint64_t clock,
                   tl_error *e)
{
    ctf_run *r = &c->run;
    const uint64_t end = c->finish - c->base * 8;
    r->seen = 0;
    ctf_run_status status = s->has_payload_size ? ctf_run_skip(r, &s->context_only) : CTF_RUN_OK;
    if (status == CTF_RUN_SHORT) {
        r->at = start;
        int moved = ctf_cursor_slide(c, &r->at, e);
        if (moved != 0) {
            r->clock = clock;
            return moved;
        }
    }
    if (status == CTF_RUN_OK && r->seen & CTF_ROLE_PAYLOAD_SIZE) {
        const uint64_t bytes = r->role[ctf_role_number(CTF_ROLE_PAYLOAD_SIZE)];
        const uint64_t begin = align_up(r->role[CTF_CONTEXT_END], 8);
        if (begin <= end && bytes <= (end - begin) / 8) {
            r->at = begin + 8 * bytes;
            int told = ctf_fault_unknown(c, h->id, h->begin, r->at, e);
            return told < 0 ? told : 1;
        }
    }
    return ctf_fault_unknown(c, h->id, h->begin, end, e);
}

/* Compares the payload with its stated size, and continues at its stated end. */
static int check_payload(ctf_cursor *c, tl_error *e)
{
    ctf_run *r = &c->run;
    const uint64_t says = r->role[ctf_role_number(CTF_ROLE_PAYLOAD_SIZE)];
    const uint64_t begin = align_up(r->role[CTF_CONTEXT_END], 8), end = align_up(r->at, 8);
    if (!(r->seen & CTF_ROLE_PAYLOAD_SIZE) || (end - begin) / 8 == says)
        return 0;
    int status = ctf_fault_payload(c, begin, (end - begin) / 8, says, e);
    const uint64_t content = c->finish - c->base * 8;
    r->at = says < (content - begin) / 8 ? begin + 8 * says : content;
    return status;
}

/* State at the begin of an event, to go back to. */
typedef struct begun {
    uint64_t at, clock;
    uint32_t nval;
} begun;

/* Moves the window to the begin of an event: 1: try again; 0: there are no more bytes; < 0. */
static int more_bytes(ctf_cursor *c, begun *from, tl_error *e)
{
    int status = ctf_cursor_slide(c, &from->at, e);
    c->run.at = from->at;
    return status;
}

/* An event that could not be decoded; `fields`: the bit where they begin. Returns as one_event(). */
static int not_decoded(ctf_cursor *c, const ctf_event_plan *ev, const header *h, begun *from, ctf_run_status status,
                       tl_batch *b, tl_error *e)
{
    const uint64_t fields = c->run.at; /* unless the header failed */
    b->nval = from->nval;
    c->run.clock = from->clock;
    int moved = status == CTF_RUN_SHORT ? more_bytes(c, from, e) : 0;
    c->run.at = from->at;
    return moved != 0 ? moved : ctf_fault_event(c, ev, h->begin, fields, status, e);
}

/* Puts a decoded event into the columns. clock: its value after the event's header; later fields
 * move it for the next event. Returns as one_event(). */
static int add_event(ctf_cursor *c, const ctf_event_plan *ev, const begun *from, uint64_t clock, tl_batch *b,
                     tl_error *e)
{
    const ctf_run *r = &c->run;
    const uint32_t stream = c->packet.stream;
    const bool has_clock = c->file->unit->schema.stream[stream]->clock != NULL;
    const uint64_t ts = has_clock ? ctf_cursor_time(c, stream, clock) : 0;
    int status = ts < c->last[stream] ? ctf_fault_regression(c, from->at, e) : 0;
    if (status < 0)
        return status;
    c->last[stream] = ts;
    const uint32_t n = b->n++;
    b->ts[n] = ts;
    b->key[n] = ev->key == CTF_NO_REGISTER ? 0 : r->reg[ev->key];
    b->cls[n] = ev->cls;
    b->track[n] = c->file->track[stream];
    if (b->cpu)
        b->cpu[n] = c->packet.cpu;
    if (b->val)
        b->val[n + 1] = b->nval;
    return 1;
}

/* Decodes the next event: 1: done, or other progress was made, and there may be more; 0: the packet has ended; < 0. */
static int one_event(ctf_cursor *c, const ctf_stream_plan *s, tl_batch *b, tl_error *e)
{
    ctf_run *r = &c->run;
    begun from = {r->at, r->clock, b->nval};
    const ctf_event_plan *ev = NULL;
    ctf_run_status status = CTF_RUN_OK;
    header h;
    int found = s->short_header.usable ? short_header(r, &s->short_header, &h) : HEADER_SHORT;
    if (TL_UNLIKELY(found == HEADER_SHORT)) {
        r->at = from.at;
        r->clock = from.clock;
        found = any_header(r, s, &h, &status);
    }
    if (TL_UNLIKELY(found == HEADER_END))
        return more_bytes(c, &from, e);
    const uint64_t clock = r->clock;
    if (TL_LIKELY(found == HEADER_OK)) {
        ev = ctf_event_plan_of(s, h.id);
        if (TL_UNLIKELY(!ev))
            return unknown(c, s, &h, from.at, from.clock, e);
        if (TL_UNLIKELY(s->has_payload_size))
            r->seen = 0;
        status = body(c, ev, b);
    }
    if (TL_UNLIKELY(status != CTF_RUN_OK))
        return not_decoded(c, ev, &h, &from, status, b, e);
    int checked = TL_UNLIKELY(s->has_payload_size) ? check_payload(c, e) : 0;
    if (checked < 0)
        return checked;
    if (TL_UNLIKELY(r->at == from.at))
        return ctf_fault_empty(c, from.at, e);
    return add_event(c, ev, &from, clock, b, e);
}

int ctf_cursor_events(ctf_cursor *c, tl_batch *b, tl_error *e)
{
    const ctf_packet *p = &c->packet;
    const ctf_stream_plan *s = &ctf_plans_set(c->file->unit->plans, p->big)->stream[p->stream];
    const ctf_time *time = &c->file->time[p->stream];
    const bool quickly = c->file->unit->schema.stream[p->stream]->clock && !time->scaled &&
                         s->short_header.is_uniform && c->scratch.nval == 0;
    int result = s->nevent > 0; /* without event classes there are no events, whatever the packet contains */
    while (result > 0 && b->n < b->capacity) {
        if (quickly)
            ctf_read_quickly(c, s, b, time, &c->last[p->stream]);
        if (b->n < b->capacity)
            result = one_event(c, s, b, e);
    }
    return result;
}
