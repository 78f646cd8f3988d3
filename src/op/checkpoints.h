/* Checkpoints: what was open now and then in each stream, noted while a pass over all calls reads it anyway. A later
 * pass over a range of time begins at the last checkpoint before the range, and ends after it; the result is that of
 * the whole pass, without places that have no calls then.
 *
 * A checkpoint at time t stands between two events of a stream: those before it are earlier than t, and no later one
 * is. Where a clock goes back, checkpoints that this would make wrong go; so a stream in any order has none, and is
 * read from its begin. */
#ifndef TL_OP_CHECKPOINTS_H
#define TL_OP_CHECKPOINTS_H

#include "op/callstack.h"
#include "op/source_impl.h"

/* Of a stream; with more, every second one goes. */
#define TL_CHECKPOINTS_MOST      2048u
/* Of all streams of a source, shared out by their weight. */
#define TL_CHECKPOINT_BYTES_MOST (32u << 20)

typedef struct tl_checkpoints tl_checkpoints;

/* Whether passes over the source note checkpoints, and use them: not unless this was called. For sources that are asked
 * again and again. False when memory runs out. */
bool tl_source_keep_checkpoints(tl_source *s);
/* Those of another source of the same input for both, if its calls are the same. */
void tl_source_share_checkpoints(tl_source *s, tl_source *other);
/* With true, passes over the source read everything, until false: for callers that look at places without calls, which
 * passes over parts do not meet. */
void tl_source_read_whole(tl_source *s, bool whole);
void tl_checkpoints_free(tl_checkpoints *c); /* NULL is fine */
/* Bytes that they take. */
uint64_t tl_checkpoints_bytes(const tl_checkpoints *c);
/* Events between two, from now on: at first, before there are many. For tests. */
void tl_checkpoints_every(tl_checkpoints *c, uint64_t events);

/* ---- writing: by one thread for each stream ---- */

/* Those of the source, if a pass has to note them now; else NULL. */
tl_checkpoints *tl_checkpoints_wanted(tl_source *s);
/* Before the first batch. p: the profile of the matcher. */
void tl_checkpoints_begin(tl_checkpoints *c, uint32_t stream, const tl_callstack *calls, const tl_profile *p);
/* Adds a batch of the stream to the matcher, and notes checkpoints before some of its events. */
int tl_checkpoints_add(tl_checkpoints *c, uint32_t stream, tl_callstack *calls, const tl_batch *b, tl_error *e);
/* After the last batch, in place of tl_callstack_finish(). */
void tl_checkpoints_finish(tl_checkpoints *c, uint32_t stream, tl_callstack *calls, const tl_profile *p);
/* After the last stream: remembers the functions of a profile, for each of the pass. False when memory runs out. */
bool tl_checkpoints_meet(tl_checkpoints *c, const tl_profile *p);
/* They are complete. */
void tl_checkpoints_complete(tl_checkpoints *c);

/* ---- reading ---- */

/* Those of the source, if they are complete, and calls within the selected time can be had with them; else NULL. */
const tl_checkpoints *tl_checkpoints_for(const tl_source *s, const tl_select *select);

/* The part of a stream that a range needs. */
typedef struct tl_call_part {
    tl_limit limit; /* for its cursor */
    uint64_t from, to;
    bool begun, ends;     /* an event at or after `from` was seen; the first at `to` ends it: ... */
    bool ended;           /* ... it was seen */
    uint64_t exits, open; /* of the profile before */
} tl_call_part;

/* Opens what was open at the last checkpoint before the selected time; the matcher is fresh, or finished. */
int tl_call_part_begin(tl_call_part *part, const tl_checkpoints *c, uint32_t stream, tl_callstack *calls,
                       const tl_profile *p, tl_error *e);
/* Events of the batch that belong to the part: *cut, which borrows from it, has none or more. */
void tl_call_part_cut(tl_call_part *part, const tl_batch *b, tl_batch *cut);
/* After tl_callstack_finish(): unmatched entries and exits are those of the whole stream. */
void tl_call_part_finish(const tl_call_part *part, const tl_checkpoints *c, uint32_t stream, tl_profile *p);
/* Knows all functions of the source, as the whole pass does. False when memory runs out. */
bool tl_checkpoints_meet_all(const tl_checkpoints *c, tl_callstack *calls);

#endif
