/* Which functions known by address do the settings' patterns select? Names come from the symbol tables of the objects'
 * files, read once for each object, by system calls only. */
#ifndef TL_RT_WANTED_H
#define TL_RT_WANTED_H

#include "rt/object/rt_objects.h"

/* Are there patterns at all? From anywhere. */
bool tl_rt_wanted_patterns(void);
/* Do the patterns select a function? The first address of an object takes some ms: its names are read. o: NULL for an
 * address in no object, which has no name. From hooks with the lane busy. */
bool tl_rt_wanted(const rt_object *o, uintptr_t address);

typedef struct rt_wanted_count {
    uint32_t known, wanted; /* functions that have names */
} rt_wanted_count;
/* Adds the functions of an object. Not from hooks. */
void tl_rt_wanted_add(rt_wanted_count *c, const rt_object *o);
/* Does the object call the function, defined elsewhere? By its dynamic symbols. Not from hooks. */
bool tl_rt_wanted_imports(const char *path, const char *function);
/* The patterns changed. Not from hooks, nor while hooks record. */
void tl_rt_wanted_forget(void);
void tl_rt_wanted_child(void); /* after fork, in the child */

#endif
