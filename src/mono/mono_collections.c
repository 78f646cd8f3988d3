/* Collections, and the objects that live after one. While the world is stopped, a stopped thread may hold any lock:
 * what is found then goes into the thread's ring, and into static tables. */
#include <mono/metadata/class.h>
#include <mono/metadata/mono-gc.h>
#include <string.h>

#include "managed/managed_writer.h"
#include "mono/mono_door.h"

enum { LIVE = 1 << 14 }; /* classes with live objects */
enum { EVERY_MS = 1000 };

static managed_live live[LIVE];
static bool major, walked;
static uint64_t walked_at; /* ns */

static int count_live(MonoObject *o, MonoClass *class, uintptr_t size, uintptr_t n, MonoObject **refs,
                      uintptr_t *offsets, void *data)
{
    (void)o, (void)n, (void)refs, (void)offsets, (void)data;
    uint32_t i = (uint32_t)(mono_address(class) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (LIVE - 1), looked = 0;
    while (live[i].class && live[i].class != class && looked++ < LIVE)
        i = (i + 1) & (LIVE - 1);
    if (size && looked < LIVE) { /* 0: another part of the object before */
        live[i].class = class;
        live[i].count++;
        live[i].bytes += size;
    }
    return 0;
}

static void put_live(void)
{
    for (unsigned i = 0; i < LIVE; i++)
        if (live[i].class)
            mono_class_know((MonoClass *)(uintptr_t)live[i].class);
    managed_live_known(live, LIVE);
}

/* Before the first one of a stopped world; the last table is written by then. */
static void look_at_heap(void)
{
    const uint64_t now = managed_now();
    if (!major || !managed_set.heap || (walked_at && now - walked_at < EVERY_MS * UINT64_C(1000000)))
        return;
    memset(live, 0, sizeof live);
    mono_gc_walk_heap(0, count_live, NULL);
    walked = true;
    walked_at = now;
}

static void gc_event(MonoProfiler *p, MonoProfilerGCEvent event, uint32_t generation, mono_bool serial)
{
    (void)p;
    (void)serial;
    if (!managed_on)
        return;
    switch (event) {
    case MONO_GC_EVENT_POST_STOP_WORLD:
        major = walked = false;
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
        if (walked)
            put_live();
        walked = false;
        return;
    default:
        return;
    }
}

void mono_collections_begin(MonoProfilerHandle h)
{
    mono_profiler_set_gc_event_callback(h, gc_event);
}
