/* Loads one table of one trace, exactly once: asks the servers which chunks they have, sends those that are missing,
 * removes what is double or another's, and asks again. */
#ifndef TL_CLI_LOAD_TABLE_H
#define TL_CLI_LOAD_TABLE_H

#include "cli/load/load_lock.h"
#include "query/server/load_rows.h"

/* A chunk as it should be. */
typedef struct tl_chunk_facts {
    uint64_t rows, sum;
} tl_chunk_facts;

/* A chunk as a shard has it. */
typedef struct tl_chunk_found {
    uint32_t chunk, shard;
    uint64_t rows, sum;
} tl_chunk_found;

typedef struct tl_load_table {
    tl_servers *servers;
    tl_load_lock *lock; /* NULL: nothing is changed */
    tl_query *query;
    const char *name;
    int64_t trace;
    uint32_t day, table;
    tl_chunk_facts *expected; /* [n] */
    uint32_t n, room;
    tl_chunk_found *found; /* [nfound] by chunk */
    uint32_t nfound, found_room;
    uint64_t rows;
    uint64_t sent, missing, wrong; /* chunks: missing and wrong are what there was before */
} tl_load_table;

/* After setting what comes before `expected`; fini is needed in any case. Errors: TL_EIO (a shard does not answer),
 * TL_EINVAL (it refuses), those of reading. */
int tl_load_table_run(tl_load_table *t, tl_error *e);
void tl_load_table_fini(tl_load_table *t);

/* Adds a chunk that should be there. False: no memory. */
bool tl_load_table_expect(tl_load_table *t, const tl_chunk_facts *facts);
/* Only asks: what the shards have of it. */
int tl_load_table_ask(tl_load_table *t, tl_error *e);
/* How many of the chunks that should be there are not, and what else there is. */
void tl_load_table_judge(const tl_load_table *t, uint64_t *missing, uint64_t *wrong);

#endif
