/* Readable names for the functions of a profile that was written where nobody could demangle. */
#ifndef TL_OP_PROFILE_NAMES_H
#define TL_OP_PROFILE_NAMES_H

#include "model/profile_impl.h"

/* Demangles the names of functions that are called by their linkage name. A function that would become the same as
 * another one of its module and id keeps its name. */
int tl_profile_demangle(tl_profile *p, tl_error *e);

#endif
