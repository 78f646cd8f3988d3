/* The entrance for `traceloom record -p`: a separate file, because only the shared library has one. */
#include "rt/patch/rt_attach.h"

#include "rt/rt_core.h"

int tl_rt_attach(void)
{
    return tl_rt_offer();
}
