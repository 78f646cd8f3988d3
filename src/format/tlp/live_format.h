/* Shared by the halves of the reader of recorded profiles: the whole file, and its trees. */
#ifndef TL_FORMAT_LIVE_FORMAT_H
#define TL_FORMAT_LIVE_FORMAT_H

#include "base/hash.h"
#include "format/tlp/live_bytes.h"
#include "format/tlp/live_layout.h"
#include "model/format_impl.h"

/* The latest call of a lane to end, which is not in its node yet. */
typedef struct live_last {
    uint32_t node; /* reference, 0: none */
    uint64_t ticks, inner;
} live_last;

enum { LIVE_NAME_BYTES = 16 };

typedef struct live_lane {
    uint32_t at, root;
    uint32_t pid, tid, threads;
    uint32_t open;
    uint64_t lost, exits;
    char name[LIVE_NAME_BYTES + 1];
} live_lane;

typedef struct live_reader {
    tl_input *in;
    tl_trace *trace;
    live_bytes bytes;
    bool done; /* all calls are in */
    bool has_header;
    live_lane *lane; /* in the order of their creation */
    uint32_t nlane, lane_capacity;
    uint32_t *used; /* ascending ids of the functions in the profile */
    uint32_t nused;
    uint64_t exits, open; /* of all lanes */
} live_reader;

/* Adds the trees of all lanes to an empty profile. Errors become damage of the trace, if `tells`. */
int live_read_trees(live_reader *r, tl_profile *p, bool tells, tl_error *e);

#endif
