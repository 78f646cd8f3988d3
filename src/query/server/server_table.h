/* Tables of the schema on servers: ClickHouse, whose SQL is written as release 18.16 and all later ones take it.
 *
 *     NAME_local   on each shard: the rows, each with its trace, the chunk it came with and its number in the table
 *     NAME_all     the rows of all shards, also of traces that are being loaded
 *     NAME         a view: the columns of the schema, of traces that are there as a whole
 *     loaded       which tables of which traces those are
 *     chunks       the chunks that they consist of */
#ifndef TL_QUERY_SERVER_TABLE_H
#define TL_QUERY_SERVER_TABLE_H

#include "base/columnar/native_block.h"
#include "traceloom/query.h"

typedef struct tl_server_place {
    const char *database;
    const char *cluster; /* of the shards, as the servers call it; NULL: there is one shard */
} tl_server_place;

/* A table that servers can have: a name, and whether it is loaded unless others are asked for. NULL past the end. */
typedef struct tl_server_table {
    const char *name;
    bool usual;
} tl_server_table;
const tl_server_table *tl_server_table_at(uint32_t i);
/* Its number in a session; UINT32_MAX: the session has no such table. */
uint32_t tl_server_table_find(const tl_query *q, const char *name);

/* Columns of NAME_local that come before those of the table. */
enum { TL_SERVER_DAY, TL_SERVER_TRACE, TL_SERVER_CHUNK, TL_SERVER_SEQ, TL_SERVER_FIRST };

/* Whether a column of a table of the session is kept: not its trace, which each row has anyway, and not the text of its
 * stack, which is in places. */
bool tl_server_keeps(const tl_query *q, uint32_t table, const tl_column_info *column, uint32_t ncolumn, uint32_t i);
tl_native_type tl_server_type(const tl_column_info *c);

/* Bits that stand for a row are summed by servers and by us: what both multiply column i by, and add where it is null.
 */
uint64_t tl_server_factor(uint32_t i);
uint64_t tl_server_null(uint32_t i);
/* Whether a column counts: not where the file lay. */
bool tl_server_sums(const tl_query *q, uint32_t table, const tl_column_info *column);
/* The sum as SQL, after zeroing *sql. */
void tl_server_put_sum(tl_pb *sql, tl_query *q, uint32_t table);

/* Gives the statements that make everything, one by one. False: no memory. */
bool tl_server_make(tl_query *q, const tl_server_place *at, void (*take)(void *arg, const char *sql), void *arg);

/* Adds text as a literal; a name as an identifier. */
void tl_server_put_literal(tl_pb *sql, const char *text, size_t n);
void tl_server_put_name(tl_pb *sql, const char *name);

#endif
