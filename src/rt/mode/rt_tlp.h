/* Writes a .tlp file (docs/format/profile.md) of the image that mode "profile" keeps (format/tlp/live_layout.h). */
#ifndef TL_RT_TLP_H
#define TL_RT_TLP_H

#include "rt/rt_core.h"

/* `image` is the mapped live file of `size` bytes; threads may be adding to it. Names of functions are linkage names,
 * from rt_symbols. Written beside `path` and renamed, replacing what is there. 0 or -errno. Not from hooks; takes
 * memory with tl_rt_memory_take() only. */
int tl_rt_tlp_write(const char *path, const void *image, uint64_t size);
/* The same for an image that grows: *size is enough for all that is linked into it at any moment. With a fixed size, a
 * new child that lies behind it hides those that were made before it. */
int tl_rt_tlp_write_growing(const char *path, const void *image, const uint64_t *size);

#endif
