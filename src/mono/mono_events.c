/* Threads, and what is loaded. */
#include <mono/metadata/assembly.h>
#include <mono/metadata/class.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "managed/managed_names.h"
#include "managed/managed_sites.h"
#include "mono/mono_door.h"

static unsigned long long address(const void *p)
{
    return (unsigned long long)mono_address(p);
}

void mono_class_know(MonoClass *c)
{
    char *name = mono_is_up ? mono_type_get_name(mono_class_get_type(c)) : NULL, *plain = NULL;
    const char *space = mono_class_get_namespace(c);
    if (!name && asprintf(&plain, "%s%s%s", space, *space ? "." : "", mono_class_get_name(c)) < 0)
        plain = NULL;
    managed_class_known(c, mono_class_get_image(c), mono_class_get_type_token(c), name ? name : plain);
    mono_free(name);
    free(plain);
}

/* A fact with one text at its end. */
static void tell(const char *head, const char *text)
{
    char *copy = strdup(text ? text : "");
    managed_fact("%s \"%s\"\n", head, managed_clean(copy));
    free(copy);
}

static void image_loaded(MonoProfiler *p, MonoImage *i)
{
    char head[96];
    (void)p;
    snprintf(head, sizeof head, "mod ldf 0x%016llX 0x%016llX 0x%016llX 0x00000000", address(i), 0ULL, 0ULL);
    if (managed_on)
        tell(head, mono_image_get_filename(i));
}

static void assembly_loaded(MonoProfiler *p, MonoAssembly *a)
{
    char head[192];
    (void)p;
    MonoImage *image = mono_assembly_get_image(a);
    snprintf(head, sizeof head, "mod ata 0x%016llX 0x%016llX\nasm ldf 0x%016llX 0x%016llX 0x%016llX 0x00000000",
             address(image), address(a), address(a), address(mono_domain_get()), address(image));
    if (managed_on)
        tell(head, mono_image_get_name(image));
}

static void class_loaded(MonoProfiler *p, MonoClass *c)
{
    (void)p;
    if (managed_on)
        mono_class_know(c);
}

static void domain_named(MonoProfiler *p, MonoDomain *d, const char *name)
{
    char head[96];
    (void)p;
    snprintf(head, sizeof head, "apd crf 0x%016llX %d 0x00000000", address(d), (int)getpid());
    if (managed_on)
        tell(head, name);
}

static void thread_started(MonoProfiler *p, uintptr_t id)
{
    (void)p;
    if (!managed_self)
        managed_thread_begin((uint64_t)id);
}

static void thread_stopped(MonoProfiler *p, uintptr_t id)
{
    (void)p;
    (void)id;
    if (!managed_self)
        return;
    if (managed_on)
        managed_sites_flush(managed_self);
    managed_thread_end();
}

void mono_events_begin(MonoProfilerHandle h)
{
    mono_profiler_set_image_loaded_callback(h, image_loaded);
    mono_profiler_set_assembly_loaded_callback(h, assembly_loaded);
    if (managed_set.classes)
        mono_profiler_set_class_loaded_callback(h, class_loaded);
    mono_profiler_set_domain_name_callback(h, domain_named);
    mono_profiler_set_thread_started_callback(h, thread_started);
    mono_profiler_set_thread_stopped_callback(h, thread_stopped);
}
