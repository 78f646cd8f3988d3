/* The mode "profile": the tree of call stacks with exact sums and a histogram in every node, in a shared file.
 *
 * The image is that of format/tlp/live_layout.h. Each lane has a tree of its own, so that nothing is shared between
 * threads but the room that nodes are taken from, in pieces. */
#ifndef TL_RT_PROFILE_H
#define TL_RT_PROFILE_H

#include "format/tlp/live_layout.h"
#include "model/hist_layout.h"
#include "rt/rt_clock.h"
#include "rt/rt_lane.h"

enum { RT_CACHE = 8 }; /* ways of a node's two caches */

/* The layout's node, with what the recorder keeps in its room for that. */
typedef struct rt_node {
    uint32_t function, parent, child, sibling;
    uint64_t calls, total, inner, min, max;
    uint32_t blocks;
    uint32_t unused;
    uint32_t hist[RT_CACHE];   /* histogram blocks by the lowest bits of their tag */
    uint32_t inside[RT_CACHE]; /* children by the lowest bits of their function */
} rt_node;

typedef struct rt_block {
    uint32_t next;
    uint16_t tag, shift;
    uint64_t unused;
    uint32_t count[16];
} rt_block;

/* The file tl_rt.path + ".live". 0 or -errno. Not from hooks; nor are the other functions of this group. */
int tl_rt_profile_start(void);
int tl_rt_profile_finish(void); /* writes the .tlp, removes the live file */
int tl_rt_profile_flush(const char *path);
void tl_rt_profile_child(void);
bool tl_rt_profile_note(const char *text, size_t n);
uint64_t tl_rt_profile_bytes(void);
void tl_rt_profile_table(uint32_t object, uint32_t base, uint32_t count, const uint64_t *address);

/* From hooks, the lane busy. */
bool tl_rt_profile_attach(rt_lane *l);
void tl_rt_profile_leave(rt_lane *l); /* its thread is gone, or recording ends: its open calls stay open */
/* The node below another one for a function; 0: no room, counted. */
uint32_t tl_rt_profile_node(rt_lane *l, uint32_t parent, uint32_t function);
/* The block of a bucket, made if need be; NULL: no room. */
rt_block *tl_rt_profile_block(rt_lane *l, rt_node *n, uint32_t tag, uint16_t shift);
void tl_rt_profile_carry(rt_lane *l, rt_node *n, uint32_t bucket);

RT_INLINE void *rt_at(const rt_lane *l, uint32_t reference)
{
    return l->live + (uint64_t)reference * LIVE_UNIT;
}

RT_INLINE uint32_t rt_profile_child(rt_lane *l, uint32_t parent, uint32_t function)
{
    if (RT_LIKELY(parent)) {
        const rt_node *p = rt_at(l, parent);
        uint32_t found = p->inside[function % RT_CACHE];
        if (RT_LIKELY(found && ((const rt_node *)rt_at(l, found))->function == function))
            return found;
    }
    return tl_rt_profile_node(l, parent, function);
}

/* Adds a call to its node. The count of the histogram comes last: it makes the call count. */
RT_INLINE void rt_profile_add(rt_lane *l, uint32_t node, uint64_t ticks, uint64_t inner)
{
    if (RT_UNLIKELY(!node)) {
        l->lost.memory++;
        return;
    }
    rt_node *n = rt_at(l, node);
    uint32_t bucket = tl_hist_bucket_of(ticks), tag = bucket / 16;
    n->calls++;
    n->total += ticks;
    n->inner += inner;
    if (RT_UNLIKELY(ticks < n->min))
        n->min = ticks;
    if (RT_UNLIKELY(ticks > n->max))
        n->max = ticks;
    uint32_t found = n->hist[tag % RT_CACHE];
    rt_block *b = rt_at(l, found); /* reference 0 is the header, which has no such tag */
    if (RT_UNLIKELY(!found || b->tag != tag)) {
        b = tl_rt_profile_block(l, n, tag, 0);
        if (!b)
            return;
    }
    RT_BARRIER();
    if (RT_UNLIKELY(++b->count[bucket % 16] == 0))
        tl_rt_profile_carry(l, n, bucket);
}

#endif
