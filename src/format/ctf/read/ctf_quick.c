/* The short way for events: those whose header has the usual shape and which need only a known number of bits, or a
 * program without surprises. Everything unusual is left to ctf_event.c. */
#include <string.h>

#include "format/ctf/read/ctf_event.h"

/* A number of an event header. */
TL_ALWAYS_INLINE uint64_t load_plain(const uint8_t *p, const ctf_load *l, bool big)
{
    return tl_load64(p + l->offset, big) << l->left >> l->right;
}

/* Skips or stores the event of an id with contexts at bit `at`: returns its size in bits, or UINT64_MAX if it needs a
 * closer look. */
static __attribute__((noinline)) uint64_t by_program(ctf_run *r, const ctf_stream_plan *s, uint64_t id, uint64_t at,
                                                     bool storing)
{
    const ctf_event_plan *ev = s->dense[id] == CTF_NO_NODE ? NULL : &s->event[s->dense[id]];
    if (!ev || ev->key != CTF_NO_REGISTER || ev->moves_clock || s->has_payload_size)
        return UINT64_MAX;
    for (uint32_t i = 0; i < ev->nclear; i++)
        r->reg[ev->clear[i]] = 0;
    r->at = at;
    if (!storing)
        return ctf_run_skip(r, &ev->skip) == CTF_RUN_OK ? r->at - at : UINT64_MAX;
    tl_batch *b = r->batch;
    if (TL_UNLIKELY(b->val_capacity - b->nval < ev->store.slots)) {
        if (!tl_batch_slots(b, ev->store.slots))
            return UINT64_MAX;
        b->nval -= ev->store.slots;
    }
    return ctf_run_store(r, &ev->store) == CTF_RUN_OK ? r->at - at : UINT64_MAX;
}

/* Skips events as long as they have a header of the usual shape and a known number of bits. They get ts and cls; the
 * caller fills the other columns. */
TL_ALWAYS_INLINE void skip_run(ctf_run *r, const ctf_stream_plan *s, tl_batch *b, const ctf_time *time, uint64_t *last,
                               bool big)
{
    const ctf_short_header h = s->short_header;
    const uint64_t end = r->end, mask = h.align - 1;
    const uint64_t time_mask = h.time_bits == 64 ? UINT64_MAX : (UINT64_C(1) << h.time_bits) - 1;
    uint64_t at = r->at, clock = r->clock, latest = *last;
    uint32_t n = b->n;
    while (n < b->capacity) {
        uint64_t next = (at + mask) & ~mask, now = clock;
        if (TL_UNLIKELY(next >= end || h.bits > end - next))
            break;
        const uint8_t *p = r->data + next / 8;
        uint64_t id = load_plain(p, &h.id, big);
        if (h.has_extension && TL_UNLIKELY(id == h.escape)) {
            if (h.long_bits > end - next || !h.has_long_id || !h.has_long_time)
                break;
            id = load_plain(p, &h.long_id, big);
            now = ctf_clock_update(clock, load_plain(p, &h.long_time, big), h.long_time_bits);
            next += h.long_bits;
        } else {
            now += (load_plain(p, &h.time, big) - clock) & time_mask;
            next += h.bits;
        }
        if (TL_UNLIKELY(id >= s->ndense))
            break;
        uint64_t size = s->quick[id].bits;
        const uint64_t ts = now + time->shift;
        if (TL_UNLIKELY(size > end - next))
            size = by_program(r, s, id, next, false);
        if (TL_UNLIKELY(size > end - next || ts < latest))
            break;
        at = next + size;
        clock = now;
        b->ts[n] = latest = ts;
        b->cls[n++] = s->quick[id].cls;
    }
    r->at = at;
    r->clock = clock;
    *last = latest;
    b->n = n;
}

enum { SKIP, STORE, TALLY };

/* The same if everything is whole bytes and an id is the low bits of one, as in LTTng. `what`: SKIP, STORE (values go
 * onto the tape) or TALLY (events are only counted). Each event waits for the id of the previous one: the path from one
 * id to the next is as short as possible. */
TL_ALWAYS_INLINE void whole_bytes_run(ctf_run *r, const ctf_stream_plan *s, tl_batch *b, const ctf_time *time,
                                      uint64_t *last, const tl_tally *tally, uint32_t track, const int what)
{
    const ctf_short_header *h = &s->short_header;
    const ctf_quick *quick = s->quick;
    const uint64_t id_mask = UINT64_MAX >> h->id.right, ndense = s->ndense, shift = time->shift;
    const uint64_t escape = h->has_extension ? h->escape : UINT64_MAX;
    const uint64_t time_mask = h->time_bits == 64 ? UINT64_MAX : (UINT64_C(1) << h->time_bits) - 1;
    const uint32_t id_at = h->id.offset, short_size = h->bits / 8, capacity = b->capacity;
    const uint8_t *p = r->data + r->at / 8;
    const uint8_t *const end = r->data + r->end / 8;
    uint64_t clock = r->clock, latest = *last, *const times = b->ts;
    uint64_t tallied = 0, earliest = UINT64_MAX;
    uint32_t n = b->n, used = b->nval, *const classes = b->cls, *const values = b->val;
    while (n < capacity && (size_t)(end - p) >= short_size && p < end) {
        uint64_t id = tl_load64(p + id_at, false) & id_mask, now;
        const uint8_t *next = p + short_size;
        if (TL_UNLIKELY(id == escape)) {
            if (h->long_bits / 8 > (size_t)(end - p) || !h->has_long_id || !h->has_long_time)
                break;
            id = load_plain(p, &h->long_id, false);
            now = ctf_clock_update(clock, load_plain(p, &h->long_time, false), h->long_time_bits);
            next = p + h->long_bits / 8;
        } else {
            now = clock + ((load_plain(p, &h->time, false) - clock) & time_mask);
        }
        const uint64_t ts = now + shift;
        if (TL_UNLIKELY(id >= ndense || ts < latest))
            break;
        const ctf_quick *q = &quick[id];
        uint64_t size = q->bytes;
        if (what == STORE) {
            if (TL_LIKELY(q->load && size <= (size_t)(end - next) && q->nload <= b->val_capacity - used)) {
                tl_value *v = b->v + used;
                for (const ctf_load *l = q->load, *stop = l + q->nload; l < stop; l++, v++) {
                    memcpy(v, &l->head, sizeof l->head);
                    v->as.u = ctf_load_int(next, l, false);
                }
                used += q->nload;
            } else {
                b->nval = used;
                const uint64_t bits = by_program(r, s, id, (uint64_t)(next - r->data) * 8, true);
                if (bits == UINT64_MAX || bits % 8)
                    break;
                size = bits / 8;
                used = b->nval;
            }
            values[n + 1] = used;
        } else if (TL_UNLIKELY(size > (size_t)(end - next))) {
            const uint64_t bits = by_program(r, s, id, (uint64_t)(next - r->data) * 8, false);
            if (bits == UINT64_MAX || bits % 8)
                break;
            size = bits / 8;
        }
        p = next + size;
        clock = now;
        latest = ts;
        if (what == TALLY) {
            earliest = tallied++ ? earliest : ts;
            tally->by_class[q->cls]++;
            continue;
        }
        times[n] = ts;
        classes[n++] = q->cls;
    }
    if (what == STORE)
        b->nval = used;
    if (what == TALLY && tallied) {
        tally->by_track[track] += tallied;
        tally->begin[track] = earliest < tally->begin[track] ? earliest : tally->begin[track];
        tally->end[track] = latest > tally->end[track] ? latest : tally->end[track];
    }
    r->at = (uint64_t)(p - r->data) * 8;
    r->clock = clock;
    *last = latest;
    b->n = n;
}

/* Reads as many events as a short way can, with all columns. */
void ctf_read_quickly(ctf_cursor *c, const ctf_stream_plan *s, tl_batch *b, const ctf_time *time, uint64_t *last)
{
    const uint32_t first = b->n, track = c->file->track[c->packet.stream];
    if (s->whole_bytes && c->run.at % 8 == 0) {
        if (b->val)
            whole_bytes_run(&c->run, s, b, time, last, NULL, track, STORE);
        else if (c->tally)
            whole_bytes_run(&c->run, s, b, time, last, c->tally, track, TALLY);
        else
            whole_bytes_run(&c->run, s, b, time, last, NULL, track, SKIP);
    } else if (!b->val) {
        if (s->short_header.id.flags & CTF_LOAD_BIG)
            skip_run(&c->run, s, b, time, last, true);
        else
            skip_run(&c->run, s, b, time, last, false);
    }
    for (uint32_t i = first; i < b->n; i++) {
        b->key[i] = 0;
        b->track[i] = track;
    }
    for (uint32_t i = first; b->cpu && i < b->n; i++)
        b->cpu[i] = c->packet.cpu;
}
