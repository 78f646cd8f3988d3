/* Changes code while any thread may be in it.
 *
 * A thread is before an instruction or behind it, and fetches it as it is or as it will be, if what differs lies within
 * eight aligned bytes and is written by one store. Where it does not, but the first two bytes do, those become a jump
 * to themselves for a moment: threads that come by wait there while the rest is written. Bytes that are executed as
 * part of the new instruction only are written before it, or taken back after it. Between the steps membarrier() makes
 * every processor forget what it had fetched.
 *
 *     on      bytes behind, or the jump | barrier | all at once, or the rest | barrier | first two bytes | barrier
 *     off     all at once, or the jump  | barrier | bytes behind, or the rest | barrier | first two bytes | barrier
 *
 * Of changes that count on each other's bytes one is made in each round; those of dead bytes (live 0), to
 * which others jump, are made before the first one, and are never taken back.
 *
 * Pages are writable and executable meanwhile, as they are for sleds. */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/mman.h>

#include "rt/patch/rt_patch_write.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

enum { WORD = 8, WAIT_0 = 0xeb, WAIT_1 = 0xfe };

/* How a change is made. */
enum { ONCE, WAITING, NEVER };

static bool has_barrier; /* all processors can be made to forget */

static void barrier(void)
{
    RT_BARRIER();
    if (has_barrier)
        RT_SYS2(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0);
}

static void barrier_begin(void)
{
    static bool registered; /* again in a child: a process that forks keeps it, one that execs begins anew */
    if (!registered)
        has_barrier = RT_SYS2(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0) == 0;
    registered = true;
}

/* The bytes [*from, *to) differ among the first `live` ones; false: none. */
static bool difference(const patch_change *c, unsigned *from, unsigned *to)
{
    *from = c->live;
    *to = 0;
    for (unsigned i = 0; i < c->live && i < c->size; i++)
        if (c->was[i] != c->now[i]) {
            *from = i < *from ? i : *from;
            *to = i + 1;
        }
    return *from < *to;
}

static bool in_one_word(uint64_t address, unsigned from, unsigned to)
{
    return (address + from) / WORD == (address + to - 1) / WORD;
}

static int way_of(const patch_change *c)
{
    unsigned from, to;
    if (c->several && c->live)
        return NEVER;
    if (!difference(c, &from, &to) || in_one_word(c->address, from, to))
        return ONCE;
    return has_barrier && c->live >= 2 && in_one_word(c->address, 0, 2) ? WAITING : NEVER;
}

bool tl_rt_patch_can_switch(const patch_change *c)
{
    barrier_begin();
    return way_of(c) != NEVER;
}

/* Bytes [from, to) of the change, which lie in one word, by one store. */
static void store(const patch_change *c, const uint8_t *bytes, unsigned from, unsigned to)
{
    const uint64_t at = (c->address + from) & ~(uint64_t)(WORD - 1);
    uint8_t *p = (uint8_t *)(uintptr_t)c->address;
    if (to - from == 1) {
        __atomic_store_n(p + from, bytes[from], __ATOMIC_RELEASE);
        return;
    }
    union {
        uint64_t word;
        uint8_t byte[WORD];
    } w = {.word = __atomic_load_n((uint64_t *)(uintptr_t)at, __ATOMIC_RELAXED)};
    for (unsigned i = from; i < to; i++)
        w.byte[c->address + i - at] = bytes[i];
    __atomic_store_n((uint64_t *)(uintptr_t)at, w.word, __ATOMIC_RELEASE);
}

/* Bytes that nobody executes. */
static void put(const patch_change *c, const uint8_t *bytes, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        *(volatile uint8_t *)(uintptr_t)(c->address + i) = bytes[i];
}

static void store_difference(const patch_change *c, const uint8_t *bytes)
{
    unsigned from, to;
    if (difference(c, &from, &to))
        store(c, bytes, from, to);
}

static void first_step(const patch_change *c, bool on, const uint8_t *bytes)
{
    static const uint8_t wait[] = {WAIT_0, WAIT_1};
    const bool waiting = way_of(c) == WAITING;
    if (on)
        put(c, bytes, c->live, c->size);
    if (waiting)
        store(c, wait, 0, 2);
    else if (!on)
        store_difference(c, bytes);
}

static void second_step(const patch_change *c, bool on, const uint8_t *bytes)
{
    if (way_of(c) == WAITING)
        put(c, bytes, 2, c->size);
    else if (on)
        store_difference(c, bytes);
    else
        put(c, bytes, c->live, c->size);
}

static void third_step(const patch_change *c, bool on, const uint8_t *bytes)
{
    (void)on;
    if (way_of(c) == WAITING)
        store(c, bytes, 0, 2);
}

/* ---- rounds ---- */

/* In which round each change is made: after those that it counts on, or that count on it. Returns the number of
 * rounds. */
static uint32_t set_rounds(const patch_code *code, bool on, uint32_t *round)
{
    const patch_change *c = code->change;
    const uint32_t n = code->changes;
    uint32_t most = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = on ? n - 1 - k : k;
        const bool follows = on ? i + 1 < n && c[i + 1].tied : i > 0 && c[i].tied;
        round[i] = follows ? round[on ? i + 1 : i - 1] + 1 : 0;
        most = round[i] > most ? round[i] : most;
    }
    return most + 1;
}

/* Changes of dead bytes. */
static void make_dead(rt_patch_text *t, const uint8_t *move)
{
    bool any = false;
    for (uint32_t i = 0; i < t->code->changes; i++) {
        const patch_change *c = &t->code->change[i];
        if (!move[i] || c->live)
            continue;
        put(c, c->now, 0, c->size);
        t->on[i] = true;
        any = true;
    }
    if (any)
        barrier();
}

static void make_round(rt_patch_text *t, bool on, uint32_t r, const uint32_t *round, const uint8_t *move)
{
    static void (*const step[])(const patch_change *, bool, const uint8_t *) = {first_step, second_step, third_step};
    bool any = false;
    for (unsigned k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < t->code->changes; i++) {
            const patch_change *c = &t->code->change[i];
            if (!move[i] || round[i] != r || !c->live)
                continue;
            step[k](c, on, on ? c->now : c->was);
            any = true;
        }
        if (!any)
            return;
        barrier();
    }
    for (uint32_t i = 0; i < t->code->changes; i++)
        if (move[i] && round[i] == r && t->code->change[i].live)
            t->on[i] = on;
}

/* The pages of changes that move, within one part of the image. */
static bool pages_of(const rt_patch_text *t, const patch_part *part, const uint8_t *move, uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (uint32_t i = 0; i < t->code->changes; i++) {
        const patch_change *c = &t->code->change[i];
        if (!move[i] || c->address - part->address >= part->size)
            continue;
        *low = *low < c->address ? *low : c->address & ~(uint64_t)(PATCH_PAGE - 1);
        *high = (c->address + c->size + PATCH_PAGE - 1) & ~(uint64_t)(PATCH_PAGE - 1);
    }
    return *low < *high;
}

static int protect(const rt_patch_text *t, const uint8_t *move, int how)
{
    uint64_t low, high;
    long error = 0;
    for (unsigned i = 0; i < t->image->parts && !error; i++)
        if (t->image->part[i].code && pages_of(t, &t->image->part[i], move, &low, &high))
            error = RT_SYS3(SYS_mprotect, low, high - low, how);
    return (int)error;
}

static int make(rt_patch_text *t, bool on, uint32_t *round, const uint8_t *move)
{
    int error = protect(t, move, PROT_READ | PROT_WRITE | PROT_EXEC);
    const uint32_t rounds = error ? 0 : set_rounds(t->code, on, round);
    if (on && !error)
        make_dead(t, move);
    for (uint32_t r = 0; r < rounds; r++)
        make_round(t, on, r, round, move);
    if (!t->writable)
        protect(t, move, PROT_READ | PROT_EXEC);
    return error;
}

#if defined(__aarch64__)
/* Only branches and nops may be exchanged while others execute them: what is on stays so. */
static bool stays(const rt_patch_text *t, bool on, int *error)
{
    *error = 0;
    for (uint32_t i = 0; on && i < t->code->changes; i++)
        if (!t->on[i])
            *error = -ENOTSUP;
    return true;
}
#else
static bool stays(const rt_patch_text *t, bool on, int *error)
{
    (void)t, (void)on, (void)error;
    return false;
}
#endif

int tl_rt_patch_switch(rt_patch_text *t, bool on)
{
    int status;
    if (stays(t, on, &status))
        return status;
    const size_t n = (size_t)t->code->changes * (sizeof(uint32_t) + 1);
    if (n == 0)
        return 0;
    uint32_t *round = tl_rt_memory_take(n);
    if (!round)
        return -ENOMEM;
    uint8_t *move = (uint8_t *)(round + t->code->changes);
    barrier_begin();
    tl_rt_patch_choose(t, on, tl_rt_patch_can_switch, move);
    int error = make(t, on, round, move);
    tl_rt_memory_give(round, n);
    return error;
}
