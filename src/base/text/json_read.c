/* JSON text into a tree: one pass, with the open arrays and objects on a stack of its own. */
#include "base/text/json_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/text/utf8.h"

/* Objects up to this size are checked for equal names pair by pair; the names of larger ones are sorted. */
#define PAIRS_MAX 12u

typedef struct level {
    tl_json_value *container, *last;
} level;

typedef struct parser {
    const char *text;
    uint32_t n, at;
    uint32_t values_left;
    tl_arena *arena;
    tl_error *e;
    unsigned depth;
    level open[TL_JSON_DEPTH_MAX];
} parser;

/* ---- errors ---- */

TL_COLD static int no_memory(const parser *p)
{
    return tl_fail(p->e, TL_ENOMEM, p->at, "no memory for the JSON text");
}

/* Fails at the current place: "expected WHAT, found ...". */
TL_COLD static int expected(const parser *p, const char *what)
{
    if (p->at >= p->n)
        return tl_fail(p->e, TL_EDAMAGED, p->n, "expected %s, found the end of the text", what);
    unsigned char c = (unsigned char)p->text[p->at];
    size_t length = tl_utf8_length(p->text + p->at, p->n - p->at);
    if (c < 0x20 || c == 0x7f || length == 0)
        return tl_fail(p->e, TL_EDAMAGED, p->at, "expected %s, found the byte 0x%02x", what, c);
    return tl_fail(p->e, TL_EDAMAGED, p->at, "expected %s, found '%.*s'", what, (int)length, p->text + p->at);
}

/* ---- strings ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits at p->at; -1 if they are not there. */
static int32_t four_digits(const parser *p)
{
    if (p->n - p->at < 4)
        return -1;
    int32_t v = 0;
    for (uint32_t i = 0; i < 4; i++) {
        int digit = hex_digit(p->text[p->at + i]);
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* \uXXXX, or a surrogate pair of two, after the first \u. Never longer than the input. */
static int unicode_escape(parser *p, char **to)
{
    const uint32_t begin = p->at - 2;
    int32_t c = four_digits(p);
    if (c < 0)
        return expected(p, "four hexadecimal digits after \\u");
    p->at += 4;
    if (c >= 0xd800 && c < 0xe000) {
        int32_t low = -1;
        if (c < 0xdc00 && p->n - p->at >= 2 && p->text[p->at] == '\\' && p->text[p->at + 1] == 'u') {
            p->at += 2;
            low = four_digits(p);
        }
        if (low < 0xdc00 || low >= 0xe000)
            return tl_fail(p->e, TL_EDAMAGED, begin, "\\u%04" PRIx32 " is half of a surrogate pair", (uint32_t)c);
        p->at += 4;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    *to = put_utf8(*to, (uint32_t)c);
    return 0;
}

static int escape(parser *p, char **to)
{
    static const char letters[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    p->at++;
    if (p->at < p->n && p->text[p->at] == 'u') {
        p->at++;
        return unicode_escape(p, to);
    }
    const char *found = p->at < p->n && p->text[p->at] ? strchr(letters, p->text[p->at]) : NULL;
    if (!found)
        return expected(p, "one of \"\\/bfnrtu after a backslash");
    p->at++;
    *(*to)++ = meaning[found - letters];
    return 0;
}

/* The string whose opening quote is at p->at. */
static int read_string(parser *p, const char **s, uint32_t *n)
{
    const uint32_t begin = p->at++;
    uint32_t end = p->at;
    while (end < p->n && p->text[end] != '"')
        end += p->text[end] == '\\' ? 2 : 1;
    if (end >= p->n)
        return tl_fail(p->e, TL_EDAMAGED, begin, "the string that begins here does not end");
    char *room = tl_arena_alloc(p->arena, (size_t)(end - p->at) + 1), *to = room;
    if (!room)
        return no_memory(p);
    while (p->at < end) {
        const unsigned char c = (unsigned char)p->text[p->at];
        if (c == '\\') {
            int rc = escape(p, &to);
            if (rc < 0)
                return rc;
        } else if (c < 0x20) {
            return tl_fail(p->e, TL_EDAMAGED, p->at, "the byte 0x%02x in a string: expected an escape sequence", c);
        } else {
            size_t length = c < 0x80 ? 1 : tl_utf8_length(p->text + p->at, end - p->at);
            if (length == 0)
                return tl_fail(p->e, TL_EDAMAGED, p->at, "the byte 0x%02x in a string is not UTF-8", c);
            memcpy(to, p->text + p->at, length);
            to += length;
            p->at += (uint32_t)length;
        }
    }
    p->at++;
    *to = '\0';
    *s = room;
    *n = (uint32_t)(to - room);
    return 0;
}

/* ---- numbers and words ---- */

static bool at_digit(const parser *p)
{
    return p->at < p->n && p->text[p->at] >= '0' && p->text[p->at] <= '9';
}

static bool skip(parser *p, char c)
{
    if (p->at >= p->n || p->text[p->at] != c)
        return false;
    p->at++;
    return true;
}

/* Digits; *v: their value, *fits: whether it fits 64 bits. */
static int read_digits(parser *p, uint64_t *v, bool *fits)
{
    *v = 0;
    *fits = true;
    if (!at_digit(p))
        return expected(p, "a digit");
    for (; at_digit(p); p->at++) {
        const unsigned digit = (unsigned)(p->text[p->at] - '0');
        if (*v > (UINT64_MAX - digit) / 10)
            *fits = false;
        else
            *v = *v * 10 + digit;
    }
    return 0;
}

static int read_fraction_and_exponent(parser *p, bool *there)
{
    uint64_t ignored;
    bool fits;
    if (skip(p, '.')) {
        *there = true;
        int rc = read_digits(p, &ignored, &fits);
        if (rc < 0)
            return rc;
    }
    if (skip(p, 'e') || skip(p, 'E')) {
        *there = true;
        if (!skip(p, '-'))
            skip(p, '+');
        return read_digits(p, &ignored, &fits);
    }
    return 0;
}

static int read_number(parser *p, tl_json_value *v)
{
    const uint32_t begin = p->at;
    const bool negative = skip(p, '-');
    uint64_t whole = 0;
    bool fits = true, real = false;
    int rc = skip(p, '0') ? 0 : read_digits(p, &whole, &fits);
    if (rc >= 0 && whole == 0 && at_digit(p))
        return tl_fail(p->e, TL_EDAMAGED, begin, "a number that begins with a superfluous zero");
    if (rc >= 0)
        rc = read_fraction_and_exponent(p, &real);
    if (rc < 0)
        return rc;
    if (real || !fits || (negative && whole > (uint64_t)INT64_MAX + 1)) {
        v->kind = TL_JSON_REAL;
        v->n = p->at - begin;
        v->as.s = tl_arena_strndup(p->arena, p->text + begin, v->n);
        return v->as.s ? 0 : no_memory(p);
    }
    v->kind = negative && whole > 0 ? TL_JSON_INT : TL_JSON_UINT;
    if (v->kind == TL_JSON_INT)
        v->as.i = whole > INT64_MAX ? INT64_MIN : -(int64_t)whole;
    else
        v->as.u = whole;
    return 0;
}

static bool skip_word(parser *p, const char *word)
{
    const uint32_t length = (uint32_t)strlen(word);
    if (p->n - p->at < length || memcmp(p->text + p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* ---- arrays and objects ---- */

static void skip_space(parser *p)
{
    while (p->at < p->n &&
           (p->text[p->at] == ' ' || p->text[p->at] == '\n' || p->text[p->at] == '\t' || p->text[p->at] == '\r'))
        p->at++;
}

static int compare_names(const tl_json_value *a, const tl_json_value *b)
{
    if (a->name_n != b->name_n)
        return a->name_n < b->name_n ? -1 : 1;
    return memcmp(a->name, b->name, a->name_n);
}

static int by_name(const void *pa, const void *pb)
{
    const tl_json_value *a = *(const tl_json_value *const *)pa, *b = *(const tl_json_value *const *)pb;
    int order = compare_names(a, b);
    return order ? order : TL_COMPARE(a->name_offset, b->name_offset);
}

TL_COLD static int same_name(const parser *p, const tl_json_value *v)
{
    return tl_fail(p->e, TL_EDAMAGED, v->name_offset, "the object has a second member \"%s\"", v->name);
}

/* Checks that no two members of an object have the same name. */
static int check_names(const parser *p, const tl_json_value *object)
{
    if (object->n <= PAIRS_MAX) {
        for (const tl_json_value *v = object->as.first; v; v = v->next)
            for (const tl_json_value *before = object->as.first; before != v; before = before->next)
                if (compare_names(before, v) == 0)
                    return same_name(p, v);
        return 0;
    }
    const tl_json_value **sorted = tl_alloc(object->n, sizeof(*sorted)), *second = NULL;
    if (!sorted)
        return no_memory(p);
    uint32_t n = 0;
    for (const tl_json_value *v = object->as.first; v; v = v->next)
        sorted[n++] = v;
    qsort(sorted, n, sizeof *sorted, by_name);
    for (uint32_t i = 1; i < n; i++)
        if (compare_names(sorted[i - 1], sorted[i]) == 0 && (!second || sorted[i]->name_offset < second->name_offset))
            second = sorted[i];
    free(sorted);
    return second ? same_name(p, second) : 0;
}

/* A new value, appended to the open array or object. */
static tl_json_value *append_value(parser *p)
{
    tl_json_value *v = tl_arena_zalloc(p->arena, sizeof *v);
    if (!v)
        return NULL;
    if (p->depth > 0) {
        level *in = &p->open[p->depth - 1];
        if (in->last)
            in->last->next = v;
        else
            in->container->as.first = v;
        in->last = v;
        in->container->n++;
    }
    return v;
}

static int read_name(parser *p, tl_json_value *v)
{
    skip_space(p);
    v->name_offset = p->at;
    if (p->at >= p->n || p->text[p->at] != '"')
        return expected(p, "the name of a member in quotes");
    int rc = read_string(p, &v->name, &v->name_n);
    skip_space(p);
    if (rc >= 0 && !skip(p, ':'))
        rc = expected(p, "':' after the name of a member");
    return rc;
}

static int open_container(parser *p, tl_json_value *v, tl_json_kind kind)
{
    if (p->depth == TL_JSON_DEPTH_MAX)
        return tl_fail(p->e, TL_EUNSUPPORTED, p->at, "more than %u arrays and objects in each other",
                       TL_JSON_DEPTH_MAX);
    p->at++;
    v->kind = (uint8_t)kind;
    p->open[p->depth++] = (level){.container = v};
    return 0;
}

/* A value; for an array or object only its begin. */
static int read_value(parser *p, tl_json_value **out)
{
    if (p->values_left == 0)
        return tl_fail(p->e, TL_ENOMEM, p->at, "more values than one JSON text may have here");
    p->values_left--;
    tl_json_value *v = append_value(p);
    if (!v)
        return no_memory(p);
    *out = v;
    if (p->depth > 0 && p->open[p->depth - 1].container->kind == TL_JSON_OBJECT) {
        int rc = read_name(p, v);
        if (rc < 0)
            return rc;
    }
    skip_space(p);
    v->offset = p->at;
    if (p->at >= p->n)
        return expected(p, "a value");
    switch (p->text[p->at]) {
    case '{':
        return open_container(p, v, TL_JSON_OBJECT);
    case '[':
        return open_container(p, v, TL_JSON_ARRAY);
    case '"':
        v->kind = TL_JSON_STRING;
        return read_string(p, &v->as.s, &v->n);
    case 't':
    case 'f':
        v->kind = TL_JSON_BOOL;
        v->as.b = p->text[p->at] == 't';
        return skip_word(p, v->as.b ? "true" : "false") ? 0 : expected(p, "a value");
    case 'n':
        return skip_word(p, "null") ? 0 : expected(p, "a value");
    default:
        return p->text[p->at] == '-' || at_digit(p) ? read_number(p, v) : expected(p, "a value");
    }
}

/* What follows a value: ends of arrays and objects, then a comma (1) or, after the last of them, nothing (0). */
static int after_value(parser *p)
{
    while (p->depth > 0) {
        const level *in = &p->open[p->depth - 1];
        const bool is_object = in->container->kind == TL_JSON_OBJECT;
        skip_space(p);
        if (in->last && skip(p, ','))
            return 1;
        if (!skip(p, is_object ? '}' : ']')) {
            if (!in->last) /* it has just begun */
                return 1;
            return expected(p, is_object ? "',' or '}'" : "',' or ']'");
        }
        int rc = is_object ? check_names(p, in->container) : 0;
        if (rc < 0)
            return rc;
        p->depth--;
    }
    return 0;
}

static int parse(parser *p, const tl_json_value **out)
{
    tl_json_value *root = NULL, *v = NULL;
    int more = 1;
    while (more > 0) {
        int rc = read_value(p, &v);
        if (rc < 0)
            return rc;
        if (!root)
            root = v;
        more = after_value(p);
        if (more < 0)
            return more;
    }
    skip_space(p);
    if (p->at < p->n)
        return expected(p, "nothing after the value");
    *out = root;
    return 0;
}

int tl_json_parse(const tl_json_value **out, tl_arena *arena, const char *text, size_t n, uint32_t values_max,
                  tl_error *e)
{
    if (n > TL_JSON_TEXT_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, 0, "%zu bytes of JSON text: more than %u", n, TL_JSON_TEXT_MAX);
    parser p;
    p.text = text;
    p.n = (uint32_t)n;
    p.at = 0;
    p.values_left = values_max;
    p.arena = arena;
    p.e = e;
    p.depth = 0;
    return parse(&p, out);
}

/* ---- access to the tree ---- */

const tl_json_value *tl_json_find(const tl_json_value *object, const char *name)
{
    if (!object || object->kind != TL_JSON_OBJECT)
        return NULL;
    const size_t length = strlen(name);
    for (const tl_json_value *v = object->as.first; v; v = v->next)
        if (v->name_n == length && memcmp(v->name, name, length) == 0)
            return v;
    return NULL;
}

const char *tl_json_kind_name(const tl_json_value *v)
{
    static const char *const names[] = {[TL_JSON_NULL] = "null",           [TL_JSON_BOOL] = "a boolean",
                                        [TL_JSON_UINT] = "an integer",     [TL_JSON_INT] = "a negative integer",
                                        [TL_JSON_REAL] = "another number", [TL_JSON_STRING] = "a string",
                                        [TL_JSON_ARRAY] = "an array",      [TL_JSON_OBJECT] = "an object"};
    return names[v->kind];
}
