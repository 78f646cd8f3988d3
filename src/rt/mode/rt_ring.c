/* Slots of rings: who has which, and which is used again. */
#include "rt/mode/rt_ring.h"

#include "rt/mode/rt_fdr.h"
#include "rt/mode/rt_fdr_file.h"

enum {
    SLOT_MIN = 16 << 10,
    RING_SLOTS = 16, /* a ring has at most that many */
    CHUNK_SLOTS = 64 /* that are told about in one piece of memory */
};

typedef struct chunk {
    struct chunk *next;
    rt_ring_slot slot[CHUNK_SLOTS];
} chunk;

static struct {
    rt_lock lock;
    chunk *chunks;
    uint32_t left;                /* in the newest chunk */
    uint64_t made;                /* slots */
    rt_ring_slot *first, *newest; /* ended */
    rt_ring_note note;
} ring;

uint64_t tl_rt_ring_slot_size(void)
{
    uint64_t size = tl_rt.set.ring / RING_SLOTS;
    return rt_store_pages(&tl_rt_fdr_store, size < SLOT_MIN ? SLOT_MIN : size);
}

static uint32_t slots_of_ring(void)
{
    uint64_t n = tl_rt.set.ring / tl_rt_ring_slot_size();
    return n < 2 ? 2 : n > RING_SLOTS ? RING_SLOTS : (uint32_t)n;
}

/* What told about the slots of a parent stays, since an event that a handler with a fork interrupted goes on with it.
 */
void tl_rt_ring_start(void)
{
    rt_zero(&ring, sizeof ring);
}

/* ---- ended slots, with the lock ---- */

static void put_behind(rt_ring_slot *before, rt_ring_slot *s)
{
    rt_ring_slot **link = before ? &before->next : &ring.first;
    s->next = *link;
    *link = s;
    if (!s->next)
        ring.newest = s;
}

/* n slots of a thread, oldest first. */
static void put_ended(rt_ring_slot *s, uint32_t n, uint64_t ended)
{
    rt_ring_slot *before = ring.newest;
    if (before && before->ended > ended) {
        before = NULL;
        for (rt_ring_slot *next = ring.first; next->ended <= ended; next = next->next)
            before = next;
    }
    for (; n > 0; n--) {
        rt_ring_slot *next = s->next;
        s->ended = ended;
        put_behind(before, s);
        before = s;
        s = next;
    }
}

static rt_ring_slot *take_ended(void)
{
    rt_ring_slot *s = ring.first;
    ring.first = s->next;
    if (!ring.first)
        ring.newest = NULL;
    return s;
}

/* ---- using a slot again ---- */

static uint64_t events_in(const rt_ring_slot *s)
{
    const uint64_t used = (uint64_t)(s->at - s->slot.memory);
    return (used > s->apart ? (used - s->apart) / FDR_FUNCTION_SIZE : 0) + s->other;
}

/* With the lock. */
static void overwrite(uint64_t events, uint64_t time)
{
    ring.note.reused++;
    ring.note.overwritten += events;
    if (ring.note.complete <= time)
        ring.note.complete = time + 1;
    tl_rt_fdr_note_ring(&ring.note);
}

static void wipe(rt_ring_slot *s)
{
    uint64_t events = events_in(s);
    tl_rt_fdr_wipe(&s->slot);
    s->apart = s->other = 0;
    s->own = NULL;
    rt_lock_take(&ring.lock);
    overwrite(events, s->time);
    rt_lock_give(&ring.lock);
}

/* What the thread did in the slot that it has only a part of. With the lock. */
static void wipe_own(rt_ring_slot *s)
{
    char *at = s->own + FDR_PREAMBLE_SIZE;
    tl_rt_fdr_pad(at, s->slot.memory + s->slot.size);
    overwrite(events_in(s) - s->before, s->time);
    s->at = at;
    s->apart = (uint64_t)(at - s->slot.memory);
    s->other = s->before;
    s->time = s->ended;
}

/* Memory to tell about another slot, with the lock; NULL: none. */
static rt_ring_slot *new_record(void)
{
    if (ring.left == 0) {
        chunk *c = tl_rt_memory_take(sizeof *c);
        if (!c)
            return NULL;
        c->next = ring.chunks;
        ring.chunks = c;
        ring.left = CHUNK_SLOTS;
    }
    return &ring.chunks->slot[CHUNK_SLOTS - ring.left];
}

/* A new one, with the lock: as long as not all are made, and there is room. */
static rt_ring_slot *make_slot(const rt_lane *l)
{
    const rt_store *store = &tl_rt_fdr_store;
    uint64_t size = tl_rt_ring_slot_size();
    bool fits = !store->failed && (!store->limit || (store->size < store->limit && size <= store->limit - store->size));
    if ((!fits && (ring.first || l->nring > 1)) ||
        (ring.first && ring.made >= (uint64_t)tl_rt_lanes() * slots_of_ring()))
        return NULL;
    rt_ring_slot *s = new_record();
    if (!s)
        return NULL;
    s->slot.size = size;
    s->slot.memory = tl_rt_store_take(&tl_rt_fdr_store, &s->slot.size, &s->slot.offset);
    if (!s->slot.memory)
        return NULL;
    ring.left--;
    ring.made++;
    return s;
}

static rt_ring_slot *unlink_oldest(rt_lane *l)
{
    rt_ring_slot *s = l->oldest;
    l->oldest = s->next;
    l->nring--;
    return s;
}

/* Its thread is gone, and no other one has the lane yet. */
static void leave_for_good(rt_lane *l)
{
    tl_rt_fdr_end_slot(l);
    tl_rt_ring_leave(l, false);
}

/* One that was used before: the first of those that ended, else the lane's own oldest. NULL: there is none. */
static rt_ring_slot *use_again(rt_lane *l)
{
    rt_ring_slot *s = NULL;
    tl_rt_lanes_look(l, leave_for_good);
    rt_lock_take(&ring.lock);
    if (ring.first)
        s = take_ended();
    rt_lock_give(&ring.lock);
    return s || l->nring == 0 ? s : unlink_oldest(l);
}

bool tl_rt_ring_take(rt_lane *l)
{
    rt_ring_slot *s = NULL;
    bool used = true;
    if (l->nring == slots_of_ring() && !l->oldest->own) {
        s = unlink_oldest(l);
    } else {
        rt_lock_take(&ring.lock);
        if (l->nring == slots_of_ring()) {
            rt_ring_slot *shared = unlink_oldest(l);
            wipe_own(shared);
            put_ended(shared, 1, shared->ended);
        }
        s = make_slot(l);
        rt_lock_give(&ring.lock);
        used = !s;
        if (used)
            s = use_again(l);
    }
    if (!s)
        return false;
    if (used)
        wipe(s);
    s->next = NULL;
    s->at = s->slot.memory;
    if (l->nring++)
        l->newest->next = s;
    else
        l->oldest = s;
    l->newest = s;
    l->slot = s->slot;
    return true;
}

void tl_rt_ring_leave(rt_lane *l, bool go_on)
{
    if (!l->newest)
        return;
    rt_lock_take(&ring.lock);
    put_ended(l->oldest, l->nring - go_on, l->time);
    rt_lock_give(&ring.lock);
    l->oldest = l->newest = go_on ? l->newest : NULL;
    l->nring = go_on;
    if (go_on) {
        rt_ring_slot *s = l->newest;
        rt_ring_end(l);
        s->own = l->at;
        s->before = events_in(s);
        s->ended = l->time;
    } else {
        l->slot = (rt_slot){.memory = NULL};
        l->at = l->end = NULL;
    }
}

void tl_rt_ring_child(bool busy)
{
    for (const chunk *c = ring.chunks; c; c = c->next)
        for (uint32_t i = 0; i < CHUNK_SLOTS; i++)
            if (c->slot[i].slot.memory)
                tl_rt_store_leave(c->slot[i].slot.memory, c->slot[i].slot.size, busy);
}
