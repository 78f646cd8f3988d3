/* Loaded objects as the planner sees them: which ones are patched, their memory, and functions that must be known by
 * name.
 *
 * Objects come from the loader's own list, which debuggers read (_r_debug). System calls only. */
#ifndef TL_RT_PATCH_IMAGE_H
#define TL_RT_PATCH_IMAGE_H

#include <link.h>

#include "patch/patch_plan.h"
#include "rt/object/rt_objects.h"

/* What the kernel told the process when it began; once, before all others. Not from hooks. */
void tl_rt_patch_image_begin(void);
/* An address in the program: of its program headers. */
uintptr_t tl_rt_patch_program(void);
/* The loader's list; NULL: the program has none. */
const struct r_debug *tl_rt_patch_loader(void);
/* By the settings: the program, and libraries that a pattern of `libs` matches; never the loader, the kernel's, or the
 * recorder. libc, libpthread and libgcc_s must be named: "lib*" is not enough. */
bool tl_rt_patch_is_wanted(const struct link_map *m);
/* Is it made for a sanitizer, or one itself? Those see all of memory as theirs. */
bool tl_rt_patch_is_sanitized(const rt_object *o);

/* The object's memory; false: more pieces than a plan can have. */
bool tl_rt_patch_image(const rt_object *o, patch_image *out);

typedef struct rt_patch_named {
    uint64_t never[PATCH_NAMED], enter[PATCH_NAMED];
} rt_patch_named;
void tl_rt_patch_names(const rt_object *o, rt_patch_named *room, patch_named *out);

/* Begins and sizes of the functions that the object exports, if it has no .eh_frame; *n: how many. Ends
 * with tl_rt_memory_give(, *size). NULL: none. */
patch_range *tl_rt_patch_symbols(const rt_object *o, uint32_t *n, size_t *size);

#endif
