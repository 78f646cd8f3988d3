/* Fields of events as Perfetto's debug annotations.
 *
 *   number, text     the value field of its type; TL_HEX as a pointer, which viewers show in hexadecimal
 *   enumeration      a string, "LABEL (1)" or "ONE|ODD (1)"; without a label a number
 *   bytes            a string of hex pairs: annotations have no bytes
 *   list, struct     array_values, dict_entries, nested as deep as the values are
 *   variant          the value that was chosen
 *   contexts         dict_entries of an annotation "context" */
#include "format/perfetto/perfetto_annotation.h"

#include <string.h>

#include "format/perfetto/perfetto_layout.h"
#include "model/timeline.h"
#include "model/value_json.h"

void perfetto_double(tl_pb *p, unsigned field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    tl_pb_fixed64(p, field, bits);
}

static void put_hex_string(tl_pb *p, const uint8_t *s, size_t n)
{
    static const char digit[] = "0123456789abcdef";
    size_t at = tl_pb_begin(p, ANNOTATION_STRING);
    for (size_t i = 0; i < n; i++) {
        char pair[2] = {digit[s[i] >> 4], digit[s[i] & 15]};
        tl_pb_raw(p, pair, sizeof pair);
    }
    tl_pb_end(p, at);
}

static void put_scalar(tl_pb *p, const tl_value *v)
{
    switch ((tl_type)v->type) {
    case TL_BOOL:
        tl_pb_u64(p, ANNOTATION_BOOL, v->as.u != 0);
        break;
    case TL_U64:
        tl_pb_u64(p, ANNOTATION_UINT, v->as.u);
        break;
    case TL_I64:
        tl_pb_u64(p, ANNOTATION_INT, (uint64_t)v->as.i);
        break;
    case TL_F64:
        perfetto_double(p, ANNOTATION_DOUBLE, v->as.f);
        break;
    case TL_HEX:
        tl_pb_u64(p, ANNOTATION_POINTER, v->as.u);
        break;
    case TL_STRING:
        tl_pb_bytes(p, ANNOTATION_STRING, v->as.p, v->n);
        break;
    case TL_BYTES:
        put_hex_string(p, v->as.p, v->n);
        break;
    default:
        tl_pb_string(p, ANNOTATION_STRING, "null");
    }
}

/* LABEL (1) */
static void put_enum(tl_pb *p, perfetto_fields *fields, const tl_value *v, tl_enum_text *labels)
{
    tl_label label = tl_enum_label(&fields->texts.enums, labels, v->as.u);
    char number[24];
    char *end = v->type == TL_I64 ? tl_put_i64(number, v->as.i) : tl_put_u64(number, v->as.u);
    if (!label.p)
        p->failed = true;
    if (label.n == 0) {
        put_scalar(p, v);
        return;
    }
    size_t at = tl_pb_begin(p, ANNOTATION_STRING);
    tl_pb_raw(p, label.p, label.n);
    tl_pb_raw(p, " (", 2);
    tl_pb_raw(p, number, (size_t)(end - number));
    tl_pb_raw(p, ")", 1);
    tl_pb_end(p, at);
}

static void make_labels(void *arg, const char *const *label, uint32_t n, tl_pb *text)
{
    (void)arg;
    for (uint32_t i = 0; i < n; i++) {
        tl_pb_raw(text, "|", i > 0);
        tl_pb_raw(text, label[i], strlen(label[i]));
    }
}

static void make_lead(void *arg, const tl_field *f, tl_pb *text)
{
    (void)arg;
    tl_field_put_name(f, text);
}

bool perfetto_fields_init(perfetto_fields *fields, uint32_t ncls)
{
    return tl_field_texts_init(&fields->texts, ncls, make_lead, make_labels, NULL);
}

void perfetto_fields_fini(perfetto_fields *fields)
{
    tl_field_texts_fini(&fields->texts);
}

static const tl_value *put_members(tl_pb *p, perfetto_fields *fields, unsigned number, const tl_field_text *f,
                                   uint32_t n, const tl_value *v, const tl_value *end, unsigned depth);

/* A value as the content of a DebugAnnotation; returns the slot after it. */
static const tl_value *put_value(tl_pb *p, perfetto_fields *fields, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth)
{
    for (; v->type == TL_VARIANT && end - v > 1; v++)
        f = tl_field_text_member(f, TL_VARIANT, v->variant);
    if (v->type != TL_LIST && v->type != TL_STRUCT) {
        if (f && f->labels && (v->type == TL_U64 || v->type == TL_I64))
            put_enum(p, fields, v, f->labels);
        else
            put_scalar(p, v);
        return v + 1;
    }
    if (depth == TL_VALUE_DEPTH_MAX)
        return tl_value_skip(v, end);
    if (tl_field_text_named(f, v))
        return put_members(p, fields, ANNOTATION_DICT, f ? f->member : NULL, v->n, v + 1, end, depth + 1);
    const uint8_t type = v->type;
    const uint32_t n = v->n;
    v++;
    for (uint32_t i = 0; i < n && v < end; i++) {
        size_t at = tl_pb_begin(p, ANNOTATION_ARRAY);
        v = put_value(p, fields, v, end, tl_field_text_member(f, type, i), depth + 1);
        tl_pb_end(p, at);
    }
    return v;
}

/* Values as DebugAnnotations with names in field `number`. */
static const tl_value *put_members(tl_pb *p, perfetto_fields *fields, unsigned number, const tl_field_text *f,
                                   uint32_t n, const tl_value *v, const tl_value *end, unsigned depth)
{
    for (uint32_t i = 0; i < n && v < end; i++) {
        if (v->type == TL_ABSENT) {
            v++;
            continue;
        }
        size_t at = tl_pb_begin(p, number);
        tl_pb_bytes(p, ANNOTATION_NAME, f[i].lead, f[i].nlead);
        v = put_value(p, fields, v, end, &f[i], depth);
        tl_pb_end(p, at);
    }
    return v;
}

static void put_key(tl_pb *p, const tl_class *c, uint64_t key)
{
    const tl_value v = {.type = c->key == TL_KEY_STACK ? TL_U64 : TL_HEX, .as.u = key};
    size_t at = tl_pb_begin(p, EVENT_ANNOTATION);
    tl_pb_string(p, ANNOTATION_NAME, tl_key_name(c));
    put_scalar(p, &v);
    tl_pb_end(p, at);
}

void perfetto_annotations(tl_pb *p, perfetto_fields *fields, const tl_class *c, const tl_batch *b, uint32_t i)
{
    if (tl_key_name(c))
        put_key(p, c, b->key[i]);
    if (!b->val)
        return;
    const tl_class_text *text = tl_field_texts_get(&fields->texts, c);
    if (!text) {
        p->failed = true;
        return;
    }
    const uint32_t npacket = text->npacket, ncontext = text->ncontext;
    const tl_value *end = b->v + b->val[i + 1], *context = tl_values_skip(b->v + b->val[i], end, npacket),
                   *payload = tl_values_skip(context, end, ncontext - npacket);
    put_members(p, fields, EVENT_ANNOTATION, text->field + ncontext, text->nfield - ncontext, payload, end, 0);
    if (tl_values_present(context, payload, ncontext - npacket)) {
        size_t at = tl_pb_begin(p, EVENT_ANNOTATION);
        tl_pb_string(p, ANNOTATION_NAME, "context");
        put_members(p, fields, ANNOTATION_DICT, text->field + npacket, ncontext - npacket, context, payload, 0);
        tl_pb_end(p, at);
    }
}

void perfetto_new_annotations(tl_pb *p, perfetto_fields *fields, const tl_class *c, const tl_class *other,
                              const tl_batch *b, uint32_t i)
{
    const tl_class_text *text = tl_field_texts_get(&fields->texts, c);
    tl_payload payload = tl_payload_of(c, b, i);
    p->failed = p->failed || !text;
    while (text && tl_payload_next_new(&payload, other))
        put_members(p, fields, EVENT_ANNOTATION, &text->field[payload.field], 1, payload.v, payload.next, 0);
}
