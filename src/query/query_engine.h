/* What a session asks of the engine that runs its statements. */
#ifndef TL_QUERY_QUERY_ENGINE_H
#define TL_QUERY_QUERY_ENGINE_H

#include "query/query_impl.h"

/* A statement; embedded in that of each engine, which zeroes it. */
struct tl_statement {
    tl_query *query;
    uint32_t ncolumn;
    tl_column_info *column; /* [ncolumn] */
    tl_arena names;         /* of columns */
    tl_sql_value value;     /* borrowed by the caller */
    bool is_running;
};

typedef struct tl_engine {
    const char *name;
    size_t size; /* of its statement */
    int (*open)(tl_query *q, tl_error *e);
    void (*close)(tl_query *q); /* also after an open that failed */
    /* *s is zeroed but for its query. False in *any: there is only a comment or white space. The caller closes it in
     * any case. */
    int (*prepare)(tl_statement *s, const char *sql, const char **rest, bool *any, tl_error *e);
    void (*close_statement)(tl_statement *s);
    const char *(*sql)(const tl_statement *s);
    uint32_t (*parameters)(const tl_statement *s);
    const char *(*parameter)(const tl_statement *s, uint32_t i);
    int (*bind)(tl_statement *s, uint32_t i, const tl_sql_value *value, tl_error *e);
    int (*step)(tl_statement *s, tl_error *e);
    void (*value)(tl_statement *s, uint32_t i); /* into s->value, which is null */
    int (*explain)(tl_query *q, const char *sql, const char **rest, void (*line)(void *arg, const char *text),
                   void *arg, tl_error *e);
} tl_engine;

extern const tl_engine tl_sqlite_engine, tl_duckdb_engine;

/* Makes room for the columns of a statement. Errors: TL_ENOMEM. */
int tl_statement_make_columns(tl_statement *s, uint32_t n, tl_error *e);
/* Names one of them; the name is copied. */
int tl_statement_name_column(tl_statement *s, uint32_t i, const char *name, tl_error *e);
/* Forgets what the last statement used and how it failed. */
void tl_query_begin_statement(tl_query *q);
/* The clock of a statement starts. */
void tl_query_start_clock(tl_query *q);

#endif
