/* Names and values of fields in text for people. */
#include "format/text/text_value.h"

#include <math.h>

#include "base/text/float_text.h"
#include "base/text/utf8.h"

enum { PIECE = 1024, SCALAR_MAX = 80, ESCAPE = 4 };

static const char hex_digit[] = "0123456789abcdef";

/* Copies to p the printable ASCII prefix of n bytes. Returns its size. */
static inline size_t copy_plain(char *p, const char *s, size_t n)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, s + i, 8);
        if ((word & 0x8080808080808080u) | tl_any_below(word, ' ') | tl_any_is(word, 0x7f))
            break;
        memcpy(p + i, &word, 8);
    }
    for (; i < n && (unsigned char)(s[i] - ' ') < 0x7f - ' '; i++)
        p[i] = s[i];
    return i;
}

void text_put_safe(tl_text_writer *tw, const char *s, size_t n)
{
    while (n > 0) {
        const size_t length = n < PIECE ? n : PIECE;
        tl_text_room(tw, length + ESCAPE);
        const size_t plain = copy_plain(tw->p, s, length);
        tw->p += plain;
        s += plain;
        n -= plain;
        if (plain == length)
            continue;
        size_t character = tl_utf8_shown(s, n); /* at most ESCAPE bytes */
        if (character > 0) {
            memcpy(tw->p, s, character);
            tw->p += character;
        } else {
            const unsigned char c = (unsigned char)*s;
            const char escape[ESCAPE] = {'\\', 'x', hex_digit[c >> 4], hex_digit[c & 15]};
            memcpy(tw->p, escape, ESCAPE);
            tw->p += ESCAPE;
            character = 1;
        }
        s += character;
        n -= character;
    }
}

void text_safe(tl_pb *out, const char *s, size_t n)
{
    tl_text_writer tw;
    if (!tl_text_open_buffer(&tw, out))
        return;
    text_put_safe(&tw, s, n);
    tl_text_close(&tw);
}

/*  name= */
void text_lead(void *arg, const tl_field *f, tl_pb *text)
{
    tl_pb name = {0};
    (void)arg;
    tl_field_put_name(f, &name);
    tl_pb_raw(text, " ", 1);
    text_safe(text, (const char *)name.data, name.n);
    tl_pb_raw(text, "=", 1);
    text->failed = text->failed || name.failed;
    tl_pb_fini(&name);
}

/* ONE|ODD */
void text_labels(void *arg, const char *const *label, uint32_t n, tl_pb *text)
{
    (void)arg;
    for (uint32_t i = 0; i < n; i++) {
        tl_pb_raw(text, "|", i > 0);
        text_safe(text, label[i], strlen(label[i]));
    }
}

static void put_bytes(tl_text_writer *tw, const uint8_t *from, size_t n)
{
    while (n > 0) {
        const size_t length = n < PIECE ? n : PIECE;
        tl_text_room(tw, 2 * length);
        char *p = tw->p;
        for (size_t i = 0; i < length; i++) {
            *p++ = hex_digit[from[i] >> 4];
            *p++ = hex_digit[from[i] & 15];
        }
        tw->p = p;
        from += length;
        n -= length;
    }
}

/* Whole numbers, at most SCALAR_MAX bytes. */
static inline char *put_integer(char *p, const tl_value *v, const tl_field_text *f)
{
    if (TL_LIKELY(!f || f->base == 10))
        return v->type == TL_U64 ? tl_put_u64(p, v->as.u) : tl_put_i64(p, v->as.i);
    *p++ = '0';
    if (f->base != 8)
        *p++ = f->base == 2 ? 'b' : 'x';
    return tl_put_based(p, v->as.u, f, hex_digit);
}

static char *put_real(char *p, double v, bool single)
{
    if (isnan(v) || isinf(v)) {
        const char *text = isnan(v) ? "NaN" : v < 0 ? "-Infinity" : "Infinity";
        size_t n = strlen(text);
        memcpy(p, text, n);
        return p + n;
    }
    return single ? tl_put_float(p, (float)v) : tl_put_double(p, v);
}

/* [main > fib @0x401000]: functions from the outermost in, and the innermost one's ip. */
static TL_NOINLINE void put_stack(tl_text_writer *tw, tl_fields *t, const tl_value *v)
{
    char label[TL_FRAME_LABEL_ROOM];
    t->failed = t->failed || !tl_stack_frames_set(&t->frames, v);
    tl_text_char(tw, '[');
    for (uint32_t i = t->frames.n; i-- > 0;) {
        const char *text = tl_frame_label(t->frames.frame[i], label);
        text_put_safe(tw, text, strlen(text));
        if (i > 0)
            TL_TEXT_PUT(tw, " > ");
    }
    if (t->frames.n > 0 && t->frames.frame[0]->flags & TL_FRAME_IP) {
        tl_text_room(tw, SCALAR_MAX);
        TL_TEXT_COPY(tw, " @0x");
        tw->p = tl_put_hex(tw->p, t->frames.frame[0]->ip);
    }
    tl_text_char(tw, ']');
}

static void put_scalar(tl_text_writer *tw, const tl_value *v, const tl_field_text *f)
{
    tl_text_room(tw, SCALAR_MAX);
    switch ((tl_type)v->type) {
    case TL_BOOL:
        if (v->as.u)
            TL_TEXT_COPY(tw, "true");
        else
            TL_TEXT_COPY(tw, "false");
        break;
    case TL_U64:
    case TL_I64:
        tw->p = put_integer(tw->p, v, f);
        break;
    case TL_F64:
        tw->p = put_real(tw->p, v->as.f, f && f->single);
        break;
    case TL_HEX:
        TL_TEXT_COPY(tw, "0x");
        tw->p = tl_put_hex(tw->p, v->as.u);
        break;
    case TL_STRING:
        tl_text_char(tw, '"');
        text_put_safe(tw, v->as.p, v->n);
        tl_text_char(tw, '"');
        break;
    case TL_BYTES:
        put_bytes(tw, v->as.p, v->n);
        break;
    default:
        TL_TEXT_COPY(tw, "null");
    }
}

/* ONE|ODD(1) */
static void put_enum(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_field_text *f)
{
    const tl_label label = tl_enum_label(&t->texts.enums, f->labels, v->as.u);
    t->failed = t->failed || !label.p;
    if (label.n == 0) {
        put_scalar(tw, v, f);
        return;
    }
    tl_text_raw(tw, label.p, label.n);
    tl_text_char(tw, '(');
    put_scalar(tw, v, f);
    tl_text_char(tw, ')');
}

static const tl_value *put_value(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth);

static inline const tl_value *put_members(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n,
                                          const tl_value *v, const tl_value *end, bool spaced, unsigned depth)
{
    for (uint32_t i = 0; i < n && v < end; i++) {
        if (TL_UNLIKELY(v->type == TL_ABSENT)) {
            v++;
            continue;
        }
        const size_t lead = f[i].nlead - !spaced; /* the first one in brackets has no space in front */
        if (TL_LIKELY(lead <= TL_TEXT_ROOM - TL_TEXT_PADDING - SCALAR_MAX)) {
            tl_text_room(tw, lead + TL_TEXT_PADDING + SCALAR_MAX);
            tw->p = tl_put_padded(tw->p, f[i].lead + !spaced, lead);
        } else {
            tl_text_raw(tw, f[i].lead + !spaced, lead);
        }
        spaced = true;
        if (TL_LIKELY(v->type <= TL_HEX && v->type >= TL_U64 && !f[i].labels)) {
            put_scalar(tw, v, &f[i]);
            v++;
        } else {
            v = put_value(tw, t, v, end, &f[i], depth);
        }
    }
    return v;
}

static const tl_value *put_list(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end,
                                const tl_field_text *f, unsigned depth)
{
    const uint8_t type = v->type;
    const uint32_t n = v->n;
    v++;
    for (uint32_t i = 0; i < n && v < end; i++) {
        TL_TEXT_PUT(tw, ", ");
        tw->p -= i > 0 ? 0 : 2;
        v = put_value(tw, t, v, end, tl_field_text_member(f, type, i), depth);
    }
    return v;
}

static const tl_value *put_value(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth)
{
    for (; v->type == TL_VARIANT && end - v > 1; v++)
        f = tl_field_text_member(f, TL_VARIANT, v->variant);
    if (v->type != TL_LIST && v->type != TL_STRUCT) {
        if (TL_UNLIKELY(f && f->labels && (v->type == TL_U64 || v->type == TL_I64)))
            put_enum(tw, t, v, f);
        else if (TL_UNLIKELY(v->type == TL_STACK))
            put_stack(tw, t, v);
        else
            put_scalar(tw, v, f);
        return v + 1;
    }
    if (depth == TL_VALUE_DEPTH_MAX) {
        TL_TEXT_PUT(tw, "...");
        return tl_value_skip(v, end);
    }
    const bool named = tl_field_text_named(f, v);
    tl_text_char(tw, named ? '{' : '[');
    v = named ? put_members(tw, t, f ? f->member : NULL, v->n, v + 1, end, false, depth + 1)
              : put_list(tw, t, v, end, f, depth + 1);
    tl_text_char(tw, named ? '}' : ']');
    return v;
}

const tl_value *text_value(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end,
                           const tl_field_text *f)
{
    return put_value(tw, t, v, end, f, 0);
}

const tl_value *text_members(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n, const tl_value *v,
                             const tl_value *end)
{
    return put_members(tw, t, f, n, v, end, true, 0);
}

const tl_value *text_group(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n, const tl_value *v,
                           const tl_value *end)
{
    return put_members(tw, t, f, n, v, end, false, 0);
}
