/* Tells when objects are unloaded that do not say so themselves: those with -finstrument-functions and no start file.
 */
#ifndef TL_RT_UNLOAD_H
#define TL_RT_UNLOAD_H

#include "rt/object/rt_objects.h"

void tl_rt_unload_begin(void); /* not from hooks; before it nothing is watched */
/* From now on tl_rt_object_leaves() is called before the object is unloaded. From anywhere, while it is loaded; by one
 * thread. */
void tl_rt_unload_watch(const rt_object *o);
/* Is what is loaded there watched? Then it is a known object, even if it has left: its last destructors run. */
bool tl_rt_unload_is_watched(const rt_object *o);

#endif
