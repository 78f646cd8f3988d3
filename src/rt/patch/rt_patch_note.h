/* Notes about an object whose functions are patched: their addresses, and how many there are. */
#ifndef TL_RT_PATCH_NOTE_H
#define TL_RT_PATCH_NOTE_H

#include "patch/patch_place.h"
#include "rt/object/rt_objects.h"

/* Keeps what the object's note "patched" says, in place of an earlier one. tl_rt_patch_note_frames() writes it, and
 * every later file has it. Without memory there is none. From anywhere, one thread for each object. */
void tl_rt_patch_note_counts(const rt_object *o, const patch_counts *c);
/* The object's base, count and functions are known now: notes them, with what was kept, if recording is on. Files that
 * begin later have these notes without a call. With the thread's lane busy, or without a lane. */
void tl_rt_patch_note_frames(const rt_object *o);

#endif
