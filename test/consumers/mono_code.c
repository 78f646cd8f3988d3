/* Where code is in the source: the runtime's debug information, as il_map items and as lines. */
#include "mono_code.h"

#include <mono/metadata/mono-debug.h>
#include <stdlib.h>
#include <string.h>

#define FILES 64

bool code_wants_lines;
static char *files[FILES]; /* files written; iid = index */
static unsigned nfiles;
static uint32_t nlines; /* 0 is an unknown one */

/* A piece of a function, from this native offset on. */
struct code_place {
    uint32_t native, row, column, line;
    char *file;
};

void code_read(code *c, MonoMethod *m, u64 size)
{
    /* The header does not describe an entry: the offsets in intermediate and in native code. */
    const struct pair {
        uint32_t il, native;
    } * entry;
    *c = (code){0};
    MonoDebugMethodJitInfo *d = mono_debug_enabled() ? mono_debug_find_method(m, mono_domain_get()) : NULL;
    FILE *to = open_memstream(&c->map, &c->map_size);
    if (!to)
        abort();
    c->place = d ? calloc(d->num_line_numbers + 1, sizeof *c->place) : NULL;
    entry = d ? (const struct pair *)(const void *)d->line_numbers : NULL;
    for (uint32_t i = 0; d && i < d->num_line_numbers; i++) {
        const u64 until = i + 1 < d->num_line_numbers ? entry[i + 1].native : size;
        if (until <= entry[i].native)
            continue;
        fprintf(to, " 0x%x:0x%x:0x%llx", entry[i].il, entry[i].native, until);
        MonoDebugSourceLocation *l =
            code_wants_lines ? mono_debug_lookup_source_location(m, entry[i].native, mono_domain_get()) : NULL;
        if (l && c->place)
            c->place[c->nplaces++] = (struct code_place){entry[i].native, l->row, l->column, 0, strdup(l->source_file)};
        if (l)
            mono_debug_free_source_location(l);
    }
    fclose(to);
    if (d)
        mono_debug_free_method_jit_info(d);
}

static unsigned file_iid(const char *name)
{
    for (unsigned i = 0; i < nfiles; i++)
        if (strcmp(files[i], name) == 0)
            return i;
    if (nfiles == FILES)
        return 0;
    fprintf(log_file, "fil src 0x%08X \"%s\"\n", nfiles, name);
    files[nfiles] = strdup(name);
    return nfiles++;
}

void code_put_lines(code *c, uint32_t function)
{
    for (uint32_t i = 0; i < c->nplaces; i++) {
        struct code_place *p = &c->place[i];
        if (i > 0 && p[-1].row == p->row) {
            p->line = p[-1].line;
            continue;
        }
        const unsigned file = file_iid(p->file);
        p->line = ++nlines;
        fprintf(log_file, "lin src 0x%08X 0x%08X 0x%08X %u %u %u %u\n", p->line, file, function, p->row, p->column,
                p->row, p->column);
    }
}

u64 code_line(const code *c, u64 offset)
{
    uint32_t line = 0;
    for (uint32_t i = 0; c && i < c->nplaces && c->place[i].native <= offset; i++)
        line = c->place[i].line;
    return line;
}
