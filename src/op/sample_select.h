/* Which samples of a profile a selection takes, by the functions on their stacks, as those who read profiles of samples
 * know it: -F keeps stacks that hold a function that matches, -N drops those that do, and of stacks deeper than -D only
 * the outer frames are kept. What depends on the event (time, thread, class) is decided when it is read. */
#ifndef TL_OP_SAMPLE_SELECT_H
#define TL_OP_SAMPLE_SELECT_H

#include "op/call_select.h"

/* Takes out of a profile of samples what is not selected, and settles the patterns of functions. Its weight has to be
 * chosen afterwards. Errors: TL_ENOMATCH, TL_EUNSUPPORTED (what a selection of samples cannot be by), TL_ENOMEM. */
int tl_samples_select(tl_profile *p, const tl_select *s, tl_error *e);

#endif
