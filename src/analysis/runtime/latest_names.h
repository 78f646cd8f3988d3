/* Names that a trace gives to numbers (of types, of functions): the latest one counts for the whole trace. Memory grows
 * with the numbers and the distinct names. */
#ifndef TL_ANALYSIS_LATEST_NAMES_H
#define TL_ANALYSIS_LATEST_NAMES_H

#include "base/hash.h"
#include "traceloom/error.h"
#include "traceloom/model.h"

typedef struct tl_names {
    tl_hash index; /* number -> index */
    const char **name;
    uint32_t n, capacity;
} tl_names;

/* Is the value a number? NULL is not. */
static inline bool tl_value_is_number(const tl_value *v)
{
    return v && (v->type == TL_U64 || v->type == TL_I64 || v->type == TL_HEX);
}

/* The value as a number; 0 if it is not one. */
static inline uint64_t tl_value_number(const tl_value *v)
{
    return tl_value_is_number(v) ? v->as.u : 0;
}

/* A copy of a text value; NULL if it is not text; *failed is set if memory runs out. */
const char *tl_value_text(const tl_value *v, tl_strings *strings, bool *failed);

/* Names a number; ignores a value that is not a number or not text. The copy is in `strings`. Errors: TL_ENOMEM. */
int tl_names_set(tl_names *t, tl_strings *strings, const tl_value *number, const tl_value *name, tl_error *e);
/* The latest name, or NULL. */
const char *tl_names_get(const tl_names *t, uint64_t number);
void tl_names_fini(tl_names *t);

#endif
