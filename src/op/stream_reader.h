/* Batches of all streams of a source: from a cursor for each stream or, if the source may use threads and is large
 * enough, from threads that decode ahead (op/ahead.h), with the same results. */
#ifndef TL_OP_STREAM_READER_H
#define TL_OP_STREAM_READER_H

#include "op/source_impl.h"

typedef struct tl_stream_reader tl_stream_reader;

/* want, limit: of all streams, as of tl_cursor_open_want(). */
int tl_stream_reader_open(tl_stream_reader **out, tl_source *s, const tl_want *want, const tl_limit *limit,
                          tl_error *e);
/* 1: *batch is the next of a stream, borrowed until the next call for the same stream; 0: its end; < 0: error. The
 * first call opens the stream. */
int tl_stream_reader_next(tl_stream_reader *p, uint32_t stream, const tl_batch **batch, tl_error *e);
/* Begins a stream again with the next call, and frees its memory until then. Only if tl_stream_reader_rewinds(). */
void tl_stream_reader_rewind(tl_stream_reader *p, uint32_t stream);
bool tl_stream_reader_rewinds(const tl_stream_reader *p);
void tl_stream_reader_close(tl_stream_reader *p); /* NULL is fine */

#endif
