/* Compilation: its begin and end, and what the code is. */
#include <mono/metadata/class.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-debug.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "managed/managed_names.h"
#include "mono/mono_door.h"

enum { COMPILING = 64 };

/* Methods that this thread compiles now; compiling one may need another. */
static __thread const void *compiling[COMPILING];
static __thread unsigned ncompiling;

static void jit_begin(MonoProfiler *p, MonoMethod *m)
{
    (void)p;
    managed_event(MANAGED_JIT_BEGIN, mono_address(m));
    if (ncompiling < COMPILING)
        compiling[ncompiling++] = m;
}

/* Was this compiled on this thread? Forgets it, and what was begun inside it and never ended. */
static bool ends_compiling(const MonoMethod *m)
{
    for (unsigned i = ncompiling; i-- > 0;)
        if (compiling[i] == m) {
            ncompiling = i;
            return true;
        }
    return false;
}

static void jit_failed(MonoProfiler *p, MonoMethod *m)
{
    (void)p;
    if (ends_compiling(m))
        managed_event(MANAGED_JIT_FAILED, mono_address(m));
}

/* Lines of the source, from the debug information that --debug reads. */
static struct managed_source *read_places(MonoMethod *m, uint32_t *n)
{
    /* The header does not say what an entry is: the offsets in intermediate and in native code. */
    const struct pair {
        uint32_t il, native;
    } * entry;
    MonoDebugMethodJitInfo *d =
        managed_set.lines && mono_debug_enabled() ? mono_debug_find_method(m, mono_domain_get()) : NULL;
    *n = 0;
    if (!d)
        return NULL;
    struct managed_source *place = tl_alloc(d->num_line_numbers, sizeof *place);
    entry = (const struct pair *)(const void *)d->line_numbers;
    for (uint32_t i = 0; place && i < d->num_line_numbers; i++) {
        MonoDebugSourceLocation *l = mono_debug_lookup_source_location(m, entry[i].native, mono_domain_get());
        char *file = l && l->source_file ? strdup(l->source_file) : NULL;
        if (file && (*n == 0 || place[*n - 1].offset <= entry[i].native))
            place[(*n)++] = (struct managed_source){entry[i].native, l->row, l->column, file};
        else
            free(file);
        if (l)
            mono_debug_free_source_location(l);
    }
    mono_debug_free_method_jit_info(d);
    return place;
}

/* "Space.Class:Method", without its parameters; wrappers keep what is in brackets in front. */
static char *full_name(MonoMethod *m)
{
    char *name = mono_is_up ? mono_method_full_name(m, false) : NULL;
    if (!name)
        return NULL;
    char *brackets = strrchr(name, '(');
    if (brackets && brackets > name && brackets[-1] == ' ')
        brackets[-1] = 0;
    return name;
}

/* Makes a method known, with this code. */
static void know(MonoMethod *m, MonoJitInfo *info)
{
    /* Before any lock of ours: the runtime takes locks of its own. */
    MonoClass *class = mono_method_get_class(m);
    MonoMethodSignature *signature = mono_is_up ? mono_method_signature(m) : NULL;
    char *name = full_name(m), *parameters = signature ? mono_signature_get_desc(signature, false) : NULL;
    char *result = signature ? mono_type_get_name(mono_signature_get_return_type(signature)) : NULL;
    char *plain = name ? NULL : strdup(mono_method_get_name(m));
    managed_method method = {.at = m,
                             .class = class,
                             .module = class ? mono_class_get_image(class) : NULL,
                             .token = mono_method_get_token(m),
                             .start = mono_address(mono_jit_info_get_code_start(info)),
                             .size = (uint64_t)mono_jit_info_get_code_size(info),
                             .name = name ? name : plain,
                             .result = result,
                             .parameters = parameters};
    struct managed_source *place = read_places(m, &method.nplace);
    method.place = place;
    managed_method_known(&method);
    for (uint32_t i = 0; i < method.nplace; i++)
        free((char *)(uintptr_t)place[i].file);
    free(place);
    free(plain);
    mono_free(name);
    mono_free(parameters);
    mono_free(result);
}

/* Instances of a generic method may share code, which stacks then show as a method of its own. */
static void jit_done(MonoProfiler *p, MonoMethod *m, MonoJitInfo *info)
{
    (void)p;
    if (!managed_on)
        return;
    MonoMethod *of_code = mono_jit_info_get_method(info);
    know(m, info);
    if (of_code && of_code != m)
        know(of_code, info);
    managed_event(ends_compiling(m) ? MANAGED_JIT_END : MANAGED_FOUND, mono_address(m));
}

void mono_code_begin(MonoProfilerHandle h)
{
    mono_profiler_set_jit_begin_callback(h, jit_begin);
    mono_profiler_set_jit_done_callback(h, jit_done);
    mono_profiler_set_jit_failed_callback(h, jit_failed);
}
