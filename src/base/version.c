/* The version of this build and its optional libraries, both set by the build system. */
#include "traceloom/format.h"

#ifndef TL_VERSION
#define TL_VERSION "0.0.0"
#endif
#ifndef TL_BUILD_OPTIONS
#define TL_BUILD_OPTIONS ""
#endif

const char *tl_version(void)
{
    return TL_VERSION;
}

const char *tl_build_options(void)
{
    return TL_BUILD_OPTIONS;
}
