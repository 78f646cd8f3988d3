/* What the parts of the DuckDB engine share. */
#ifndef TL_QUERY_DUCKDB_IMPL_H
#define TL_QUERY_DUCKDB_IMPL_H

#include <pthread.h>

#include "query/duckdb/duckdb_api.h"
#include "query/query_engine.h"
#include "query/sql_call.h"

/* A function of SQL, for call backs. */
typedef struct tl_duckdb_function {
    tl_query *query;
    const tl_sql_function *function;
} tl_duckdb_function;

typedef struct tl_duckdb {
    const tl_duckdb_api *api;
    duck_database *db;
    duck_connection *connection;
    tl_duckdb_function *functions; /* [tl_sql_nfunction] */
    pthread_mutex_t lock; /* of all that several threads of the library use: opening scans, errors, the disassembler */
    /* Ends a statement that has to end: */
    pthread_t watcher;
    bool has_watcher;
    pthread_mutex_t watch_lock;
    pthread_cond_t wake;
    bool is_working, is_closing;
} tl_duckdb;

int tl_duckdb_open(tl_query *q, tl_error *e);
void tl_duckdb_close(tl_query *q);
unsigned tl_duckdb_threads(const tl_query *q); /* that it works with, at least 1 */
/* The library works on a statement between these, and is told when that has to end. */
void tl_duckdb_begin_work(tl_query *q);
void tl_duckdb_end_work(tl_query *q);
/* The failure of a statement: our own, or what DuckDB says, without its kind and the line of the SQL. */
int tl_duckdb_fail(tl_query *q, tl_code usual, const char *message, tl_error *e);
/* Makes the tables known: a table function, and a name for each of them. */
int tl_duckdb_add_tables(tl_query *q, tl_error *e);
/* Makes the functions of sql_functions.def known. */
int tl_duckdb_add_functions(tl_query *q, tl_error *e);

/* The values of a vector. */
typedef struct tl_duckdb_column {
    int type; /* of the values that are there */
    int of;   /* of a decimal: the type of its digits */
    double scale;
    const void *data;
    const uint64_t *validity; /* NULL: none is null */
} tl_duckdb_column;

/* How to read a vector; false: a type that has no value in SQLite. */
bool tl_duckdb_column_of(const tl_duckdb_api *api, duck_vector *v, tl_duckdb_column *out);
/* One of its values. Text is not NUL-terminated, and borrowed; `room` is for numbers beyond 64 bits, which are text. */
#define TL_DUCKDB_DIGITS 48u
void tl_duckdb_value(const tl_duckdb_column *c, uint64_t row, char room[static TL_DUCKDB_DIGITS], tl_sql_value *out);

/* The type of a column of a table. */
int tl_duckdb_type_of(const tl_column_info *c);
/* Puts n values of a block, from `at` on, into a vector, from `to` on. False when memory runs out. */
bool tl_duckdb_put(const tl_duckdb_api *api, duck_vector *v, const tl_column_info *info, const tl_block_column *c,
                   uint32_t at, uint32_t n, duck_size to);

/* Tables whose arguments may be columns of others: they are functions, tl_NAME(argument, argument), of lists. */
bool tl_duckdb_is_list(const tl_sql_table *t);
int tl_duckdb_add_list(tl_sql_table *t, tl_error *e);
/* Bytes as an argument of a table; what it cannot be is TL_CELL_ROWS. False when memory runs out. */
bool tl_duckdb_blob_argument(tl_arena *a, const tl_column_info *c, const void *data, size_t n, tl_cell *out);

/* SQL for the library: the first statement of a text, with values in place of parameters. */
typedef struct tl_duckdb_text {
    const char *sql, *end; /* the statement */
    char **name;           /* [n] of parameters; "": ? */
    tl_sql_value *value;   /* [n] copies */
    bool *is_bound;        /* [n] */
    uint32_t n, capacity;
    uint32_t nbound;
    bool writes;         /* it is another statement than those that only read */
    const char *refused; /* a function that it must not call, or NULL */
    const char *may_be_refused;
    tl_arena arena;
} tl_duckdb_text;

/* *rest is what follows; false: memory ran out. A text of no statement has sql == end. */
bool tl_duckdb_text_read(tl_duckdb_text *t, const char *sql, const char **rest);
/* Appends the statement; parameters without a value are NULL. */
void tl_duckdb_text_put(const tl_duckdb_text *t, tl_pb *out);
void tl_duckdb_text_fini(tl_duckdb_text *t);

#endif
