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

/* Told of every sample and allocation that counts: its place, a number of the profile that tl_profile_from_samples()
 * makes of the same source with the same options, its time, and the amount of a weight (TL_WEIGHT_...). */
typedef struct tl_sample_watch {
    void (*sample)(void *arg, uint32_t place, uint64_t ts, unsigned weight, uint64_t amount);
    void *arg;
} tl_sample_watch;

/* Reads all of them. Patterns of names are not settled. Errors: as tl_profile_from_samples(). */
int tl_samples_watch(tl_source *s, const tl_profile_options *o, const tl_sample_watch *w, tl_error *e);

#endif
