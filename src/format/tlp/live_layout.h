/* A profile in the recorder's form: in a shared mapped file, so that it can be read after the program was killed.
 * Written by the recorder (src/rt/mode/rt_profile.c), read by live_read.c.
 *
 *   header   one page: magic, sizes, where things begin
 *   then     lanes, nodes, histogram blocks, texts: anywhere, in any order, each where the recorder had room for it
 *
 * A reference is the offset in the file divided by 16 (u32); 0 is none. Within a lane, a node's offset is larger than
 * its parent's, and larger than that of its next sibling, so there are no circles. All numbers are little-endian.
 *
 * A call is added to its node when the next one of the same thread ends; until then it is in the lane, and readers of
 * the file add it. If the program is killed in the middle of adding one, a node has one call more than the sum of its
 * histogram: that call's time may or may not be in the sums, and it is not in the lane or must not be added again.
 * Otherwise the numbers are complete at any moment.
 *
 *   lane     a thread, or several one after another where there were very many: the root of a tree
 *   node     a place of the tree: the calls of a function from its parent's function
 *   block    16 counts of a node's histogram: of the buckets 16 * tag .. 16 * tag + 15 (model/histogram.h)
 *   text     notes (rt/rt_note.h), lines with line feeds, one chunk after another
 *   table    addresses (u64) of an object's functions, in its file; base + 1 is the first */
#ifndef TL_FORMAT_LIVE_LAYOUT_H
#define TL_FORMAT_LIVE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_MAGIC "\x8ftllive\n" /* 8 bytes */

enum { LIVE_VERSION = 1, LIVE_UNIT = 16 };

enum {
    LIVE_HEADER_MAGIC = 0,
    LIVE_HEADER_VERSION = 8, /* u32 */
    LIVE_HEADER_STATE = 12,  /* u32: 0 being written, 1 complete */
    LIVE_HEADER_LANES = 16,  /* u32 reference of the newest lane */
    LIVE_HEADER_TEXT = 20,   /* u32 reference of the first text */
    LIVE_HEADER_TABLES = 24, /* u32 reference of the newest table */
    LIVE_HEADER_SIZE = 4096
};

enum {
    LIVE_LANE_NEXT = 0,        /* u32 reference of the next older lane */
    LIVE_LANE_ROOT = 4,        /* u32 reference of its root node: function 0, no calls */
    LIVE_LANE_PID = 8,         /* u32 */
    LIVE_LANE_TID = 12,        /* u32; of the last thread */
    LIVE_LANE_THREADS = 16,    /* u32: number of threads, one after another */
    LIVE_LANE_OPEN = 20,       /* u32: calls that were open at the end; only in state 1 */
    LIVE_LANE_LOST = 24,       /* u64: events that did not fit */
    LIVE_LANE_EXITS = 32,      /* u64: exits of calls that began before recording */
    LIVE_LANE_NAME = 40,       /* 16 bytes, padded with zeros */
    LIVE_LANE_LAST_NODE = 56,  /* u32 reference: node of the latest call, which is not in it yet; 0: it is */
    LIVE_LANE_LAST_TICKS = 64, /* u64, its duration */
    LIVE_LANE_LAST_INNER = 72, /* u64, ticks of its callees */
    LIVE_LANE_SIZE = 80
};

enum {
    LIVE_NODE_FUNCTION = 0, /* u32 */
    LIVE_NODE_PARENT = 4,   /* u32 reference */
    LIVE_NODE_CHILD = 8,    /* u32 reference of the newest child */
    LIVE_NODE_SIBLING = 12, /* u32 reference of the next older sibling */
    LIVE_NODE_CALLS = 16,   /* u64 */
    LIVE_NODE_TOTAL = 24,   /* u64, ticks */
    LIVE_NODE_INNER = 32,   /* u64, ticks of the callees of those in total: self = total - inner */
    LIVE_NODE_MIN = 40,     /* u64 */
    LIVE_NODE_MAX = 48,     /* u64 */
    LIVE_NODE_BLOCKS = 56,  /* u32 reference of the first block */
    LIVE_NODE_CACHE = 60,   /* 17 u32 for the recorder's own use */
    LIVE_NODE_SIZE = 128
};

enum {
    LIVE_BLOCK_NEXT = 0,   /* u32 reference */
    LIVE_BLOCK_TAG = 4,    /* u16 */
    LIVE_BLOCK_SHIFT = 6,  /* u16: 0 or 32: counts are multiples of 2^32 */
    LIVE_BLOCK_COUNT = 16, /* 16 u32 */
    LIVE_BLOCK_SIZE = 80
};

enum {
    LIVE_TEXT_NEXT = 0, /* u32 reference */
    LIVE_TEXT_USED = 4, /* u32 bytes */
    LIVE_TEXT_BYTES = 16
};

enum {
    LIVE_TABLE_NEXT = 0,   /* u32 reference of the next older table */
    LIVE_TABLE_OBJECT = 4, /* u32 id of the object */
    LIVE_TABLE_BASE = 8,   /* u32 */
    LIVE_TABLE_COUNT = 12, /* u32 */
    LIVE_TABLE_ADDRESS = 16
};

/* Detects a circular chain of references: remembers places at doubling distances. */
typedef struct live_chain {
    uint32_t mark;
    uint64_t steps, next;
} live_chain;

static inline bool live_circles(live_chain *c, uint32_t at)
{
    if (c->steps && at == c->mark)
        return true;
    if (c->steps++ >= c->next) {
        c->mark = at;
        c->next = 2 * c->next + 1;
    }
    return false;
}

#endif
