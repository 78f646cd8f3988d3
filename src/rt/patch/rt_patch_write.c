/* Changes code while no other thread runs.
 *
 * Pages of code stay as they are: /proc/self/mem writes to pages that are only readable, as debuggers do. Where a
 * kernel refuses that, pages are made writable, and not executable, for a moment. Each write has the changes of some
 * KiB; the order of writes is that of tied changes, so an error in between leaves the code valid. */
#include "rt/patch/rt_patch_write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "rt/control/rt_control.h"
#include "rt/hook/rt_sled.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

enum { ROOM = 8192, GAP = 2048 /* no page without a change lies in between */, TRIES = 1000 };

/* An emulator of AArch64 would go on with what it has translated before. */
#if defined(__x86_64__)
enum { BY_FILE = 1 };
#else
enum { BY_FILE = 0 };
#endif

typedef struct writing {
    uint8_t *room, *move;
    long file;    /* /proc/self/mem, or -errno */
    bool first;   /* changes with live == 0 are written now, not the others */
    bool stopped; /* only as long as others are */
} writing;

static uint8_t *memory(uint64_t address)
{
    return (uint8_t *)(uintptr_t)address;
}

static uint64_t end_of(const patch_change *c)
{
    return c->address + c->size;
}

static const uint8_t *bytes_of(const patch_change *c, bool on)
{
    return on ? c->now : c->was;
}

static bool is_same(const rt_patch_text *t, uint32_t i)
{
    const patch_change *c = &t->code->change[i];
    const uint8_t *expected = bytes_of(c, t->on[i]);
    for (unsigned k = 0; k < c->size; k++)
        if (memory(c->address)[k] != expected[k])
            return false;
    return true;
}

bool tl_rt_patch_is_same(const rt_patch_text *t, uint32_t *function)
{
    for (uint32_t i = 0; i < t->code->changes; i++)
        if (!is_same(t, i)) {
            *function = t->code->change[i].function;
            return false;
        }
    return true;
}

/* ---- which ---- */

/* Is change i on afterwards? */
static bool stays(const rt_patch_text *t, uint32_t i, const uint8_t *move)
{
    return t->on[i] && !move[i];
}

/* Changes of dead bytes, which others jump to: they are on before all others. A thread may have jumped there and not
 * have gone on yet, whenever others are taken back. */
static bool is_first(const patch_change *c)
{
    return c->live == 0;
}

static bool can_any(const patch_change *c)
{
    (void)c;
    return true;
}

static bool can_single(const patch_change *c)
{
    return !c->several;
}

rt_patch_can *tl_rt_patch_can(enum rt_patch_when when)
{
    static rt_patch_can *const of[] = {[RT_PATCH_LOADING] = can_any,
                                       [RT_PATCH_ALONE] = can_single,
                                       [RT_PATCH_STOPPED] = tl_rt_patch_can_stopped,
                                       [RT_PATCH_HALTED] = can_single,
                                       [RT_PATCH_RUNNING] = tl_rt_patch_can_switch};
    return of[when];
}

static void choose_off(const rt_patch_text *t, rt_patch_can *can, uint8_t *move)
{
    const patch_change *c = t->code->change;
    for (uint32_t i = 0; i < t->code->changes; i++) {
        const bool known = !is_first(&c[i]) || can == can_any || can == tl_rt_patch_can_stopped;
        const bool ok = t->on[i] && known && can(&c[i]) && is_same(t, i);
        move[i] = ok && !(i > 0 && c[i].tied && stays(t, i - 1, move));
    }
}

/* Can change i be on? `above`: can the next higher one? */
static bool possible(const rt_patch_text *t, uint32_t i, rt_patch_can *can, bool above)
{
    const patch_change *c = t->code->change;
    const bool counts = i + 1 < t->code->changes && c[i + 1].tied;
    return t->on[i] || ((is_first(&c[i]) || can(&c[i])) && is_same(t, i) && (!counts || above));
}

/* Until `move` is final it has whether a change is possible. */
static void choose_on(const rt_patch_text *t, rt_patch_can *can, uint8_t *move)
{
    const patch_change *c = t->code->change;
    const uint32_t n = t->code->changes;
    enum { BAD = 2 };
    for (uint32_t i = n; i-- > 0;) {
        move[i] = possible(t, i, can, i + 1 < n && move[i + 1]);
        if (!move[i])
            t->wanted[c[i].function] |= BAD;
    }
    bool counted = false; /* on by the next lower one? */
    for (uint32_t i = 0; i < n; i++) {
        const bool needed = t->wanted[c[i].function] == 1 || (c[i].tied && counted);
        move[i] = !t->on[i] && move[i] && (needed || is_first(&c[i]));
        counted = needed;
    }
    for (uint32_t i = 0; i < n; i++)
        t->wanted[c[i].function] &= (uint8_t)~BAD;
}

void tl_rt_patch_choose(const rt_patch_text *t, bool on, rt_patch_can *can, uint8_t *move)
{
    if (on)
        choose_on(t, can, move);
    else
        choose_off(t, can, move);
}

bool tl_rt_patch_others(const rt_patch_text *t, enum rt_patch_when when, uint8_t *other)
{
    const patch_change *c = t->code->change;
    const uint32_t n = t->code->changes;
    uint8_t *move = tl_rt_memory_take((size_t)n + 1);
    if (!move)
        return false;
    tl_rt_patch_choose(t, true, tl_rt_patch_can(when), move);
    for (uint32_t i = 0; i < n; i++) { /* 1: some are on, 2: some are not */
        const bool on = t->on[i] || move[i];
        other[c[i].function] |= on && !is_first(&c[i]) ? 1 : is_first(&c[i]) ? 0 : 2;
    }
    for (uint32_t f = 0; f < t->functions; f++)
        other[f] = (other[f] & 1) && (!t->wanted[f] || (other[f] & 2));
    tl_rt_memory_give(move, (size_t)n + 1);
    return true;
}

/* ---- stores ---- */

static int write_pages(const rt_patch_text *t, const uint8_t *from, uint64_t to, size_t n)
{
    const uint64_t low = to & ~(uint64_t)(PATCH_PAGE - 1),
                   high = (to + n + PATCH_PAGE - 1) & ~(uint64_t)(PATCH_PAGE - 1);
    const int closed = PROT_READ | PROT_EXEC | (t->writable ? PROT_WRITE : 0);
    long error = RT_SYS3(SYS_mprotect, low, high - low, PROT_READ | PROT_WRITE);
    if (error)
        return (int)error;
    rt_copy(memory(to), from, n);
    tl_rt_sled_sync(to, to + n);
    for (unsigned i = 0; i < TRIES && (error = RT_SYS3(SYS_mprotect, low, high - low, closed)) != 0; i++)
        RT_SYS0(SYS_sched_yield); /* the program cannot go on without */
    return (int)error;
}

static int write_bytes(const rt_patch_text *t, long file, const uint8_t *from, uint64_t to, size_t n)
{
    size_t done = 0;
    while (file >= 0 && done < n) {
        long got = RT_SYS4(SYS_pwrite64, file, from + done, n - done, to + done);
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done == n ? 0 : write_pages(t, from + done, to + done, n - done);
}

/* Changes [i, k) in one write, those with live == 0 or the others. */
static int write_run(const rt_patch_text *t, const writing *w, uint32_t i, uint32_t k)
{
    const patch_change *c = t->code->change;
    const uint64_t begin = c[i].address;
    const size_t n = end_of(&c[k - 1]) - begin;
    bool any = false;
    rt_copy(w->room, memory(begin), n);
    for (uint32_t m = i; m < k; m++)
        if (w->move[m] && is_first(&c[m]) == w->first) {
            rt_copy(w->room + (c[m].address - begin), bytes_of(&c[m], !t->on[m]), c[m].size);
            any = true;
        }
    if (any && w->stopped && !tl_rt_world_is_stopped())
        return -ECANCELED;
    int error = any ? write_bytes(t, w->file, w->room, begin, n) : 0;
    for (uint32_t m = i; m < k && any && !error; m++)
        if (w->move[m] && is_first(&c[m]) == w->first)
            t->on[m] ^= 1;
    return error;
}

/* The end of the run that begins with change i, or with `back` the begin of that which ends before i. */
static uint32_t run_of(const patch_code *code, uint32_t i, bool back)
{
    const patch_change *c = code->change;
    uint32_t k = i;
    if (back) {
        const uint64_t end = end_of(&c[i - 1]);
        for (k = i - 1; k > 0 && c[k].address - c[k - 1].address < GAP && end - c[k - 1].address <= ROOM; k--)
            ;
    } else {
        for (k = i + 1;
             k < code->changes && c[k].address - c[k - 1].address < GAP && end_of(&c[k]) - c[i].address <= ROOM; k++)
            ;
    }
    return k;
}

static int write_pass(const rt_patch_text *t, bool on, const writing *w)
{
    const uint32_t n = t->code->changes;
    int error = 0;
    for (uint32_t i = n, from; on && i > 0 && !error; i = from) {
        from = run_of(t->code, i, true);
        error = write_run(t, w, from, i);
    }
    for (uint32_t i = 0, to; !on && i < n && !error; i = to) {
        to = run_of(t->code, i, false);
        error = write_run(t, w, i, to);
    }
    return error;
}

int tl_rt_patch_write(rt_patch_text *t, bool on, enum rt_patch_when when)
{
    const size_t n = ROOM + (size_t)t->code->changes;
    uint8_t *room = tl_rt_memory_take(n);
    if (!room)
        return -ENOMEM;
    writing w = {
        .room = room, .move = room + ROOM, .first = on, .stopped = when == RT_PATCH_STOPPED || when == RT_PATCH_HALTED};
    tl_rt_patch_choose(t, on, tl_rt_patch_can(when), w.move);
    w.file = BY_FILE ? RT_SYS4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0) : -ENOSYS;
    int error = write_pass(t, on, &w);
    w.first = !w.first;
    if (!error)
        error = write_pass(t, on, &w);
    if (w.file >= 0)
        RT_SYS1(SYS_close, w.file);
    tl_rt_memory_give(room, n);
    return error;
}
