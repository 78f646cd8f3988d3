/* Names and values of fields as in babeltrace2; see babeltrace_text.c. */
#include "format/text/babeltrace_value.h"

#include "base/text/float_text.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "format/text/text_value.h"

enum { PIECE = 1024, SCALAR_MAX = 80, ESCAPE_MAX = 12, INDEX_MAX = 32 };

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

/* At most SCALAR_MAX bytes. */
static inline char *put_integer(char *p, const tl_value *v, const tl_field_text *f)
{
    if (TL_LIKELY(!f || f->base == 10))
        return v->type == TL_I64 ? tl_put_i64(p, v->as.i) : tl_put_u64(p, v->as.u);
    *p++ = '0';
    if (f->base != 8)
        *p++ = f->base == 2 ? 'b' : 'x';
    return tl_put_based(p, v->as.u, f, upper_digit);
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
        tl_text_room(tw, INDEX_MAX + SCALAR_MAX);
        if (i > 0)
            *tw->p++ = ',';
        TL_TEXT_COPY(tw, " [");
        tw->p = tl_put_u64(tw->p, i);
        TL_TEXT_COPY(tw, "] = ");
        tw->p = put_hex(tw->p, p[i]);
    }
    TL_TEXT_PUT(tw, " ]");
}

/* Text before member k of a frame. */
static void frame_lead(tl_text_writer *tw, const tl_field_text *f, uint32_t k)
{
    static const char *const other[TL_FRAME_MEMBERS] = {", function = ", ", id = ", ", ip = "};
    const bool named = f && f->nmember == TL_FRAME_MEMBERS;
    const char *lead = named ? f->member[k].lead : other[k];
    const size_t n = named ? f->member[k].nlead : strlen(other[k]);
    tl_text_raw(tw, lead + (k == 0), n - (k == 0));
}

static void frame_number(tl_text_writer *tw, bool known, uint64_t v)
{
    tl_text_room(tw, SCALAR_MAX);
    if (known)
        tw->p = put_hex(tw->p, v);
    else
        TL_TEXT_COPY(tw, "null");
}

/* [ [0] = { function = "main", iid = 0x1, ip = null } ], outermost first. */
static TL_NOINLINE void put_stack(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_field_text *f)
{
    t->failed = t->failed || !tl_stack_frames_set(&t->frames, v);
    const uint32_t n = t->frames.n;
    tl_text_char(tw, '[');
    for (uint32_t i = 0; i < n; i++) {
        const tl_frame *frame = t->frames.frame[n - 1 - i];
        tl_text_room(tw, INDEX_MAX);
        if (i > 0)
            *tw->p++ = ',';
        TL_TEXT_COPY(tw, " [");
        tw->p = tl_put_u64(tw->p, i);
        TL_TEXT_COPY(tw, "] = {");
        frame_lead(tw, f, 0);
        if (frame->name)
            babeltrace_string(tw, frame->name, strlen(frame->name));
        else
            TL_TEXT_PUT(tw, "null");
        frame_lead(tw, f, 1);
        frame_number(tw, frame->flags & TL_FRAME_FUNCTION, frame->function);
        frame_lead(tw, f, 2);
        frame_number(tw, frame->flags & TL_FRAME_IP, frame->ip);
        TL_TEXT_PUT(tw, " }");
    }
    TL_TEXT_PUT(tw, " ]");
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

/* ( "ONE", "ODD" : container = 1 ) */
static void put_enum(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_field_text *f)
{
    const tl_label label = tl_enum_label(&t->texts.enums, f->labels, v->as.u);
    t->failed = t->failed || !label.p;
    tl_text_raw(tw, label.p, label.n);
    tl_text_room(tw, SCALAR_MAX);
    tw->p = f->is_flags ? put_hex(tw->p, v->as.u) : put_integer(tw->p, v, f);
    TL_TEXT_PUT(tw, " )");
}

static const tl_value *put_value(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth);

static inline const tl_value *put_members(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n,
                                          const tl_value *v, const tl_value *end, bool any, unsigned depth)
{
    for (uint32_t i = 0; i < n && v < end; i++) {
        if (TL_UNLIKELY(v->type == TL_ABSENT || f[i].nlead == 0)) {
            v = tl_value_skip(v, end);
            continue;
        }
        const size_t lead = f[i].nlead - !any; /* the first one without its comma */
        if (TL_LIKELY(lead <= TL_TEXT_ROOM - TL_TEXT_PADDING - SCALAR_MAX)) {
            tl_text_room(tw, lead + TL_TEXT_PADDING + SCALAR_MAX);
            tw->p = tl_put_padded(tw->p, f[i].lead + !any, lead);
        } else {
            tl_text_raw(tw, f[i].lead + !any, lead);
        }
        any = true;
        if (TL_LIKELY(v->type <= TL_I64 && v->type >= TL_U64 && !f[i].labels)) {
            tl_text_room(tw, SCALAR_MAX);
            tw->p = put_integer(tw->p, v, &f[i]);
            v++;
        } else {
            v = put_value(tw, t, v, end, &f[i], depth);
        }
    }
    return v;
}

/* [ [0] = 1, [1] = 2 ] */
static const tl_value *put_list(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end,
                                const tl_field_text *f, unsigned depth)
{
    const uint8_t type = v->type;
    const uint32_t n = v->n;
    tl_text_char(tw, '[');
    v++;
    for (uint32_t i = 0; i < n && v < end; i++) {
        tl_text_room(tw, INDEX_MAX);
        if (i > 0)
            *tw->p++ = ',';
        TL_TEXT_COPY(tw, " [");
        tw->p = tl_put_u64(tw->p, i);
        TL_TEXT_COPY(tw, "] = ");
        v = put_value(tw, t, v, end, tl_field_text_member(f, type, i), depth);
    }
    TL_TEXT_PUT(tw, " ]");
    return v;
}

/* A value that contains others. */
static const tl_value *put_compound(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end,
                                    const tl_field_text *f, unsigned depth)
{
    if (depth == TL_VALUE_DEPTH_MAX) {
        TL_TEXT_PUT(tw, "...");
        return tl_value_skip(v, end);
    }
    const bool named = tl_field_text_named(f, v);
    if (!named && v->type != TL_VARIANT)
        return put_list(tw, t, v, end, f, depth + 1);
    tl_text_char(tw, '{');
    if (named) {
        v = put_members(tw, t, f ? f->member : NULL, v->n, v + 1, end, false, depth + 1);
    } else if (end - v > 1) {
        tl_text_char(tw, ' ');
        v = put_value(tw, t, v + 1, end, tl_field_text_member(f, TL_VARIANT, v->variant), depth + 1);
    } else {
        v++;
    }
    TL_TEXT_PUT(tw, " }");
    return v;
}

static const tl_value *put_value(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth)
{
    if (v->type == TL_LIST || v->type == TL_STRUCT || v->type == TL_VARIANT)
        return put_compound(tw, t, v, end, f, depth);
    if (f && f->labels && (v->type == TL_U64 || v->type == TL_I64))
        put_enum(tw, t, v, f);
    else if (TL_UNLIKELY(v->type == TL_STACK))
        put_stack(tw, t, v, f);
    else
        put_scalar(tw, v, f);
    return v + 1;
}

const tl_value *babeltrace_members(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n,
                                   const tl_value *v, const tl_value *end, bool any)
{
    return put_members(tw, t, f, n, v, end, any, 0);
}
