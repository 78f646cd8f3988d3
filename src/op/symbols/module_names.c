/* Names functions of loaded binaries.
 *
 * Processes load the same file at different places, and a trace may name one file very often: so modules are grouped by
 * file first, to open each file and read its symbols once. */
#include "op/symbols/module_names.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "base/pair_map.h"
#include "op/symbols/named_file.h"
#include "op/symbols/place_name.h"
#include "op/symbols/symbolize.h"

#define NONE UINT32_MAX

/* Modules of one file, in the order of the trace. */
typedef struct group {
    uint32_t first, last;
    struct stat st;
} group;

typedef struct naming {
    tl_source *source;
    const tl_module *module;
    uint32_t n;
    uint32_t *by_base;        /* [n] modules with a path, by base */
    uint32_t nplaced;         /* of these */
    uint32_t *first_function; /* [n] of a module; or NONE */
    uint32_t *next_function;  /* [functions of the trace] of the same module */
    uint32_t *next_module;    /* [n] of the same file */
    uint32_t *wanted;         /* [functions of the trace] those to look for in a file */
    tl_pair_map file;         /* device and number of a file -> group */
    group *group;             /* [n] */
} naming;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the names of functions");
}

static int by_base(const void *a, const void *b, void *modules)
{
    const tl_module *m = modules;
    const uint64_t x = m[*(const uint32_t *)a].base, y = m[*(const uint32_t *)b].base;
    return x < y ? -1 : x > y;
}

/* The module that contains an address, or NONE. */
static uint32_t module_of_address(const naming *g, uint64_t address)
{
    uint32_t low = 0, high = g->nplaced;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (g->module[g->by_base[middle]].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NONE;
    const tl_module *m = &g->module[g->by_base[low - 1]];
    return address - m->base < m->size ? g->by_base[low - 1] : NONE;
}

/* Chains the functions of each module, in the order of the trace. */
static void chain_functions(naming *g)
{
    const tl_trace *t = &g->source->trace;
    for (uint32_t i = 0; i < g->n; i++) {
        g->first_function[i] = NONE;
        if (g->module[i].path)
            g->by_base[g->nplaced++] = i;
    }
    if (g->nplaced)
        qsort_r(g->by_base, g->nplaced, sizeof *g->by_base, by_base, (void *)(uintptr_t)g->module);
    for (uint32_t k = t->nfunction; k-- > 0;) {
        const uint32_t i = module_of_address(g, (uint64_t)t->function[k].id);
        if (i == NONE)
            continue;
        g->next_function[k] = g->first_function[i];
        g->first_function[i] = k;
    }
}

static int start(naming *g, tl_error *e)
{
    const size_t functions = (size_t)g->source->trace.nfunction + 1, modules = (size_t)g->n + 1;
    g->by_base = tl_alloc(modules, sizeof *g->by_base);
    g->first_function = tl_alloc(modules, sizeof *g->first_function);
    g->next_module = tl_alloc(modules, sizeof *g->next_module);
    g->group = tl_alloc(modules, sizeof *g->group);
    g->next_function = tl_alloc(functions, sizeof *g->next_function);
    g->wanted = tl_alloc(functions, sizeof *g->wanted);
    if (!g->by_base || !g->first_function || !g->next_module || !g->group || !g->next_function || !g->wanted)
        return no_memory(e);
    chain_functions(g);
    return 0;
}

static void end(naming *g)
{
    free(g->by_base);
    free(g->first_function);
    free(g->next_module);
    free(g->group);
    free(g->next_function);
    free(g->wanted);
    tl_pair_map_fini(&g->file);
}

/* Whether the file is the recorded one. *status: of the note if it is not. */
static bool is_recorded(naming *g, const tl_module *m, const char *id, const char *path, int *status, tl_error *e)
{
    if (!m->build_id[0] || !id || strcmp(m->build_id, id) == 0)
        return true;
    const tl_damage note = {.offset = TL_NO_OFFSET, .at = m->base, .kind = TL_DAMAGE_NOTE, .rule = "symbols.build-id"};
    *status =
        tl_trace_report(&g->source->trace, e, &note,
                        "%s has changed since the trace was recorded; its functions stay unnamed", tl_base_name(path));
    return false;
}

/* Names the functions g->wanted, which have their addresses in the file. */
static int name_wanted(naming *g, uint32_t n, tl_elf *elf, tl_error *e)
{
    tl_source *s = g->source;
    tl_trace *t = &s->trace;
    const char *id = tl_elf_build_id(elf), *module = id ? tl_trace_intern(t, id) : NULL;
    const tl_symbolize_options o = {.demangle = !s->no_demangle, .lines = !s->no_lines, .only = g->wanted, .nonly = n};
    const int status = tl_symbolize_some(t, elf, &o, e);
    for (uint32_t i = 0; i < n; i++) {
        tl_function *f = &t->function[g->wanted[i]];
        f->module = f->name ? module : NULL;
        if (!f->name)
            f->address = 0;
    }
    return status;
}

/* Names the functions of chained modules from their file. */
static int name_group(naming *g, uint32_t first, const char *path, tl_error *e)
{
    tl_trace *t = &g->source->trace;
    tl_elf *elf = NULL;
    uint32_t n = 0;
    int status = tl_elf_open(&elf, path, e);
    if (status < 0)
        return status;
    const char *id = tl_elf_build_id(elf);
    for (uint32_t i = first; status == 0 && i != NONE; i = g->next_module[i]) {
        const tl_module *m = &g->module[i];
        if (!is_recorded(g, m, id, path, &status, e))
            continue;
        const uint64_t bias = m->is_absolute || tl_elf_type(elf) == ET_EXEC ? 0 : m->base;
        for (uint32_t k = g->first_function[i]; k != NONE; k = g->next_function[k])
            if (!t->function[k].name) {
                t->function[k].address = (uint64_t)t->function[k].id - bias;
                g->wanted[n++] = k;
            }
    }
    if (status == 0 && n > 0)
        status = name_wanted(g, n, elf, e);
    tl_elf_close(elf);
    return status;
}

/* All functions are at their addresses in the file. */
static int name_without_modules(naming *g, const char *path, tl_error *e)
{
    tl_trace *t = &g->source->trace;
    tl_elf *elf = NULL;
    uint32_t n = 0;
    int status = tl_elf_open(&elf, path, e);
    for (uint32_t k = 0; status == 0 && k < t->nfunction; k++)
        if (!t->function[k].name) {
            t->function[k].address = (uint64_t)t->function[k].id;
            g->wanted[n++] = k;
        }
    if (status == 0 && n > 0)
        status = name_wanted(g, n, elf, e);
    tl_elf_close(elf);
    return status;
}

/* The module of a binary given by the user, or NONE. */
static uint32_t module_of_file(const naming *g, const char *exe)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->module[i].path && strcmp(tl_base_name(g->module[i].path), tl_base_name(exe)) == 0)
            return i;
    for (uint32_t k = 0; k < g->source->trace.nfunction; k++) {
        const uint32_t i = module_of_address(g, (uint64_t)g->source->trace.function[k].id);
        if (i != NONE)
            return i;
    }
    return NONE;
}

static bool has_nameless(const naming *g, uint32_t module)
{
    uint32_t k = g->first_function[module];
    while (k != NONE && g->source->trace.function[k].name)
        k = g->next_function[k];
    return k != NONE;
}

/* Groups the modules by file. */
static int find_files(naming *g, uint32_t given, tl_error *e)
{
    for (uint32_t i = 0; i < g->n; i++) {
        struct stat st;
        g->next_module[i] = NONE;
        if (i == given || !g->module[i].path || !has_nameless(g, i) ||
            tl_named_file(g->module[i].path, &st) != TL_NAMED_GOOD)
            continue;
        uint32_t k = tl_pair_map_get(&g->file, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
        if (k == TL_HASH_NONE) {
            k = tl_pair_map_add(&g->file, (uint64_t)st.st_dev, (uint64_t)st.st_ino, g->n);
            if (k == TL_HASH_NONE)
                return no_memory(e);
            g->group[k] = (group){.first = i, .last = i, .st = st};
        } else {
            g->next_module[g->group[k].last] = i;
            g->group[k].last = i;
        }
    }
    return 0;
}

/* If a file is gone, or not an ELF file, its functions stay addresses. */
static int name_groups(naming *g, tl_error *e)
{
    uint64_t room = TL_NAMED_BYTES_MAX;
    uint32_t left_out = 0;
    int status = 0;
    for (uint32_t k = 0; status == 0 && k < g->file.n; k++) {
        if (!tl_named_fits(&room, &g->group[k].st))
            left_out++;
        else if (name_group(g, g->group[k].first, g->module[g->group[k].first].path, NULL) == TL_ENOMEM)
            status = no_memory(e);
    }
    const tl_damage note = {.offset = TL_NO_OFFSET, .kind = TL_DAMAGE_NOTE, .rule = "symbols.many-bytes"};
    if (status == 0 && left_out)
        status = tl_trace_report(&g->source->trace, e, &note,
                                 "functions of %" PRIu32 " binaries stay unnamed: with them it would be over %" PRIu64
                                 " GiB",
                                 left_out, TL_NAMED_BYTES_MAX >> 30);
    return status;
}

/* Functions that no file names are called by their place in it. */
static int name_by_place(naming *g, tl_error *e)
{
    tl_trace *t = &g->source->trace;
    for (uint32_t k = 0; k < t->nfunction; k++) {
        tl_function *f = &t->function[k];
        const uint32_t i = f->name ? NONE : module_of_address(g, (uint64_t)f->id);
        char name[TL_PLACE_NAME];
        if (i == NONE)
            continue;
        const tl_module *m = &g->module[i];
        f->address = (uint64_t)f->id - (m->is_absolute ? 0 : m->base);
        f->name = tl_trace_intern(t, tl_place_name(name, m->path, f->address));
        if (!f->name)
            return no_memory(e);
    }
    return 0;
}

int tl_name_modules(tl_source *s, const tl_module *module, uint32_t n, tl_error *e)
{
    naming g = {.source = s, .module = module, .n = n};
    uint32_t given = NONE;
    s->trace.exe = s->exe;
    int status = start(&g, e);
    if (status == 0 && s->exe) {
        given = module_of_file(&g, s->exe);
        if (given != NONE)
            g.next_module[given] = NONE;
        status = given != NONE ? name_group(&g, given, s->exe, e) : name_without_modules(&g, s->exe, e);
    }
    if (status == 0 && !s->no_names)
        status = find_files(&g, given, e);
    if (status == 0)
        status = name_groups(&g, e);
    if (status == 0 && !s->no_names)
        status = name_by_place(&g, e);
    end(&g);
    return status;
}
