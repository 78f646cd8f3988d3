/* Sleds: the places in the code of instrumented functions that are patched. */
#ifndef TL_RT_SLED_H
#define TL_RT_SLED_H

#include "rt/hook/rt_object_start.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_sys.h"

/* The instructions of one machine: rt_sled_x86_64.c, rt_sled_aarch64.c.
 *
 * One store to a sled's first instruction switches it: off, it jumps over the rest, or returns. The rest is only
 * written while the sled is off, and stays when it is switched off again: a thread may still be in it. */
enum { RT_SLED_OFF, RT_SLED_ON, RT_SLED_ODD };

/* The state of a sled; ODD: unrecognised code. */
int tl_rt_sled_state(uintptr_t at, unsigned kind);
/* Can a branch reach the trampoline from it, and back? */
bool tl_rt_sled_reaches(uintptr_t at, uintptr_t trampoline);
/* Writes all but the first instruction, for a function's number. Not for event sleds, which are complete. */
void tl_rt_sled_prepare(uintptr_t at, uint32_t id, uintptr_t trampoline, unsigned kind);
void tl_rt_sled_switch(uintptr_t at, unsigned kind, bool on);
/* Makes all processors execute the instructions written in [from, to) from now on. */
void tl_rt_sled_sync(uintptr_t from, uintptr_t to);
extern const unsigned tl_rt_sled_size;

/* xray_instr_map in memory: rt_patch.c. */

/* How many functions the map has; if `function` is not NULL, their addresses without bias go there. */
uint32_t tl_rt_map_functions(const void *begin, const void *end, uintptr_t bias, uint64_t *function);
/* Switches the object's sleds: on where `on` and the function is wanted, else off. Reports the sleds that it cannot
 * switch. With tl_rt_sleds_lock taken. */
void tl_rt_patch(rt_object *o, bool on);

/* The hook "sleds", hook_sleds.c. */
extern rt_lock tl_rt_sleds_lock;    /* held for patching, and while objects with sleds come and go; never by hooks */
void tl_rt_sleds_add(rt_object *o); /* a new object; with the lock */

/* rt_objects.c: writes notes for objects that the current recording has no note of. Not from hooks. */
void tl_rt_objects_note_new(void);

#endif
