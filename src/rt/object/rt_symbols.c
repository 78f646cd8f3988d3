/* Names of functions by address, from the symbol tables of an object's file.
 *
 * The file is read into our own memory, not mapped: truncating it does not crash the program.
 * The library finds the same names (op/symbols/symbolize.h): a function symbol with exactly the address, global before
 * weak before local, then the first in .symtab, then in .dynsym. Nothing in the file is trusted. */
#include <elf.h>
#include <fcntl.h>

#include "rt/object/rt_maps.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

/* Symbols with longer names are ignored, as in the library. */
enum { NAME_MAX_BYTES = 65536, SECTIONS_MAX = 1 << 20, TABLES = 2, DIGIT = 11, COUNTS = 1 << DIGIT };
#define TABLE_BYTES_MAX (UINT64_C(1) << 32)

typedef struct entry {
    uint64_t address;
    const char *name;
    uint32_t rank, unused;
} entry;

typedef struct part {
    char *p;
    size_t n;
} part;

struct rt_symbols {
    part headers, symbol[TABLES], text[TABLES], index;
    entry *sorted;
    size_t n;
};

static bool read_all(int fd, char *p, size_t n, uint64_t offset)
{
    while (n > 0) {
        long got = RT_SYS4(SYS_pread64, fd, p, n, offset);
        if (got <= 0)
            return false;
        p += got, n -= (size_t)got, offset += (uint64_t)got;
    }
    return true;
}

static void give(part *m)
{
    if (m->p)
        tl_rt_memory_give(m->p, m->n);
    *m = (part){NULL, 0};
}

/* Reads n bytes of the file; false, with nothing allocated, if the file is shorter or memory runs out. */
static bool take(part *m, int fd, uint64_t offset, uint64_t n, uint64_t file)
{
    if (n == 0 || n > TABLE_BYTES_MAX || offset > file || n > file - offset)
        return false;
    *m = (part){tl_rt_memory_take(n), n};
    if (m->p && read_all(fd, m->p, n, offset))
        return true;
    give(m);
    return false;
}

/* The object's file may have been replaced since it was loaded. */
static bool same_build(const rt_object *o, int fd, const Elf64_Ehdr *e, uint64_t file)
{
    char id[65];
    bool same = true;
    part m, note;
    if (!o->build_id[0] || e->e_phentsize != sizeof(Elf64_Phdr) ||
        !take(&m, fd, e->e_phoff, (uint64_t)e->e_phnum * sizeof(Elf64_Phdr), file))
        return true;
    for (size_t i = 0; i < e->e_phnum; i++) {
        Elf64_Phdr p;
        rt_copy(&p, m.p + i * sizeof p, sizeof p);
        if (p.p_type != PT_NOTE || !take(&note, fd, p.p_offset, p.p_filesz, file))
            continue;
        if (tl_rt_notes_build_id((const unsigned char *)note.p, note.n, id))
            for (size_t k = 0; k < sizeof id && (k == 0 || id[k - 1]); k++)
                same &= id[k] == o->build_id[k];
        give(&note);
    }
    give(&m);
    return same;
}

/* Reads a symbol table and its names. A malformed table counts as missing. */
static void read_table(rt_symbols *s, int fd, uint32_t type, unsigned t, uint64_t file)
{
    size_t n = s->headers.n / sizeof(Elf64_Shdr);
    Elf64_Shdr h, link;
    for (size_t i = 0; i < n; i++) {
        rt_copy(&h, s->headers.p + i * sizeof h, sizeof h);
        if (h.sh_type != type || h.sh_entsize != sizeof(Elf64_Sym) || h.sh_link >= n)
            continue;
        rt_copy(&link, s->headers.p + h.sh_link * sizeof link, sizeof link);
        if (link.sh_type == SHT_STRTAB && take(&s->symbol[t], fd, h.sh_offset, h.sh_size, file) &&
            !take(&s->text[t], fd, link.sh_offset, link.sh_size, file))
            give(&s->symbol[t]);
        return;
    }
}

static bool read_file(rt_symbols *s, const rt_object *o, int fd)
{
    Elf64_Ehdr e;
    long file = RT_SYS3(SYS_lseek, fd, 0, 2 /* SEEK_END */);
    if (file < (long)sizeof e || !read_all(fd, (char *)&e, sizeof e, 0))
        return false;
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
    for (size_t i = 0; i < sizeof ident; i++)
        if (e.e_ident[i] != ident[i])
            return false;
    if (e.e_shentsize != sizeof(Elf64_Shdr) || !same_build(o, fd, &e, (uint64_t)file))
        return false;
    uint64_t n = e.e_shnum;
    if (n == 0) { /* too many for the field: the first section header has the number */
        part first;
        if (!take(&first, fd, e.e_shoff, sizeof(Elf64_Shdr), (uint64_t)file))
            return false;
        Elf64_Shdr h;
        rt_copy(&h, first.p, sizeof h);
        n = h.sh_size;
        give(&first);
    }
    if (n > SECTIONS_MAX || !take(&s->headers, fd, e.e_shoff, n * sizeof(Elf64_Shdr), (uint64_t)file))
        return false;
    read_table(s, fd, SHT_SYMTAB, 0, (uint64_t)file);
    read_table(s, fd, SHT_DYNSYM, 1, (uint64_t)file);
    return true;
}

static uint32_t rank_of(unsigned binding)
{
    return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : binding == STB_LOCAL ? 2 : 3;
}

/* Puts the functions of a table at `to`, unless it is NULL; returns their number. */
static size_t functions_of(const part *symbol, const part *text, entry *to)
{
    size_t n = 0, size = text->n;
    while (size > 0 && text->p[size - 1] != '\0')
        size--;
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

/* Sorts all functions of both tables, and keeps the best one for each address. */
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
    for (size_t i = 0; i < total; i++)
        if (s->n == 0 || s->sorted[s->n - 1].address != s->sorted[i].address)
            s->sorted[s->n++] = s->sorted[i];
        else if (s->sorted[i].rank < s->sorted[s->n - 1].rank)
            s->sorted[s->n - 1] = s->sorted[i];
    return true;
}

/* The program's own file stays reachable even if it was renamed or removed. */
static int open_file(const rt_object *o)
{
    static const char self[] = "/proc/self/exe";
    char path[RT_PATH];
    long n = RT_SYS4(SYS_readlinkat, AT_FDCWD, self, path, sizeof path - 1), k = 0;
    while (k < n && path[k] == o->path[k])
        k++;
    bool is_self = n > 0 && k == n && o->path[k] == '\0';
    return (int)RT_SYS4(SYS_openat, AT_FDCWD, is_self ? self : o->path, O_RDONLY | O_CLOEXEC, 0);
}

rt_symbols *tl_rt_symbols_open(const rt_object *o)
{
    int fd = open_file(o);
    if (fd < 0)
        return NULL;
    rt_symbols *s = tl_rt_memory_take(sizeof *s);
    if (s && !(read_file(s, o, fd) && make_index(s))) {
        tl_rt_symbols_close(s);
        s = NULL;
    }
    RT_SYS1(SYS_close, fd);
    return s;
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
    if (low == s->n || s->sorted[low].address != address)
        return NULL;
    const char *name = s->sorted[low].name;
    return rt_length(name) <= NAME_MAX_BYTES ? name : NULL;
}

void tl_rt_symbols_close(rt_symbols *s)
{
    give(&s->headers);
    give(&s->index);
    for (unsigned t = 0; t < TABLES; t++) {
        give(&s->symbol[t]);
        give(&s->text[t]);
    }
    tl_rt_memory_give(s, sizeof *s);
}
