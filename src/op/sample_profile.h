/* Profiles made of samples of stacks. */
#ifndef TL_OP_SAMPLE_PROFILE_H
#define TL_OP_SAMPLE_PROFILE_H

#include "op/source_impl.h"
#include "traceloom/profile.h"

/* Does the trace sample stacks, without calls? */
bool tl_samples_wanted(const tl_trace *t);
/* Flags of functions with a number: TL_FUNCTION_HEX_ID or 0. */
uint32_t tl_samples_function_flags(const tl_trace *t);

/* Makes a profile of all samples and allocations, in the order of the input. `flat` makes no difference: counting
 * recursion once needs the tree. *out belongs to the caller. Errors: those of reading, TL_ENOMATCH, TL_EINVAL (no such
 * weight), TL_EUNSUPPORTED (a selection by durations). */
int tl_profile_from_samples(tl_profile **out, tl_source *s, const tl_profile_options *o, tl_error *e);

#endif
