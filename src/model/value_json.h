/* Values, fields and times of events as JSON text, shared by all writers of JSON. */
#ifndef TL_MODEL_VALUE_JSON_H
#define TL_MODEL_VALUE_JSON_H

#include "base/text/float_text.h"
#include "base/text/number.h"
#include "model/field_text.h"
#include "model/trace_impl.h"

/* Writes a JSON string with quotes. Adds the number of bytes that are not UTF-8 to *bad. */
void tl_string_json(tl_pb *out, const char *s, size_t n, uint64_t *bad);
void tl_text_json(tl_text_writer *tw, const char *s, size_t n, uint64_t *bad);

bool tl_json_fields_init(tl_fields *j, const tl_trace *t); /* after zeroing; fini is needed in any case */

/* Writes n fields as members, "name":value,"name":value, without those that are absent. *any: does a member stand
 * before (then a comma is due); set if one is written. Returns the slot after them and all that they own.
 * Whole numbers in full; TL_HEX as "0x..", bytes as hex pairs; NaN and infinities as strings; enumerations as
 * {"value":1,"labels":["ONE"]}; a variant as the chosen value; a stack as a list of structs, outermost frame
 * first. */
const tl_value *tl_fields_json(tl_text_writer *tw, tl_fields *j, const tl_field_text *f, uint32_t n, const tl_value *v,
                               const tl_value *end, bool *any);

/* Writes one value as JSON. Returns the slot after it and all that it owns. */
const tl_value *tl_value_json(tl_text_writer *tw, tl_fields *j, const tl_value *v, const tl_value *end,
                              const tl_field_text *f);

/* Writes the payload of event i, and ,"context":{...} if it has some (except packet fields), as members of one object.
 * *any as above. */
void tl_event_json(tl_text_writer *tw, tl_fields *j, const tl_class *c, const tl_batch *b, uint32_t i, bool *any);

/* The name of a key in output: "pc", "addr", "stack"; NULL for TL_KEY_NONE and TL_KEY_FUNCTION, for keys only used by
 * analyses (TL_KEY_WEIGHT and later ones), and if a field of the class has the same value. */
const char *tl_key_name(const tl_class *c);
/* Writes the key as a member: "pc":"0x4010". Only for classes whose key has a name. */
void tl_key_json(tl_text_writer *tw, const tl_class *c, uint64_t value);

/* Time since `begin` in ns (ticks if the clock has no frequency), negative before it; at most 21 bytes. */
TL_ALWAYS_INLINE char *tl_put_time(char *p, const tl_scale *s, uint64_t begin, uint64_t ts)
{
    if (TL_LIKELY(ts >= begin))
        return tl_put_u64(p, tl_scale_ns(s, ts - begin));
    *p++ = '-';
    return tl_put_u64(p, tl_scale_ns(s, begin - ts));
}

#endif
