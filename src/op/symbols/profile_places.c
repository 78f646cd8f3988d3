/* Names for functions of a profile that are only places. Those of one binary are looked up together. */
#include "op/symbols/profile_places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/same_text.h"
#include "model/profile_impl.h"
#include "model/recording.h"
#include "op/symbols/named_file.h"
#include "op/symbols/place_name.h"
#include "op/symbols/profile_names.h"
#include "op/symbols/symbolize.h"

typedef struct naming {
    tl_profile *profile;
    const tl_source *source;
    uint32_t *place; /* functions that are places, by binary */
    uint32_t n;
    tl_elf *given; /* by the user; or NULL */
    uint64_t room; /* bytes of files that may still be opened, see named_file.h */
    bool changed;
} naming;

static int no_memory(const naming *g, tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to name %" PRIu32 " functions", g->n);
}

bool tl_profile_is_place(const tl_function *f)
{
    return f->name && !f->linkage_name && tl_is_place_name(f->name, f->address);
}

static int by_binary(const void *a, const void *b, void *functions)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const tl_function *f = (const tl_function *)functions + x, *g = (const tl_function *)functions + y;
    if (f->module != g->module) /* interned */
        return (uintptr_t)f->module < (uintptr_t)g->module ? -1 : 1;
    if (f->library != g->library)
        return (uintptr_t)f->library < (uintptr_t)g->library ? -1 : 1;
    return TL_COMPARE(x, y);
}

static int find_places(naming *g, tl_error *e)
{
    tl_profile *p = g->profile;
    uint8_t *alone = NULL;
    g->place = tl_alloc((size_t)p->nfunction + 1, sizeof *g->place);
    if (!g->place)
        return no_memory(g, e);
    for (uint32_t i = 0; i < p->nfunction; i++)
        if (tl_profile_is_place(&p->function[i]))
            g->place[g->n++] = i;
    const int status = g->n ? tl_profile_alone(p, &alone, e) : 0;
    uint32_t n = 0;
    for (uint32_t i = 0; status == 0 && i < g->n; i++)
        if (alone[g->place[i]])
            g->place[n++] = g->place[i];
    free(alone);
    g->n = n;
    if (n)
        qsort_r(g->place, g->n, sizeof *g->place, by_binary, p->function);
    return status;
}

static int take_name(naming *g, tl_function *f, const tl_function *known, tl_error *e)
{
    f->name = tl_profile_intern(g->profile, known->name);
    f->linkage_name = tl_profile_intern(g->profile, known->linkage_name ? known->linkage_name : known->name);
    g->changed = true;
    return f->name && f->linkage_name ? 0 : no_memory(g, e);
}

/* Looks n functions of one binary up in its file. */
static int name_in(naming *g, const uint32_t *place, uint32_t n, tl_elf *elf, tl_error *e)
{
    const tl_symbolize_options options = {.demangle = !g->source->no_demangle};
    tl_function *function = g->profile->function;
    tl_trace t;
    int status = 0;
    tl_trace_init(&t);
    for (uint32_t i = 0; status == 0 && i < n; i++)
        status = tl_trace_add_function(&t, &(tl_function){.id = place[i], .address = function[place[i]].address}, e);
    if (status == 0)
        status = tl_symbolize_some(&t, elf, &options, e);
    for (uint32_t i = 0; status == 0 && i < n; i++)
        if (t.function[i].name)
            status = take_name(g, &function[place[i]], &t.function[i], e);
    tl_trace_fini(&t);
    return status;
}

/* A missing or broken file names nothing; lack of memory and failing disks are failures. */
static int harmless(int status, const tl_error *why, tl_error *e)
{
    if (status == 0 || (status != TL_ENOMEM && !(status == TL_EIO && why->sys_errno == EIO)))
        return 0;
    if (e)
        *e = *why;
    return status;
}

/* Opens a file that the profile names; NULL: not to be used. */
static int open_named(naming *g, const tl_function *f, tl_elf **elf, tl_error *e)
{
    const char *path = f->library ? f->library : g->profile->exe;
    struct stat st;
    tl_error why = {0};
    *elf = NULL;
    if (g->source->no_names || !f->module || !path || tl_named_file(path, &st) != TL_NAMED_GOOD ||
        !tl_named_fits(&g->room, &st))
        return 0;
    const int status = tl_elf_open(elf, path, &why);
    if (status == 0 && !tl_same_text(f->module, tl_elf_build_id(*elf))) {
        tl_elf_close(*elf);
        *elf = NULL;
    }
    return harmless(status, &why, e);
}

static int name_binary(naming *g, const uint32_t *place, uint32_t n, tl_error *e)
{
    const tl_function *f = &g->profile->function[place[0]];
    tl_error why = {0};
    tl_elf *elf;
    if (g->given && tl_same_text(f->module, tl_elf_build_id(g->given))) {
        g->profile->used_exe = true;
        return name_in(g, place, n, g->given, e);
    }
    int status = open_named(g, f, &elf, e);
    if (status < 0 || !elf)
        return status;
    status = harmless(name_in(g, place, n, elf, &why), &why, e);
    tl_elf_close(elf);
    return status;
}

/* Of as many binaries as a recording has. */
static int name_all(naming *g, tl_error *e)
{
    const tl_function *f = g->profile->function;
    int status = 0;
    uint32_t binaries = 0;
    for (uint32_t i = 0, end; status == 0 && i < g->n && binaries < TL_RECORDING_OBJECTS_MAX; i = end, binaries++) {
        end = i + 1;
        while (end < g->n && f[g->place[end]].module == f[g->place[i]].module &&
               f[g->place[end]].library == f[g->place[i]].library)
            end++;
        status = name_binary(g, g->place + i, end - i, e);
    }
    return status;
}

int tl_profile_name_places(tl_profile *p, const tl_source *s, tl_error *e)
{
    naming g = {.profile = p, .source = s, .room = TL_NAMED_BYTES_MAX};
    int status = find_places(&g, e);
    if (status == 0 && g.n && s->exe)
        status = tl_elf_open(&g.given, s->exe, e);
    if (status == 0)
        status = name_all(&g, e);
    if (status == 0 && g.changed && !tl_profile_index_functions(p))
        status = no_memory(&g, e);
    tl_elf_close(g.given);
    free(g.place);
    if (status < 0 && e)
        e->offset = TL_NO_OFFSET; /* an offset in the binary would be taken for one in the profile */
    return status;
}
