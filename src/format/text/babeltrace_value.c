/* Names and values of fields as in babeltrace2; see babeltrace_text.c. */
#include "format/text/babeltrace_value.h"

#include "base/text/float_text.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "format/text/text_value.h"
#include "model/value_walk.h"

enum { PIECE = 1024, ESCAPE_MAX = 12, INDEX_MAX = 32 };

static const char lower_digit[] = "0123456789abcdef", upper_digit[] = "0123456789ABCDEF";

/* Copies to p the prefix of n bytes that needs no escape. Returns its size. */
static inline size_t copy_plain(char *p, const char *s, size_t n)
{
    static const char special[] = "\"\\'?\x7f";
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t word, any;
        memcpy(&word, s + i, 8);
        any = tl_any_below(word, ' ');
        for (size_t k = 0; k < sizeof special - 1; k++)
            any |= tl_any_is(word, special[k]);
        any |= tl_any_is(word | 0x2020202020202020u, '\xe2'); /* c2 and e2 begin some control characters */
        if (any)
            break;
        memcpy(p + i, &word, 8);
    }
    for (; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c < ' ' || c == '"' || c == '\\' || c == '\'' || c == '?' || c == 0x7f || (c | 0x20) == 0xe2)
            break;
        p[i] = s[i];
    }
    return i;
}

static char *put_byte(char *p, unsigned char c)
{
    memcpy(p, "\\x", 2);
    p[2] = lower_digit[c >> 4];
    p[3] = lower_digit[c & 15];
    return p + 4;
}

/* Writes the character at s, where copy_plain() stopped: at most ESCAPE_MAX bytes. Returns its length. */
static size_t put_special(tl_text_writer *tw, const char *s, size_t n)
{
    static const char from[] = "\"\\'?\a\b\t\n\v\f\r\x1b", to[] = "\"\\'?abtnvfre";
    const unsigned char c = (unsigned char)s[0];
    char *p = tw->p;
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        *p++ = '\\';
        *p++ = to[found - from];
    } else if ((c | 0x20) == 0xe2) {
        const size_t length = tl_utf8_length(s, n);
        if (length > 0 && !tl_utf8_shown(s, n)) {
            for (size_t i = 0; i < length; i++)
                p = put_byte(p, (unsigned char)s[i]);
            tw->p = p;
            return length;
        }
        *p++ = (char)c;
    } else {
        p = put_byte(p, c);
    }
    tw->p = p;
    return 1;
}

void babeltrace_string(tl_text_writer *tw, const char *s, size_t n)
{
    tl_text_char(tw, '"');
    while (n > 0) {
        const size_t length = n < PIECE ? n : PIECE;
        tl_text_room(tw, length + ESCAPE_MAX);
        size_t done = copy_plain(tw->p, s, length);
        tw->p += done;
        if (TL_UNLIKELY(done < length))
            done += put_special(tw, s + done, n - done);
        s += done;
        n -= done;
    }
    tl_text_char(tw, '"');
}

/* , name = ; nothing for hidden fields */
void babeltrace_lead(void *arg, const tl_field *f, tl_pb *text)
{
    const char *name = f->name ? f->name : "";
    (void)arg;
    if (f->flags & TL_FIELD_CLOCK)
        return;
    tl_pb_raw(text, ", ", 2);
    text_safe(text, name, strlen(name));
    tl_pb_raw(text, " = ", 3);
}

/* ( "ONE", "ODD" : container = */
void babeltrace_labels(void *arg, const char *const *label, uint32_t n, tl_pb *text)
{
    tl_text_writer tw;
    (void)arg;
    if (!tl_text_open_buffer(&tw, text))
        return;
    TL_TEXT_PUT(&tw, "( ");
    if (n == 0)
        TL_TEXT_PUT(&tw, "<unknown>");
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            TL_TEXT_PUT(&tw, ", ");
        babeltrace_string(&tw, label[i], strlen(label[i]));
    }
    TL_TEXT_PUT(&tw, " : container = ");
    tl_text_close(&tw);
}

static char *put_hex(char *p, uint64_t v)
{
    static const tl_field_text all_bits = {.base = 16, .bits = 64};
    memcpy(p, "0x", 2);
    return tl_put_based(p + 2, v, &all_bits, upper_digit);
}

/* [ [0] = 0x68, [1] = 0x69 ] */
static void put_bytes(tl_text_writer *tw, const uint8_t *p, uint32_t n)
{
    tl_text_char(tw, '[');
    for (uint32_t i = 0; i < n; i++) {
        tl_text_room(tw, INDEX_MAX + TL_VALUE_ROOM);
        if (i > 0)
            *tw->p++ = ',';
        TL_TEXT_COPY(tw, " [");
        tw->p = tl_put_u64(tw->p, i);
        TL_TEXT_COPY(tw, "] = ");
        tw->p = put_hex(tw->p, p[i]);
    }
    TL_TEXT_PUT(tw, " ]");
}

static void put_scalar(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_text_writer *tw = out;
    (void)fields;
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
        tw->p = tl_put_integer(tw->p, v, f, upper_digit);
        break;
    case TL_F64:
        tw->p = tl_put_six(tw->p, v->as.f);
        break;
    case TL_HEX:
        tw->p = put_hex(tw->p, v->as.u);
        break;
    case TL_STRING:
        babeltrace_string(tw, v->as.p, v->n);
        break;
    case TL_BYTES:
        put_bytes(tw, v->as.p, v->n);
        break;
    case TL_NULL:
        TL_TEXT_COPY(tw, "null");
        break;
    default:
        TL_TEXT_COPY(tw, "<none>");
    }
}

static inline void put_quick(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_text_writer *tw = out;
    (void)fields;
    tw->p = tl_put_integer(tw->p, v, f, upper_digit);
}

/* ( "ONE", "ODD" : container = 1 ) */
static void put_enum(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_text_writer *tw = out;
    const tl_label label = tl_enum_label(&fields->texts.enums, f->labels, v->as.u);
    fields->failed = fields->failed || !label.p;
    tl_text_raw(tw, label.p, label.n);
    tl_text_room(tw, TL_VALUE_ROOM);
    tw->p = f->is_flags ? put_hex(tw->p, v->as.u) : tl_put_integer(tw->p, v, f, upper_digit);
    TL_TEXT_PUT(tw, " )");
}

static const tl_field_text frame[TL_FRAME_MEMBERS] = {TL_FIELD_LEAD(", function = "), TL_FIELD_LEAD(", id = "),
                                                      TL_FIELD_LEAD(", ip = ")};

/* [ [0] = 1, [1] = 2 ], { x = 1, y = 2 }, and of a variant { 1 } */
static const tl_value_marks marks = {
    .begin = {[TL_PART_STRUCT] = "{",
              [TL_PART_LIST] = "[",
              [TL_PART_VARIANT] = "{",
              [TL_PART_OPTION] = " ",
              [TL_PART_DEEP] = "..."},
    .end = {[TL_PART_STRUCT] = " }", [TL_PART_LIST] = " ]", [TL_PART_VARIANT] = " }"},
    .comma = ",",
    .numbers = true,
};

static tl_value_put put_value;
static const tl_value_walk walk = {.value = put_value,
                                   .marks = &marks,
                                   .scalar = put_scalar,
                                   .labelled = put_enum,
                                   .quick = put_quick,
                                   .quick_last = TL_I64,
                                   .variants = true,
                                   .hides = true,
                                   .frame = frame};

static const tl_value *put_value(void *out, tl_fields *fields, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth)
{
    return tl_walk_value(&walk, out, fields, v, end, f, depth);
}

const tl_value *babeltrace_members(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n,
                                   const tl_value *v, const tl_value *end, bool any)
{
    return tl_walk_members(&walk, tw, t, TL_PART_FIELD, f, n, v, end, 0, &any);
}
