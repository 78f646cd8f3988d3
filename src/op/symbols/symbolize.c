/* Gives the functions of a trace their names and lines.
 *
 * Sorts the wanted addresses once, then looks up each symbol of the binary among them: so a million functions and some
 * million symbols take a second, without an index of all symbols. */
#include "op/symbols/symbolize.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "op/symbols/debug_file.h"
#include "op/symbols/demangle.h"
#include "op/symbols/dwarf_lines.h"

/* A longer name is left unknown: symbols may share their text, so that a small file could name many functions with
 * very long names. The second limit is on all names together, of 512 bytes for each of a million functions. */
#define NAME_BYTES_MAX  65536u
#define NAMES_BYTES_MAX (UINT64_C(512) << 20)

/* Functions at one address; usually just one. */
struct place {
    uint64_t address;
    uint32_t first, n; /* in `order` */
    uint32_t rank;     /* of the best symbol so far */
    const char *name;  /* its name, borrowed from the ELF file; NULL: none yet */
};

struct resolver {
    tl_trace *t;
    const tl_symbolize_options *options;
    uint32_t *order; /* indices of the wanted functions by address */
    uint32_t n;
    struct place *place; /* in the order of addresses */
    uint32_t nplace;
    uint64_t room; /* bytes of names that are still allowed */
};

enum { RANK_GLOBAL, RANK_WEAK, RANK_LOCAL, RANK_OTHER, RANK_NONE };

static int by_address(const void *a, const void *b, void *functions)
{
    const tl_function *f = functions;
    uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
    if (f[ia].address != f[ib].address)
        return f[ia].address < f[ib].address ? -1 : 1;
    return ia < ib ? -1 : ia > ib;
}

/* Collects the functions with an address but no name. In an object file 0 is a normal address. */
static int collect(struct resolver *r, bool zero_is_address, tl_error *e)
{
    const tl_function *f = r->t->function;
    uint32_t total = r->options->only ? r->options->nonly : r->t->nfunction;
    r->order = calloc((size_t)total + 1, sizeof *r->order);
    r->place = calloc((size_t)total + 1, sizeof *r->place);
    if (!r->order || !r->place)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to name %" PRIu32 " functions", total);

    const uint32_t *only = r->options->only;
    bool sorted = true;
    for (uint32_t k = 0; k < total; k++) {
        const uint32_t i = only ? only[k] : k;
        if (f[i].name || (f[i].address == 0 && !zero_is_address))
            continue;
        if (r->n > 0 && f[i].address < f[r->order[r->n - 1]].address)
            sorted = false;
        r->order[r->n++] = i;
    }
    if (!sorted)
        qsort_r(r->order, r->n, sizeof *r->order, by_address, r->t->function);
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t address = f[r->order[i]].address;
        if (r->nplace == 0 || r->place[r->nplace - 1].address != address)
            r->place[r->nplace++] = (struct place){.address = address, .first = i, .rank = RANK_NONE};
        r->place[r->nplace - 1].n++;
    }
    return TL_OK;
}

static struct place *find_place(const struct resolver *r, uint64_t address)
{
    uint32_t low = 0, high = r->nplace;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->place[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->nplace && r->place[low].address == address ? &r->place[low] : NULL;
}

static uint32_t rank_of(uint8_t binding)
{
    switch (binding) {
    case STB_GLOBAL:
        return RANK_GLOBAL;
    case STB_WEAK:
        return RANK_WEAK;
    case STB_LOCAL:
        return RANK_LOCAL;
    default:
        return RANK_OTHER;
    }
}

/* The first symbol of the best rank at an address wins. */
static int take_symbol(void *arg, const tl_elf_symbol *s)
{
    struct resolver *r = arg;
    if ((s->type != STT_FUNC && s->type != STT_GNU_IFUNC) || s->section == SHN_UNDEF || s->name[0] == '\0')
        return 0;
    struct place *p = find_place(r, s->value);
    if (p && rank_of(s->binding) < p->rank) {
        p->rank = rank_of(s->binding);
        p->name = s->name;
    }
    return 0;
}

/* Interns a name if there is room for it; otherwise *out stays NULL. */
static int take_name(struct resolver *r, const char *s, const char **out, tl_error *e)
{
    size_t n = strnlen(s, NAME_BYTES_MAX + 1);
    if (n > NAME_BYTES_MAX || n > r->room)
        return TL_OK;
    r->room -= n;
    *out = tl_trace_intern(r->t, s);
    return *out ? TL_OK : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the names of functions");
}

static int name_place(struct resolver *r, const struct place *p, bool demangle, tl_error *e)
{
    const char *linkage_name = NULL, *name = NULL;
    int rc = take_name(r, p->name, &linkage_name, e);
    if (rc < 0 || !linkage_name)
        return rc;
    char *readable = demangle ? tl_demangle(linkage_name) : NULL;
    if (readable) {
        rc = take_name(r, readable, &name, e);
        free(readable);
        if (rc < 0)
            return rc;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        tl_function *f = &r->t->function[r->order[p->first + i]];
        f->linkage_name = linkage_name;
        f->name = name ? name : linkage_name;
    }
    return TL_OK;
}

static bool has_symtab(const tl_elf *elf)
{
    for (uint32_t i = 1; i < tl_elf_sections(elf); i++)
        if (tl_elf_section_get(elf, i)->type == SHT_SYMTAB)
            return true;
    return false;
}

static bool has_dwarf(const tl_elf *elf)
{
    static const char *const names[] = {".debug_info", ".zdebug_info"};
    for (size_t i = 0; i < TL_COUNT(names); i++) {
        const tl_elf_section *s = tl_elf_section_find(elf, names[i]);
        if (s && s->type != SHT_NOBITS)
            return true;
    }
    return false;
}

/* Names all places. If a binary has only dynamic symbols, its debug file comes first, which has the original table. */
static int resolve_names(struct resolver *r, tl_elf *elf, tl_elf *debug, bool demangle, tl_error *e)
{
    int rc = 0;
    if (debug && !has_symtab(elf)) {
        rc = tl_elf_each_symbol(debug, take_symbol, r, e);
        if (rc != TL_ENOMEM)
            rc = 0; /* a broken debug file counts as missing */
    }
    if (rc >= 0)
        rc = tl_elf_each_symbol(elf, take_symbol, r, e);
    for (uint32_t i = 0; rc >= 0 && i < r->nplace; i++)
        if (r->place[i].name)
            rc = name_place(r, &r->place[i], demangle, e);
    return rc;
}

static int take_line(void *arg, size_t i, const char *file, uint32_t line)
{
    struct resolver *r = arg;
    const char *interned = NULL;
    int rc = take_name(r, file, &interned, NULL);
    for (uint32_t k = 0; interned && k < r->place[i].n; k++) {
        tl_function *f = &r->t->function[r->order[r->place[i].first + k]];
        f->file = interned;
        f->line = line;
    }
    return rc;
}

static int resolve_lines(struct resolver *r, const char *path, tl_error *e)
{
    uint64_t *address = tl_alloc((size_t)r->nplace + 1, sizeof *address);
    if (!address)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to find %" PRIu32 " source lines", r->nplace);
    for (uint32_t i = 0; i < r->nplace; i++)
        address[i] = r->place[i].address;
    r->room = NAMES_BYTES_MAX; /* counted separately: functions share their files */
    int rc = tl_dwarf_lines(path, address, r->nplace, take_line, r);
    free(address);
    return rc < 0 ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the source lines of functions") : TL_OK;
}

/* Adds a note about a debug file that is of another build. */
static int say_refused(tl_trace *t, const char *path, tl_error *e)
{
    const tl_damage note = {.offset = TL_NO_OFFSET, .kind = TL_DAMAGE_NOTE, .rule = "symbols.debug-file"};
    return tl_trace_report(t, e, &note, "%s is a debug file of another build, and is not used", path);
}

int tl_symbolize(tl_trace *t, tl_elf *elf, bool demangle, bool lines, tl_error *e)
{
    return tl_symbolize_some(t, elf, &(tl_symbolize_options){.demangle = demangle, .lines = lines}, e);
}

int tl_symbolize_some(tl_trace *t, tl_elf *elf, const tl_symbolize_options *o, tl_error *e)
{
    struct resolver r = {.t = t, .options = o, .room = NAMES_BYTES_MAX};
    tl_elf *debug = NULL;
    char *refused = NULL;
    /* libdw does not apply relocations: in an object file all functions would begin at 0. */
    bool object = tl_elf_type(elf) == ET_REL, want_lines = o->lines && !object;

    int rc = collect(&r, object, e);
    if (rc < 0 || r.n == 0)
        goto out;
    if (!has_symtab(elf) || (want_lines && !has_dwarf(elf)))
        rc = tl_debug_file_open(&debug, elf, TL_DEBUG_ROOT, &refused, e);
    if (rc == 0 && refused && !has_symtab(elf))
        rc = say_refused(t, refused, e);
    if (rc >= 0)
        rc = resolve_names(&r, elf, debug, o->demangle, e);
    if (rc >= 0 && want_lines && (has_dwarf(elf) || debug))
        rc = resolve_lines(&r, tl_elf_path(has_dwarf(elf) ? elf : debug), e);
out:
    tl_elf_close(debug);
    free(refused);
    free(r.place);
    free(r.order);
    return rc < 0 ? rc : TL_OK;
}
