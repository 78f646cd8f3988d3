/* Functions and their names from the binaries given by the user. */
#include "op/symbols/given_files.h"

#include <stdlib.h>

#include "base/elf/elf_file.h"
#include "base/grow.h"
#include "op/symbols/code_map.h"
#include "op/symbols/symbolize.h"

/* Instructions may be anywhere in a function: adds all functions of the binary. */
static int add_code(tl_source *s, const char *exe, tl_error *e)
{
    int status = tl_code_map_open(&s->code, exe, e);
    for (uint32_t i = 0; status == 0 && i < tl_code_map_symbols(s->code); i++) {
        const tl_code_symbol *c = tl_code_map_symbol(s->code, i);
        const tl_function f = {.id = (int64_t)c->from, .address = c->from, .size = c->to - c->from};
        status = tl_trace_add_function(&s->trace, &f, e);
    }
    return status;
}

/* Function ids get addresses from the binary, addresses get names. */
static int resolve_program(tl_source *s, const tl_open_options *o, tl_error *e)
{
    tl_elf *elf = NULL;
    tl_trace *t = &s->trace;
    int status = tl_elf_open(&elf, o->exe, e);
    if (status == 0)
        status = s->reader->functions ? s->reader->functions(s->state, elf, 0, t, e) : add_code(s, o->exe, e);
    if (status == 0)
        status = tl_symbolize(t, elf, !o->no_demangle, !o->no_lines, e);
    if (status == 0) {
        const char *id = tl_elf_build_id(elf);
        t->exe = tl_trace_intern(t, o->exe);
        t->build_id = id ? tl_trace_intern(t, id) : NULL;
        for (uint32_t i = 0; i < t->nfunction; i++)
            t->function[i].module = t->build_id;
        if (!t->exe || (id && !t->build_id))
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for symbols");
    }
    tl_elf_close(elf);
    return status;
}

int tl_add_functions_of(tl_trace *t, const tl_trace *map, int64_t base, const char *module, const char *library,
                        tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < map->nfunction; i++) {
        const tl_function f = {.id = base + map->function[i].id,
                               .address = map->function[i].address,
                               .module = module,
                               .library = library};
        status = tl_trace_add_function(t, &f, e);
    }
    return status;
}

/* The indices of the map's functions in the trace. The caller frees them. NULL without memory. */
static uint32_t *indices_of(const tl_trace *t, const tl_trace *map)
{
    uint32_t *index = tl_alloc((size_t)map->nfunction + 1, sizeof *index);
    for (uint32_t i = 0; index && i < map->nfunction; i++)
        index[i] = tl_hash_get(&t->function_index, (uint64_t)map->function[i].id);
    return index;
}

static int resolve_object(tl_source *s, const tl_object_file *file, const tl_open_options *o, tl_error *e)
{
    tl_elf *elf = NULL;
    tl_trace map;
    uint32_t *added = NULL;
    tl_trace_init(&map);
    int status = tl_elf_open(&elf, file->path, e);
    if (status == 0)
        status = s->reader->functions(s->state, elf, file->object, &map, e);
    if (status == 0)
        status = tl_add_functions_of(&s->trace, &map, 0, tl_elf_build_id(elf), file->path, e);
    if (status == 0 && !(added = indices_of(&s->trace, &map)))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for symbols");
    const tl_symbolize_options symbols = {
        .demangle = !o->no_demangle, .lines = !o->no_lines, .only = added, .nonly = map.nfunction};
    if (status == 0 && map.nfunction > 0)
        status = tl_symbolize_some(&s->trace, elf, &symbols, e);
    free(added);
    tl_trace_fini(&map);
    tl_elf_close(elf);
    return status;
}

int tl_given_files(tl_source *s, const tl_open_options *o, tl_error *e)
{
    int status = 0;
    if (o->exe && (s->reader->functions || tl_trace_counts_insns(&s->trace)))
        status = resolve_program(s, o, e);
    for (size_t i = 0; status == 0 && s->reader->functions && i < o->nobject; i++)
        status = resolve_object(s, &o->object[i], o, e);
    if (status < 0 && e)
        e->offset = TL_NO_OFFSET; /* an offset in the binary would be taken for one in the trace */
    s->trace.objects_read = status == 0 && s->reader->functions && o->nobject > 0;
    return status;
}
