/* Collections, and the objects that live after one. While the world is stopped, a stopped thread may hold any lock:
 * what is found then goes into the thread's ring, and into a static table. */
#include <mono/metadata/class.h>
#include <mono/metadata/mono-gc.h>

#include "managed/managed_heap.h"
#include "managed/managed_thread.h"
#include "mono/mono_door.h"

static bool major;

static int count_live(MonoObject *o, MonoClass *class, uintptr_t size, uintptr_t n, MonoObject **refs,
                      uintptr_t *offsets, void *data)
{
    (void)o, (void)n, (void)refs, (void)offsets, (void)data;
    if (size) /* 0: another part of the object before */
        managed_heap_add(class, size, NULL);
    return 0;
}

static void know(const void *class)
{
    mono_class_know((MonoClass *)(uintptr_t) class);
}

/* Before the first one of a stopped world; the last table is written by then. */
static void look_at_heap(void)
{
    if (major && managed_set.heap && managed_heap_begin())
        mono_gc_walk_heap(0, count_live, NULL);
}

static void gc_event(MonoProfiler *p, MonoProfilerGCEvent event, uint32_t generation, mono_bool serial)
{
    (void)p;
    (void)serial;
    if (!managed_on)
        return;
    switch (event) {
    case MONO_GC_EVENT_POST_STOP_WORLD:
        major = false;
        return;
    case MONO_GC_EVENT_START:
        managed_event(MANAGED_GC_BEGIN, generation ? 0xb : 0x1); /* an old generation, and large objects */
        return;
    case MONO_GC_EVENT_END:
        major = major || generation > 0;
        managed_event(MANAGED_GC_END, 0);
        return;
    case MONO_GC_EVENT_PRE_START_WORLD:
        look_at_heap();
        return;
    case MONO_GC_EVENT_POST_START_WORLD_UNLOCKED:
        if (managed_heap_counting())
            managed_heap_put(know);
        return;
    default:
        return;
    }
}

void mono_collections_begin(MonoProfilerHandle h)
{
    mono_profiler_set_gc_event_callback(h, gc_event);
}
