/* What each profile of a fleet becomes before the first is added to another: sums do not depend on order and grouping
 * if that is done to each input, and never in between. */
#ifndef TL_OP_PROFILE_FIT_H
#define TL_OP_PROFILE_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "traceloom/profile.h"

typedef struct tl_profile_fit {
    uint64_t hz;  /* of the clock: tl_profile_rescale(); 0: as it is */
    bool by_name; /* functions of one name are one: TL_GROUP_ACROSS_BUILDS */
} tl_profile_fit;

/* Changes *p, or replaces it. Errors: those of tl_profile_rescale(); *p remains the caller's. */
int tl_profile_make_fit(tl_profile **p, const tl_profile_fit *fit, tl_error *e);

#endif
