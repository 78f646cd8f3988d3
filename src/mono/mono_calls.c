/* Every call: the runtime compiles calls of ours into the methods that are chosen. */
#include <mono/metadata/assembly.h>
#include <mono/metadata/class.h>
#include <mono/metadata/debug-helpers.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "managed/managed_calls.h"
#include "mono/mono_door.h"

enum { SLOTS = 1 << 20, FULL = SLOTS / 4 * 3 };

/* Numbers of methods, by their addresses: calls look them up without a lock. */
static struct slot {
    MonoMethod *_Atomic method;
    _Atomic uint32_t id; /* 0: left out */
    bool stale;          /* the method is gone; its address may come again */
} * slots;
static uint32_t nslot;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t home(const MonoMethod *m)
{
    return (uint32_t)(mono_address(m) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (SLOTS - 1);
}

/* The method's slot, or a free one. */
static struct slot *slot_of(const MonoMethod *m)
{
    uint32_t i = home(m);
    for (const MonoMethod *there; (there = slots[i].method) && there != m;)
        i = (i + 1) & (SLOTS - 1);
    return &slots[i];
}

/* The program's own: not what comes with the runtime, unless it is chosen. */
static bool is_own(MonoMethod *m)
{
    MonoClass *class = mono_method_get_class(m);
    MonoImage *image = class ? mono_class_get_image(class) : NULL;
    const char *path = image ? mono_image_get_filename(image) : NULL;
    const char *runtime = mono_image_get_filename(mono_get_corlib());
    MonoAssembly *program = mono_assembly_get_main();
    if (!path)
        return false;
    if (managed_calls_library(path) || (program && mono_assembly_get_image(program) == image))
        return true;
    const char *slash = runtime ? strrchr(runtime, '/') : NULL;
    return !strstr(path, "/mono/gac/") && !(slash && strncmp(path, runtime, (size_t)(slash + 1 - runtime)) == 0);
}

static uint32_t number_of(MonoMethod *m)
{
    char *name = is_own(m) ? mono_method_full_name(m, false) : NULL;
    uint32_t id = 0;
    if (name && *name != '(') { /* "(wrapper ...": code of the runtime around methods */
        char *brackets = strrchr(name, '(');
        if (brackets && brackets > name && brackets[-1] == ' ')
            brackets[-1] = 0;
        id = managed_calls_number(name);
    }
    mono_free(name);
    return id;
}

/* Before a method is compiled. The answer may not change later: other code of the same method must fit. */
static MonoProfilerCallInstrumentationFlags choose(MonoProfiler *p, MonoMethod *m)
{
    (void)p;
    if (!mono_is_up)
        return MONO_PROFILER_CALL_INSTRUMENTATION_NONE;
    pthread_mutex_lock(&lock);
    struct slot *s = slot_of(m);
    const bool known = s->method && !s->stale, fits = s->method || nslot < FULL;
    pthread_mutex_unlock(&lock);
    if (!known && fits) {
        const uint32_t id = number_of(m); /* without the lock: it asks the runtime */
        pthread_mutex_lock(&lock);
        s = slot_of(m);
        nslot += !s->method;
        if (!s->method || s->stale)
            s->id = id;
        s->stale = false;
        s->method = m;
        pthread_mutex_unlock(&lock);
    }
    if (!slot_of(m)->id)
        return MONO_PROFILER_CALL_INSTRUMENTATION_NONE;
    return MONO_PROFILER_CALL_INSTRUMENTATION_ENTER | MONO_PROFILER_CALL_INSTRUMENTATION_LEAVE |
           MONO_PROFILER_CALL_INSTRUMENTATION_TAIL_CALL | MONO_PROFILER_CALL_INSTRUMENTATION_EXCEPTION_LEAVE;
}

static void freed(MonoProfiler *p, MonoMethod *m)
{
    (void)p;
    pthread_mutex_lock(&lock);
    struct slot *s = slot_of(m);
    s->stale = s->method != NULL;
    pthread_mutex_unlock(&lock);
}

#define HERE() ((uintptr_t)__builtin_frame_address(0))

static void entered(MonoProfiler *p, MonoMethod *m, MonoProfilerCallContext *context)
{
    const uint32_t id = slot_of(m)->id;
    (void)p;
    (void)context;
    if (id)
        managed_call_enter(id, HERE());
}

static void left(MonoProfiler *p, MonoMethod *m, MonoProfilerCallContext *context)
{
    const uint32_t id = slot_of(m)->id;
    (void)p;
    (void)context;
    if (id)
        managed_call_leave(id, HERE());
}

static void replaced(MonoProfiler *p, MonoMethod *m, MonoMethod *by)
{
    const uint32_t id = slot_of(m)->id;
    (void)p;
    (void)by;
    if (id)
        managed_call_replace(id, HERE());
}

static void thrown_out_of(MonoProfiler *p, MonoMethod *m, MonoObject *exception)
{
    (void)exception;
    left(p, m, NULL);
}

bool mono_calls_begin(MonoProfilerHandle h)
{
    if (!managed_calls_wanted())
        return false;
    slots =
        mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slots == MAP_FAILED)
        return false;
    mono_profiler_set_call_instrumentation_filter_callback(h, choose);
    mono_profiler_set_method_enter_callback(h, entered);
    mono_profiler_set_method_leave_callback(h, left);
    mono_profiler_set_method_tail_call_callback(h, replaced);
    mono_profiler_set_method_exception_leave_callback(h, thrown_out_of);
    mono_profiler_set_method_free_callback(h, freed);
    return true;
}
