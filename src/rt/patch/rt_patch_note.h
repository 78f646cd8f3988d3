/* The note about how many functions of an object are patched. */
#ifndef TL_RT_PATCH_NOTE_H
#define TL_RT_PATCH_NOTE_H

#include "patch/patch_place.h"
#include "rt/object/rt_objects.h"

/* Keeps what the object's note "patched" says, in place of an earlier one. tl_rt_object_note() writes it, and every
 * later file has it. Without memory there is none. From anywhere, one thread for each object. */
void tl_rt_patch_note_counts(const rt_object *o, const patch_counts *c);

#endif
