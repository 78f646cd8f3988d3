/* Which functions do the settings' patterns select?
 *
 * A pattern selects a function by its name, or one of its names; by the plain form of a C++ name; or, if it has none,
 * by its place, "lua5.4+0x8870". With a colon, "libz*:inflate*", it selects by the file name of the object, too. Names
 * are read once for each object (tl_rt_symbols_open). */
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
/* Adds the functions of an object that have names. Not from hooks. */
void tl_rt_wanted_add(rt_wanted_count *c, const rt_object *o);
/* Sets wanted[] for all numbered functions of an object; returns how many are wanted. Not from hooks. */
uint32_t tl_rt_select(const rt_object *o);
/* The patterns changed. Not from hooks, nor while hooks record. */
void tl_rt_wanted_forget(void);
void tl_rt_wanted_child(void); /* after fork, in the child */

#endif
