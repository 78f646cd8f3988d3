/* Every object, when it is made: the runtime tells of it on its thread, which cannot be stopped for a collection
 * meanwhile. */
#include <stdlib.h>

#include "clr/clr_door.h"
#include "clr/clr_info.h"
#include "clr/clr_stack.h"
#include "managed/managed_names.h"
#include "managed/managed_sites.h"

/* Frames of methods only. */
static void walk(managed_stack *s)
{
    clr_place place = {(uintptr_t)__builtin_frame_address(0), (uintptr_t)__builtin_frame_address(0)};
    uintptr_t ip;
    s->n = 0;
    s->cut = false;
    while ((ip = clr_stack_next(&place)) != 0) {
        const clr_id function = clr_function_at(ip);
        if (!function)
            continue;
        if (s->n == MANAGED_DEPTH) {
            s->cut = true;
            return;
        }
        s->frame[s->n].method = (const void *)function;
        s->frame[s->n++].ip = managed_set.lines ? ip : 0;
    }
}

void clr_class_know(const void *class)
{
    clr_class c;
    if (managed_class_find(class) == MANAGED_UNKNOWN && clr_info_class((clr_id) class, &c)) {
        managed_class_known(class, (const void *)c.module, c.token, c.name);
        free(c.name);
    }
}

static clr_status allocated(void *self, clr_id object, clr_id class)
{
    managed_thread *t = managed_recording() ? clr_thread_here() : NULL;
    const uint64_t bytes = t ? clr_info_object_size(object) : 0;
    managed_stack *s = t && !managed_sites_passes(t, bytes) ? managed_sites_stack(t) : NULL;
    (void)self;
    if (!s)
        return CLR_OK;
    walk(s);
    if (!managed_sites_add(t, s, (const void *)class, bytes, false)) {
        clr_class_know((const void *)class);
        managed_sites_add(t, s, (const void *)class, bytes, true);
    }
    return CLR_OK;
}

uint32_t clr_allocations_begin(clr_callback_function **table)
{
    if (!managed_set.alloc)
        return 0;
    table[CLR_ON_OBJECT] = CLR_CALLBACK(allocated);
    return CLR_TELL_OBJECTS;
}
