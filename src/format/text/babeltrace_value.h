/* Names and values of fields as babeltrace2 prints them; see babeltrace_text.c. */
#ifndef TL_FORMAT_BABELTRACE_VALUE_H
#define TL_FORMAT_BABELTRACE_VALUE_H

#include "model/field_text.h"
#include "model/stack_frames.h"

typedef struct babeltrace_fields {
    tl_field_texts texts; /* ", name = " */
    tl_stack_frames frames;
    bool failed; /* memory ran out */
} babeltrace_fields;

bool babeltrace_fields_init(babeltrace_fields *t, uint32_t ncls); /* of zeroed memory; fini is needed in any case */
void babeltrace_fields_fini(babeltrace_fields *t);

/* Writes n fields, " name = value, name = value", without those that are absent or values of the clock; with a comma in
 * front if `any`. Returns the slot after them. */
const tl_value *babeltrace_members(tl_text_writer *tw, babeltrace_fields *t, const tl_field_text *f, uint32_t n,
                                   const tl_value *v, const tl_value *end, bool any);

/* "text" with escapes. */
void babeltrace_string(tl_text_writer *tw, const char *s, size_t n);

#endif
