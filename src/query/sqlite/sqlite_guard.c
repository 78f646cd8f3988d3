/* What statements may do: the authorizer, which is asked about each action while a statement is prepared, and the
 * limits of SECURITY.md. */
#ifdef TL_HAVE_SQLITE

#include "query/sqlite/sqlite_guard.h"

#include <string.h>

#include "base/compiler.h"

#define SQL_VALUE_MAX       (64 << 20) /* bytes of a value or row */
#define SQL_COLUMNS_MAX     2000
#define SQL_DEPTH_MAX       200    /* of an expression */
#define SQL_COMPOUND_MAX    100    /* SELECTs that are joined by UNION and the like */
#define SQL_STEPS_MAX       250000 /* instructions of a prepared statement */
#define SQL_ARGUMENTS_MAX   16     /* of a function */
#define SQL_PATTERN_MAX     1000   /* bytes of a pattern of LIKE or GLOB */
#define SQL_PARAMETERS_MAX  999
#define STEPS_BETWEEN_LOOKS 10000 /* instructions; some 0.1 ms */

static const struct {
    int id, most;
} limits[] = {{SQLITE_LIMIT_SQL_LENGTH, TL_SQL_LENGTH_MAX},
              {SQLITE_LIMIT_LENGTH, SQL_VALUE_MAX},
              {SQLITE_LIMIT_COLUMN, SQL_COLUMNS_MAX},
              {SQLITE_LIMIT_EXPR_DEPTH, SQL_DEPTH_MAX},
              {SQLITE_LIMIT_COMPOUND_SELECT, SQL_COMPOUND_MAX},
              {SQLITE_LIMIT_VDBE_OP, SQL_STEPS_MAX},
              {SQLITE_LIMIT_FUNCTION_ARG, SQL_ARGUMENTS_MAX},
              {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, SQL_PATTERN_MAX},
              {SQLITE_LIMIT_VARIABLE_NUMBER, SQL_PARAMETERS_MAX},
              {SQLITE_LIMIT_ATTACHED, 0},
              {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
              {SQLITE_LIMIT_WORKER_THREADS, 0}};

/* Functions of SQLite that reach outside of a statement, or make large values of nothing. */
static const char *const refused[] = {"load_extension",
                                      "fts3_tokenizer",
                                      "zeroblob",
                                      "randomblob",
                                      "sqlite_log",
                                      "sqlite_compileoption_get",
                                      "sqlite_compileoption_used",
                                      "sqlite_offset",
                                      "readfile",
                                      "writefile",
                                      "edit"};

static int of_function(const char *name)
{
    for (size_t i = 0; i < TL_COUNT(refused); i++)
        if (sqlite3_stricmp(name, refused[i]) == 0)
            return SQLITE_DENY;
    return SQLITE_OK;
}

static bool is_temporary(const char *schema)
{
    return schema && sqlite3_stricmp(schema, "temp") == 0;
}

static int authorize(void *query, int action, const char *a, const char *b, const char *schema, const char *inner)
{
    tl_query *q = query;
    (void)inner;
    if (q->is_opening_table)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        q->wants_places = q->wants_places || sqlite3_strglob("stack_*", b) == 0;
        return of_function(b);
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
        return q->options.temporary ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        (void)a;
        return q->options.temporary && is_temporary(schema) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int look(void *query)
{
    return tl_query_stopped(query);
}

int tl_sqlite_guard(tl_query *q, tl_error *e)
{
    const uint64_t memory = tl_query_memory(q);
    int done = 0;
    bool ok = sqlite3_db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &done) == SQLITE_OK && done;
    ok = ok && sqlite3_db_config(q->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, &done) == SQLITE_OK && !done;
    ok = ok && sqlite3_db_config(q->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &done) == SQLITE_OK && !done;
    /* "x" is a column, never text, so that a misspelt name is an error. */
    ok = ok && sqlite3_db_config(q->db, SQLITE_DBCONFIG_DQS_DML, 0, &done) == SQLITE_OK && !done;
    ok = ok && sqlite3_db_config(q->db, SQLITE_DBCONFIG_DQS_DDL, 0, &done) == SQLITE_OK && !done;
    /* What SQLite sorts or keeps is in files of sqlite_temporary.c: in memory, within the limit below. */
    ok =
        ok && sqlite3_exec(q->db, "PRAGMA temp_store = FILE; PRAGMA cache_size = -1000", NULL, NULL, NULL) == SQLITE_OK;
    const bool no_memory = !ok && sqlite3_errcode(q->db) == SQLITE_NOMEM;
    /* SQLite's own tables are connected on first use, which looks like a change of the schema. They may be missing. */
    (void)sqlite3_exec(q->db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", NULL, NULL, NULL);
    ok = ok && sqlite3_set_authorizer(q->db, authorize, q) == SQLITE_OK;
    for (size_t i = 0; i < TL_COUNT(limits); i++)
        sqlite3_limit(q->db, limits[i].id, limits[i].most);
    q->memory_before = sqlite3_hard_heap_limit64(memory > INT64_MAX ? INT64_MAX : (sqlite3_int64)memory);
    sqlite3_progress_handler(q->db, STEPS_BETWEEN_LOOKS, look, q);
    if (no_memory)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for SQLite");
    return ok ? 0 : tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this SQLite cannot be shut in");
}

#endif
