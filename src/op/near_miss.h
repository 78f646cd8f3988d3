/* Suggests names for a pattern that matches nothing. */
#ifndef TL_OP_NEAR_MISS_H
#define TL_OP_NEAR_MISS_H

#include "traceloom/profile.h"

/* If *e is TL_ENOMATCH of a pattern, *s->missed, adds to its message a class or function with a similar name, the
 * threads that there are, or why no function has a name: exe, the traced binary, was not given. */
void tl_near_miss(const tl_select *s, const tl_trace *t, const char *exe, tl_error *e);

#endif
