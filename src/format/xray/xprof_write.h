/* Writing profiles in LLVM's XRay profiling mode format. */
#ifndef TL_FORMAT_XPROF_WRITE_H
#define TL_FORMAT_XPROF_WRITE_H

#include "model/format_impl.h"

/* The write_profile member of the format. */
int xprof_write(const tl_write_context *context, const tl_profile *p, tl_error *e);

#endif
