/* Loads the tables of one trace, exactly once: asks the servers which chunks they have, sends those that are missing,
 * removes what is double or another's, and asks again. */
#ifndef TL_CLI_LOAD_TABLE_H
#define TL_CLI_LOAD_TABLE_H

#include "cli/load/chunk_sender.h"
#include "query/server/load_rows.h"

/* A chunk as it should be. */
typedef struct tl_chunk_facts {
    uint64_t rows, sum, first;
} tl_chunk_facts;

/* A chunk as a shard has it. */
typedef struct tl_chunk_found {
    uint32_t chunk, shard;
    uint64_t rows, sum; /* sum: of all values, or of the numbers of the rows */
} tl_chunk_found;

typedef struct tl_load_table {
    const char *name;
    uint32_t table;           /* its number in the session */
    tl_chunk_facts *expected; /* [n] */
    uint32_t n, room;
    tl_chunk_found *found; /* [nfound] by chunk */
    uint32_t nfound, found_room;
    uint64_t rows;
    uint64_t sent, missing, wrong; /* chunks: missing and wrong are what there was before */
    bool is_done;                  /* all of it is there, once */
    bool is_counted;               /* only rows were asked for last, and not their values */
} tl_load_table;

typedef struct tl_load_tables {
    tl_servers *servers;
    tl_chunk_sender *sender; /* NULL: nothing is changed */
    tl_query *query;
    int64_t trace;
    uint32_t day;
    tl_load_table *table; /* [n] */
    uint32_t n;
} tl_load_tables;

/* After setting all but what tl_load_table has from `expected` on; fini is needed in any case. Errors: TL_EIO (a shard
 * does not answer), TL_EINVAL (it refuses), those of reading. */
int tl_load_tables_run(tl_load_tables *t, tl_error *e);
void tl_load_tables_fini(tl_load_tables *t);

/* Adds a chunk that should be there. False: no memory. */
bool tl_load_table_expect(tl_load_table *t, const tl_chunk_facts *facts);
typedef enum tl_load_question {
    TL_ASK_ROWS,        /* which chunks are there, and their rows: quick */
    TL_ASK_VALUES,      /* the same, and whether all values are what they should be: reads all of it */
    TL_ASK_VALUES_FOUND /* the same of tables of which something was there when they were asked last */
} tl_load_question;

/* Only asks: what the shards have of the tables that are not done. */
int tl_load_tables_ask(tl_load_tables *t, tl_load_question what, tl_error *e);
/* How many of the chunks that should be there are not, and what else there is. */
void tl_load_table_judge(const tl_load_table *t, uint64_t *missing, uint64_t *wrong);

#endif
