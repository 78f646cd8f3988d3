/* Objects with sleds that were not linked with the recorder. They are recorded through these; other code of theirs is
 * not patched. */
#ifndef TL_RT_SLEDS_FOUND_H
#define TL_RT_SLEDS_FOUND_H

#include <link.h>

#include "rt/object/rt_objects.h"

/* The loader's function: the object at *m, and those after it in its list, are new. It has not relocated them yet, and
 * will say when they are gone. System calls only; takes tl_rt_sleds_lock. */
void tl_rt_found_opened(const struct link_map *m);

/* found_map.c: the section xray_instr_map by its header in the file, which must be the one that is loaded as *o
 * (header, bias, low, high): [*begin, *end) in memory. False: there is none. Nothing in the file is trusted;
 * tl_rt_found_look() checks what is in memory. */
bool tl_rt_found_map(const rt_object *o, const char *path, uintptr_t *begin, uintptr_t *end);
typedef struct rt_found_state {
    bool good;     /* each sled lies in the object's code */
    bool patched;  /* another runtime has switched one on */
    bool relative; /* that is so even before the loader has relocated the map */
} rt_found_state;
rt_found_state tl_rt_found_look(const rt_object *o, uintptr_t begin, uintptr_t end);
/* Does a file have the section? A quick look, before anything is known about where it is loaded. */
bool tl_rt_found_in_file(const char *path);

#endif
