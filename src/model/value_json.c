/* Values of the tape as JSON. */
#include "model/value_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"

/* Strings are scanned and escaped in pieces; a piece that needs escapes does not split a character. */
enum { CLEAN_PIECE = 2048, PIECE = 512, UTF8_LONGEST = 4, SCALAR_MAX = 64 };

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

/* Copies to p the prefix of n bytes that needs no escape. Returns its size. */
static inline size_t copy_clean(char *p, const char *s, size_t n)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, s + i, 8);
        if ((word & 0x8080808080808080u) | tl_any_below(word, ' ') | tl_any_is(word, '"') | tl_any_is(word, '\\'))
            break;
        memcpy(p + i, &word, 8);
    }
    for (; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < ' ' || c >= 0x80 || c == '"' || c == '\\')
            break;
        p[i] = s[i];
    }
    return i;
}

/* Writes text that needs escapes, without quotes. */
static TL_NOINLINE void put_escaped(tl_text_writer *tw, const char *s, size_t n, uint64_t *bad)
{
    char text[6 * PIECE + 2];
    while (n > 0) {
        size_t length = piece_length(s, n);
        char *end = tl_json_put_string(text, s, length, bad);
        tl_text_raw(tw, text + 1, (size_t)(end - text) - 2);
        s += length;
        n -= length;
    }
}

void tl_text_json(tl_text_writer *tw, const char *s, size_t n, uint64_t *bad)
{
    tl_text_char(tw, '"');
    while (n > 0) {
        size_t length = n < CLEAN_PIECE ? n : CLEAN_PIECE;
        tl_text_room(tw, length);
        size_t clean = copy_clean(tw->p, s, length);
        tw->p += clean;
        s += clean;
        n -= clean;
        if (TL_UNLIKELY(clean < length)) {
            put_escaped(tw, s, n, bad);
            break;
        }
    }
    tl_text_char(tw, '"');
}

void tl_string_json(tl_pb *out, const char *s, size_t n, uint64_t *bad)
{
    tl_text_writer tw;
    if (!tl_text_open_buffer(&tw, out))
        return;
    tl_text_json(&tw, s, n, bad);
    tl_text_close(&tw);
}

static void bytes_json(tl_text_writer *tw, const uint8_t *from, size_t n)
{
    static const char digit[] = "0123456789abcdef";
    tl_text_char(tw, '"');
    while (n > 0) {
        size_t length = n < PIECE ? n : PIECE;
        tl_text_room(tw, 2 * length);
        char *p = tw->p;
        for (size_t i = 0; i < length; i++) {
            *p++ = digit[from[i] >> 4];
            *p++ = digit[from[i] & 15];
        }
        tw->p = p;
        from += length;
        n -= length;
    }
    tl_text_char(tw, '"');
}

static char *double_json(char *p, double v, bool single)
{
    if (isnan(v))
        return TL_PUT(p, "\"NaN\"");
    if (isinf(v))
        return v < 0 ? TL_PUT(p, "\"-Infinity\"") : TL_PUT(p, "\"Infinity\"");
    return single ? tl_put_float(p, (float)v) : tl_put_double(p, v);
}

static char *hex_json(char *p, uint64_t v)
{
    p = tl_put_hex(TL_PUT(p, "\"0x"), v);
    *p++ = '"';
    return p;
}

/* A member of a frame, up to its value; number k of three. */
static void frame_lead(tl_text_writer *tw, const tl_field_text *f, uint32_t k)
{
    static const char *const other[TL_FRAME_MEMBERS] = {",\"function\":", ",\"id\":", ",\"ip\":"};
    const bool named = f && f->nmember == TL_FRAME_MEMBERS;
    const char *lead = named ? f->member[k].lead : other[k];
    const size_t n = named ? f->member[k].nlead : strlen(other[k]);
    if (k == 0)
        tl_text_char(tw, '{'); /* replaces the comma */
    tl_text_raw(tw, lead + (k == 0), n - (k == 0));
}

static void frame_number(tl_text_writer *tw, bool known, uint64_t v)
{
    tl_text_room(tw, SCALAR_MAX);
    tw->p = known ? hex_json(tw->p, v) : TL_PUT(tw->p, "null");
}

/* [{"function":"fib","iid":"0x5","ip":null}], outermost first. */
static TL_NOINLINE void stack_json(tl_text_writer *tw, tl_json_fields *j, const tl_value *v, const tl_field_text *f)
{
    j->failed = j->failed || !tl_stack_frames_set(&j->frames, v);
    tl_text_char(tw, '[');
    for (uint32_t i = j->frames.n; i-- > 0;) {
        const tl_frame *frame = j->frames.frame[i];
        frame_lead(tw, f, 0);
        if (frame->name)
            tl_text_json(tw, frame->name, strlen(frame->name), NULL); /* is UTF-8 if the reader is right */
        else
            TL_TEXT_PUT(tw, "null");
        frame_lead(tw, f, 1);
        frame_number(tw, frame->flags & TL_FRAME_FUNCTION, frame->function);
        frame_lead(tw, f, 2);
        frame_number(tw, frame->flags & TL_FRAME_IP, frame->ip);
        tl_text_char(tw, '}');
        if (i > 0)
            tl_text_char(tw, ',');
        if (j->spill)
            j->spill(j->spill_arg, tw);
    }
    tl_text_char(tw, ']');
}

static void scalar_json(tl_text_writer *tw, tl_json_fields *j, const tl_value *v, const tl_field_text *f)
{
    tl_text_room(tw, SCALAR_MAX);
    switch ((tl_type)v->type) {
    case TL_BOOL:
        tw->p = v->as.u ? TL_PUT(tw->p, "true") : TL_PUT(tw->p, "false");
        break;
    case TL_U64:
        tw->p = tl_put_u64(tw->p, v->as.u);
        break;
    case TL_I64:
        tw->p = tl_put_i64(tw->p, v->as.i);
        break;
    case TL_F64:
        tw->p = double_json(tw->p, v->as.f, f && f->single);
        break;
    case TL_HEX:
        tw->p = hex_json(tw->p, v->as.u);
        break;
    case TL_STRING:
        tl_text_json(tw, v->as.p, v->n, &j->bad);
        break;
    case TL_BYTES:
        bytes_json(tw, v->as.p, v->n);
        break;
    case TL_STACK:
        stack_json(tw, j, v, f);
        break;
    default:
        tw->p = TL_PUT(tw->p, "null");
    }
}

/* {"value":1,"labels":["ONE","ODD"]} */
static void enum_json(tl_text_writer *tw, tl_json_fields *j, const tl_value *v, const tl_field_text *f)
{
    tl_label labels = tl_enum_label(&j->texts.enums, f->labels, v->as.u);
    if (!labels.p) {
        j->failed = true;
        return;
    }
    TL_TEXT_PUT(tw, "{\"value\":");
    scalar_json(tw, j, v, f);
    tl_text_raw(tw, labels.p, labels.n);
}

/* ,"labels":["ONE","ODD"]} */
static void make_labels(void *fields, const char *const *label, uint32_t n, tl_pb *text)
{
    tl_json_fields *j = fields;
    tl_pb_raw(text, ",\"labels\":[", 11);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            tl_pb_raw(text, ",", 1);
        tl_string_json(text, label[i], strlen(label[i]), &j->bad);
    }
    tl_pb_raw(text, "]}", 2);
}

/* ,"name": */
static void make_lead(void *fields, const tl_field *f, tl_pb *text)
{
    tl_json_fields *j = fields;
    tl_pb name = {0};
    tl_field_put_name(f, &name);
    tl_pb_raw(text, ",", 1);
    tl_string_json(text, (const char *)name.data, name.n, &j->bad);
    tl_pb_raw(text, ":", 1);
    text->failed = text->failed || name.failed;
    tl_pb_fini(&name);
}

bool tl_json_fields_init(tl_json_fields *j, const tl_trace *t)
{
    return tl_fields_init(j, t->ncls, make_lead, make_labels);
}

void tl_json_fields_fini(tl_json_fields *j)
{
    tl_fields_fini(j);
}

static const tl_value *value_json(tl_text_writer *tw, tl_json_fields *j, const tl_value *v, const tl_value *end,
                                  const tl_field_text *f, unsigned depth);

/* The present members of a struct. */
static const tl_value *members_json(tl_text_writer *tw, tl_json_fields *j, const tl_field_text *f, uint32_t n,
                                    const tl_value *v, const tl_value *end, unsigned depth, bool *any)
{
    for (uint32_t i = 0; i < n && v < end; i++) {
        if (TL_UNLIKELY(v->type == TL_ABSENT)) {
            v++;
            continue;
        }
        const size_t lead = f[i].nlead - !*any; /* the first one without its comma */
        if (TL_LIKELY(lead <= TL_TEXT_ROOM - TL_TEXT_PADDING - SCALAR_MAX)) {
            tl_text_room(tw, lead + TL_TEXT_PADDING + SCALAR_MAX);
            tw->p = tl_put_padded(tw->p, f[i].lead + !*any, lead);
        } else {
            tl_text_raw(tw, f[i].lead + !*any, lead);
        }
        *any = true;
        if (TL_LIKELY(v->type == TL_U64 && !f[i].labels)) {
            tw->p = tl_put_u64(tw->p, v->as.u);
            v++;
        } else {
            v = value_json(tw, j, v, end, &f[i], depth);
        }
    }
    return v;
}

static const tl_value *list_json(tl_text_writer *tw, tl_json_fields *j, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth)
{
    const uint8_t type = v->type;
    const uint32_t n = v->n;
    tl_text_char(tw, '[');
    v++;
    for (uint32_t i = 0; i < n && v < end; i++) {
        const tl_field_text *m = tl_field_text_member(f, type, i);
        tl_text_room(tw, 1 + SCALAR_MAX);
        if (i > 0)
            *tw->p++ = ',';
        if (TL_LIKELY(v->type == TL_U64 && !(m && m->labels))) {
            tw->p = tl_put_u64(tw->p, v->as.u);
            v++;
        } else {
            v = value_json(tw, j, v, end, m, depth);
        }
    }
    tl_text_char(tw, ']');
    return v;
}

static const tl_value *value_json(tl_text_writer *tw, tl_json_fields *j, const tl_value *v, const tl_value *end,
                                  const tl_field_text *f, unsigned depth)
{
    for (; v->type == TL_VARIANT && end - v > 1; v++)
        f = tl_field_text_member(f, TL_VARIANT, v->variant);
    if (v->type != TL_LIST && v->type != TL_STRUCT) {
        if (TL_UNLIKELY(f && f->labels && (v->type == TL_U64 || v->type == TL_I64)))
            enum_json(tw, j, v, f);
        else
            scalar_json(tw, j, v, f);
        return v + 1;
    }
    if (depth == TL_VALUE_DEPTH_MAX) {
        TL_TEXT_PUT(tw, "null");
        return tl_value_skip(v, end);
    }
    if (!tl_field_text_named(f, v))
        return list_json(tw, j, v, end, f, depth + 1);
    bool any = false;
    tl_text_char(tw, '{');
    v = members_json(tw, j, f ? f->member : NULL, v->n, v + 1, end, depth + 1, &any);
    tl_text_char(tw, '}');
    return v;
}

const tl_value *tl_value_json(tl_text_writer *tw, tl_json_fields *j, const tl_value *v, const tl_value *end,
                              const tl_field_text *f)
{
    return value_json(tw, j, v, end, f, 0);
}

const tl_value *tl_fields_json(tl_text_writer *tw, tl_json_fields *j, const tl_field_text *f, uint32_t n,
                               const tl_value *v, const tl_value *end, bool *any)
{
    return members_json(tw, j, f, n, v, end, 0, any);
}

void tl_event_json(tl_text_writer *tw, tl_json_fields *j, const tl_class *c, const tl_batch *b, uint32_t i, bool *any)
{
    const tl_class_text *text = tl_field_texts_get(&j->texts, c);
    if (TL_UNLIKELY(!text)) {
        j->failed = true;
        return;
    }
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    if (TL_LIKELY(text->ncontext == 0)) {
        members_json(tw, j, text->field, text->nfield, v, end, 0, any);
        return;
    }
    const uint32_t npacket = text->npacket, ncontext = text->ncontext;
    const tl_value *context = tl_values_skip(v, end, npacket),
                   *payload = tl_values_skip(context, end, ncontext - npacket);
    members_json(tw, j, text->field + ncontext, text->nfield - ncontext, payload, end, 0, any);
    if (tl_values_present(context, payload, ncontext - npacket)) {
        bool inside = false;
        if (*any)
            tl_text_char(tw, ',');
        TL_TEXT_PUT(tw, "\"context\":{");
        members_json(tw, j, text->field + npacket, ncontext - npacket, context, payload, 0, &inside);
        tl_text_char(tw, '}');
        *any = true;
    }
}

const char *tl_key_name(const tl_class *c)
{
    if (c->flags & TL_CLASS_KEY_IS_FIELD)
        return NULL;
    switch (c->key) {
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

void tl_key_json(tl_text_writer *tw, const tl_class *c, uint64_t value)
{
    const char *name = tl_key_name(c);
    tl_text_char(tw, '"');
    tl_text_raw(tw, name, strlen(name));
    TL_TEXT_PUT(tw, "\":");
    tl_text_room(tw, SCALAR_MAX);
    tw->p = c->key == TL_KEY_STACK ? tl_put_u64(tw->p, value) : hex_json(tw->p, value);
}
