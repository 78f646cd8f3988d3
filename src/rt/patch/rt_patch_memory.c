/* Memory of the planner: mappings, and for arrays that live briefly one large mapping, which all objects share, so that
 * its pages are made once, and with luck are huge ones. A page takes longer to be made than to be filled. */
#include <stdbool.h>
#include <sys/mman.h>

#include "rt/patch/rt_patch_process.h"
#include "rt/rt_sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { HUGE_PAGE = 2 << 20, LENT_MOST = 256 << 20, LARGE = 1 << 15, WORD = 8 };

/* Pieces are lent one behind the other. What was given back is lent again when nothing lies behind it. */
static struct {
    uint8_t *mapped, *begin;
    size_t used, dirty; /* up to dirty, bytes may be other than zero */
    uint32_t pieces;
} lent;

static void *take(size_t n)
{
    void *p = tl_rt_memory_take(n);
    if (p && n >= LARGE) /* all at once take a third of the time; kernels before 5.14 refuse */
        RT_SYS3(SYS_madvise, p, n, MADV_POPULATE_WRITE);
    return p;
}

static bool is_lent(const void *p)
{
    return lent.mapped && (uintptr_t)p - (uintptr_t)lent.begin < LENT_MOST;
}

static size_t rounded(size_t n)
{
    return (n + WORD - 1) & ~(size_t)(WORD - 1);
}

static bool map_lent(void)
{
    if (lent.mapped)
        return true;
    lent.mapped = tl_rt_memory_take((size_t)LENT_MOST + HUGE_PAGE);
    if (!lent.mapped)
        return false;
    lent.begin = lent.mapped + (-(uintptr_t)lent.mapped & (HUGE_PAGE - 1));
    lent.used = lent.dirty = lent.pieces = 0;
    RT_SYS3(SYS_madvise, lent.begin, LENT_MOST, MADV_HUGEPAGE);
    return true;
}

/* [from, to) becomes zero, as far as it was used before. */
static void clean(size_t from, size_t to)
{
    const size_t end = to < lent.dirty ? to : lent.dirty;
    for (size_t i = from; i < end; i += WORD)
        *(volatile uint64_t *)(void *)(lent.begin + i) = 0;
    lent.dirty = to > lent.dirty ? to : lent.dirty;
}

static void *lend(size_t n)
{
    if (n == 0 || n > LENT_MOST || !map_lent() || LENT_MOST - lent.used < rounded(n))
        return take(n);
    uint8_t *p = lent.begin + lent.used;
    clean(lent.used, lent.used + rounded(n));
    lent.used += rounded(n);
    lent.pieces++;
    return p;
}

static bool is_last(const uint8_t *p, size_t n)
{
    return p + rounded(n) == lent.begin + lent.used;
}

static void give(void *p, size_t n)
{
    if (!is_lent(p)) {
        tl_rt_memory_give(p, n);
        return;
    }
    if (is_last(p, n))
        lent.used -= rounded(n);
    if (--lent.pieces == 0)
        lent.used = 0;
}

/* An array may begin as nothing. */
static void *grow(void *p, size_t from, size_t to)
{
    if (!p)
        return take(to);
    if (!is_lent(p))
        return tl_rt_memory_grow(p, from, to);
    if (is_last(p, from) && LENT_MOST - (size_t)((uint8_t *)p - lent.begin) >= rounded(to)) {
        const size_t end = (size_t)((uint8_t *)p - lent.begin) + rounded(to);
        clean(lent.used, end);
        lent.used = end;
        return p;
    }
    void *q = lend(to);
    if (!q)
        return NULL;
    rt_copy(q, p, from);
    give(p, from);
    return q;
}

const patch_memory tl_rt_patch_memory = {.take = take, .give = give, .grow = grow, .lend = lend};

void tl_rt_patch_memory_end(void)
{
    if (lent.mapped && !lent.pieces) {
        tl_rt_memory_give(lent.mapped, (size_t)LENT_MOST + HUGE_PAGE);
        lent.mapped = NULL;
    }
}
