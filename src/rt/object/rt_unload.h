/* Tells when objects are unloaded that have nothing of ours in them: those with -finstrument-functions and no more. */
#ifndef TL_RT_UNLOAD_H
#define TL_RT_UNLOAD_H

#include "rt/object/rt_objects.h"

void tl_rt_unload_begin(void); /* not from hooks; before it nothing is watched */
/* From now on tl_rt_object_leaves() is called before the object is unloaded. From anywhere, while it is loaded. */
void tl_rt_unload_watch(const rt_object *o);

#endif
