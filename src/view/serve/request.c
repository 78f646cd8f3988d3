/* Reads the path and the query string of a request. The grammar is that of encodeURIComponent():
 *
 *     uri   := '/' TOKEN '/' [ 'live' | 'q/' WORD ] [ '?' pair { '&' pair } ]
 *     pair  := KEY '=' { unreserved | '%' HEX HEX }
 *
 * Each key at most once, and only those of the question. "+" stands for two things elsewhere, and is refused. Values
 * are UTF-8 without control characters, but for line ends and tabs in SQL. */
#include "view/serve/request.h"

#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

#define PLACE(member) offsetof(tl_serve_request, member)

enum { BY = 1, CLS = 2, FUNCTION = 4, SORT = 8, SQL = 16, TIME = 32, TOP = 64, ROWS = 128, FRESH = 256, ORDER = 512 };

static const struct {
    const char *path;
    tl_serve_what what;
    unsigned keys;
} questions[] = {
    {"", TL_SERVE_PAGE, 0},
    {"live", TL_SERVE_LIVE, 0},
    {"q/meta", TL_SERVE_META, ORDER},
    {"q/profile", TL_SERVE_PROFILE, TIME | FRESH | ORDER},
    {"q/spans", TL_SERVE_SPANS, TIME | ORDER},
    {"q/table", TL_SERVE_TABLE, BY | TIME | SORT | TOP | ORDER},
    {"q/calls", TL_SERVE_CALLS, FUNCTION | TIME | ROWS | ORDER},
    {"q/events", TL_SERVE_EVENTS, CLS | TIME | ROWS | ORDER},
    {"q/sql", TL_SERVE_SQL, SQL | TIME | ROWS | ORDER},
};

typedef enum how { TEXT, ROW_COUNT, NUMBER, FLAG } how;

static const struct {
    const char *word;
    unsigned key;
    how how;
    size_t place;
} keys[] = {
    {"by", BY, TEXT, PLACE(by)},        {"class", CLS, TEXT, PLACE(cls)},    {"f", FUNCTION, TEXT, PLACE(function)},
    {"sort", SORT, TEXT, PLACE(sort)},  {"sql", SQL, TEXT, PLACE(sql)},      {"t", TIME, TEXT, PLACE(time)},
    {"top", TOP, TEXT, PLACE(top)},     {"n", ROWS, ROW_COUNT, PLACE(rows)}, {"fresh", FRESH, FLAG, PLACE(fresh)},
    {"slot", ORDER, TEXT, PLACE(slot)}, {"seq", ORDER, NUMBER, PLACE(seq)},
};

/* Takes the same time wherever the first difference is. */
static bool is_token(const char *text, const char *token)
{
    unsigned differ = 0;
    for (size_t i = 0; i < TL_SERVE_TOKEN; i++)
        differ |= (unsigned char)text[i] ^ (unsigned char)token[i];
    return differ == 0;
}

static int wrong(const char *uri, const char *at, const char *what, tl_error *e)
{
    return tl_fail(e, TL_ESYNTAX, (uint64_t)(at - uri), "%s", what);
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-_.!~*'()", c));
}

static bool is_utf8(const char *s)
{
    for (size_t n = strlen(s), length; n > 0; s += length, n -= length)
        if ((length = tl_utf8_length(s, n)) == 0)
            return false;
    return true;
}

/* Decodes a value in place; `end` is behind it. */
static int decode(const char *uri, char *value, char *end, bool is_sql, tl_error *e)
{
    char *to = value;
    for (char *at = value; at < end; at++) {
        if (*at != '%') {
            if (!is_plain(*at))
                return wrong(uri, at, "this character must be percent-encoded", e);
            *to++ = *at;
            continue;
        }
        const int high = end - at > 2 ? digit_of(at[1]) : -1;
        const int low = high >= 0 ? digit_of(at[2]) : -1;
        if (low < 0)
            return wrong(uri, at, "two hexadecimal digits follow a percent sign", e);
        const unsigned char c = (unsigned char)(high << 4 | low);
        if ((c < 0x20 || c == 0x7f) && !(is_sql && (c == '\t' || c == '\n' || c == '\r')))
            return wrong(uri, at, "a control character", e);
        *to++ = (char)c;
        at += 2;
    }
    *to = '\0';
    return is_utf8(value) ? 0 : wrong(uri, value, "this is not UTF-8", e);
}

static int take(tl_serve_request *r, size_t k, const char *uri, char *value, char *end, tl_error *e)
{
    void *const place = (char *)r + keys[k].place;
    uint64_t number = 0;
    const int status = decode(uri, value, end, keys[k].key == SQL, e);
    if (status < 0)
        return status;
    switch (keys[k].how) {
    case TEXT:
        if (!*value)
            return wrong(uri, value, "the value is missing", e);
        *(const char **)place = value;
        return 0;
    case FLAG:
        if (strcmp(value, "1") != 0)
            return wrong(uri, value, "1 is expected", e);
        *(bool *)place = true;
        return 0;
    default:
        break;
    }
    if (!tl_parse_u64(value, &number))
        return wrong(uri, value, "a whole number is expected", e);
    if (keys[k].how == NUMBER) {
        *(uint64_t *)place = number;
        return 0;
    }
    if (number == 0 || number > TL_SERVE_ROWS_MAX)
        return wrong(uri, value, "1 to 10000 rows can be asked for", e);
    *(uint32_t *)place = (uint32_t)number;
    return 0;
}

static int take_pair(tl_serve_request *r, unsigned allowed, unsigned *seen, const char *uri, char *at, char *end,
                     tl_error *e)
{
    char *const equals = memchr(at, '=', (size_t)(end - at));
    if (!equals)
        return wrong(uri, at, "key=value is expected", e);
    const size_t n = (size_t)(equals - at);
    for (size_t k = 0; k < TL_COUNT(keys); k++) {
        if (strlen(keys[k].word) != n || memcmp(keys[k].word, at, n) != 0 || !(allowed & keys[k].key))
            continue;
        if (*seen & 1u << k)
            return wrong(uri, at, "this key was given before", e);
        *seen |= 1u << k;
        return take(r, k, uri, equals + 1, end, e);
    }
    return wrong(uri, at, "this question has no such key", e);
}

/* What the question cannot do without. */
static int check(const tl_serve_request *r, const char *uri, const char *end, tl_error *e)
{
    if (r->what == TL_SERVE_TABLE && !r->by)
        return wrong(uri, end, "by=TABLE is missing", e);
    if (r->what == TL_SERVE_SQL && !r->sql)
        return wrong(uri, end, "sql=STATEMENT is missing", e);
    if (r->slot && strlen(r->slot) > TL_SERVE_SLOT_MAX)
        return wrong(uri, r->slot, "the name of a slot has at most 64 bytes", e);
    if (r->seq && !r->slot)
        return wrong(uri, end, "seq goes with slot", e);
    return 0;
}

int tl_serve_request_parse(tl_serve_request *r, char *uri, const char *token, tl_error *e)
{
    *r = (tl_serve_request){.rows = TL_SERVE_ROWS_USUAL};
    const size_t n = strnlen(uri, TL_SERVE_URI_MAX + 1);
    if (n > TL_SERVE_URI_MAX)
        return tl_fail(e, TL_ELIMIT, TL_SERVE_URI_MAX, "the address has more than %u bytes", TL_SERVE_URI_MAX);
    if (n < TL_SERVE_TOKEN + 2 || uri[0] != '/' || uri[TL_SERVE_TOKEN + 1] != '/' || !is_token(uri + 1, token))
        return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "nothing is here");
    char *const path = uri + TL_SERVE_TOKEN + 2, *mark = strchr(path, '?');
    const size_t length = mark ? (size_t)(mark - path) : strlen(path);
    size_t q = 0;
    while (q < TL_COUNT(questions) &&
           (strlen(questions[q].path) != length || memcmp(questions[q].path, path, length) != 0))
        q++;
    if (q == TL_COUNT(questions))
        return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "nothing is here");
    r->what = questions[q].what;
    unsigned seen = 0;
    int status = 0;
    char *end = NULL;
    for (char *at = mark; status == 0 && at; at = end) {
        at++;
        end = strchr(at, '&');
        status = take_pair(r, questions[q].keys, &seen, uri, at, end ? end : at + strlen(at), e);
    }
    return status == 0 ? check(r, uri, uri + n, e) : status;
}
