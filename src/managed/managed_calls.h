/* Calls of managed methods, as a source of hooks of the recorder (rt/rt_core.h), which then records profiles and traces
 * as of any program. A method is a function that has only a name. */
#ifndef TL_MANAGED_CALLS_H
#define TL_MANAGED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Does the recorder want calls: was it given settings, by the environment variable TRACELOOM? */
bool managed_calls_wanted(void);
/* The number of a method that gets code; 0: the patterns leave it out, or there are no more. Takes a lock. */
uint32_t managed_calls_number(const char *name);
/* Is it in one of the chosen libraries (libs=)? */
bool managed_calls_library(const char *path);

/* Stubs of assembler call these three, in code that does not expect that vector registers change. The exit of a call
 * that is not the innermost ends those above it. */
void managed_call_enter(uint32_t id, uintptr_t sp);
void managed_call_leave(uint32_t id, uintptr_t sp);
void managed_call_replace(uint32_t id, uintptr_t sp); /* by a call that takes its place */

#endif
