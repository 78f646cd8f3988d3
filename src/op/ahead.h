/* Decoding ahead: worker threads fill a ring of batches for each stream, and one thread takes them out.
 *
 * The results, including errors, are those of one cursor per stream. The taking thread helps whenever it would have to
 * wait, so it also works without workers. */
#ifndef TL_OP_AHEAD_H
#define TL_OP_AHEAD_H

#include "op/source_impl.h"

#define TL_AHEAD_STREAMS 16u        /* most streams: each costs several batches */
#define TL_AHEAD_BATCHES 4u         /* in a ring */
#define TL_AHEAD_LEAST   (1u << 20) /* bytes of a trace: smaller ones are read before a thread has started */

typedef struct tl_ahead tl_ahead;

/* May the source use threads, as many as the want says, and does it pay? */
bool tl_ahead_pays(const tl_source *s, const tl_want *want);
/* For all streams, as tl_cursor_open_want(). The source must outlive it. Workers: one less than tl_want.threads. */
int tl_ahead_open(tl_ahead **out, tl_source *s, const tl_want *want, const tl_limit *limit, tl_error *e);
/* As tl_stream_reader_next(). One thread at a time. */
int tl_ahead_next(tl_ahead *a, uint32_t stream, const tl_batch **batch, tl_error *e);
void tl_ahead_close(tl_ahead *a); /* NULL is fine; waits for batches being decoded */

#endif
