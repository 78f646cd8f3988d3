/* Names and values of fields in text for people. */
#include "format/text/text_value.h"

#include "base/text/float_text.h"
#include "base/text/utf8.h"
#include "model/value_walk.h"

enum { PIECE = 1024, ESCAPE = 4 };

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

/* [main > fib @0x401000]: functions from the outermost on, and where the innermost is. */
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
        tl_text_room(tw, TL_VALUE_ROOM);
        TL_TEXT_COPY(tw, " @0x");
        tw->p = tl_put_hex(tw->p, t->frames.frame[0]->ip);
    }
    tl_text_char(tw, ']');
}

static void put_scalar(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_text_writer *tw = out;
    tl_text_room(tw, TL_VALUE_ROOM);
    switch ((tl_type)v->type) {
    case TL_BOOL:
        if (v->as.u)
            TL_TEXT_COPY(tw, "true");
        else
            TL_TEXT_COPY(tw, "false");
        break;
    case TL_U64:
    case TL_I64:
        tw->p = tl_put_integer(tw->p, v, f, hex_digit);
        break;
    case TL_F64:
        tw->p = tl_put_real(tw->p, v->as.f, f && f->single);
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
        tl_text_hex(tw, v->as.p, v->n);
        break;
    case TL_STACK:
        put_stack(tw, fields, v);
        break;
    default:
        TL_TEXT_COPY(tw, "null");
    }
}

/* ONE|ODD(1) */
static void put_enum(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    const tl_label label = tl_enum_label(&fields->texts.enums, f->labels, v->as.u);
    fields->failed = fields->failed || !label.p;
    if (label.n == 0) {
        put_scalar(out, fields, v, f);
        return;
    }
    tl_text_raw(out, label.p, label.n);
    tl_text_char(out, '(');
    put_scalar(out, fields, v, f);
    tl_text_char(out, ')');
}

static const tl_value_marks marks = {
    .begin = {[TL_PART_STRUCT] = "{", [TL_PART_LIST] = "[", [TL_PART_DEEP] = "..."},
    .end = {[TL_PART_STRUCT] = "}", [TL_PART_LIST] = "]"},
    .comma = ", ",
};

static tl_value_put put_value;
static const tl_value_walk walk = {.value = put_value,
                                   .marks = &marks,
                                   .scalar = put_scalar,
                                   .labelled = put_enum,
                                   .quick = put_scalar,
                                   .quick_last = TL_HEX};

static const tl_value *put_value(void *out, tl_fields *fields, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth)
{
    return tl_walk_value(&walk, out, fields, v, end, f, depth);
}

const tl_value *text_value(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end)
{
    return put_value(tw, t, v, end, NULL, 0);
}

const tl_value *text_members(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n, const tl_value *v,
                             const tl_value *end, bool any)
{
    return tl_walk_members(&walk, tw, t, TL_PART_FIELD, f, n, v, end, 0, &any);
}
