/* SQL with values in place of parameters: DuckDB's are written $name, and tables and their columns depend on the values
 * of some, which it plans without. */
#ifdef TL_HAVE_SQLITE

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "query/duckdb/duckdb_impl.h"

static bool is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static size_t word(const char *p)
{
    size_t n = 0;
    while (is_word(p[n]))
        n++;
    return n;
}

/* Past the closing quote, or the end of the text; with backslashes if `escapes`. */
static const char *skip_quoted(const char *p, bool escapes)
{
    const char quote = *p++;
    for (; *p && *p != quote; p++)
        p += escapes && *p == '\\' && p[1];
    return *p ? p + 1 : p;
}

/* Comments nest. */
static const char *skip_comment(const char *p)
{
    unsigned depth = 0;
    do {
        const bool begins = p[0] == '/' && p[1] == '*', ends = p[0] == '*' && p[1] == '/';
        depth += begins;
        depth -= ends;
        p += begins || ends ? 2 : 1;
    } while (depth > 0 && *p);
    return p;
}

/* $tag$ ... $tag$; p itself: it does not begin one. */
static const char *skip_dollars(const char *p)
{
    const size_t n = p[1] >= '0' && p[1] <= '9' ? 0 : word(p + 1);
    if (p[n + 1] != '$')
        return p;
    for (const char *q = p + n + 2; *q; q++)
        if (strncmp(q, p, n + 2) == 0)
            return q + n + 2;
    return p + strlen(p);
}

/* The length of a parameter at p, 0 if there is none: :name, @name, $name or ?. After a value, ":name" is a part of a
 * list or a cast. */
static size_t parameter(const char *from, const char *p)
{
    const char before = p > from ? p[-1] : ' ';
    if (*p == '?')
        return 1;
    if (!is_letter(p[1]) || (*p != ':' && *p != '@' && *p != '$'))
        return 0;
    return *p == ':' && (is_word(before) || strchr(":\"')]}", before)) ? 0 : word(p + 1) + 1;
}

/* The next piece: a parameter (*size > 0), or a byte or more of other text. Returns its end. */
static const char *next_piece(const char *from, const char *p, size_t *size)
{
    *size = 0;
    if (p[0] == '-' && p[1] == '-')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*')
        return skip_comment(p);
    if (*p == '\'' || *p == '"')
        return skip_quoted(p, *p == '\'' && p > from && (p[-1] == 'e' || p[-1] == 'E') &&
                                  (p - from < 2 || !is_word(p[-2])));
    const char *end = *p == '$' ? skip_dollars(p) : p;
    if (end > p)
        return end;
    *size = parameter(from, p);
    if (*size > 0)
        return p + *size;
    return is_word(*p) ? p + word(p) : p + 1;
}

static uint32_t find(const tl_duckdb_text *t, const char *name, size_t n)
{
    uint32_t i = 0;
    while (i < t->n && (n == 0 || strlen(t->name[i]) != n || memcmp(t->name[i], name, n) != 0))
        i++;
    return i;
}

static bool add(tl_duckdb_text *t, const char *name, size_t n)
{
    if (n > 0 && find(t, name, n) < t->n)
        return true;
    size_t capacity = t->capacity;
    if (!TL_GROW(t->name, t->n, 1, capacity))
        return false;
    t->capacity = (uint32_t)capacity;
    t->name[t->n] = tl_arena_strndup(&t->arena, name, n);
    return t->name[t->n++] != NULL;
}

/* How a statement that only reads begins. */
static const char *const reading[] = {"SELECT",  "WITH",     "FROM",      "VALUES", "TABLE",  "PIVOT",
                                      "UNPIVOT", "DESCRIBE", "SUMMARIZE", "SHOW",   "EXPLAIN"};
/* Functions that change the library's state, take addresses, or run SQL that is not seen here; "x*": all that begin so.
 * Files and extensions are switched off by settings. */
static const char *const refused[] = {
    "arrow_scan*", "checkpoint",  "disable_*", "enable_*",   "force_checkpoint", "json_execute_serialized_sql",
    "query",       "query_table", "seq_scan",  "truncate_*", "verify_*",         "write_log"};

static bool is_one_of(const char *const *list, size_t n, const char *p, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(list[i]);
        const bool begins = list[i][length - 1] == '*';
        if (begins ? size >= length - 1 && strncasecmp(list[i], p, length - 1) == 0
                   : size == length && strncasecmp(list[i], p, size) == 0)
            return true;
    }
    return false;
}

static bool is_blank(const char *p)
{
    return strchr(" \t\r\n\f\v", *p) || (p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*');
}

/* What the next piece says about the statement. */
static void guard(tl_duckdb_text *t, const char *p, const char *end, bool is_first)
{
    const bool quoted = *p == '"';
    const char *name = p + quoted;
    const size_t size = (size_t)(end - p) - (quoted ? 2 : 0);
    if (is_blank(p) && !quoted)
        return;
    if (is_first && *p != '(' && !is_one_of(reading, TL_COUNT(reading), p, (size_t)(end - p)))
        t->writes = true;
    if (*p == '(' && t->may_be_refused)
        t->refused = t->may_be_refused;
    t->may_be_refused = NULL;
    if (end > p + 2 && (quoted || is_letter(*p)) && is_one_of(refused, TL_COUNT(refused), name, size))
        t->may_be_refused = tl_arena_strndup(&t->arena, name, size);
}

bool tl_duckdb_text_read(tl_duckdb_text *t, const char *sql, const char **rest)
{
    bool any = false, ok = true;
    size_t size;
    const char *p = sql;
    t->sql = sql;
    for (const char *end; ok && *p && *p != ';'; p = end) {
        end = next_piece(sql, p, &size);
        guard(t, p, end, !any);
        any = any || !is_blank(p);
        if (size > 0)
            ok = add(t, p + 1, size - 1);
    }
    t->end = any ? p : sql;
    *rest = *p ? p + 1 : p;
    t->value = calloc((size_t)t->n + 1, sizeof *t->value);
    t->is_bound = calloc((size_t)t->n + 1, sizeof *t->is_bound);
    return ok && t->value && t->is_bound;
}

static void put_text(tl_pb *out, const char *text, size_t n)
{
    tl_pb_text(out, "'");
    for (size_t i = 0; i < n; i++)
        tl_pb_raw(out, text[i] == '\'' ? "''" : text + i, text[i] == '\'' ? 2 : 1);
    tl_pb_text(out, "'");
}

static void put_value(tl_pb *out, const tl_sql_value *v)
{
    char number[64];
    switch (v->kind) {
    case TL_VALUE_INTEGER:
        snprintf(number, sizeof number, "CAST('%" PRId64 "' AS BIGINT)", v->i64);
        tl_pb_text(out, number);
        return;
    case TL_VALUE_REAL:
        snprintf(number, sizeof number, "CAST('%.17g' AS DOUBLE)", v->real);
        tl_pb_text(out, number);
        return;
    case TL_VALUE_TEXT:
        put_text(out, v->text, v->size);
        return;
    case TL_VALUE_BLOB:
        tl_pb_text(out, "CAST('");
        for (size_t i = 0; i < v->size; i++) {
            snprintf(number, sizeof number, "\\x%02X", (unsigned char)v->text[i]);
            tl_pb_text(out, number);
        }
        tl_pb_text(out, "' AS BLOB)");
        return;
    default:
        tl_pb_text(out, "NULL");
    }
}

void tl_duckdb_text_put(const tl_duckdb_text *t, tl_pb *out)
{
    static const tl_sql_value null = {.kind = TL_VALUE_NULL};
    uint32_t unnamed = 0;
    size_t size;
    for (const char *p = t->sql, *end; p < t->end; p = end) {
        end = next_piece(t->sql, p, &size);
        if (size == 0) {
            tl_pb_raw(out, p, (size_t)(end - p));
            continue;
        }
        uint32_t i = find(t, p + 1, size - 1);
        if (size == 1) { /* ?: those without a name in their order */
            for (i = unnamed; i < t->n && t->name[i][0]; i++)
                ;
            unnamed = i + 1;
        }
        put_value(out, i < t->n && t->is_bound[i] ? &t->value[i] : &null);
    }
}

void tl_duckdb_text_fini(tl_duckdb_text *t)
{
    free(t->name);
    free(t->value);
    free(t->is_bound);
    tl_arena_fini(&t->arena);
}

#endif
