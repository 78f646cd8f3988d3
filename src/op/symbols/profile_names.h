/* Readable names for the functions of a profile that was written without a demangler. */
#ifndef TL_OP_PROFILE_NAMES_H
#define TL_OP_PROFILE_NAMES_H

#include "model/profile_impl.h"

/* Demangles functions that have only a linkage name. A function that would become equal to another one of its module
 * and id keeps its name. */
int tl_profile_demangle(tl_profile *p, tl_error *e);

/* For each function: does no other one have its module and id, so that it may get another name? The caller frees
 * *out. */
int tl_profile_alone(const tl_profile *p, uint8_t **out, tl_error *e);

#endif
