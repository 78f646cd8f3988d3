/* Names for the functions of a recording, which says itself which binaries they are in.
 *
 * A trace may name any file. So nothing is opened but regular files, and nothing of them is used but names and lines of
 * functions; and, where the trace knows the build-id, only if it is the same in the file. */
#include "op/object_symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "model/recording.h"
#include "op/symbolize.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* A note about an object: no offset of the trace has anything to do with it. */
static tl_damage about(const tl_recording_object *o, const char *rule)
{
    return (tl_damage){.offset = TL_NO_OFFSET, .at = o->id, .kind = TL_DAMAGE_NOTE, .rule = rule};
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* No memory, and a disk that fails, are not for want of the right file. */
static bool is_failure(int status, const tl_error *why)
{
    return status == TL_ENOMEM || (status == TL_EIO && why->sys_errno == EIO);
}

/* The file of an object, or NULL, which is not an error: a note says why. */
static int open_object(tl_trace *t, const tl_recording_object *o, tl_elf **elf, tl_error *e)
{
    const tl_damage missing = about(o, "symbols.missing");
    struct stat st;
    tl_error why = {0};
    *elf = NULL;
    if (strcmp(o->path, "-") == 0 || stat(o->path, &st) < 0) /* that would be standard input */
        return tl_trace_report(t, e, &missing, "functions stay unnamed: there is no file %s", o->path);
    if (!S_ISREG(st.st_mode))
        return tl_trace_report(t, e, &missing, "functions stay unnamed: this is no regular file: %s", o->path);
    int status = tl_elf_open(elf, o->path, &why);
    if (is_failure(status, &why)) {
        if (e)
            *e = why;
        return status;
    }
    return status < 0 ? tl_trace_report(t, e, &missing, "functions stay unnamed: %s", why.message) : 0;
}

/* Has the file the build-id that was recorded? If neither has one, the number of its functions has to do. */
static bool is_same_file(const tl_recording_object *o, const tl_elf *elf)
{
    return same_text(o->build_id, tl_elf_build_id(elf));
}

/* Takes over the functions that have sleds: run k of the map is function base + k. */
static int add_functions(tl_source *s, const tl_recording_object *o, const char *library, tl_elf *elf, tl_error *e)
{
    tl_trace map;
    tl_trace_init(&map);
    int status = s->format->functions(s->reader, elf, &map, e);
    if (status == 0 && map.nfunction != o->count) {
        const tl_damage changed = about(o, "symbols.changed");
        status = tl_trace_report(&s->trace, e, &changed,
                                 "functions stay unnamed: %s has %" PRIu32 " with sleds, %" PRIu32 " were recorded",
                                 base_name(tl_elf_path(elf)), map.nfunction, o->count);
    } else {
        for (uint32_t i = 0; status == 0 && i < map.nfunction; i++) {
            const tl_function f = {.id = (int64_t)o->base + map.function[i].id,
                                   .address = map.function[i].address,
                                   .module = o->build_id,
                                   .library = library};
            status = tl_trace_add_function(&s->trace, &f, e);
        }
    }
    tl_trace_fini(&map);
    return status;
}

/* An object, for those functions that lie in it. */
typedef struct home {
    const tl_recording *r;
    const tl_recording_object *object;
} home;

static bool lies_in(void *arg, const tl_function *f)
{
    const home *h = arg;
    return tl_recording_home(h->r, f->id) == h->object;
}

static int name_functions(tl_source *s, const tl_open_options *options, const tl_recording_object *o, tl_elf *elf,
                          tl_error *e)
{
    const tl_recording *r = s->trace.recording;
    if (!is_same_file(o, elf)) {
        const tl_damage changed = about(o, "symbols.changed");
        const char *id = tl_elf_build_id(elf);
        return tl_trace_report(&s->trace, e, &changed,
                               "functions stay unnamed: %s has %s%s, that of the recording has %s",
                               base_name(tl_elf_path(elf)), id ? "build-id " : "no build-id", id ? id : "",
                               o->build_id ? o->build_id : "none");
    }
    home h = {.r = r, .object = o};
    const tl_symbolize_options symbols = {
        .demangle = !options->no_demangle, .lines = !options->no_lines, .is_wanted = lies_in, .arg = &h};
    int status = 0;
    if (o->count > 0 && s->format->functions)
        status = add_functions(s, o, o == tl_recording_program(r) ? NULL : o->path, elf, e);
    return status < 0 ? status : tl_symbolize_some(&s->trace, elf, &symbols, e);
}

/* Which object the binary is that the user gave: the one with its build-id, else the program itself. */
static const tl_recording_object *object_of(const tl_recording *r, const tl_elf *elf)
{
    const char *id = tl_elf_build_id(elf);
    for (uint32_t i = 0; id && i < r->nobject; i++)
        if (same_text(r->object[i].build_id, id))
            return &r->object[i];
    return tl_recording_program(r);
}

/* The binary that the user gave. *given: the object that it stands for. */
static int name_given(tl_source *s, const tl_open_options *o, const tl_recording_object **given, tl_error *e)
{
    tl_trace *t = &s->trace;
    tl_elf *elf = NULL;
    int status = tl_elf_open(&elf, o->exe, e);
    if (status < 0)
        return status;
    *given = object_of(t->recording, elf);
    t->exe = s->exe;
    if (*given)
        status = name_functions(s, o, *given, elf, e);
    tl_elf_close(elf);
    if (status < 0 && e)
        e->offset = TL_NO_OFFSET; /* one in the binary would be taken for one in the trace */
    return status;
}

/* Whether the trace can have functions of an object. */
static bool has_functions(const tl_recording *r, const tl_recording_object *o)
{
    bool any = o->count > 0;
    for (uint32_t i = 0; !any && i < r->nfunction; i++)
        any = r->function[i].object == o->id;
    return any;
}

int tl_object_symbols(tl_source *s, const tl_open_options *o, tl_error *e)
{
    const tl_recording *r = s->trace.recording;
    const tl_recording_object *given = NULL;
    int status = o->exe ? name_given(s, o, &given, e) : 0;
    for (uint32_t i = 0; status == 0 && !o->no_names && i < r->nobject; i++) {
        const tl_recording_object *object = &r->object[i];
        tl_elf *elf = NULL;
        if (object == given || !object->path || !has_functions(r, object))
            continue;
        status = open_object(&s->trace, object, &elf, e);
        if (status == 0 && elf) {
            tl_error why = {0};
            status = name_functions(s, o, object, elf, &why);
            if (status < 0 && !is_failure(status, &why)) { /* no map, or a broken one */
                const tl_damage missing = about(object, "symbols.missing");
                status = tl_trace_report(&s->trace, e, &missing, "functions stay unnamed: %s", why.message);
            } else if (status < 0 && e) {
                *e = why;
                e->offset = TL_NO_OFFSET;
            }
        }
        tl_elf_close(elf);
    }
    return status;
}
