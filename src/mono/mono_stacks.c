/* Stacks: of samples, and of allocations. */
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
    if (!t || !managed_on)
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
    (void)managed;
    if (!m)
        return false;
    if (s->n == MANAGED_DEPTH) {
        s->cut = true;
        return true;
    }
    s->frame[s->n].method = m;
    s->frame[s->n++].ip = managed_set.lines ? MANAGED_OFFSET | (uint32_t)native : 0;
    return false;
}

static void allocated(MonoProfiler *p, MonoObject *o)
{
    managed_thread *t = managed_on ? managed_thread_here() : NULL;
    managed_stack *s = t ? managed_sites_stack(t) : NULL;
    (void)p;
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
