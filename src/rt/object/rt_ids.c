/* Numbers of functions, and the table in which hooks look them up by address.
 *
 * The table is open: an address lies in the first free slot from its home on. A slot is taken by one compare and swap,
 * and then any thread may finish it: take a number, write the note, publish the id. Nobody waits, so it does not matter
 * where a thread, or a signal handler on top of it, was interrupted. Two threads that meet in the same slot may both
 * write the note, which does no harm.
 *
 * A signal handler that interrupted the recorder must not write notes, since it may have interrupted one. It flags the
 * number, which is valid for its events, and the next thread that sees the function, or the end, writes the note. */
#include "rt/object/rt_ids.h"

#include "rt/object/rt_objects.h"
#include "rt/object/rt_wanted.h"
#include "rt/rt_lane.h"
#include "rt/rt_note.h"
#include "rt/rt_store.h"

rt_address_slot *tl_rt_address_slots;

static uint32_t *order; /* slots in the order taken: index + 1; 0: about to be stored */
static uint32_t nslot;
static uint32_t last; /* latest number given */

uint32_t tl_rt_ids_take(uint32_t n)
{
    uint32_t base = __atomic_load_n(&last, __ATOMIC_RELAXED);
    do {
        if (n > RT_ID_MAX - base)
            return UINT32_MAX;
    } while (!__atomic_compare_exchange_n(&last, &base, base + n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return base;
}

/* Gives back the number taken last, unless another was taken since; then it stays unused. */
static void give_back(uint32_t number)
{
    __atomic_compare_exchange_n(&last, &number, number - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool tl_rt_ids_begin(void)
{
    if (tl_rt_address_slots)
        return true;
    if (!order)
        order = tl_rt_memory_take(RT_ADDRESS_MAX * sizeof *order);
    if (order)
        tl_rt_address_slots = tl_rt_memory_take(RT_ADDRESS_SLOTS * sizeof *tl_rt_address_slots);
    return tl_rt_address_slots != NULL;
}

/* The address's slot, taken if needed; NULL: the table is full. */
static rt_address_slot *slot_of(uintptr_t address)
{
    for (uint32_t i = rt_address_home(address);; i = (i + 1) & (RT_ADDRESS_SLOTS - 1)) {
        rt_address_slot *s = &tl_rt_address_slots[i];
        uintptr_t there = __atomic_load_n(&s->address, __ATOMIC_RELAXED);
        if (there == address)
            return s;
        if (there)
            continue;
        uint32_t n = __atomic_load_n(&nslot, __ATOMIC_RELAXED);
        do {
            if (n >= RT_ADDRESS_MAX)
                return NULL;
        } while (!__atomic_compare_exchange_n(&nslot, &n, n + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        bool mine =
            __atomic_compare_exchange_n(&s->address, &there, address, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        /* The place in the order stays empty if another thread was faster: walks skip it. */
        if (mine) {
            s->first = UINT32_MAX;
            __atomic_store_n(&order[n], i + 1, __ATOMIC_RELEASE);
        }
        if (mine || there == address)
            return s;
    }
}

static bool is_unloaded(uint32_t id)
{
    return (id & ~(uint32_t)RT_ID_MAX) == RT_ID_UNLOADED;
}

/* The number in a slot; 0: none yet. */
static uint32_t number_in(uint32_t id)
{
    return is_unloaded(id) ? 0 : id & RT_ID_MAX;
}

/* Resets a slot without the number that an unloaded object gave it. */
static uint32_t forgotten(uint32_t id)
{
    return is_unloaded(id) ? 0 : id;
}

/* The number, made if needed; 0: there are no more. */
static uint32_t number_of(rt_address_slot *s)
{
    uint32_t there = __atomic_load_n(&s->id, __ATOMIC_RELAXED);
    if (number_in(there))
        return number_in(there);
    uint32_t number = tl_rt_ids_take(1) + 1;
    if (!number)
        return 0;
    while (
        !__atomic_compare_exchange_n(&s->id, &there, number | RT_ID_UNNOTED, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        if (number_in(there)) {
            give_back(number);
            return number_in(there);
        }
    return number;
}

static void note(uint32_t id, uintptr_t address, const rt_object *o)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "function id=");
    tl_rt_line_number(&l, id);
    tl_rt_line_text(&l, " object=");
    tl_rt_line_number(&l, o ? o->id : 0);
    tl_rt_line_text(&l, " address=0x");
    tl_rt_line_hex(&l, o ? address - o->bias : address);
    tl_rt_note(&l);
}

/* Finishes a slot, in a place that may write notes. */
static uint32_t decide(rt_address_slot *s)
{
    const uintptr_t address = __atomic_load_n(&s->address, __ATOMIC_RELAXED);
    const rt_object *o = tl_rt_object_at(address);
    const bool wanted = tl_rt_wanted(o, address), leaves = o && o->gone; /* then the next object decides */
    uint32_t number = 0, there = __atomic_load_n(&s->id, __ATOMIC_RELAXED);
    if (leaves && is_unloaded(there))
        return wanted ? there & RT_ID_MAX : 0;
    if (is_unloaded(there))
        __atomic_compare_exchange_n(&s->id, &there, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (wanted)
        number = number_of(s);
    if (number) {
        note(number, address, o);
        __atomic_store_n(&s->id, leaves ? number | RT_ID_UNLOADED : number, __ATOMIC_RELAXED);
    } else if (!leaves) {
        __atomic_fetch_or(&s->id, RT_ID_LEFT_OUT, __ATOMIC_RELAXED);
    }
    return number;
}

/* A function is seen for the first time, at least by this thread. The lane is busy meanwhile, so that the recorder does
 * not close its file during the note. */
static RT_COLD uint32_t first_sight(rt_address_slot *s)
{
    uint64_t mask = rt_signals_block();
    rt_lane *l = tl_rt_lane;
    bool inside = l && l->busy;
    uint32_t id = 0;
    if (!l)
        l = tl_rt_lane_attach(); /* which also makes it busy */
    if (inside || !l) {
        if (!tl_rt_wanted_patterns())
            id = number_of(s);
    } else {
        l->busy = UINTPTR_MAX;
        RT_BARRIER();
        if (tl_rt.state == RT_ON)
            id = decide(s);
        RT_BARRIER();
        l->busy = 0;
    }
    rt_signals_restore(mask);
    return id;
}

uint32_t tl_rt_ids_of_address_slow(uintptr_t address)
{
    rt_address_slot *s = slot_of(address);
    if (!s) {
        rt_lane *l = tl_rt_lane;
        if (l && (tl_rt.set.modes & RT_MODE_PROFILE))
            l->lost.places++;
        if (l && (tl_rt.set.modes & ~(unsigned)RT_MODE_PROFILE))
            l->lost.memory++;
        return 0;
    }
    uint32_t id = __atomic_load_n(&s->id, __ATOMIC_RELAXED);
    if (id && !(id & RT_ID_FLAGGED))
        return id;
    return (id & RT_ID_LEFT_OUT) == RT_ID_LEFT_OUT ? 0 : first_sight(s);
}

/* Slot number i in the order taken; NULL: not there (any more, or yet). */
static rt_address_slot *slot_at(uint32_t i)
{
    uint32_t at = __atomic_load_n(&order[i], __ATOMIC_ACQUIRE);
    return at ? &tl_rt_address_slots[at - 1] : NULL;
}

void tl_rt_ids_each_address(void (*visit)(void *arg, uint32_t id, uintptr_t address), void *arg)
{
    uint32_t n = __atomic_load_n(&nslot, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n; i++) {
        const rt_address_slot *s = slot_at(i);
        uint32_t number = s ? number_in(__atomic_load_n(&s->id, __ATOMIC_RELAXED)) : 0;
        if (number)
            visit(arg, number, s->address);
    }
}

static void note_one(void *arg, uint32_t id, uintptr_t address)
{
    (void)arg;
    note(id, address, tl_rt_object_at(address));
}

void tl_rt_ids_note(void)
{
    tl_rt_ids_each_address(note_one, NULL);
}

void tl_rt_ids_note_late(void)
{
    uint32_t n = __atomic_load_n(&nslot, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n; i++) {
        rt_address_slot *s = slot_at(i);
        if (s && (__atomic_load_n(&s->id, __ATOMIC_RELAXED) & ~(uint32_t)RT_ID_MAX) == RT_ID_UNNOTED)
            decide(s);
    }
}

/* Replaces the id of each slot with an address in [low, high) by next(id). */
static void change(uintptr_t low, uintptr_t high, uint32_t (*next)(uint32_t id))
{
    uint32_t n = __atomic_load_n(&nslot, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n; i++) {
        rt_address_slot *s = slot_at(i);
        if (!s || s->address - low >= high - low)
            continue;
        uint32_t id = __atomic_load_n(&s->id, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&s->id, &id, next(id), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
    }
}

static uint32_t unloaded(uint32_t id)
{
    return id & RT_ID_MAX ? (id & RT_ID_MAX) | RT_ID_UNLOADED : 0;
}

static uint32_t same_as_before(uint32_t id)
{
    return is_unloaded(id) ? (id & RT_ID_MAX) | RT_ID_UNNOTED : id;
}

/* Forgets all but the number. */
static uint32_t undecided(uint32_t id)
{
    return number_in(id) ? number_in(id) | RT_ID_UNNOTED : id & RT_ID_MAX ? id : 0;
}

void tl_rt_ids_unload(uintptr_t low, uintptr_t high)
{
    change(low, high, unloaded);
    uint32_t n = __atomic_load_n(&nslot, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n; i++) {
        rt_address_slot *s = slot_at(i);
        if (s && s->address - low < high - low)
            s->first = UINT32_MAX;
    }
}

void tl_rt_ids_load(uintptr_t low, uintptr_t high, bool same)
{
    change(low, high, same ? same_as_before : forgotten);
}

void tl_rt_ids_decide_again(void)
{
    change(0, UINTPTR_MAX, undecided);
}
