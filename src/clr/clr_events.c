/* Threads, compilation, collections, and what is loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clr/clr_door.h"
#include "clr/clr_info.h"
#include "clr/clr_stack.h"
#include "managed/managed_sites.h"

typedef unsigned long long ull;

/* ---- compilation ---- */

static clr_status jit_begin(void *self, clr_id function, int32_t safe)
{
    (void)self, (void)safe;
    managed_event(MANAGED_JIT_BEGIN, function);
    return CLR_OK;
}

static clr_status jit_end(void *self, clr_id function, clr_status status, int32_t safe)
{
    (void)self, (void)safe;
    if (managed_on && status >= 0)
        clr_function_know(function);
    managed_event(status >= 0 ? MANAGED_JIT_END : MANAGED_JIT_FAILED, function);
    return CLR_OK;
}

/* Code that was compiled before is looked for when it is called first. */
static clr_status search_begin(void *self, clr_id function, int32_t *use)
{
    (void)self, (void)function;
    *use = 1;
    return CLR_OK;
}

static clr_status search_end(void *self, clr_id function, int32_t not_found)
{
    (void)self;
    if (managed_on && !not_found) {
        clr_function_know(function);
        managed_event(MANAGED_FOUND, function);
    }
    return CLR_OK;
}

/* ---- threads ---- */

static void begin_thread(clr_id thread)
{
    managed_thread *t = managed_thread_find() ? managed_self : managed_thread_begin(thread);
    if (!t)
        return;
    if (!clr_stack_high)
        clr_stack_measure();
    if (!t->has_timer)
        clr_samples_thread(t);
}

managed_thread *clr_thread_here(void)
{
    if (!managed_self)
        begin_thread(clr_info_this_thread());
    return managed_self;
}

static clr_status thread_created(void *self, clr_id thread)
{
    (void)self;
    begin_thread(thread);
    return CLR_OK;
}

static clr_status thread_assigned(void *self, clr_id thread, uint32_t tid)
{
    if (tid == (uint32_t)syscall(SYS_gettid))
        thread_created(self, thread);
    return CLR_OK;
}

static clr_status thread_destroyed(void *self, clr_id thread)
{
    (void)self;
    if (managed_thread_find() && managed_self->id == thread) {
        clr_samples_thread_end(managed_self);
        if (managed_on)
            managed_sites_flush(managed_self);
        managed_thread_end();
    }
    return CLR_OK;
}

/* ---- collections ---- */

static clr_status gc_begin(void *self, int32_t n, const int32_t *collected, int32_t reason)
{
    uint64_t bits = reason == 1 ? 0x100 : 0;
    (void)self;
    for (int32_t i = 0; i < n && i < 4; i++)
        bits |= collected[i] ? UINT64_C(1) << i : 0;
    managed_event(MANAGED_GC_BEGIN, bits);
    clr_heap_collection((bits & 4) != 0);
    return CLR_OK;
}

static clr_status gc_end(void *self)
{
    (void)self;
    managed_event(MANAGED_GC_END, 0);
    return CLR_OK;
}

/* ---- what is loaded ---- */

static clr_status domain_created(void *self, clr_id domain, clr_status status)
{
    char *name = clr_info_domain(domain);
    (void)self;
    managed_fact("apd crf 0x%016llX %d 0x%08X \"%s\"\n", (ull)domain, (int)getpid(), (unsigned)status,
                 managed_clean(name));
    free(name);
    return CLR_OK;
}

static clr_status assembly_loaded(void *self, clr_id assembly, clr_status status)
{
    clr_id domain, module;
    char *name = clr_info_assembly(assembly, &domain, &module);
    (void)self;
    managed_fact("asm ldf 0x%016llX 0x%016llX 0x%016llX 0x%08X \"%s\"\n", (ull)assembly, (ull)domain, (ull)module,
                 (unsigned)status, managed_clean(name));
    free(name);
    return CLR_OK;
}

static clr_status module_loaded(void *self, clr_id module, clr_status status)
{
    uintptr_t base;
    clr_id assembly;
    char *name = clr_info_module(module, &base, &assembly);
    (void)self;
    managed_fact("mod ldf 0x%016llX 0x%016llX 0x%016llX 0x%08X \"%s\"\n", (ull)module, (ull)base, (ull)assembly,
                 (unsigned)status, managed_clean(name));
    free(name);
    return CLR_OK;
}

static clr_status module_attached(void *self, clr_id module, clr_id assembly)
{
    (void)self;
    managed_fact("mod ata 0x%016llX 0x%016llX\n", (ull)module, (ull)assembly);
    return CLR_OK;
}

/* ---- what was there before ---- */

static void module_found(clr_id module)
{
    uintptr_t base;
    clr_id assembly, domain, first;
    free(clr_info_module(module, &base, &assembly));
    free(clr_info_assembly(assembly, &domain, &first));
    static clr_id last_domain;
    if (domain != last_domain)
        domain_created(NULL, domain, 0);
    last_domain = domain;
    if (first == module)
        assembly_loaded(NULL, assembly, 0);
    module_loaded(NULL, module, 0);
    module_attached(NULL, module, assembly);
}

/* One that had an event since may be known already. The writer does not run yet. */
static void thread_found(clr_id thread, uint32_t tid)
{
    managed_thread *t = managed_threads;
    while (t && t->tid != tid)
        t = t->next;
    if (!t)
        t = managed_thread_adopt(thread, tid);
    if (!t)
        return;
    t->id = thread;
    clr_samples_thread(t);
}

void clr_events_catch_up(void)
{
    clr_info_modules(module_found);
    clr_info_threads(thread_found);
}

static clr_status class_loaded(void *self, clr_id class, clr_status status)
{
    (void)self;
    if (managed_on && status >= 0)
        clr_class_know((const void *)class);
    return CLR_OK;
}

/* What is not told unless it is asked for. */
static uint32_t begin_more(clr_callback_function **table)
{
    uint32_t tell = 0;
    if (managed_set.classes) {
        table[CLR_ON_CLASS] = CLR_CALLBACK(class_loaded);
        tell |= CLR_TELL_CLASSES;
    }
    if (managed_set.jit == MANAGED_JIT_ALL) {
        table[CLR_ON_SEARCH] = CLR_CALLBACK(search_begin);
        table[CLR_ON_FOUND] = CLR_CALLBACK(search_end);
        tell |= CLR_TELL_SEARCHES;
    }
    return tell;
}

uint32_t clr_events_begin(clr_callback_function **table)
{
    table[CLR_ON_APP_DOMAIN] = CLR_CALLBACK(domain_created);
    table[CLR_ON_ASSEMBLY] = CLR_CALLBACK(assembly_loaded);
    table[CLR_ON_MODULE] = CLR_CALLBACK(module_loaded);
    table[CLR_ON_MODULE_ATTACHED] = CLR_CALLBACK(module_attached);
    table[CLR_ON_JIT_BEGIN] = CLR_CALLBACK(jit_begin);
    table[CLR_ON_JIT_END] = CLR_CALLBACK(jit_end);
    table[CLR_ON_THREAD_CREATED] = CLR_CALLBACK(thread_created);
    table[CLR_ON_THREAD_DESTROYED] = CLR_CALLBACK(thread_destroyed);
    table[CLR_ON_THREAD_ASSIGNED] = CLR_CALLBACK(thread_assigned);
    table[CLR_ON_GC_BEGIN] = CLR_CALLBACK(gc_begin);
    table[CLR_ON_GC_END] = CLR_CALLBACK(gc_end);
    return begin_more(table) | CLR_TELL_MODULES | CLR_TELL_ASSEMBLIES | CLR_TELL_APP_DOMAINS | CLR_TELL_JIT |
           CLR_TELL_THREADS;
}
