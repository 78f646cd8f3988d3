/* What DuckDB says of a failure, in our words. */
#ifdef TL_HAVE_SQLITE

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "query/duckdb/duckdb_impl.h"

/* Messages about names, in the words that SQLite has for them. False: it is another one. */
static bool reword(const char *message, tl_code code, tl_error *e)
{
    static const struct {
        const char *before, *after, *words;
    } known[] = {{"Table with name ", " does not exist", "no such table: "},
                 {"Referenced column \"", "\" not found", "no such column: "},
                 {"Scalar Function with name ", " does not exist", "no such function: "},
                 {"Table Function with name ", " does not exist", "no such table: "}};
    static const char near[] = "syntax error at or near ";
    for (size_t i = 0; i < TL_COUNT(known); i++) {
        const size_t n = strlen(known[i].before);
        const char *end = strncmp(message, known[i].before, n) == 0 ? strstr(message + n, known[i].after) : NULL;
        if (!end)
            continue;
        tl_fail(e, code, TL_NO_OFFSET, "%s%.*s", known[i].words, (int)(end - message - (ptrdiff_t)n), message + n);
        return true;
    }
    if (strncmp(message, near, sizeof near - 1) != 0)
        return false;
    message += sizeof near - 1;
    const int n = (int)strcspn(message, "\n");
    tl_fail(e, code, TL_NO_OFFSET, "near %.*s: syntax error", n, message);
    return true;
}

/* The failure of a statement: our own, or what DuckDB says, without its kind and the line of the SQL. */
int tl_duckdb_fail(tl_query *q, tl_code usual, const char *message, tl_error *e)
{
    static const char out_of_memory[] = "Out of Memory Error";
    if (q->has_error) {
        if (e)
            *e = q->error;
        return q->error.code;
    }
    if (tl_query_stopped(q)) {
        atomic_store(&q->interrupted, false);
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s", q->limit);
    }
    message = message ? message : "DuckDB failed";
    if (strncmp(message, out_of_memory, sizeof out_of_memory - 1) == 0 || strstr(message, "failed to allocate"))
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "it needs more memory than its limit");
    const char *kind = strstr(message, " Error: ");
    if (kind && !memchr(message, '\n', (size_t)(kind - message)))
        message = kind + strlen(" Error: ");
    if (reword(message, usual, e))
        return usual;
    const size_t line = strcspn(message, "\n");
    return tl_fail(e, usual, TL_NO_OFFSET, "%.*s", (int)(line < 400 ? line : 400), message);
}

#endif
