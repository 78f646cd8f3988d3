/* Sorts the events of an unsorted stream by time, with a window of bounded size.
 *
 * For formats whose only stream is the input in its own order (tl_reader.unsorted). Events of equal time keep their
 * order. An event can move before others in the window, but not before events handed out earlier: then it comes as soon
 * as possible, is counted as out of order, and a note in the trace says so. */
#ifndef TL_OP_REORDER_H
#define TL_OP_REORDER_H

#include "op/source_impl.h"

#define TL_REORDER_BATCHES 64u         /* most batches held, at TL_BATCH_MAX events */
#define TL_REORDER_BYTES   (64u << 20) /* fewer if their values take more memory than this */

typedef struct tl_reorder tl_reorder;

/* want, limit: as of tl_cursor_open_want(). The source must outlive it. */
int tl_reorder_open(tl_reorder **out, tl_source *s, uint32_t stream, const tl_want *want, const tl_limit *limit,
                    tl_error *e);
/* Finds up to `room` runs (at least 1) that come next, valid until the next call. Returns how many; 0 at the end, < 0
 * error. If reading fails, what was read before comes first. */
int tl_reorder_plan(tl_reorder *r, tl_run *run, uint32_t room, tl_error *e);
void tl_reorder_close(tl_reorder *r); /* NULL is fine */

#endif
