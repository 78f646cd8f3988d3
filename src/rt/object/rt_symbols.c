/* Names of functions by address, from the symbol tables of an object's file and of its debug file.
 *
 * The library finds the same names (op/symbols/symbolize.h): a function symbol with exactly the address, global before
 * weak before local, then the first in .symtab, then in .dynsym. A file without .symtab has it in its debug file, which
 * is found by the build-id. Nothing in a file is trusted. */
#include "rt/object/rt_elf.h"
#include "rt/object/rt_maps.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

/* Symbols with longer names are ignored, as in the library. */
enum { NAME_MAX_BYTES = 65536, TABLES = 2, DIGIT = 11, COUNTS = 1 << DIGIT };

/* Where distributions put debug files; unit tests have a folder of their own. */
#ifndef RT_DEBUG_ROOT
#define RT_DEBUG_ROOT "/usr/lib/debug"
#endif

typedef struct entry {
    uint64_t address;
    const char *name;
    uint32_t rank, unused;
} entry;

struct rt_symbols {
    rt_part symbol[TABLES], text[TABLES], index;
    entry *sorted; /* by address, and where it is the same in the order of the tables */
    size_t n;
    char path[RT_PATH];
};

/* Does the file have a build-id, and is it this one? It may have been replaced since it was loaded. */
static bool has_build_id(const rt_elf *f, const char *expected, bool if_none)
{
    char id[65];
    rt_part note;
    bool same = if_none;
    for (size_t i = 0; expected[0] && i < tl_rt_elf_sections(f); i++) {
        const Elf64_Shdr h = tl_rt_elf_section(f, i);
        if (h.sh_type != SHT_NOTE || !tl_rt_elf_take(&note, f, h.sh_offset, h.sh_size))
            continue;
        if (tl_rt_notes_build_id((const unsigned char *)note.p, note.n, id))
            same = tl_rt_same(id, expected);
        tl_rt_elf_give(&note);
    }
    return same;
}

/* Reads a symbol table and its names. A malformed table counts as missing. */
static void read_table(rt_symbols *s, const rt_elf *f, uint32_t type, unsigned t)
{
    for (size_t i = 0; i < tl_rt_elf_sections(f); i++) {
        const Elf64_Shdr h = tl_rt_elf_section(f, i);
        if (h.sh_type != type || h.sh_entsize != sizeof(Elf64_Sym) || h.sh_link >= tl_rt_elf_sections(f))
            continue;
        const Elf64_Shdr link = tl_rt_elf_section(f, h.sh_link);
        if (link.sh_type == SHT_STRTAB && tl_rt_elf_take(&s->symbol[t], f, h.sh_offset, h.sh_size) &&
            !tl_rt_elf_take(&s->text[t], f, link.sh_offset, link.sh_size))
            tl_rt_elf_give(&s->symbol[t]);
        return;
    }
}

static uint32_t rank_of(unsigned binding)
{
    return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : binding == STB_LOCAL ? 2 : 3;
}

/* Bytes of names up to the last terminator. */
static size_t terminated(const rt_part *text)
{
    size_t size = text->n;
    while (size > 0 && text->p[size - 1] != '\0')
        size--;
    return size;
}

/* Puts the functions of a table at `to`, unless it is NULL; returns their number. */
static size_t functions_of(const rt_part *symbol, const rt_part *text, entry *to)
{
    size_t n = 0, size = terminated(text);
    for (size_t i = 0; i < symbol->n / sizeof(Elf64_Sym); i++) {
        Elf64_Sym y;
        rt_copy(&y, symbol->p + i * sizeof y, sizeof y);
        unsigned type = ELF64_ST_TYPE(y.st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || y.st_shndx == SHN_UNDEF || y.st_name >= size ||
            text->p[y.st_name] == '\0')
            continue;
        if (to)
            to[n] = (entry){y.st_value, text->p + y.st_name, rank_of(ELF64_ST_BIND(y.st_info)), 0};
        n++;
    }
    return n;
}

/* A stable radix sort by address, from the lowest digit. The result is in a or in b. */
static entry *sort(entry *a, entry *b, uint32_t *count, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= a[i].address;
    for (unsigned shift = 0; shift < 64 && all >> shift; shift += DIGIT) {
        rt_zero(count, COUNTS * sizeof *count);
        for (size_t i = 0; i < n; i++)
            count[a[i].address >> shift & (COUNTS - 1)]++;
        uint32_t sum = 0;
        for (size_t i = 0; i < COUNTS; i++) {
            uint32_t here = count[i];
            count[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            b[count[a[i].address >> shift & (COUNTS - 1)]++] = a[i];
        entry *t = a;
        a = b;
        b = t;
    }
    return a;
}

/* Sorts all functions of both tables. */
static bool make_index(rt_symbols *s)
{
    size_t n[TABLES], total = 0;
    for (unsigned t = 0; t < TABLES; t++)
        total += n[t] = functions_of(&s->symbol[t], &s->text[t], NULL);
    if (total == 0 || total > UINT32_MAX)
        return false;
    s->index.n = 2 * total * sizeof(entry) + COUNTS * sizeof(uint32_t);
    s->index.p = tl_rt_memory_take(s->index.n);
    if (!s->index.p)
        return false;
    entry *a = (entry *)(void *)s->index.p;
    functions_of(&s->symbol[0], &s->text[0], a);
    functions_of(&s->symbol[1], &s->text[1], a + n[0]);
    s->sorted = sort(a, a + total, (uint32_t *)(void *)(a + 2 * total), total);
    s->n = total;
    return true;
}

/* ROOT/.build-id/ab/cdef.debug */
static bool open_debug(rt_elf *f, rt_symbols *s, const rt_object *o)
{
    static const char root[] = RT_DEBUG_ROOT "/.build-id/", end[] = ".debug";
    const size_t n = rt_length(o->build_id);
    char *p = s->path;
    if (n < 3 || sizeof root + n + sizeof end + 1 > sizeof s->path)
        return false;
    rt_copy(p, root, sizeof root - 1);
    p += sizeof root - 1;
    rt_copy(p, o->build_id, 2);
    p[2] = '/';
    rt_copy(p + 3, o->build_id + 2, n - 2);
    rt_copy(p + 1 + n, end, sizeof end);
    return tl_rt_elf_open(f, s->path);
}

static void read_tables(rt_symbols *s, const rt_object *o)
{
    rt_elf f;
    if (tl_rt_elf_open(&f, o->path)) {
        if (has_build_id(&f, o->build_id, true)) {
            read_table(s, &f, SHT_SYMTAB, 0);
            read_table(s, &f, SHT_DYNSYM, 1);
        }
        tl_rt_elf_close(&f);
    }
    if (!s->symbol[0].p && open_debug(&f, s, o)) {
        if (has_build_id(&f, o->build_id, false))
            read_table(s, &f, SHT_SYMTAB, 0);
        tl_rt_elf_close(&f);
    }
}

rt_symbols *tl_rt_symbols_open(const rt_object *o)
{
    rt_symbols *s = tl_rt_memory_take(sizeof *s);
    if (!s)
        return NULL;
    read_tables(s, o);
    if (make_index(s))
        return s;
    tl_rt_symbols_close(s);
    return NULL;
}

const char *tl_rt_symbols_name(rt_symbols *s, uint64_t address)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->sorted[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    const entry *best = NULL;
    for (; low < s->n && s->sorted[low].address == address; low++)
        if (!best || s->sorted[low].rank < best->rank)
            best = &s->sorted[low];
    return best && rt_length(best->name) <= NAME_MAX_BYTES ? best->name : NULL;
}

size_t tl_rt_symbols_count(const rt_symbols *s)
{
    return s->n;
}

const char *tl_rt_symbols_get(const rt_symbols *s, size_t i, uint64_t *address)
{
    *address = s->sorted[i].address;
    return s->sorted[i].name;
}

void tl_rt_symbols_close(rt_symbols *s)
{
    tl_rt_elf_give(&s->index);
    for (unsigned t = 0; t < TABLES; t++) {
        tl_rt_elf_give(&s->symbol[t]);
        tl_rt_elf_give(&s->text[t]);
    }
    tl_rt_memory_give(s, sizeof *s);
}

bool tl_rt_symbols_import(const char *path, const char *function)
{
    rt_elf f;
    bool found = false;
    rt_symbols *s = tl_rt_memory_take(sizeof *s);
    if (!s)
        return false;
    if (tl_rt_elf_open(&f, path)) {
        read_table(s, &f, SHT_DYNSYM, 1);
        tl_rt_elf_close(&f);
    }
    const size_t size = terminated(&s->text[1]);
    for (size_t i = 0; !found && i < s->symbol[1].n / sizeof(Elf64_Sym); i++) {
        Elf64_Sym y;
        rt_copy(&y, s->symbol[1].p + i * sizeof y, sizeof y);
        found = y.st_shndx == SHN_UNDEF && y.st_name < size && tl_rt_same(s->text[1].p + y.st_name, function);
    }
    tl_rt_symbols_close(s);
    return found;
}
