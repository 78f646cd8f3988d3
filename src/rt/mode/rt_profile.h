/* The mode "profile": the tree of call stacks with exact sums and a histogram in every node, in a shared file.
 *
 * The image is that of format/tlp/live_layout.h. Each lane has a tree of its own: threads share only the room, which
 * they take in pieces. */
#ifndef TL_RT_PROFILE_H
#define TL_RT_PROFILE_H

#include "format/tlp/live_layout.h"
#include "model/hist_layout.h"
#include "rt/rt_clock.h"
#include "rt/rt_lane.h"

enum { RT_CACHE = 16 }; /* ways of a node's cache of children */

/* The layout's node, with the recorder's data in the room that the layout leaves for it. */
typedef struct rt_node {
    uint32_t function, parent, child, sibling;
    uint64_t calls, total, inner, min, max;
    uint32_t blocks;
    uint32_t unused;
    uint32_t inside[RT_CACHE]; /* children by the lowest bits of their function */
} rt_node;

typedef struct rt_block {
    uint32_t next;
    uint16_t tag, shift;
    uint64_t unused;
    uint32_t count[16];
} rt_block;

/* The layout's lane. */
typedef struct rt_self {
    uint32_t next, root, pid, tid, threads, open;
    uint64_t lost, exits;
    char name[16];
    uint32_t last_node, unused;
    uint64_t last_ticks, last_inner;
} rt_self;

/* Creates the file tl_rt.path + ".live". 0 or -errno. Not from hooks; nor are the other functions of this group. */
int tl_rt_profile_start(void);
int tl_rt_profile_finish(int *named); /* gives the live file its final name; see tl_rt_fdr_finish() */
int tl_rt_profile_flush(const char *path);
void tl_rt_profile_child(void);
bool tl_rt_profile_note(const char *text, size_t n);
uint64_t tl_rt_profile_bytes(void);
void tl_rt_profile_table(uint32_t object, uint32_t base, uint32_t count, const uint64_t *address);

/* From hooks, the lane busy. */
bool tl_rt_profile_attach(rt_lane *l);
void tl_rt_profile_repair(rt_lane *l); /* see tl_rt_lane_repair() */
void tl_rt_profile_leave(rt_lane *l);  /* its thread is gone, or recording ends: its open calls remain open */
/* The child node for a function, made if needed; 0: no room, counted. */
uint32_t tl_rt_profile_node(rt_lane *l, uint32_t parent, uint32_t function);
/* Adds a call that has ended, on the slow path. */
void tl_rt_profile_add(rt_lane *l, uint32_t node, uint64_t ticks, uint64_t inner);
void tl_rt_profile_commit(rt_lane *l); /* adds the waiting last call to its node */

RT_INLINE void *rt_at(const rt_lane *l, uint32_t reference)
{
    return l->live + (uint64_t)reference * LIVE_UNIT;
}

/* The child node for a function, if it is in the cache; else 0. */
RT_INLINE uint32_t rt_profile_cached(const rt_lane *l, uint32_t parent, uint32_t function)
{
    const rt_node *p = rt_at(l, parent); /* 0 is the header, which is zero here */
    uint32_t found = p->inside[function % RT_CACHE];
    return RT_LIKELY(((const rt_node *)rt_at(l, found))->function == function) ? found : 0;
}

RT_INLINE uint32_t rt_profile_child(rt_lane *l, uint32_t parent, uint32_t function)
{
    uint32_t found = parent ? rt_profile_cached(l, parent, function) : 0;
    return RT_LIKELY(found) ? found : tl_rt_profile_node(l, parent, function);
}

/* The place of a block in the lane's table of recently used ones. */
RT_INLINE rt_recent *rt_profile_recent(const rt_lane *l, uint32_t node, uint32_t tag, uint64_t *key)
{
    *key = (uint64_t)node << 16 | tag;
    return &l->recent[*key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RT_RECENT_BITS)];
}

/* A handler may leave in between for good: a key never stands beside a block that is not its own. */
RT_INLINE void rt_profile_remember(rt_recent *r, uint64_t key, uint32_t block)
{
    RT_STORE(r->key, 0);
    RT_BARRIER();
    RT_STORE(r->block, block);
    RT_BARRIER();
    RT_STORE(r->key, key);
}

/* The histogram count for a duration, if its block was used recently and the count cannot overflow; else NULL. */
RT_INLINE uint32_t *rt_profile_count(const rt_lane *l, uint32_t node, uint64_t ticks)
{
    uint32_t bucket = tl_hist_bucket_of(ticks), tag = bucket / 16;
    uint64_t key;
    const rt_recent *r = rt_profile_recent(l, node, tag, &key);
    if (RT_UNLIKELY(r->key != key))
        return NULL;
    rt_block *b = rt_at(l, r->block);
    uint32_t *count = &b->count[bucket % 16];
    return RT_LIKELY(*count != UINT32_MAX) ? count : NULL;
}

/* Adds a call to its node: the lane's last one, if `count` was found. The histogram is last: it makes the call
 * count. */
RT_INLINE void rt_profile_commit_to(rt_lane *l, rt_self *self, uint32_t *count)
{
    rt_node *n = rt_at(l, self->last_node);
    uint64_t ticks = self->last_ticks;
    RT_STORE(l->committed, self->last_node);
    n->calls++;
    n->total += ticks;
    n->inner += self->last_inner;
    if (RT_UNLIKELY(ticks < n->min))
        n->min = ticks;
    if (RT_UNLIKELY(ticks > n->max))
        n->max = ticks;
    RT_BARRIER();
    self->last_node = 0;
    RT_BARRIER();
    RT_STORE(*count, *count + 1);
}

/* Adds a call that has ended. It waits in the lane until the next one ends: its duration decides where the count is,
 * and a store to an address known only after the clock was read costs half as much as reading the clock. */
RT_INLINE void rt_profile_last(rt_self *self, uint32_t node, uint64_t ticks, uint64_t inner)
{
    RT_STORE(self->last_ticks, ticks);
    RT_STORE(self->last_inner, inner);
    RT_BARRIER();
    self->last_node = node;
}

#endif
