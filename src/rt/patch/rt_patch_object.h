/* An object that is patched: its plan, where it was placed, and what is in its code now.
 *
 * With tl_rt_sleds_lock taken and signals blocked; system calls only. */
#ifndef TL_RT_PATCH_OBJECT_H
#define TL_RT_PATCH_OBJECT_H

#include "rt/patch/rt_patch_image.h"
#include "rt/patch/rt_patch_process.h"
#include "rt/patch/rt_patch_space.h"
#include "rt/patch/rt_patch_write.h"
#include "rt/rt_say.h"

typedef struct rt_patched {
    rt_object *o;
    patch_image image;
    patch_plan plan;
    uint32_t *planned; /* [o->count] index in the plan */
    uint8_t *chosen;   /* [o->count] was it wanted when the object was placed? */
    bool asked;        /* by the settings of the current recording */
    bool left_out;     /* it has no plan; a message said why */
    bool roomy;        /* room for its blocks was kept */
    bool placed;
    bool exact;             /* as it was placed */
    bool refused;           /* a message said why */
    bool closed;            /* it was unloaded; the same object may come again */
    uint32_t loaded;        /* o->loaded of the time when it was found */
    int error;              /* -errno of switching it on; 0 */
    const rt_line *patched; /* of the object, while it is not asked for */
    patch_code code;
    rt_patch_text text;
    struct rt_patched *next;
} rt_patched;

/* Plans the functions of an object, and gives them numbers. NULL: no memory. */
rt_patched *tl_rt_patch_object(rt_object *o);
/* The object was closed, and is there again: its code is that of its file. */
void tl_rt_patch_again(rt_patched *p);
/* Keeps room for its blocks in the space, once. */
void tl_rt_patch_keep_room(rt_patched *p);
/* Applies the patterns, and places what they select unless it was before. Returns how many functions can be switched
 * on. */
uint32_t tl_rt_patch_select(rt_patched *p, enum rt_patch_when when);
/* The settings do not ask for the object any more: nothing of it is recorded, even of what stays in its code. While it
 * is off. */
void tl_rt_patch_drop(rt_patched *p, enum rt_patch_when when);
/* Switches code on or off. Takes no lock, says nothing: other threads may be stopped anywhere. */
void tl_rt_patch_change(rt_patched *p, bool on, enum rt_patch_when when);
/* After it was switched on: notes it in the recording, and says what failed. */
void tl_rt_patch_told(rt_patched *p);

/* Calls of a function are no longer recorded, or again. */
void tl_rt_patch_mute(uint32_t id, bool mute);

/* hook_patch.c */
rt_patched *tl_rt_patched(void); /* the first of all objects */
const rt_hook *tl_rt_patch_hook(void);
uint64_t tl_rt_patch_lock(void); /* takes tl_rt_sleds_lock, and blocks signals; returns what unlock needs */
void tl_rt_patch_unlock(uint64_t mask);
void tl_rt_patch_opened(void); /* the loader's list has changed, and is whole; with the lock */

/* From now on libraries that are opened are patched; false: that is not possible here. Once. */
bool tl_rt_patch_later_begin(enum rt_patch_when when);

#endif
