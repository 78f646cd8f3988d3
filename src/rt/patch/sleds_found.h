/* Objects with sleds that were not linked with the recorder. They are recorded through these; other code of theirs is
 * not patched. */
#ifndef TL_RT_SLEDS_FOUND_H
#define TL_RT_SLEDS_FOUND_H

#include "rt/object/rt_objects.h"

/* Registers the sleds of the object that is loaded at an address, unless it is known, or registers itself. `path`: of
 * its file; may be relative, or empty. System calls only, but takes tl_rt_sleds_lock; not from hooks; two threads must
 * not be in it at the same time for the same object. False: it has no sleds. */
bool tl_rt_found_object(uintptr_t address, const char *path);

/* found_map.c: the section xray_instr_map by its header in the file, which must be the one that is loaded as *o
 * (header, bias, low, high): [*begin, *end) in memory. False: there is none. Nothing in the file is trusted;
 * tl_rt_found_is_good() checks what is in memory. */
bool tl_rt_found_map(const rt_object *o, const char *path, uintptr_t *begin, uintptr_t *end);
/* Does each sled lie in the object's code? *patched: another runtime has switched one on. */
bool tl_rt_found_is_good(const rt_object *o, uintptr_t begin, uintptr_t end, bool *patched);
/* Does a file have the section? A quick look, before anything is known about where it is loaded. */
bool tl_rt_found_in_file(const char *path);

#endif
