/* The rows of a table of a trace, cut into chunks for a server: the same chunks in every run, whatever the number of
 * threads, so that it can be found out which are missing. */
#ifndef TL_QUERY_LOAD_ROWS_H
#define TL_QUERY_LOAD_ROWS_H

#include "base/columnar/native_block.h"
#include "traceloom/query.h"

#define TL_CHUNK_ROWS  500000u     /* of a chunk: below max_insert_block_size of servers, 1,048,576 */
#define TL_CHUNK_BYTES (48u << 20) /* after which a chunk has fewer */

typedef struct tl_load_rows tl_load_rows;

typedef struct tl_load_chunk {
    uint32_t number; /* from 0 */
    uint32_t rows;
    uint64_t first; /* number of its first row in the table */
    uint64_t sum;   /* as tl_server_put_sum() */
} tl_load_chunk;

/* Begins with a table of a session of one trace, which gets this number and belongs to this day since 1970. */
int tl_load_rows_open(tl_load_rows **out, tl_query *q, uint32_t table, int64_t trace, uint32_t day, tl_error *e);
/* 1: a chunk, whose rows are *block, whatever was in it; 0: end; < 0: error. */
int tl_load_rows_next(tl_load_rows *r, tl_load_chunk *chunk, tl_native_block *block, tl_error *e);
void tl_load_rows_close(tl_load_rows *r); /* NULL is fine */

#endif
