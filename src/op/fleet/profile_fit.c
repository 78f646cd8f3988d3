/* Another clock, and functions by name. */
#include "op/fleet/profile_fit.h"

#include "model/profile_impl.h"

int tl_profile_make_fit(tl_profile **p, const tl_profile_fit *fit, tl_error *e)
{
    tl_profile *copy = NULL;
    int status = fit->hz ? tl_profile_rescale(*p, fit->hz, e) : 0;
    if (status < 0 || !fit->by_name)
        return status;
    status = tl_profile_regroup(&copy, *p, TL_GROUP_ACROSS_BUILDS, e);
    if (status < 0)
        return status;
    tl_profile_free(*p);
    *p = copy;
    return 0;
}
