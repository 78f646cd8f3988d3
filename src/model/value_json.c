/* Values of the tape as JSON. */
#include "model/value_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

static void put(tl_pb *out, const char *s)
{
    tl_pb_raw(out, s, strlen(s));
}

/* Strings are escaped in pieces of the stack's size; a piece ends where no character is cut. */
enum { PIECE = 512, UTF8_LONGEST = 4 };

static size_t piece_length(const char *s, size_t n)
{
    if (n <= PIECE)
        return n;
    size_t length = PIECE;
    for (unsigned back = 1; back < UTF8_LONGEST; back++)
        if (((unsigned char)s[length] & 0xc0) == 0x80)
            length--;
    return length;
}

void tl_string_json(tl_pb *out, const char *s, size_t n, uint64_t *bad)
{
    char text[6 * PIECE + 2];
    put(out, "\"");
    while (n > 0) {
        size_t length = piece_length(s, n);
        char *end = tl_json_put_string(text, s, length, bad);
        tl_pb_raw(out, text + 1, (size_t)(end - text) - 2);
        s += length;
        n -= length;
    }
    put(out, "\"");
}

static void bytes_json(tl_pb *out, const uint8_t *p, size_t n)
{
    static const char digit[] = "0123456789abcdef";
    char text[2 * PIECE];
    put(out, "\"");
    while (n > 0) {
        size_t length = n < PIECE ? n : PIECE;
        for (size_t i = 0; i < length; i++) {
            text[2 * i] = digit[p[i] >> 4];
            text[2 * i + 1] = digit[p[i] & 15];
        }
        tl_pb_raw(out, text, 2 * length);
        p += length;
        n -= length;
    }
    put(out, "\"");
}

char *tl_put_double(char *p, double v)
{
    char text[40];
    int precision = 15;
    do
        snprintf(text, sizeof text, "%.*g", precision, v);
    while (strtod(text, NULL) != v && ++precision <= 17);
    char *point = strchr(text, ','); /* in the locale of a careless caller */
    if (point)
        *point = '.';
    size_t n = strlen(text);
    memcpy(p, text, n);
    if (!strpbrk(text, ".e")) {
        memcpy(p + n, ".0", 2);
        n += 2;
    }
    return p + n;
}

static void double_json(tl_pb *out, double v)
{
    char text[40];
    if (isnan(v))
        put(out, "\"NaN\"");
    else if (isinf(v))
        put(out, v < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    else
        tl_pb_raw(out, text, (size_t)(tl_put_double(text, v) - text));
}

static void hex_json(tl_pb *out, uint64_t v)
{
    char text[24] = "\"0x";
    char *end = tl_put_hex(text + 3, v);
    *end++ = '"';
    tl_pb_raw(out, text, (size_t)(end - text));
}

static void scalar_json(tl_pb *out, const tl_value *v, uint64_t *bad)
{
    char text[24];
    switch ((tl_type)v->type) {
    case TL_BOOL:
        put(out, v->as.u ? "true" : "false");
        break;
    case TL_U64:
        tl_pb_raw(out, text, (size_t)(tl_put_u64(text, v->as.u) - text));
        break;
    case TL_I64:
        tl_pb_raw(out, text, (size_t)(tl_put_i64(text, v->as.i) - text));
        break;
    case TL_F64:
        double_json(out, v->as.f);
        break;
    case TL_HEX:
        hex_json(out, v->as.u);
        break;
    case TL_STRING:
        tl_string_json(out, v->as.p, v->n, bad);
        break;
    case TL_BYTES:
        bytes_json(out, v->as.p, v->n);
        break;
    default:
        put(out, "null");
    }
}

const tl_value *tl_value_skip(const tl_value *v, const tl_value *end)
{
    uint64_t pending = 1;
    for (; pending > 0 && v < end; v++) {
        pending--;
        if (v->type == TL_LIST || v->type == TL_STRUCT)
            pending += v->n;
    }
    return v;
}

/* The description of element i of a list or struct: a list has one for all of them. */
static const tl_field *member(const tl_field *f, tl_type type, uint32_t i)
{
    if (!f || !f->member || f->nmember == 0)
        return NULL;
    if (type == TL_LIST)
        return &f->member[0];
    return i < f->nmember ? &f->member[i] : NULL;
}

static const tl_value *value_json(tl_pb *out, const tl_value *v, const tl_value *end, const tl_field *f, unsigned depth,
                                  uint64_t *bad)
{
    if (v->type != TL_LIST && v->type != TL_STRUCT) {
        scalar_json(out, v, bad);
        return v + 1;
    }
    if (depth == TL_VALUE_DEPTH_MAX) {
        put(out, "null");
        return tl_value_skip(v, end);
    }
    tl_type type = (tl_type)v->type;
    bool named = type == TL_STRUCT && f && f->member && f->nmember >= v->n;
    uint32_t n = v->n;
    put(out, named ? "{" : "[");
    v++;
    for (uint32_t i = 0; i < n && v < end; i++) {
        const tl_field *m = member(f, type, i);
        if (i > 0)
            put(out, ",");
        if (named) {
            tl_string_json(out, m->name, strlen(m->name), bad);
            put(out, ":");
        }
        v = value_json(out, v, end, m, depth + 1, bad);
    }
    put(out, named ? "}" : "]");
    return v;
}

const tl_value *tl_value_json(tl_pb *out, const tl_value *v, const tl_value *end, const tl_field *f, uint64_t *bad)
{
    return value_json(out, v, end, f, 0, bad);
}

uint32_t tl_fields_json(tl_pb *out, const tl_class *c, const tl_value *v, const tl_value *end, uint64_t *bad)
{
    uint32_t n = 0;
    for (; n < c->nfield && v < end; n++) {
        if (n > 0)
            put(out, ",");
        tl_string_json(out, c->field[n].name, strlen(c->field[n].name), bad);
        put(out, ":");
        v = tl_value_json(out, v, end, &c->field[n], bad);
    }
    return n;
}

const char *tl_key_name(tl_key key)
{
    switch (key) {
    case TL_KEY_PC:
        return "pc";
    case TL_KEY_ADDRESS:
        return "addr";
    case TL_KEY_STACK:
        return "stack";
    default:
        return NULL;
    }
}

void tl_key_json(tl_pb *out, tl_key key, uint64_t value)
{
    char text[24];
    put(out, "\"");
    put(out, tl_key_name(key));
    put(out, "\":");
    if (key == TL_KEY_STACK)
        tl_pb_raw(out, text, (size_t)(tl_put_u64(text, value) - text));
    else
        hex_json(out, value);
}
