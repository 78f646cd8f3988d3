/* Decompresses and decodes a compressed stream with an index of its parts in several threads: each makes a part, and
 * one thread takes them in order. */
#ifndef TL_XTRACE_AHEAD_H
#define TL_XTRACE_AHEAD_H

#include "format/xtrace/xtrace_read.h"

/* *out is NULL if the stream has no such index, or it does not pay. `c` is the cursor to feed, at the begin of its
 * stream; its batches have what `b` has. Errors: TL_EIO, TL_ENOMEM. */
int xtrace_ahead_open(xtrace_ahead **out, const xtrace_cursor *c, const tl_batch *b, tl_error *e);
/* Exchanges an empty batch for the next full one. 1: done; 0: no more parts, or the rest contradicts the index: c has
 * the state after the last event, and must read on by itself; < 0: error. */
int xtrace_ahead_next(xtrace_ahead *a, xtrace_cursor *c, tl_batch *b, tl_error *e);
void xtrace_ahead_close(xtrace_ahead *a); /* NULL is fine */

#endif
