/* Which functions of an object do the settings' patterns select? For hooks that know all functions of an object before
 * they record. */
#ifndef TL_RT_SELECT_H
#define TL_RT_SELECT_H

#include "rt/object/rt_objects.h"

/* Sets wanted[] of all functions of the object; returns how many are selected. A pattern matches the function's symbol
 * or its plain form; of a function without one in an object without a map, "app+0x1139". "libz*:inflate*" matches
 * functions of some objects only, by their file names. Not from hooks. */
uint32_t tl_rt_select(const rt_object *o);

#endif
