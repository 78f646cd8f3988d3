/* Where those who read all streams of a source get the batches from: a cursor for each stream or, if the source may use
 * threads and is large enough, threads that decode ahead (op/ahead.h). Which of them cannot be seen in what comes. */
#ifndef TL_OP_STREAM_READER_H
#define TL_OP_STREAM_READER_H

#include "op/source_impl.h"

typedef struct tl_stream_reader tl_stream_reader;

/* limit: a hint for all streams, or NULL. */
int tl_stream_reader_open(tl_stream_reader **out, tl_source *s, const tl_limit *limit, tl_error *e);
/* 1: *batch is the next of a stream, borrowed until the next call for the same stream; 0: its end; < 0: error. The
 * stream is opened by the first call. */
int tl_stream_reader_next(tl_stream_reader *p, uint32_t stream, const tl_batch **batch, tl_error *e);
/* Begins a stream again with the next call, and holds no memory for it until then. Only if tl_stream_reader_rewinds().
 */
void tl_stream_reader_rewind(tl_stream_reader *p, uint32_t stream);
bool tl_stream_reader_rewinds(const tl_stream_reader *p);
void tl_stream_reader_close(tl_stream_reader *p); /* NULL is fine */

#endif
