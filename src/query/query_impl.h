/* A session: its tables, and what one statement of the engine needs while it runs. */
#ifndef TL_QUERY_QUERY_IMPL_H
#define TL_QUERY_QUERY_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "op/scan/calls_table.h"
#include "op/scan/class_table.h"
#include "op/scan/line_tables.h"
#include "op/scan/made_scan.h"
#include "op/scan/places_table.h"
#include "op/scan/profile_table.h"
#include "op/scan/sample_tables.h"
#include "query/catalog_tables.h"
#include "query/field_tables.h"
#include "query/rows_scan.h"
#include "traceloom/query.h"

struct sqlite3;

typedef enum tl_table_origin {
    TL_TABLE_SCAN,  /* read from events */
    TL_TABLE_CLASS, /* the same; its columns are made on first use */
    TL_TABLE_MADE,  /* it has arguments: made for each of their values */
    TL_TABLE_ROWS   /* a table of report: made once, on first use */
} tl_table_origin;

/* What is known of a statement's constraints on a table: which of them have values of other tables of the same FROM. */
typedef struct tl_join_terms {
    int number[16]; /* [n] of the constraint in its WHERE */
    uint32_t n;
    bool too_many;
    bool are_known;  /* all: the statement is prepared for the second time */
    bool lost_order; /* an order was not claimed because of a value that is not constant */
} tl_join_terms;

/* A table of the session. */
typedef struct tl_sql_table {
    tl_query *query;
    tl_table_origin origin;
    uint32_t index;             /* of a class table */
    const tl_scan_table *table; /* NULL: not made yet */
    tl_scan_table own;
    tl_list list; /* of a table of the catalog */
    tl_rows_table rows;
    tl_made_table made;
    tl_made_kind kind;         /* of a table of report that has arguments */
    struct tl_kept_plan *kept; /* rows of plans that inner loops use */
    bool of_columns;           /* it lists the columns of all tables, which have to be made */
    bool of_fields;            /* its rows are those of q->fields */
    bool is_used;              /* by the statement that is prepared */
    uint32_t place;            /* the first column that needs the places of the traces */
    bool wants_places;         /* the statement looks at one of those */
    tl_join_terms joins;
} tl_sql_table;

struct tl_query {
    tl_dataset dataset;
    tl_source **source; /* [n] */
    tl_query_options options;
    atomic_uint users;    /* the caller, until it closes the session, and streams of rows */
    pthread_mutex_t lock; /* of what one thread at a time may do */
    tl_class_tables classes;
    tl_trace_places *places;   /* [n] */
    bool has_places;           /* they were made */
    tl_field_rows *fields;     /* [n] */
    bool has_fields;           /* they were made */
    tl_slices slices;          /* what the table of that name is made of */
    bool wants_places;         /* a function of the statement looks at them */
    struct a64_disasm *disasm; /* of a function; NULL: not needed yet */
    tl_sql_table *table;       /* [ntable] */
    uint32_t ntable;
    const struct tl_engine *engine;
    struct sqlite3 *db;
    struct tl_sqlite_function *functions;
    struct tl_duckdb *duckdb;
    bool is_opening_table; /* the engine asks about statements of its own */
    bool explains;         /* DuckDB: the statement is EXPLAIN */
    bool only_plans;       /* a statement is prepared for what is known of its columns: nothing is made, nor noted */
    atomic_bool interrupted;
    bool (*watch)(void *arg); /* the caller's: does it want to end? NULL: never */
    void *watch_arg;
    int64_t memory_before;               /* the engine's limit, which is one of the whole process */
    uint32_t statements;                 /* that are open */
    uint64_t deadline;                   /* ns of the monotonic clock; 0: none */
    atomic_uint_least64_t pass_deadline; /* the same, while rows of tables are made */
    const char *limit;                   /* which limit was reached, or NULL */
    tl_error error;                      /* of a table that failed while the engine read it */
    bool has_error;
    tl_error note; /* what tl_query_table_note() said last */
};

#define TL_SQL_LENGTH_MAX (1u << 20) /* bytes of a statement */

/* Names all tables. 0, or < 0. */
int tl_query_tables_init(tl_query *q, tl_error *e);
void tl_query_tables_fini(tl_query *q);
/* Makes a table that is not yet there: its columns. */
int tl_query_table_open(tl_sql_table *t, tl_error *e);
/* Makes the rows of all tables of report that are used, before anything is scanned. */
int tl_query_make_rows(tl_query *q, tl_error *e);
/* Does GLOB match? */
bool tl_query_glob(const char *pattern, const char *text);
/* Bytes that the rows of a statement may take. */
uint64_t tl_query_memory(const tl_query *q);
/* Whether the running statement has to end: interrupted, or out of time. Sets q->limit. */
bool tl_query_stopped(void *query);
/* The same for passes over sources: may be called from any thread, and sets nothing. */
bool tl_query_ends_passes(void *query);

#endif
