/* What lives after collections of all generations. The runtime walks the heap while the world is stopped; a class is
 * asked for its name after that, when its assembly may be gone, if it is one of those that can be unloaded. */
#include <stdlib.h>

#include "clr/clr_door.h"
#include "clr/clr_info.h"
#include "managed/managed_heap.h"

void clr_heap_collection(bool full)
{
    if (full && managed_set.heap && managed_on)
        managed_heap_begin();
}

static bool may_go(const void *class)
{
    return clr_info_class_collectible((clr_id) class);
}

/* An object, with those that it refers to. A failure ends the walk. */
static clr_status object_found(void *self, clr_id object, clr_id class, uint32_t n, const clr_id *to)
{
    (void)self, (void)n, (void)to;
    if (!managed_heap_counting())
        return CLR_FAILED;
    managed_heap_add((const void *)class, clr_info_object_size(object), may_go);
    return CLR_OK;
}

static clr_status resumed(void *self)
{
    (void)self;
    if (managed_heap_counting() && managed_on)
        managed_heap_put(clr_class_know);
    return CLR_OK;
}

uint32_t clr_heap_begin(clr_callback_function **table)
{
    if (!managed_set.heap)
        return 0;
    managed_fact("prf cfg ConcurrentGcDisabled T\n");
    table[CLR_ON_REFERENCES] = CLR_CALLBACK(object_found);
    table[CLR_ON_RESUMED] = CLR_CALLBACK(resumed);
    return CLR_TELL_GC | CLR_TELL_STOPS;
}
