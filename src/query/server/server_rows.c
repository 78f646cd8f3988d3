/* Rows of an answer of a server: a line of names, a line of types, then a line for each row; fields end with tabs.
 *
 *     \N          null
 *     \t \n \\    and the like: one byte
 *
 * Numbers that are no int64_t, and everything that is neither a number nor text, are text. */
#include "query/server/server_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define ANSWER_ROW_MOST     ((size_t)64 << 20) /* bytes of a row */
#define ANSWER_COLUMNS_MOST 2000u              /* as of a statement here */

static int not_rows(tl_error *e)
{
    return tl_fail(e, TL_EIO, TL_NO_OFFSET, "this is not an answer to what was asked");
}

/* The next line, ended by a NUL in place of its newline. 1: there is one; 0: end. */
static int next_line(tl_server_rows *r, char **line, tl_error *e)
{
    size_t looked = r->at;
    for (;;) {
        char *text = (char *)r->text.data,
             *end = r->text.n > looked ? memchr(text + looked, '\n', r->text.n - looked) : NULL;
        if (end) {
            *end = '\0';
            *line = text + r->at;
            r->at = (size_t)(end + 1 - text);
            return 1;
        }
        if (r->is_over)
            return r->at == r->text.n ? 0 : not_rows(e);
        if (r->text.n - r->at > ANSWER_ROW_MOST)
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "a row of the answer is longer than %zu MiB",
                           ANSWER_ROW_MOST >> 20);
        if (r->at) {
            memmove(text, text + r->at, r->text.n - r->at);
            r->text.n -= r->at;
            r->at = 0;
        }
        looked = r->text.n;
        const int status = r->more(r->arg, &r->text, e);
        if (status < 0)
            return status;
        r->is_over = status == 0;
    }
}

/* Takes the escapes out of a field, which is not longer then; *size: its bytes. Returns what follows its tab, or NULL.
 */
static char *take_field(char *field, size_t *size)
{
    static const char from[] = "bfrntv0", to[] = "\b\f\r\n\t\v\0";
    char *out = field, *p = field;
    for (; *p && *p != '\t'; p++) {
        const char *known = *p == '\\' && p[1] ? strchr(from, p[1]) : NULL;
        if (*p == '\\' && p[1])
            p++;
        *out++ = known ? to[known - from] : *p;
    }
    char *rest = *p == '\t' ? p + 1 : NULL;
    *size = (size_t)(out - field);
    *out = '\0';
    return rest;
}

static tl_column_type type_of(const char *name)
{
    if (strncmp(name, "Nullable(", 9) == 0)
        name += 9;
    if (strncmp(name, "LowCardinality(", 15) == 0)
        return type_of(name + 15);
    if (strncmp(name, "Int", 3) == 0 || strncmp(name, "UInt", 4) == 0)
        return strstr(name, "Int128") || strstr(name, "Int256") || strncmp(name, "Interval", 8) == 0 ? TL_TEXT
                                                                                                     : TL_INTEGER;
    return strncmp(name, "Float", 5) == 0 ? TL_REAL : TL_TEXT;
}

static uint32_t count_fields(const char *line)
{
    uint32_t n = 1;
    for (; *line; line++)
        n += *line == '\t';
    return n;
}

/* A copy of a line, which the next one overwrites. */
static char *keep(tl_pb *head, const char *line)
{
    const size_t at = head->n;
    tl_pb_raw(head, line, strlen(line) + 1);
    return head->failed ? NULL : (char *)head->data + at;
}

static const tl_column_info *column(const tl_result *r, uint32_t i)
{
    return &((const tl_server_rows *)(const void *)r)->column[i];
}

static const tl_sql_value *value(tl_result *r, uint32_t i)
{
    return &((tl_server_rows *)(void *)r)->row[i];
}

static void take_value(tl_sql_value *v, tl_column_type type, const char *text, size_t size)
{
    char *end;
    errno = 0;
    *v = (tl_sql_value){.kind = TL_VALUE_TEXT, .text = text, .size = size};
    if (type == TL_INTEGER) {
        const long long whole = strtoll(text, &end, 10);
        if (*text && !*end && errno == 0)
            *v = (tl_sql_value){.kind = TL_VALUE_INTEGER, .i64 = whole};
    } else if (type == TL_REAL) {
        const double real = strtod(text, &end);
        if (*text && !*end)
            *v = (tl_sql_value){.kind = real == real ? TL_VALUE_REAL : TL_VALUE_NULL, .real = real};
    }
}

static int next(tl_result *result, tl_error *e)
{
    tl_server_rows *r = (tl_server_rows *)(void *)result;
    char *field = NULL;
    const int status = next_line(r, &field, e);
    if (status <= 0)
        return status;
    for (uint32_t i = 0; i < r->result.columns; i++) {
        if (!field)
            return not_rows(e);
        char *text = field;
        size_t size;
        const bool is_null = text[0] == '\\' && text[1] == 'N' && (text[2] == '\t' || !text[2]);
        field = take_field(text, &size);
        if (is_null)
            r->row[i] = (tl_sql_value){.kind = TL_VALUE_NULL};
        else
            take_value(&r->row[i], r->column[i].type, text, size);
    }
    r->rows++;
    return field ? not_rows(e) : 1;
}

int tl_server_rows_begin(tl_server_rows *r, tl_error *e)
{
    char *line = NULL, *types = NULL;
    int status = next_line(r, &line, e);
    char *names = status > 0 ? keep(&r->head, line) : NULL;
    if (status > 0)
        status = next_line(r, &line, e);
    if (status <= 0)
        return status < 0 ? status : not_rows(e);
    const size_t behind = r->head.n;
    types = keep(&r->head, line);
    if (!names || !types)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for an answer");
    names = (char *)r->head.data; /* which may have moved */
    types = (char *)r->head.data + behind;
    const uint32_t n = count_fields(names);
    if (n != count_fields(types) || n > ANSWER_COLUMNS_MOST)
        return not_rows(e);
    r->column = calloc((size_t)n + 1, sizeof *r->column);
    r->row = calloc((size_t)n + 1, sizeof *r->row);
    if (!r->column || !r->row)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for an answer");
    for (uint32_t i = 0; i < n; i++) {
        char *name = names, *type = types;
        size_t size;
        names = take_field(name, &size);
        types = take_field(type, &size);
        r->column[i] = (tl_column_info){.name = name, .type = type_of(type), .what = ""};
    }
    r->result = (tl_result){n, true, column, next, value};
    return 0;
}

void tl_server_rows_fini(tl_server_rows *r)
{
    tl_pb_fini(&r->text);
    tl_pb_fini(&r->head);
    free(r->column);
    free(r->row);
    *r = (tl_server_rows){0};
}
