/* Stacks: of samples, and of allocations. */
#include <mono/metadata/appdomain.h>
#include <mono/metadata/class.h>
#include <mono/metadata/object.h>

#include "managed/managed_names.h"
#include "managed/managed_sites.h"
#include "mono/mono_door.h"

static mono_bool add_sample_frame(MonoMethod *m, MonoDomain *d, void *base, int offset, void *walk)
{
    (void)d;
    return m && !managed_walk_frame(walk, m, mono_address(base) + (uint64_t)(int64_t)offset);
}

/* In the handler of the signal that the runtime sends to all threads. Waiting ones have used no processor time. */
static void sample_hit(MonoProfiler *p, const mono_byte *ip, const void *context)
{
    managed_thread *t = managed_self;
    managed_walk w;
    (void)p;
    (void)ip;
    if (!t || !managed_recording())
        return;
    const uint32_t n = managed_set.clock == MANAGED_CPU ? managed_cpu_samples(t) : 1;
    if (n == 0)
        return;
    const uint64_t now = managed_now();
    managed_walk_begin(&w, t, &t->samples);
    mono_stack_walk_async_safe(add_sample_frame, (void *)(uintptr_t)context, &w);
    managed_walk_end(&w, now, MANAGED_SAMPLE, n);
}

static mono_bool add_frame(MonoMethod *m, int32_t native, int32_t il, mono_bool managed, void *stack)
{
    managed_stack *s = stack;
    (void)il;
    if (!m || (s->n == 0 && !managed)) /* the allocator's wrapper of our callback, and its own */
        return false;
    if (s->n == MANAGED_DEPTH) {
        s->cut = true;
        return true;
    }
    s->frame[s->n].method = m;
    s->frame[s->n++].ip = managed_set.lines ? MANAGED_OFFSET | (uint32_t)native : 0;
    return false;
}

/* Sizes of objects by class: all are of one, unless it is an array or a text. Of nearly all objects only this is asked,
 * and the runtime takes longer to answer. */
enum { SIZES = 64 };
static __thread struct {
    const MonoVTable *of;
    uint64_t bytes; /* 0: each has its own */
} sizes[SIZES] __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) static uint64_t ask_size(MonoObject *o, uint32_t place)
{
    const uint64_t bytes = mono_object_get_size(o);
    if (sizes[place].of != o->vtable) {
        MonoClass *class = mono_object_get_class(o);
        sizes[place].of = o->vtable;
        sizes[place].bytes = class == mono_get_string_class() || mono_class_get_rank(class) ? 0 : bytes;
    }
    return bytes;
}

static uint64_t size_of(MonoObject *o)
{
    const uint32_t i = (uint32_t)(mono_address(o->vtable) * UINT64_C(0x9e3779b97f4a7c15) >> 58);
    return sizes[i].of == o->vtable && sizes[i].bytes ? sizes[i].bytes : ask_size(o, i);
}

__attribute__((noinline)) static void add_object(MonoObject *o)
{
    managed_thread *t = managed_recording() ? managed_thread_here() : NULL;
    managed_stack *s = t ? managed_sites_stack(t) : NULL;
    if (!s)
        return;
    MonoClass *class = mono_object_get_class(o);
    const uint64_t bytes = mono_object_get_size(o);
    s->n = 0;
    s->cut = false;
    mono_stack_walk_no_il(add_frame, s);
    if (managed_sites_add(t, s, class, bytes, false))
        return;
    if (managed_class_find(class) == MANAGED_UNKNOWN)
        mono_class_know(class);
    managed_sites_add(t, s, class, bytes, true);
}

static void allocated(MonoProfiler *p, MonoObject *o)
{
    managed_thread *t = managed_self;
    (void)p;
    if (!t || !managed_sites_passes(t, size_of(o)))
        add_object(o);
}

void mono_stacks_begin(MonoProfilerHandle h)
{
    const MonoProfilerSampleMode mode =
        managed_set.clock == MANAGED_CPU ? MONO_PROFILER_SAMPLE_MODE_PROCESS : MONO_PROFILER_SAMPLE_MODE_REAL;
    if (managed_set.clock != MANAGED_NO_SAMPLES) {
        if (mono_profiler_enable_sampling(h) &&
            mono_profiler_set_sample_mode(h, mode, 1000 / managed_set.period_ms ? 1000 / managed_set.period_ms : 1))
            mono_profiler_set_sample_hit_callback(h, sample_hit);
        else
            managed_say("the runtime takes no samples; another profiler does", NULL, 0);
    }
    if (!managed_set.alloc)
        return;
    if (mono_profiler_enable_allocations())
        mono_profiler_set_gc_allocation_callback(h, allocated);
    else
        managed_say("the runtime does not tell of allocations", NULL, 0);
}
