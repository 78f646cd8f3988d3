/* Fields of events as Perfetto's debug annotations.
 *
 *   number, text     the value field of its type; TL_HEX as a pointer, which viewers show in hexadecimal
 *   bytes            a string of hex pairs: annotations have no bytes
 *   list, struct     array_values, dict_entries, nested as deep as the values are */
#include "format/perfetto/perfetto_annotation.h"

#include <string.h>

#include "format/perfetto/perfetto_layout.h"
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

/* A value as a DebugAnnotation in field `number`; returns the slot after it. */
static const tl_value *put_annotation(tl_pb *p, unsigned number, const char *name, const tl_value *v,
                                      const tl_value *end, const tl_field *f, unsigned depth)
{
    size_t at = tl_pb_begin(p, number);
    if (name)
        tl_pb_string(p, ANNOTATION_NAME, name);
    if (v->type != TL_LIST && v->type != TL_STRUCT) {
        put_scalar(p, v++);
    } else if (depth == TL_VALUE_DEPTH_MAX) {
        v = tl_value_skip(v, end);
    } else {
        bool dict = v->type == TL_STRUCT && f && f->member && f->nmember >= v->n;
        const tl_field *member = f && f->nmember > 0 ? f->member : NULL;
        uint32_t n = v->n;
        v++;
        for (uint32_t i = 0; i < n && v < end; i++)
            v = dict ? put_annotation(p, ANNOTATION_DICT, member[i].name, v, end, &member[i], depth + 1)
                     : put_annotation(p, ANNOTATION_ARRAY, NULL, v, end, member, depth + 1);
    }
    tl_pb_end(p, at);
    return v;
}

void perfetto_annotations(tl_pb *p, const tl_class *c, const tl_batch *b, uint32_t i)
{
    if (tl_key_name(c->key)) {
        tl_value key = {.type = c->key == TL_KEY_STACK ? TL_U64 : TL_HEX, .as.u = b->key[i]};
        put_annotation(p, EVENT_ANNOTATION, tl_key_name(c->key), &key, &key + 1, NULL, 0);
    }
    if (!b->val)
        return;
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    for (uint32_t f = 0; f < c->nfield && v < end; f++)
        v = put_annotation(p, EVENT_ANNOTATION, c->field[f].name, v, end, &c->field[f], 0);
}
