/* A copy of the image of mode "profile" while threads go on recording.
 *
 * Copying from front to back ensures that the copy contains whatever its references lead to: it is further behind, or
 * older. Then the numbers of each node are read once more, together with its histogram. */
#include <errno.h>

#include "rt/mode/rt_profile_image.h"
#include "rt/rt_files.h"
#include "rt/rt_store.h"

typedef struct copying {
    const rt_image *from;
    rt_image to;
} copying;

/* The original of a place in the copy. */
static const void *original(const copying *c, const void *p)
{
    return c->from->at + ((const char *)p - c->to.at);
}

static rt_block *block_at(const rt_image *m, uint32_t reference)
{
    return (rt_block *)(void *)rt_image_at(m, reference, LIVE_BLOCK_SIZE);
}

/* Copies a node's histogram once more, and returns its calls. Newer blocks may be past the copy's end. */
static uint64_t take_counts(const copying *c, rt_node *n, const rt_node *now)
{
    const rt_block *b;
    uint32_t at = rt_image_load((const char *)&now->blocks), last = UINT32_MAX;
    uint64_t calls = 0;
    while (at < last && !block_at(&c->to, at) && (b = block_at(c->from, at))) {
        last = at;
        at = b->next;
    }
    n->blocks = at < last && block_at(&c->to, at) ? at : 0;
    for (rt_block *copy; at < last && (copy = block_at(&c->to, at)); last = at, at = b->next) {
        b = original(c, copy);
        *copy = (rt_block){.next = b->next, .tag = b->tag, .shift = b->shift};
        for (int i = 0; i < 16; i++) {
            copy->count[i] = __atomic_load_n(&b->count[i], __ATOMIC_ACQUIRE);
            calls += (uint64_t)copy->count[i] << (b->shift & 63);
        }
    }
    return calls;
}

/* A call changes the number of calls first and the histogram last: if both stay the same, no call was added meanwhile.
 * If calls never pause, times may include some that are not counted. */
static void take_numbers(void *arg, rt_node *n)
{
    enum { TRIES = 100 };
    const copying *c = arg;
    const rt_node *now = original(c, n);
    uint64_t before, after;
    for (int i = 0; i < TRIES; i++) {
        before = __atomic_load_n(&now->calls, __ATOMIC_ACQUIRE);
        n->calls = take_counts(c, n, now);
        n->total = __atomic_load_n(&now->total, __ATOMIC_ACQUIRE);
        n->inner = __atomic_load_n(&now->inner, __ATOMIC_ACQUIRE);
        n->min = __atomic_load_n(&now->min, __ATOMIC_ACQUIRE);
        n->max = __atomic_load_n(&now->max, __ATOMIC_ACQUIRE);
        after = __atomic_load_n(&now->calls, __ATOMIC_RELAXED);
        if (before == n->calls && after == before)
            break;
    }
}

/* The last calls were added to their nodes before; later ones do not belong to the copy. */
static void forget_last_calls(const rt_image *m)
{
    live_chain chain = {0};
    char *lane;
    for (uint32_t l = rt_image_load(m->at + LIVE_HEADER_LANES);
         (lane = rt_image_at(m, l, LIVE_LANE_SIZE)) && !live_circles(&chain, l); l = rt_image_load(lane))
        rt_zero(lane + LIVE_LANE_LAST_NODE, LIVE_LANE_SIZE - LIVE_LANE_LAST_NODE);
}

static int write_all(int fd, const char *p, uint64_t size)
{
    enum { PART = 1 << 20 };
    long put = 0;
    for (uint64_t at = 0; at < size && put == 0; at += PART)
        put = tl_rt_store_write(fd, p + at, size - at < PART ? size - at : PART, at);
    return (int)put;
}

int tl_rt_profile_copy(const rt_image *m, const char *path)
{
    char beside[RT_PATH + 8];
    uint64_t size = __atomic_load_n(m->size, __ATOMIC_ACQUIRE);
    int fd = tl_rt_files_beside(path, beside);
    if (fd < 0)
        return fd;
    copying c = {.from = m, .to = {.at = tl_rt_memory_take(size), .size = &size}};
    int status = c.to.at ? 0 : -ENOMEM;
    if (status == 0) {
        rt_copy(c.to.at, m->at, size);
        forget_last_calls(&c.to);
        tl_rt_profile_each_node(&c.to, take_numbers, &c);
        *(uint32_t *)(void *)(c.to.at + LIVE_HEADER_STATE) = 1;
        status = write_all(fd, c.to.at, size);
        tl_rt_memory_give(c.to.at, size);
    }
    return tl_rt_files_rename(fd, beside, path, status);
}
