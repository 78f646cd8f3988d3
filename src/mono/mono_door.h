/* The module that Mono loads: mono --profile=traceloom app.exe. Its parts. */
#ifndef TL_MONO_DOOR_H
#define TL_MONO_DOOR_H

#include <mono/metadata/profiler.h>
#include <stdbool.h>
#include <stdint.h>

/* The runtime can be asked for names of all kinds; earlier that crashes. */
extern _Atomic bool mono_is_up;

static inline uint64_t mono_address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* A class that is known from now on. */
void mono_class_know(MonoClass *c);

/* Each sets its callbacks. */
void mono_events_begin(MonoProfilerHandle h);
void mono_code_begin(MonoProfilerHandle h);
void mono_stacks_begin(MonoProfilerHandle h);
void mono_collections_begin(MonoProfilerHandle h);
/* Calls, in place of all these; false: the recorder of calls has nothing to do here. */
bool mono_calls_begin(MonoProfilerHandle h);

#endif
