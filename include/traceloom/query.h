/* SQL over traces: a session with the tables of docs/schema.md, read while they are asked for.
 *
 *     tl_query *q;
 *     tl_statement *s;
 *     if (tl_query_open(&q, &source, 1, NULL, &error) < 0 ||
 *         tl_query_prepare(&s, q, "SELECT name, count(*) FROM events GROUP BY name", NULL, &error) < 0) ...
 *     while ((status = tl_statement_step(s, &error)) > 0)
 *         printf("%s %" PRId64 "\n", tl_statement_value(s, 0)->text, tl_statement_value(s, 1)->i64);
 *     tl_statement_close(s);
 *     tl_query_close(q);
 *
 * Statements can only read, and only these tables. Thread rule: a session, with its statements, its streams of Arrow
 * and its sources, is for one thread at a time; only tl_query_interrupt() may be called from any, and from signal
 * handlers. Functions that prepare statements, bind parameters, or give rows in Arrow's form find out that another
 * thread is in one of them, and fail with TL_EINVAL. */
#ifndef TRACELOOM_QUERY_H
#define TRACELOOM_QUERY_H

#include <traceloom/arrow.h>
#include <traceloom/error.h>
#include <traceloom/profile.h>
#include <traceloom/relation.h>
#include <traceloom/source.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tl_query tl_query;
typedef struct tl_statement tl_statement;

typedef struct tl_query_options {
    const tl_select *select; /* what all tables hold, or NULL: everything. Borrowed until close */
    unsigned threads;        /* worker threads; 0: as many as there are processors */
    uint64_t memory;         /* bytes for statements; 0: 256 MiB. Reaching it is TL_ELIMIT */
    uint64_t timeout_ns;     /* of each statement, from its first step; 0: none. Reaching it is TL_ELIMIT */
    bool temporary;          /* allows CREATE TEMP TABLE and VIEW, and what goes with them */
} tl_query_options;

/* Opens a session over n sources (n >= 1), opened with tl_want.fields and tl_want.cpu; trace 1 is the first. They are
 * borrowed until tl_query_close(), have no open cursors, and nothing else reads them meanwhile. options may be NULL
 * (all zero). *out belongs to the caller: tl_query_close().
 * Errors: TL_EUNSUPPORTED (built without SQLite), TL_ENOMEM. */
int tl_query_open(tl_query **out, tl_source *const *source, uint32_t n, const tl_query_options *options, tl_error *e);
/* Frees the session, after its statements. NULL is fine. It and its sources, which may then be closed, stay until the
 * streams of Arrow made of it are released. */
void tl_query_close(tl_query *q);
/* Ends the running statement with TL_ELIMIT, and the next one if none is running. */
void tl_query_interrupt(tl_query *q);

/* How many tables there are. */
uint32_t tl_query_tables(const tl_query *q);
/* One of them, NULL past the end; borrowed until close. */
const tl_table_info *tl_query_table(const tl_query *q, uint32_t i);
/* The columns of a table: *n of them, borrowed until close. NULL past the end, or if memory runs out. The arguments of
 * a table are columns, too: the last ones, which SELECT * leaves out. */
const tl_column_info *tl_query_table_columns(tl_query *q, uint32_t i, uint32_t *n);

/* Why a table has no rows, if the statement that was prepared last reads it, and no trace of the session has what it is
 * made from: "collections is empty: it needs a managed runtime; ...". NULL: it may have rows, or is not read, or past
 * the end. Before the first step; borrowed until the next call. */
const char *tl_query_table_note(tl_query *q, uint32_t i);

/* Prepares the first statement of `sql`. *rest, if rest is not NULL, becomes what follows it.
 * *out belongs to the caller, tl_statement_close(), and is NULL if there is only a comment or white space.
 * Errors: TL_ESYNTAX (offset of *e: the byte of the SQL), TL_EUNSUPPORTED (not allowed), TL_ELIMIT. */
int tl_query_prepare(tl_statement **out, tl_query *q, const char *sql, const char **rest, tl_error *e);
/* Ends a statement at any row. NULL is fine. */
void tl_statement_close(tl_statement *s);

typedef enum tl_value_kind {
    TL_VALUE_NULL,
    TL_VALUE_INTEGER,
    TL_VALUE_REAL,
    TL_VALUE_TEXT,
    TL_VALUE_BLOB
} tl_value_kind;

/* A value of a row or of a parameter. */
typedef struct tl_sql_value {
    tl_value_kind kind;
    int64_t i64;
    double real;
    const char *text; /* text, NUL-terminated UTF-8, or the bytes of a blob */
    size_t size;      /* bytes of either */
} tl_sql_value;

/* How many parameters a statement has. */
uint32_t tl_statement_parameters(const tl_statement *s);
/* The name of one, "step" of :step; NULL past the end and for ?. Borrowed until the statement is closed. */
const char *tl_statement_parameter(const tl_statement *s, uint32_t i);
/* Gives a parameter a value, which is copied; before the first step. Errors: TL_EINVAL (no such parameter). */
int tl_statement_bind(tl_statement *s, uint32_t i, const tl_sql_value *value, tl_error *e);

/* 1: there is a row; 0: end; < 0: error: TL_ELIMIT, TL_EINVAL (a value that a function does not take), and those of
 * reading. After the end or an error the next step is the first again. */
int tl_statement_step(tl_statement *s, tl_error *e);
/* How many columns a row has. */
uint32_t tl_statement_columns(const tl_statement *s);
/* One of them: its name, and type and unit if it is a column of a table as it is (TL_UNIT_NONE of TL_TEXT else).
 * Borrowed until the statement is closed; NULL past the end. */
const tl_column_info *tl_statement_column(const tl_statement *s, uint32_t i);
/* A value of the row, borrowed until the next step; never NULL. */
const tl_sql_value *tl_statement_value(tl_statement *s, uint32_t i);

/* Rows in Arrow's form (docs/python.md uses it): batches of columns, whose buffers change their owner without a copy.
 * Columns are `l` (int64), `g` (double), `b` (bool), `u` (UTF-8), `z` (bytes) and `tsn:UTC`; units are in the metadata
 * of each, "traceloom.unit". */
typedef struct tl_arrow_options {
    const char *const *column; /* [ncolumn] of a table: these, in this order; NULL: all but its arguments */
    uint32_t ncolumn;
    uint64_t rows; /* about how many a batch has; 0: 65,536, or fewer from 16 MiB on. Otherwise only 2 GiB of text in a
                      column end a batch */
    bool ordered;  /* rows ascend by time. TL_EUNSUPPORTED where the input goes back in time, has a time for each
                      track, or several traces are read, and for tables without that order */
} tl_arrow_options;

/* The rows of a statement, before its first step, which the stream takes over; options may be NULL, and of them only
 * `rows` is used. The type of a column is its declared one, unless the first rows have values of another.
 * *out is the caller's to release, at any time and from any thread. Its callbacks return errno values, and
 * tl_arrow_error() has the error.
 * Errors: those of tl_statement_step(), TL_ENOMEM; the statement then stays the caller's. */
int tl_query_arrow(struct ArrowArrayStream *out, tl_statement *s, const tl_arrow_options *options, tl_error *e);
/* The rows of a table, read without SQL, in less time. Tables with arguments have their default here. options may
 * be NULL (all zero), and are copied. *out is as above; reading begins with its first rows.
 * Errors: TL_ESYNTAX (no such table or column), TL_EUNSUPPORTED (an order that the table does not have), TL_ENOMEM. */
int tl_query_table_arrow(struct ArrowArrayStream *out, tl_query *q, const char *table, const tl_arrow_options *options,
                         tl_error *e);
/* The last error of such a stream: more than its get_last_error() can say. Never NULL; borrowed until its next callback
 * is called. Not for streams of others. */
const tl_error *tl_arrow_error(const struct ArrowArrayStream *stream);

/* Events of all classes, each as a row of the table of its class, read in one pass. */
typedef struct tl_arrow_events tl_arrow_events;
/* Begins; of options, which may be NULL, only `rows`, of all tables together, and `ordered` are used: streams are then
 * merged as by tl_merge_open(); TL_EUNSUPPORTED for several traces.
 * *out belongs to the caller: tl_arrow_events_close(). Errors: as above. */
int tl_arrow_events_open(tl_arrow_events **out, tl_query *q, const tl_arrow_options *options, tl_error *e);
/* Reads the next events: 1: *n of them, *table[i] is the number of the table (tl_query_table()) that event i is a row
 * of, borrowed until the next call; 0: end; < 0: error, as of reading. */
int tl_arrow_events_next(tl_arrow_events *r, const uint32_t **table, uint32_t *n, tl_error *e);
/* Their rows, table by table, in the order of the events. 1: all rows of *table are in *out, whose schema is that of
 * tl_query_table_arrow(), the caller's to release; 0: there are no more. Errors: TL_ENOMEM. */
int tl_arrow_events_take(tl_arrow_events *r, uint32_t *table, struct ArrowArray *out, tl_error *e);
/* Ends reading, at any event. NULL is fine. */
void tl_arrow_events_close(tl_arrow_events *r);

/* Recipes: SQL for questions that many have. How many there are. */
uint32_t tl_recipes(void);
/* The name of one, in the order of the alphabet; static, NULL past the end. */
const char *tl_recipe_name(uint32_t i);
/* The SQL of a recipe: its first line is a comment that says what it answers, the comments after that name its
 * parameters: "-- :top 20 how many". Static; NULL if there is none of that name. */
const char *tl_recipe_sql(const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
