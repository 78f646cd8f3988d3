/* Detects the unloading of objects that do not report it: those with -finstrument-functions but without a start
 * file. */
#ifndef TL_RT_UNLOAD_H
#define TL_RT_UNLOAD_H

#include "rt/object/rt_objects.h"

void tl_rt_unload_begin(void); /* not from hooks; nothing is watched before */
/* Has the loader relocated the object, so that it can be watched? From anywhere, while it is loaded. */
bool tl_rt_unload_is_ready(const rt_object *o);
/* From now on tl_rt_object_leaves() is called before the object is unloaded; nothing happens if it is not ready. From
 * anywhere, while it is loaded; by one thread. */
void tl_rt_unload_watch(const rt_object *o);
/* Is the object there watched? Then it is known, even if it is being unloaded and runs its last destructors. */
bool tl_rt_unload_is_watched(const rt_object *o);

#endif
