/* Names and values of fields as in babeltrace2; see babeltrace_text.c. */
#ifndef TL_FORMAT_BABELTRACE_VALUE_H
#define TL_FORMAT_BABELTRACE_VALUE_H

#include "model/lines.h"

/* Prepared text: ", name = ", and ( "ONE", "ODD" : container = */
void babeltrace_lead(void *arg, const tl_field *f, tl_pb *text);
void babeltrace_labels(void *arg, const char *const *label, uint32_t n, tl_pb *text);

/* Writes n fields, " name = value, name = value", without absent ones and values of the clock; with a comma in front if
 * `any`. Returns the slot after them. */
const tl_value *babeltrace_members(tl_text_writer *tw, tl_fields *t, const tl_field_text *f, uint32_t n,
                                   const tl_value *v, const tl_value *end, bool any);

/* "text" with escapes. */
void babeltrace_string(tl_text_writer *tw, const char *s, size_t n);

#endif
