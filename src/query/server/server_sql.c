/* SQL for a server. */
#include "query/server/server_sql.h"

#include <string.h>

#include "base/text/float_text.h"
#include "query/server/server_table.h"

#define NAME_ROOM 64u

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Behind a text or a quoted name that begins here: a backslash takes the next byte with it, as servers have it. */
static const char *behind_quotes(const char *p)
{
    const char quote = *p++;
    while (*p && *p != quote)
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p ? p + 1 : p;
}

/* Behind what is no SQL to look into: text, name, comment. The same place: nothing of that begins here. */
static const char *behind_opaque(const char *p)
{
    if (*p == '\'' || *p == '"' || *p == '`')
        return behind_quotes(p);
    if (p[0] == '-' && p[1] == '-')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    return p;
}

void tl_server_put_value(tl_pb *sql, const tl_sql_value *v)
{
    char number[TL_FLOAT_TEXT_MAX];
    switch (v->kind) {
    case TL_VALUE_NULL:
        tl_pb_text(sql, "NULL");
        break;
    case TL_VALUE_INTEGER:
        /* A negative number behind a minus would begin a comment. */
        tl_pb_text(sql, v->i64 < 0 ? "(" : "");
        tl_pb_text_i64(sql, v->i64);
        tl_pb_text(sql, v->i64 < 0 ? ")" : "");
        break;
    case TL_VALUE_REAL:
        tl_pb_text(sql, "(");
        tl_pb_raw(sql, number, (size_t)(tl_put_real(number, v->real, false) - number));
        tl_pb_text(sql, ")");
        break;
    case TL_VALUE_TEXT:
    case TL_VALUE_BLOB:
        tl_server_put_literal(sql, v->text, v->size);
        break;
    }
}

/* A pattern of GLOB: *, ?, [a-z], [^a-z]. */
static void put_glob(tl_pb *sql, const tl_sql_value *v)
{
    tl_pb regex = {0};
    const char *text = v->kind == TL_VALUE_TEXT ? v->text : "";
    size_t n = v->kind == TL_VALUE_TEXT ? v->size : 0;
    tl_pb number = {0};
    if (v->kind != TL_VALUE_TEXT) { /* a name of digits was taken for a number */
        tl_server_put_value(&number, v);
        text = (const char *)number.data;
        n = number.n;
    }
    tl_pb_text(&regex, "(?s)^");
    for (size_t i = 0; i < n; i++) {
        const char *end =
            text[i] == '[' ? memchr(text + i + 2 < text + n ? text + i + 2 : text + n, ']', n - i > 2 ? n - i - 2 : 0)
                           : NULL;
        if (text[i] == '*') {
            tl_pb_text(&regex, ".*");
        } else if (text[i] == '?') {
            tl_pb_text(&regex, ".");
        } else if (end) {
            tl_pb_raw(&regex, text + i, (size_t)(end + 1 - (text + i)));
            i = (size_t)(end - text);
        } else {
            tl_pb_text(&regex, is_word(text[i]) || (text[i] & 0x80) ? "" : "\\");
            tl_pb_raw(&regex, text + i, 1);
        }
    }
    tl_pb_text(&regex, "$");
    if (regex.failed || number.failed)
        sql->failed = true;
    else
        tl_server_put_literal(sql, (const char *)regex.data, regex.n);
    tl_pb_fini(&regex);
    tl_pb_fini(&number);
}

/* The name of the parameter at p, "name" of :name. Its length; 0: none. */
static size_t name_at(const char *p, char name[NAME_ROOM])
{
    size_t n = 0;
    if (*p != ':' || (p[1] >= '0' && p[1] <= '9'))
        return 0;
    while (is_word(p[1 + n]))
        n++;
    if (n == 0 || n >= NAME_ROOM)
        return 0;
    memcpy(name, p + 1, n);
    name[n] = '\0';
    return n;
}

static int put_parameter(tl_pb *out, const char *name, bool is_glob, tl_server_parameter value, void *arg, tl_error *e)
{
    tl_sql_value room;
    const tl_sql_value *v = value(arg, name, &room);
    if (!v)
        return tl_fail(e, TL_ESYNTAX, TL_NO_OFFSET, "parameter %s has no value: -p %s=VALUE gives one", name, name);
    if (is_glob)
        put_glob(out, v);
    else
        tl_server_put_value(out, v);
    return 0;
}

/* glob(:name) at p: behind it, else NULL. */
static const char *behind_glob(const char *p, char name[NAME_ROOM])
{
    if (strncmp(p, "glob(", 5) != 0)
        return NULL;
    const size_t n = name_at(p + 5, name);
    return n && p[6 + n] == ')' ? p + 7 + n : NULL;
}

int tl_server_sql(tl_pb *out, const char **sql, tl_server_parameter value, void *arg, tl_error *e)
{
    char name[NAME_ROOM];
    const char *p = *sql;
    char before = ' ';
    int status = 0;
    p += strspn(p, " \t\r\n");
    while (*p && *p != ';' && status == 0) {
        const char *end = behind_opaque(p), *glob = is_word(before) ? NULL : behind_glob(p, name);
        size_t n = 0;
        if (end > p) {
            tl_pb_raw(out, p, (size_t)(end - p));
        } else if (glob || (before != ':' && (n = name_at(p, name)) > 0)) {
            end = glob ? glob : p + 1 + n;
            status = put_parameter(out, name, glob != NULL, value, arg, e);
        } else {
            end = p + 1;
            tl_pb_raw(out, p, 1);
        }
        before = end[-1];
        p = end;
    }
    *sql = *p == ';' ? p + 1 : p;
    return out->failed && status == 0 ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement") : status;
}
