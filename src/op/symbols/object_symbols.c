/* Names for the functions of a recording, which names their binaries itself.
 *
 * A trace may name any file. So only regular files are opened, and only names and lines of functions are used; if the
 * trace knows the build-id, the file must have the same.
 *
 * Functions that no file names are called by their place in it.
 *
 * Notes may have the names, too. Then a binary is only read for source lines, and a missing one does not matter. */
#include "op/symbols/object_symbols.h"
#include "base/text/same_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "model/recording.h"
#include "op/symbols/given_files.h"
#include "op/symbols/named_file.h"
#include "op/symbols/place_name.h"
#include "op/symbols/symbolize.h"

#define NONE    UINT32_MAX
#define MISSING "symbols.missing"
#define CHANGED "symbols.changed"

enum { REASON_BYTES = 8192 }; /* a path, and some words */

typedef struct naming {
    tl_source *source;
    const tl_open_options *options;
    uint64_t room;   /* bytes of files that may still be opened, see named_file.h */
    uint32_t *first; /* [objects] its first function from the notes or the input; or NONE */
    uint32_t *next;  /* [such functions] the next one of the same object */
} naming;

/* Distinguishes lack of memory and failing disks from a missing or wrong file. */
static bool is_failure(int status, const tl_error *why)
{
    return status == TL_ENOMEM || (status == TL_EIO && why->sys_errno == EIO);
}

/* Are the addresses of its functions in the object's file, and not in notes? */
static bool has_map(const tl_source *s, const tl_recording_object *o)
{
    return o->count > 0 && !o->is_patched && s->reader->functions;
}

/* Does the object have functions whose names are only in its file? */
static bool lacks_names(const naming *g, const tl_recording_object *o)
{
    const tl_source *s = g->source;
    if (has_map(s, o))
        return true;
    for (uint32_t i = g->first[o - s->trace.recording->object]; i != NONE; i = g->next[i])
        if (!s->trace.function[i].name)
            return true;
    return false;
}

/* Adds a note that says why functions of an object stay unnamed, if any do. It has no offset in the trace. */
__attribute__((format(printf, 5, 6))) static int stay_unnamed(naming *g, const tl_recording_object *o, const char *rule,
                                                              tl_error *e, const char *format, ...)
{
    const tl_damage note = {.offset = TL_NO_OFFSET, .at = o->id, .kind = TL_DAMAGE_NOTE, .rule = rule};
    char why[REASON_BYTES];
    if (!lacks_names(g, o))
        return 0;
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return tl_trace_report(&g->source->trace, e, &note, "functions stay unnamed: %s", why);
}

/* Opens the file of an object; NULL is not an error: a note says why. */
static int open_object(naming *g, const tl_recording_object *o, tl_elf **elf, tl_error *e)
{
    struct stat st;
    tl_error why = {0};
    *elf = NULL;
    const tl_named is = tl_named_file(o->path, &st);
    if (is == TL_NAMED_MISSING)
        return stay_unnamed(g, o, MISSING, e, "there is no file %s", o->path);
    if (is == TL_NAMED_IRREGULAR)
        return stay_unnamed(g, o, MISSING, e, "this is not a regular file: %s", o->path);
    if (!tl_named_fits(&g->room, &st))
        return stay_unnamed(g, o, MISSING, e, "with %s the binaries would have over %" PRIu64 " GiB", o->path,
                            TL_NAMED_BYTES_MAX >> 30);
    int status = tl_elf_open(elf, o->path, &why);
    if (is_failure(status, &why)) {
        if (e)
            *e = why;
        return status;
    }
    return status < 0 ? stay_unnamed(g, o, MISSING, e, "%s", why.message) : 0;
}

/* Does the file have the recorded build-id? If neither has one, compares the number of functions. */
static bool is_same_file(const tl_recording_object *o, const tl_elf *elf)
{
    return tl_same_text(o->build_id, tl_elf_build_id(elf));
}

/* Adds the functions with sleds: run k of the map is function base + k. */
static int add_functions(naming *g, const tl_recording_object *o, const char *library, tl_elf *elf, tl_error *e)
{
    tl_source *s = g->source;
    tl_trace map;
    tl_trace_init(&map);
    int status = s->reader->functions(s->state, elf, 0, &map, e);
    if (status == 0 && map.nfunction != o->count)
        status = stay_unnamed(g, o, CHANGED, e, "%s has %" PRIu32 " with sleds, %" PRIu32 " were recorded",
                              tl_base_name(tl_elf_path(elf)), map.nfunction, o->count);
    else if (status == 0)
        status = tl_add_functions_of(&s->trace, &map, (int64_t)o->base, o->build_id, library, e);
    tl_trace_fini(&map);
    return status;
}

/* The functions of an object: those from the notes, and those from `added` on, which its map added. The caller frees
 * *out. */
static int find_functions(const naming *g, const tl_recording_object *o, uint32_t added, uint32_t **out, uint32_t *n,
                          tl_error *e)
{
    const tl_trace *t = &g->source->trace;
    const uint32_t first = g->first[o - t->recording->object];
    size_t most = 1 + (size_t)(t->nfunction - added);
    for (uint32_t i = first; i != NONE; i = g->next[i])
        most++;
    uint32_t *found = *out = tl_alloc(most, sizeof *found);
    if (!found)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to name functions");
    for (uint32_t i = first; i != NONE; i = g->next[i])
        found[(*n)++] = i;
    for (uint32_t i = added; i < t->nfunction; i++)
        if (tl_recording_home(t->recording, t->function[i].id) == o)
            found[(*n)++] = i;
    return 0;
}

/* Names in notes stay if the binary has none: it is the same, and adds the lines. */
static int symbolize(naming *g, tl_elf *elf, const uint32_t *found, uint32_t n, tl_error *e)
{
    tl_trace *t = &g->source->trace;
    const tl_symbolize_options symbols = {
        .demangle = !g->options->no_demangle, .lines = !g->options->no_lines, .only = found, .nonly = n};
    const char **noted = calloc(n, sizeof *noted);
    if (!noted)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to name functions");
    for (uint32_t i = 0; i < n; i++) {
        noted[i] = t->function[found[i]].name;
        t->function[found[i]].name = NULL;
    }
    const int status = tl_symbolize_some(t, elf, &symbols, e);
    for (uint32_t i = 0; i < n; i++) {
        tl_function *f = &t->function[found[i]];
        if (!f->name)
            f->name = f->linkage_name = noted[i];
    }
    free(noted);
    return status;
}

static int name_functions(naming *g, const tl_recording_object *o, tl_elf *elf, tl_error *e)
{
    tl_source *s = g->source;
    if (!is_same_file(o, elf)) {
        const char *id = tl_elf_build_id(elf);
        return stay_unnamed(g, o, CHANGED, e, "%s has %s%s, that of the recording has %s",
                            tl_base_name(tl_elf_path(elf)), id ? "build-id " : "no build-id", id ? id : "",
                            o->build_id ? o->build_id : "none");
    }
    const uint32_t told = s->trace.nfunction;
    uint32_t *found = NULL, n = 0;
    int status = 0;
    if (has_map(s, o))
        status = add_functions(g, o, o == tl_recording_program(s->trace.recording) ? NULL : o->path, elf, e);
    if (status == 0)
        status = find_functions(g, o, told, &found, &n, e);
    if (status == 0 && n > 0)
        status = symbolize(g, elf, found, n, e);
    free(found);
    return status;
}

/* The object of the binary given by the user: the one with its build-id, else the program itself. */
static const tl_recording_object *object_of(const tl_recording *r, const tl_elf *elf)
{
    const char *id = tl_elf_build_id(elf);
    for (uint32_t i = 0; id && i < r->nobject; i++)
        if (tl_same_text(r->object[i].build_id, id))
            return &r->object[i];
    return tl_recording_program(r);
}

/* Names functions from the binary given by the user. *given: its object. */
static int name_given(naming *g, const tl_recording_object **given, tl_error *e)
{
    tl_trace *t = &g->source->trace;
    tl_elf *elf = NULL;
    int status = tl_elf_open(&elf, g->options->exe, e);
    if (status < 0)
        return status;
    *given = object_of(t->recording, elf);
    t->exe = g->source->exe;
    if (*given)
        status = name_functions(g, *given, elf, e);
    tl_elf_close(elf);
    if (status < 0 && e)
        e->offset = TL_NO_OFFSET; /* an offset in the binary would be taken for one in the trace */
    return status;
}

/* Names functions from the file of an object in the notes. */
static int name_object(naming *g, const tl_recording_object *object, tl_error *e)
{
    tl_elf *elf = NULL;
    tl_error why = {0};
    int status = open_object(g, object, &elf, e);
    if (status < 0 || !elf)
        return status;
    status = name_functions(g, object, elf, &why);
    if (status < 0 && !is_failure(status, &why)) { /* no map, or a broken one */
        status = stay_unnamed(g, object, MISSING, e, "%s", why.message);
    } else if (status < 0 && e) {
        *e = why;
        e->offset = TL_NO_OFFSET;
    }
    tl_elf_close(elf);
    return status;
}

/* Chains the functions known so far by object. */
static int chain_functions(naming *g, const tl_recording *r, tl_error *e)
{
    const tl_trace *t = &g->source->trace;
    g->first = tl_alloc((size_t)r->nobject + 1, sizeof *g->first);
    g->next = tl_alloc((size_t)t->nfunction + 1, sizeof *g->next);
    if (!g->first || !g->next)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to name functions");
    for (uint32_t i = 0; i < r->nobject; i++)
        g->first[i] = NONE;
    for (uint32_t i = t->nfunction; i-- > 0;) {
        const tl_recording_object *o = tl_recording_home(r, t->function[i].id);
        if (o) {
            g->next[i] = g->first[o - r->object];
            g->first[o - r->object] = i;
        }
    }
    return 0;
}

/* Functions that no file names are called by their place: "lua5.4+0x8870", the address in the file. */
static int name_by_place(tl_trace *t, tl_error *e)
{
    for (uint32_t i = 0; i < t->nfunction; i++) {
        tl_function *f = &t->function[i];
        const tl_recording_object *o = f->name ? NULL : tl_recording_home(t->recording, f->id);
        if (!o || !o->path)
            continue;
        char name[TL_PLACE_NAME];
        f->name = tl_trace_intern(t, tl_place_name(name, o->path, f->address));
        if (!f->name)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to name functions");
    }
    return 0;
}

int tl_object_symbols(tl_source *s, const tl_open_options *o, tl_error *e)
{
    const tl_recording *r = s->trace.recording;
    const tl_recording_object *given = NULL;
    naming g = {.source = s, .options = o, .room = TL_NAMED_BYTES_MAX};
    int status = chain_functions(&g, r, e);
    if (status == 0 && o->exe)
        status = name_given(&g, &given, e);
    for (uint32_t i = 0; status == 0 && !o->no_names && i < r->nobject; i++) {
        const tl_recording_object *object = &r->object[i];
        const bool wanted = g.first[i] != NONE || has_map(s, object);
        if (object != given && object->path && wanted && (!o->no_lines || lacks_names(&g, object)))
            status = name_object(&g, object, e);
    }
    if (status == 0 && !o->no_names)
        status = name_by_place(&s->trace, e);
    free(g.first);
    free(g.next);
    return status;
}
