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
#include "model/value_walk.h"

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

static void put_scalar(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_pb *p = out;
    (void)fields;
    (void)f;
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
static void put_enum(void *out, tl_fields *fields, const tl_value *v, const tl_field_text *f)
{
    tl_pb *p = out;
    tl_label label = tl_enum_label(&fields->texts.enums, f->labels, v->as.u);
    char number[24];
    char *end = v->type == TL_I64 ? tl_put_i64(number, v->as.i) : tl_put_u64(number, v->as.u);
    if (!label.p)
        p->failed = true;
    if (label.n == 0) {
        put_scalar(p, fields, v, f);
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

bool perfetto_fields_init(tl_fields *fields, uint32_t ncls)
{
    return tl_fields_init(fields, ncls, make_lead, make_labels);
}

/* A value is the content of a DebugAnnotation, which is begun with what it is in: a field, or a member with its name,
 * or an element. */
static size_t begin(void *out, tl_value_part part, const tl_field_text *f, uint32_t i)
{
    tl_pb *p = out;
    (void)i;
    if (part == TL_PART_ELEMENT)
        return tl_pb_begin(p, ANNOTATION_ARRAY);
    if (part != TL_PART_FIELD && part != TL_PART_MEMBER)
        return 0;
    const size_t at = tl_pb_begin(p, part == TL_PART_FIELD ? EVENT_ANNOTATION : ANNOTATION_DICT);
    tl_pb_bytes(p, ANNOTATION_NAME, f->lead, f->nlead);
    return at;
}

static void end_part(void *out, tl_value_part part, size_t at)
{
    if (part == TL_PART_FIELD || part == TL_PART_MEMBER || part == TL_PART_ELEMENT)
        tl_pb_end(out, at);
}

static tl_value_put put_value;
static const tl_value_walk walk = {.value = put_value,
                                   .begin = begin,
                                   .end = end_part,
                                   .scalar = put_scalar,
                                   .labelled = put_enum,
                                   .quick = put_scalar,
                                   .quick_last = TL_HEX};

static const tl_value *put_value(void *out, tl_fields *fields, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f, unsigned depth)
{
    return tl_walk_value(&walk, out, fields, v, end, f, depth);
}

/* n fields as annotations (TL_PART_FIELD), or as members of one (TL_PART_MEMBER). */
static void put_members(tl_pb *p, tl_fields *fields, tl_value_part part, const tl_field_text *f, uint32_t n,
                        const tl_value *v, const tl_value *end)
{
    bool any = false;
    tl_walk_members(&walk, p, fields, part, f, n, v, end, 0, &any);
}

static void put_key(tl_pb *p, const tl_class *c, uint64_t key)
{
    const tl_value v = {.type = c->key == TL_KEY_STACK ? TL_U64 : TL_HEX, .as.u = key};
    size_t at = tl_pb_begin(p, EVENT_ANNOTATION);
    tl_pb_string(p, ANNOTATION_NAME, tl_key_name(c));
    put_scalar(p, NULL, &v, NULL);
    tl_pb_end(p, at);
}

void perfetto_annotations(tl_pb *p, tl_fields *fields, const tl_class *c, const tl_batch *b, uint32_t i)
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
    put_members(p, fields, TL_PART_FIELD, text->field + ncontext, text->nfield - ncontext, payload, end);
    if (tl_values_present(context, payload, ncontext - npacket)) {
        size_t at = tl_pb_begin(p, EVENT_ANNOTATION);
        tl_pb_string(p, ANNOTATION_NAME, "context");
        put_members(p, fields, TL_PART_MEMBER, text->field + npacket, ncontext - npacket, context, payload);
        tl_pb_end(p, at);
    }
}

void perfetto_new_annotations(tl_pb *p, tl_fields *fields, const tl_class *c, const tl_class *other, const tl_batch *b,
                              uint32_t i)
{
    const tl_class_text *text = tl_field_texts_get(&fields->texts, c);
    tl_payload payload = tl_payload_of(c, b, i);
    p->failed = p->failed || !text;
    while (text && tl_payload_next_new(&payload, other))
        put_members(p, fields, TL_PART_FIELD, &text->field[payload.field], 1, payload.v, payload.next);
}
