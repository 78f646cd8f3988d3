/* Values of the tape as JSON. */
#include "model/value_json.h"

#include <math.h>
#include <string.h>

#include "base/text/json_write.h"
#include "model/value_walk.h"

/* Strings are scanned and escaped in pieces; a piece that needs escapes does not split a character. */
enum { CLEAN_PIECE = 2048, PIECE = 512, UTF8_LONGEST = 4 };

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

static char *double_json(char *p, double v, bool single)
{
    if (isfinite(v))
        return tl_put_real(p, v, single);
    *p = '"';
    p = tl_put_real(p + 1, v, single);
    *p = '"';
    return p + 1;
}

static char *hex_json(char *p, uint64_t v)
{
    p = tl_put_hex(TL_PUT(p, "\"0x"), v);
    *p++ = '"';
    return p;
}

static const tl_field_text frame[TL_FRAME_MEMBERS] = {TL_FIELD_LEAD(",\"function\":"), TL_FIELD_LEAD(",\"id\":"),
                                                      TL_FIELD_LEAD(",\"ip\":")};

static void scalar_json(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_text_writer *tw = out;
    tl_text_room(tw, TL_VALUE_ROOM);
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
        tl_text_json(tw, v->as.p, v->n,
                     f == frame ? NULL : &fields->bad); /* names of functions are known to be UTF-8 */
        break;
    case TL_BYTES:
        tl_text_char(tw, '"');
        tl_text_hex(tw, v->as.p, v->n);
        tl_text_char(tw, '"');
        break;
    default:
        tw->p = TL_PUT(tw->p, "null");
    }
}

static inline void quick_json(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_text_writer *tw = out;
    (void)fields;
    (void)f;
    tw->p = tl_put_u64(tw->p, v->as.u);
}

/* {"value":1,"labels":["ONE","ODD"]} */
static void enum_json(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_label labels = tl_enum_label(&fields->texts.enums, f->labels, v->as.u);
    if (!labels.p) {
        fields->failed = true;
        return;
    }
    TL_TEXT_PUT((tl_text_writer *)out, "{\"value\":");
    scalar_json(out, fields, v, f);
    tl_text_raw(out, labels.p, labels.n);
}

/* ,"labels":["ONE","ODD"]} */
static void make_labels(void *fields, const char *const *label, uint32_t n, tl_pb *text)
{
    tl_fields *j = fields;
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
    tl_fields *j = fields;
    tl_pb name = {0};
    tl_field_put_name(f, &name);
    tl_pb_raw(text, ",", 1);
    tl_string_json(text, (const char *)name.data, name.n, &j->bad);
    tl_pb_raw(text, ":", 1);
    text->failed = text->failed || name.failed;
    tl_pb_fini(&name);
}

bool tl_json_fields_init(tl_fields *j, const tl_trace *t)
{
    return tl_fields_init(j, t->ncls, make_lead, make_labels);
}

static const tl_value_marks marks = {
    .begin = {[TL_PART_STRUCT] = "{", [TL_PART_LIST] = "[", [TL_PART_DEEP] = "null"},
    .end = {[TL_PART_STRUCT] = "}", [TL_PART_LIST] = "]"},
    .comma = ",",
};

static tl_value_put value_json;
static const tl_value_walk json = {.value = value_json,
                                   .marks = &marks,
                                   .scalar = scalar_json,
                                   .labelled = enum_json,
                                   .quick = quick_json,
                                   .quick_last = TL_U64,
                                   .frame = frame};

static const tl_value *value_json(void *out, tl_fields *fields, const tl_value *v, const tl_value *end,
                                  const tl_field_text *f, unsigned depth)
{
    return tl_walk_value(&json, out, fields, v, end, f, depth);
}

const tl_value *tl_value_json(tl_text_writer *tw, tl_fields *j, const tl_value *v, const tl_value *end,
                              const tl_field_text *f)
{
    return value_json(tw, j, v, end, f, 0);
}

const tl_value *tl_fields_json(tl_text_writer *tw, tl_fields *j, const tl_field_text *f, uint32_t n, const tl_value *v,
                               const tl_value *end, bool *any)
{
    return tl_walk_members(&json, tw, j, TL_PART_FIELD, f, n, v, end, 0, any);
}

void tl_event_json(tl_text_writer *tw, tl_fields *j, const tl_class *c, const tl_batch *b, uint32_t i, bool *any)
{
    const tl_class_text *text = tl_field_texts_get(&j->texts, c);
    if (TL_UNLIKELY(!text)) {
        j->failed = true;
        return;
    }
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    if (TL_LIKELY(text->ncontext == 0)) {
        tl_fields_json(tw, j, text->field, text->nfield, v, end, any);
        return;
    }
    const uint32_t npacket = text->npacket, ncontext = text->ncontext;
    const tl_value *context = tl_values_skip(v, end, npacket),
                   *payload = tl_values_skip(context, end, ncontext - npacket);
    tl_fields_json(tw, j, text->field + ncontext, text->nfield - ncontext, payload, end, any);
    if (tl_values_present(context, payload, ncontext - npacket)) {
        bool inside = false;
        if (*any)
            tl_text_char(tw, ',');
        TL_TEXT_PUT(tw, "\"context\":{");
        tl_fields_json(tw, j, text->field + npacket, ncontext - npacket, context, payload, &inside);
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
    tl_text_room(tw, TL_VALUE_ROOM);
    tw->p = c->key == TL_KEY_STACK ? tl_put_u64(tw->p, value) : hex_json(tw->p, value);
}
