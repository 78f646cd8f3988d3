/* How an object with sleds registers with the recorder when it is loaded. See rt_object_start.c. */
#ifndef TL_RT_OBJECT_START_H
#define TL_RT_OBJECT_START_H

#include "rt/rt_core.h"

enum { RT_START_VERSION = 1 }; /* changes with rt_sled_map, rt_handlers, and the trampolines' demands on a sled */

/* Kinds of sleds, as the compiler numbers them. */
enum rt_sled_kind { RT_SLED_ENTRY, RT_SLED_EXIT, RT_SLED_TAIL, RT_SLED_ARGUMENT, RT_SLED_CUSTOM, RT_SLED_TYPED };
enum { RT_TRAMPOLINES = RT_SLED_CUSTOM }; /* earlier kinds jump to a trampoline; events contain a call */

typedef struct rt_sled_map {
    uint32_t version;                       /* RT_START_VERSION */
    const void *begin, *end;                /* xray_instr_map; both NULL: the object has no sleds */
    const void *header;                     /* the object's ELF header in memory, or NULL */
    const void *trampoline[RT_TRAMPOLINES]; /* by kind */
    const rt_handlers **handlers;           /* what trampolines follow: always valid, at first the object's idle ones */
} rt_sled_map;

/* Called when an object is loaded and unloaded; the map does not move in between. In the recorder; weak for
 * objects, which must also work in programs that have none. Not from hooks. */
__attribute__((visibility("default"))) void tl_rt_object_register(const rt_sled_map *map);
__attribute__((visibility("default"))) void tl_rt_object_unregister(const rt_sled_map *map);

#endif
