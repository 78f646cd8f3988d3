/* Functions of a binary by address: collects and sorts symbols, and cuts overlapping ones. */
#include "op/symbols/code_map.h"

#include <elf.h>
#include <stdlib.h>

#include "base/grow.h"
#include "op/symbols/debug_file.h"

/* A symbol as the table has it. */
typedef struct found {
    tl_code_symbol symbol;
    uint32_t rank, number; /* which of several at one address wins: the lowest */
} found;

struct tl_code_map {
    tl_elf *elf, *debug; /* own the names; debug may be NULL */
    tl_code_symbol *symbol;
    uint32_t n;
};

typedef struct collection {
    const tl_elf *elf; /* the file being read */
    found *found;
    uint32_t n, capacity;
    bool no_memory;
} collection;

static uint32_t rank_of(uint8_t binding)
{
    return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : binding == STB_LOCAL ? 2 : 3;
}

static int take_symbol(void *arg, const tl_elf_symbol *s)
{
    collection *c = arg;
    if ((s->type != STT_FUNC && s->type != STT_GNU_IFUNC) || s->section == SHN_UNDEF || s->name[0] == '\0')
        return 0;
    uint64_t room = 0; /* from the symbol to the end of its section */
    if (s->section < tl_elf_sections(c->elf)) {
        const tl_elf_section *in = tl_elf_section_get(c->elf, s->section);
        if (s->value >= in->address && s->value - in->address < in->size)
            room = in->size - (s->value - in->address);
    }
    const uint64_t size = s->size ? s->size : room, most = UINT64_MAX - s->value;
    if (size == 0)
        return 0;
    if (!TL_GROW(c->found, c->n, 1, c->capacity)) {
        c->no_memory = true;
        return 1;
    }
    c->found[c->n] = (found){.symbol = {s->value, s->value + (size < most ? size : most), s->name},
                             .rank = rank_of(s->binding),
                             .number = c->n};
    c->n++;
    return 0;
}

static int by_address(const void *left, const void *right)
{
    const found *a = left, *b = right;
    if (a->symbol.from != b->symbol.from)
        return a->symbol.from < b->symbol.from ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return TL_COMPARE(a->number, b->number);
}

/* Of several symbols at one address keeps the best one, with the largest size. */
static int settle(tl_code_map *m, collection *c, tl_error *e)
{
    m->symbol = tl_alloc((size_t)c->n + 1, sizeof *m->symbol);
    if (c->no_memory || !m->symbol)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the functions of %s", tl_elf_path(m->elf));
    if (c->n)
        qsort(c->found, c->n, sizeof *c->found, by_address);
    for (uint32_t i = 0; i < c->n; i++) {
        const tl_code_symbol *s = &c->found[i].symbol;
        tl_code_symbol *last = m->n ? &m->symbol[m->n - 1] : NULL;
        if (last && last->from == s->from) {
            last->to = s->to > last->to ? s->to : last->to;
            continue;
        }
        if (last && last->to > s->from)
            last->to = s->from;
        m->symbol[m->n++] = *s;
    }
    return 0;
}

static bool has_symtab(const tl_elf *elf)
{
    for (uint32_t i = 1; i < tl_elf_sections(elf); i++)
        if (tl_elf_section_get(elf, i)->type == SHT_SYMTAB)
            return true;
    return false;
}

int tl_code_map_open(tl_code_map **out, const char *path, tl_error *e)
{
    tl_code_map *m = calloc(1, sizeof *m);
    collection c = {0};
    if (!m)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the functions of %s", path);
    int status = tl_elf_open(&m->elf, path, e);
    if (status == 0 && !has_symtab(m->elf))
        status = tl_debug_file_open(&m->debug, m->elf, TL_DEBUG_ROOT, NULL, e);
    if (status >= 0 && m->debug) {
        c.elf = m->debug; /* a broken debug file counts as missing */
        status = tl_elf_each_symbol(m->debug, take_symbol, &c, e) == TL_ENOMEM ? TL_ENOMEM : 0;
    }
    if (status >= 0 && !c.no_memory) {
        c.elf = m->elf;
        status = tl_elf_each_symbol(m->elf, take_symbol, &c, e);
    }
    if (status >= 0)
        status = settle(m, &c, e);
    free(c.found);
    if (status < 0) {
        tl_code_map_close(m);
        return status;
    }
    *out = m;
    return 0;
}

void tl_code_map_close(tl_code_map *m)
{
    if (!m)
        return;
    tl_elf_close(m->debug);
    tl_elf_close(m->elf);
    free(m->symbol);
    free(m);
}

uint32_t tl_code_map_symbols(const tl_code_map *m)
{
    return m->n;
}

const tl_code_symbol *tl_code_map_symbol(const tl_code_map *m, uint32_t i)
{
    return &m->symbol[i];
}

const tl_code_symbol *tl_code_map_find(const tl_code_map *m, uint64_t pc, tl_code_symbol *gap)
{
    uint32_t low = 0, high = m->n; /* those below `low` begin at or before pc */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->symbol[middle].from <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    const tl_code_symbol *s = low ? &m->symbol[low - 1] : NULL;
    if (s && pc < s->to)
        return s;
    if (gap)
        *gap = (tl_code_symbol){.from = s ? s->to : 0, .to = low < m->n ? m->symbol[low].from : UINT64_MAX};
    return NULL;
}
