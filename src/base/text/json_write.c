/* JSON text: escaping, and a small writer that sets the commas. */
#include "base/text/json_write.h"

#include <assert.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

/* A byte of a string becomes at most six bytes of text. */
enum { EXPANSION = 6, CHUNK = TL_OUTPUT_ROOM / EXPANSION - 1 };

static char *put_u00(char *p, unsigned char c)
{
    memcpy(p, "\\u00", 4);
    p[4] = "0123456789abcdef"[c >> 4];
    p[5] = "0123456789abcdef"[c & 15];
    return p + 6;
}

static char *put_escaped_ascii(char *p, unsigned char c)
{
    static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return put_u00(p, c);
    *p++ = '\\';
    *p++ = to[found - from];
    return p;
}

static char *put_escaped(char *p, const char *s, size_t n, uint64_t *bad)
{
    const char *end = s + n;
    while (s < end) {
        unsigned char c = (unsigned char)*s;
        if (TL_LIKELY(c >= 0x20 && c < 0x80 && c != '"' && c != '\\')) {
            *p++ = (char)c;
            s++;
        } else if (c < 0x80) {
            p = put_escaped_ascii(p, c);
            s++;
        } else {
            size_t length = tl_utf8_length(s, (size_t)(end - s));
            if (length > 0) {
                memcpy(p, s, length);
                p += length;
                s += length;
            } else if (!bad && c == 0xc0 && end - s > 1 && (unsigned char)s[1] == 0x80) {
                p = put_u00(p, 0); /* hidden by tl_strings_get_text() */
                s += 2;
            } else {
                p = put_u00(p, c);
                s++;
                if (bad)
                    ++*bad;
            }
        }
    }
    return p;
}

char *tl_json_put_string(char *p, const char *s, size_t n, uint64_t *bad)
{
    *p++ = '"';
    p = put_escaped(p, s, n, bad);
    *p++ = '"';
    return p;
}

void tl_json_init(tl_json *j, tl_output *out)
{
    *j = (tl_json){.out = out};
}

/* Room for a value of n bytes, after a comma if needed. */
static char *begin_value(tl_json *j, size_t n)
{
    char *p = tl_output_reserve(j->out, n + 1);
    if (j->comma)
        *p++ = ',';
    j->comma = true;
    return p;
}

static void put_literal(tl_json *j, const char *text)
{
    size_t n = strlen(text);
    char *p = begin_value(j, n);
    memcpy(p, text, n);
    tl_output_commit(j->out, p + n);
}

static void open_level(tl_json *j, const char *bracket)
{
    put_literal(j, bracket);
    j->depth++;
    j->comma = false;
}

static void close_level(tl_json *j, const char *bracket)
{
    assert(j->depth > 0);
    j->comma = false;
    put_literal(j, bracket);
    j->depth--;
}

void tl_json_object(tl_json *j)
{
    open_level(j, "{");
}

void tl_json_object_end(tl_json *j)
{
    close_level(j, "}");
}

void tl_json_array(tl_json *j)
{
    open_level(j, "[");
}

void tl_json_array_end(tl_json *j)
{
    close_level(j, "]");
}

/* How many of the n bytes at s to process at once, without splitting a UTF-8 sequence. */
static size_t piece(const char *s, size_t n)
{
    if (n <= CHUNK)
        return n;
    for (size_t back = 0; back < 4; back++)
        if (((unsigned char)s[CHUNK - back] & 0xc0) != 0x80)
            return CHUNK - back;
    return CHUNK; /* four continuation bytes in a row are not part of any sequence */
}

void tl_json_string_n(tl_json *j, const char *s, size_t n)
{
    char *p = begin_value(j, 1);
    *p++ = '"';
    tl_output_commit(j->out, p);
    while (n > 0) {
        size_t part = piece(s, n);
        p = tl_output_reserve(j->out, EXPANSION * part);
        tl_output_commit(j->out, put_escaped(p, s, part, NULL));
        s += part;
        n -= part;
    }
    p = tl_output_reserve(j->out, 1);
    *p++ = '"';
    tl_output_commit(j->out, p);
}

void tl_json_string(tl_json *j, const char *s)
{
    if (s)
        tl_json_string_n(j, s, strlen(s));
    else
        tl_json_null(j);
}

void tl_json_key(tl_json *j, const char *key)
{
    tl_json_key_n(j, key, strlen(key));
}

void tl_json_key_n(tl_json *j, const char *key, size_t n)
{
    tl_json_string_n(j, key, n);
    char *p = tl_output_reserve(j->out, 1);
    *p++ = ':';
    tl_output_commit(j->out, p);
    j->comma = false;
}

void tl_json_name(tl_json *j, const char *name, size_t n)
{
    char *p = begin_value(j, n + 3);
    *p++ = '"';
    memcpy(p, name, n);
    p += n;
    *p++ = '"';
    *p++ = ':';
    tl_output_commit(j->out, p);
    j->comma = false;
}

void tl_json_u64(tl_json *j, uint64_t v)
{
    tl_output_commit(j->out, tl_put_u64(begin_value(j, 20), v));
}

void tl_json_i64(tl_json *j, int64_t v)
{
    tl_output_commit(j->out, tl_put_i64(begin_value(j, 20), v));
}

void tl_json_bool(tl_json *j, bool v)
{
    put_literal(j, v ? "true" : "false");
}

void tl_json_raw(tl_json *j, const char *text)
{
    tl_output_commit(j->out, begin_value(j, 1));
    tl_output_puts(j->out, text);
}

void tl_json_null(tl_json *j)
{
    put_literal(j, "null");
}

void tl_json_key_string(tl_json *j, const char *key, const char *s)
{
    tl_json_key(j, key);
    tl_json_string(j, s);
}

void tl_json_key_u64(tl_json *j, const char *key, uint64_t v)
{
    tl_json_key(j, key);
    tl_json_u64(j, v);
}

void tl_json_key_i64(tl_json *j, const char *key, int64_t v)
{
    tl_json_key(j, key);
    tl_json_i64(j, v);
}

void tl_json_key_null(tl_json *j, const char *key)
{
    tl_json_key(j, key);
    tl_json_null(j);
}
