/* Names and values of fields in text for people. */
#ifndef TL_FORMAT_TEXT_VALUE_H
#define TL_FORMAT_TEXT_VALUE_H

#include "model/lines.h"

/* Prepared text: " name=", and ONE|ODD. */
void text_lead(void *arg, const tl_field *f, tl_pb *text);
void text_labels(void *arg, const char *const *label, uint32_t n, tl_pb *text);

/* Writes one value; returns the slot after it. Numbers in the base of their field: 0x1f, 017, 0b101; labels followed by
 * the number: ONE|ODD(1); text in quotes; bytes as hex pairs; [1, 2]; {x=1 y=2}; stacks [main > fib @0x401000]. */
const tl_value *text_value(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end);

/* Writes n fields, " name=value name=value", without absent ones; without the first space unless `any` precedes.
 * Returns the slot after them. */
const tl_value *text_members(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n, const tl_value *v,
                             const tl_value *end, bool any);

/* Appends text made safe for a terminal: control characters and bytes that are not UTF-8 as \xNN. */
void text_safe(tl_pb *out, const char *s, size_t n);
void text_put_safe(tl_text_writer *tw, const char *s, size_t n);

#endif
