/* Values, fields and times of events as JSON text: what the writers of JSON in all its uses share. */
#ifndef TL_MODEL_VALUE_JSON_H
#define TL_MODEL_VALUE_JSON_H

#include "base/number.h"
#include "base/protobuf.h"
#include "model/trace_impl.h"

/* Lists in lists deeper than this are written as null: each level costs stack. */
#define TL_VALUE_DEPTH_MAX 64u

/* Appends a JSON string with quotes. *bad is increased by the number of bytes that are not UTF-8. */
void tl_string_json(tl_pb *out, const char *s, size_t n, uint64_t *bad);

/* Appends one value and returns the slot after it and all that it owns. `f` names the members of structs; may be NULL.
 * Whole numbers in full; TL_HEX as "0x..", bytes as hex pairs; NaN and infinities as strings. */
const tl_value *tl_value_json(tl_pb *out, const tl_value *v, const tl_value *end, const tl_field *f, uint64_t *bad);

/* Appends the fields v .. end-1 of a class as members, "name":value,"name":value. Returns how many. */
uint32_t tl_fields_json(tl_pb *out, const tl_class *c, const tl_value *v, const tl_value *end, uint64_t *bad);

/* The slot after a value and all that it owns; at most `end`. */
const tl_value *tl_value_skip(const tl_value *v, const tl_value *end);

/* Names of keys that are not functions: "pc", "addr", "stack"; NULL for TL_KEY_NONE and TL_KEY_FUNCTION. */
const char *tl_key_name(tl_key key);
/* Appends the key as a member: "pc":"0x4010". Only for keys that have a name. */
void tl_key_json(tl_pb *out, tl_key key, uint64_t value);

/* Shortest decimal text that reads back as the same number, always with a point or an exponent; at most 32 bytes.
 * Returns the end. Only for finite numbers. */
char *tl_put_double(char *p, double v);

/* Time since `begin` in ns (ticks where the clock has no frequency), negative for earlier ones; at most 21 bytes. */
TL_ALWAYS_INLINE char *tl_put_time(char *p, const tl_scale *s, uint64_t begin, uint64_t ts)
{
    if (TL_LIKELY(ts >= begin))
        return tl_put_u64(p, tl_scale_ns(s, ts - begin));
    *p++ = '-';
    return tl_put_u64(p, tl_scale_ns(s, begin - ts));
}

#endif
