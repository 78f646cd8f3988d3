/* Which samples of a profile a selection contains, by the functions on their stacks, as usual for sampled profiles: -F
 * keeps stacks with a matching function, -N drops them, and -D keeps only the outer frames of deeper stacks. Time,
 * thread and class of events are decided when reading. */
#ifndef TL_OP_SAMPLE_SELECT_H
#define TL_OP_SAMPLE_SELECT_H

#include "op/call_select.h"

/* Removes what is not selected from a profile of samples, and settles the patterns of functions. Choose its weight
 * afterwards. Errors: TL_ENOMATCH, TL_EUNSUPPORTED (something samples cannot be selected by), TL_ENOMEM. */
int tl_samples_select(tl_profile *p, const tl_select *s, tl_error *e);

#endif
