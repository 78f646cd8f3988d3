/* What is particular about patching in a process: where the planner's memory comes from, the machine, and the stubs. */
#ifndef TL_RT_PATCH_PROCESS_H
#define TL_RT_PATCH_PROCESS_H

#include "patch/patch_place.h"
#include "rt/rt_store.h"

/* One thread at a time: with tl_rt_sleds_lock. */
extern const patch_memory tl_rt_patch_memory __attribute__((visibility("hidden")));
/* Unmaps what arrays were lent from, if all of them were given back. */
void tl_rt_patch_memory_end(void);

/* NULL: this machine's code is not patched. */
const patch_machine *tl_rt_patch_machine(void);
void tl_rt_patch_stubs(patch_stubs *out);
bool tl_rt_patch_shadow(void); /* does this thread have a shadow stack? */

/* Patches functions of our own in the ways that others are patched, calls them, and takes it all back. NULL: they did
 * what they do, and were counted. Else what went wrong, and *error: an errno or 0. With tl_rt_sleds_lock, signals
 * blocked, and while nothing is recorded: handlers are exchanged meanwhile. */
const char *tl_rt_patch_selftest(int *error);

#endif
