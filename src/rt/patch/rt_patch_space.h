/* Pages of this process that jumps of patched code may lead to (patch_space.h).
 *
 * Free ranges are what /proc/self/maps leaves, without what a program may count on: the first 64 KiB, the lowest 4 GiB
 * (unless the program itself is there), 64 MiB above the heap, and where the stack grows. Pages are mapped in chunks of
 * up to 1 MiB, so that mappings stay few; memory is used only where something is stored. A page is writable until it is
 * sealed, and executable from then on; never both.
 *
 * One thread at a time: with tl_rt_sleds_lock. System calls only, so also under the loader's lock. */
#ifndef TL_RT_PATCH_SPACE_H
#define TL_RT_PATCH_SPACE_H

#include "patch/patch_space.h"

/* An address in the program: below 4 GiB that of one that is not PIE. Once, before all others. */
void tl_rt_patch_space_begin(uintptr_t program);
/* Looks at what is mapped now; to be called before pages are taken for an object. 0 or -errno. */
int tl_rt_patch_space_look(void);
patch_space *tl_rt_patch_space(void);
/* Keeps `size` bytes within [low, high), near a wish, for a large request that comes later: many single pages would
 * leave no room for it. Only after a look. */
void tl_rt_patch_space_keep(uint64_t low, uint64_t high, uint64_t near, uint64_t size);
/* Makes all pages executable, and no longer writable. 0 or -errno; then no page may be jumped to that was not sealed
 * before. */
int tl_rt_patch_space_seal(void);

/* Maps [from, to), writable, if all of it is free. 0 or -errno; EEXIST: something is there. From anywhere. */
int tl_rt_patch_space_map(uint64_t from, uint64_t to);

#endif
