/* Slots of rings: which thread has which, and which one is reused. */
#include "rt/mode/rt_ring.h"

#include "rt/mode/rt_fdr.h"
#include "rt/mode/rt_fdr_file.h"

enum {
    SLOT_MIN = 16 << 10,
    RING_SLOTS = 16 /* at most, in one ring */
};

static struct {
    rt_lock lock;
    rt_ring_slot *made; /* all slots, newest first */
    uint64_t nmade;
    rt_ring_slot *first, *newest; /* ended slots */
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

/* The parent's rt_ring_slots stay: after a fork in a signal handler, the event that the handler interrupted still uses
 * them. */
void tl_rt_ring_start(void)
{
    rt_zero(&ring, sizeof ring);
}

/* ---- ended slots; with the lock ---- */

static void put_behind(rt_ring_slot *before, rt_ring_slot *s)
{
    rt_ring_slot **link = before ? &before->next : &ring.first;
    s->next = *link;
    *link = s;
    if (!s->next)
        ring.newest = s;
}

/* n slots of a thread, oldest first; `ended` is the time of its last event. */
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

/* ---- reusing slots ---- */

static uint64_t events_in(const rt_ring_slot *s)
{
    const uint64_t used = (uint64_t)(s->at - s->slot.memory);
    return (used > s->other_bytes ? (used - s->other_bytes) / FDR_FUNCTION_SIZE : 0) + s->other_events;
}

/* Notes that `events` more, up to `time`, were overwritten. With the lock. */
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
    s->other_bytes = s->other_events = 0;
    s->part = NULL;
    rt_lock_take(&ring.lock);
    overwrite(events, s->time);
    rt_lock_give(&ring.lock);
}

/* Overwrites the thread's part of a slot that it took over from another thread. With the lock. */
static void wipe_part(rt_ring_slot *s)
{
    char *at = s->part + FDR_PREAMBLE_SIZE;
    tl_rt_fdr_pad(at, s->slot.memory + s->slot.size);
    overwrite(events_in(s) - s->events_before, s->time);
    s->at = at;
    s->other_bytes = (uint64_t)(at - s->slot.memory);
    s->other_events = s->events_before;
    s->time = s->ended;
}

/* A new slot, unless all are made or there is no room. With the lock. */
static rt_ring_slot *make_slot(const rt_lane *l)
{
    const rt_store *store = &tl_rt_fdr_store;
    uint64_t size = tl_rt_ring_slot_size();
    bool fits = !store->failed && (!store->limit || size <= store->limit - store->size);
    if ((!fits && (ring.first || l->nring > 1)) ||
        (ring.first && ring.nmade >= (uint64_t)tl_rt_lanes() * slots_of_ring()))
        return NULL;
    rt_ring_slot *s = tl_rt_memory_keep(sizeof *s);
    if (!s)
        return NULL;
    s->slot.size = size;
    s->slot.memory = tl_rt_store_take(&tl_rt_fdr_store, &s->slot.size, &s->slot.offset);
    if (!s->slot.memory) /* the store has failed before: do not try again */
        return NULL;
    s->made_before = ring.made;
    ring.made = s;
    ring.nmade++;
    return s;
}

static rt_ring_slot *unlink_oldest(rt_lane *l)
{
    rt_ring_slot *s = l->oldest;
    l->oldest = s->next;
    l->nring--;
    return s;
}

static void end_ring(rt_lane *l)
{
    tl_rt_ring_leave(l, false);
}

/* A used slot: the first ended one, else the lane's own oldest. NULL: none. */
static rt_ring_slot *use_again(rt_lane *l)
{
    rt_ring_slot *s = NULL;
    tl_rt_lanes_look(l, end_ring);
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
    if (l->nring == slots_of_ring() && !l->oldest->part) {
        s = unlink_oldest(l);
    } else {
        rt_lock_take(&ring.lock);
        if (l->nring == slots_of_ring()) {
            rt_ring_slot *shared = unlink_oldest(l);
            wipe_part(shared);
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
    if (go_on)
        rt_ring_end(l);
    else
        tl_rt_fdr_end_slot(l);
    rt_lock_take(&ring.lock);
    put_ended(l->oldest, l->nring - go_on, l->time);
    rt_lock_give(&ring.lock);
    l->oldest = l->newest = go_on ? l->newest : NULL;
    l->nring = go_on;
    if (go_on) {
        rt_ring_slot *s = l->newest;
        s->part = l->at;
        s->events_before = events_in(s);
        s->ended = l->time;
    } else {
        l->slot = (rt_slot){.memory = NULL};
        l->at = l->end = NULL;
    }
}

void tl_rt_ring_child(bool busy)
{
    for (const rt_ring_slot *s = ring.made; s; s = s->made_before)
        tl_rt_store_leave(s->slot.memory, s->slot.size, busy);
}
