/* Patterns for functions by address. Each object has a sorted table of the addresses whose names decide:
 * those that match func= or, if there is only not=, those that match not=. Functions without a name match nothing. */
#include "rt/object/rt_wanted.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "rt/rt_say.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

enum {
    TABLES = 512, /* objects with functions by address; later ones are recorded whole */
    PLAIN = 1024  /* bytes of a C++ name that are considered */
};

typedef struct rt_table {
    uint32_t object;
    uint32_t n, known;
    uint64_t *address; /* in the file */
    size_t size;       /* of the allocation */
} rt_table;

static rt_table tables[TABLES];
static uint32_t ntable;
static rt_lock lock;

/* A file of this program's ELF class and machine, as on disk. Nothing in it is trusted. */
typedef struct rt_elf {
    const char *p; /* NULL: not open */
    size_t size;
} rt_elf;

typedef struct rt_symtab {
    const char *symbols, *names;
    uint64_t nsymbol, size; /* size: of names */
} rt_symtab;

static void elf_close(rt_elf *f)
{
    if (f->p)
        RT_SYS2(SYS_munmap, f->p, f->size);
    f->p = NULL;
}

static rt_elf elf_open(const char *path)
{
    static const unsigned char ident[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};
    rt_elf f = {NULL, 0};
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return f;
    long size = RT_SYS3(SYS_lseek, fd, 0, 2 /* SEEK_END */);
    long p = size < (long)sizeof(Elf64_Ehdr) ? -1 : RT_SYS6(SYS_mmap, 0, size, PROT_READ, MAP_PRIVATE, fd, 0);
    RT_SYS1(SYS_close, fd);
    if (RT_IS_ERROR(p))
        return f;
    f = (rt_elf){(const char *)p, (size_t)size};
    for (size_t i = 0; f.p && i < sizeof ident; i++)
        if ((unsigned char)f.p[i] != ident[i])
            elf_close(&f);
    return f;
}

static bool inside(const rt_elf *f, uint64_t offset, uint64_t n)
{
    return offset <= f->size && n <= f->size - offset;
}

/* The symbols in the first section of a type; nsymbol is 0 if there is none. */
static rt_symtab elf_symbols(const rt_elf *f, uint32_t type)
{
    rt_symtab t = {NULL, NULL, 0, 0};
    Elf64_Ehdr h;
    rt_copy(&h, f->p, sizeof h);
    if (h.e_shentsize != sizeof(Elf64_Shdr) || !inside(f, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr)))
        return t;
    for (unsigned i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s, names;
        rt_copy(&s, f->p + h.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type != type || s.sh_link >= h.e_shnum || !inside(f, s.sh_offset, s.sh_size))
            continue;
        rt_copy(&names, f->p + h.e_shoff + s.sh_link * sizeof names, sizeof names);
        if (names.sh_type != SHT_STRTAB || !names.sh_size || !inside(f, names.sh_offset, names.sh_size) ||
            f->p[names.sh_offset + names.sh_size - 1])
            continue;
        t.symbols = f->p + s.sh_offset;
        t.nsymbol = s.sh_size / sizeof(Elf64_Sym);
        t.names = f->p + names.sh_offset;
        t.size = names.sh_size;
        break;
    }
    return t;
}

/* A symbol's name; NULL: not a function. `defined`: its code is in this object. */
static const char *function_name(const rt_symtab *t, uint64_t i, bool defined, uint64_t *address)
{
    Elf64_Sym s;
    rt_copy(&s, t->symbols + i * sizeof s, sizeof s);
    unsigned type = ELF64_ST_TYPE(s.st_info);
    if ((s.st_shndx != SHN_UNDEF) != defined || s.st_name >= t->size || !t->names[s.st_name])
        return NULL;
    if (defined && type != STT_FUNC && type != STT_GNU_IFUNC)
        return NULL;
    *address = s.st_value;
    return t->names + s.st_name;
}

static bool matches(const char *const *glob, unsigned n, const char *name, const char *plain)
{
    for (unsigned i = 0; i < n; i++)
        if (tl_rt_glob(glob[i], name) || (plain && tl_rt_glob(glob[i], plain)))
            return true;
    return false;
}

/* Does the name put the function into the table? */
static bool decides(const char *name)
{
    char buffer[PLAIN];
    const rt_settings *s = &tl_rt.set;
    const char *plain = tl_rt_symbols_plain(name, buffer, sizeof buffer) ? buffer : NULL;
    bool out = matches(s->not_func, s->nnot, name, plain);
    return s->nfunc ? !out && matches(s->func, s->nfunc, name, plain) : out;
}

static void sift(uint64_t *a, uint32_t from, uint32_t n)
{
    for (uint32_t i = from, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && a[child + 1] > a[child])
            child++;
        if (a[i] >= a[child])
            return;
        uint64_t t = a[i];
        a[i] = a[child];
        a[child] = t;
    }
}

/* Sorts in place, without memory or recursion, and drops duplicates (aliases). */
static uint32_t sort(uint64_t *a, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = n / 2; i-- > 0;)
        sift(a, i, n);
    for (uint32_t i = n; i-- > 1;) {
        uint64_t t = a[0];
        a[0] = a[i];
        a[i] = t;
        sift(a, 0, i);
    }
    for (uint32_t i = 0; i < n; i++)
        if (!kept || a[i] != a[kept - 1])
            a[kept++] = a[i];
    return kept;
}

static void read_names(rt_table *t, const rt_symtab *symbols)
{
    uint64_t address;
    uint32_t known = 0, n = 0;
    for (uint64_t i = 0; i < symbols->nsymbol; i++)
        known += function_name(symbols, i, true, &address) != NULL;
    t->size = known * sizeof *t->address;
    t->address = known ? tl_rt_memory_take(t->size) : NULL;
    if (!t->address)
        return;
    t->known = known;
    for (uint64_t i = 0; i < symbols->nsymbol && n < known; i++) {
        const char *name = function_name(symbols, i, true, &address);
        if (name && tl_rt_wanted_patterns() && decides(name))
            t->address[n++] = address;
    }
    t->n = sort(t->address, n);
}

/* The table of an object, made if needed; NULL: too many. With the lock. */
static const rt_table *table_of(const rt_object *o)
{
    for (uint32_t i = 0; i < ntable; i++)
        if (tables[i].object == o->id)
            return &tables[i];
    if (ntable == TABLES)
        return NULL;
    rt_table *t = &tables[ntable++];
    t->object = o->id;
    t->n = t->known = 0;
    t->address = NULL;
    rt_elf f = elf_open(o->path);
    if (f.p) {
        rt_symtab symbols = elf_symbols(&f, SHT_SYMTAB);
        if (!symbols.nsymbol)
            symbols = elf_symbols(&f, SHT_DYNSYM);
        read_names(t, &symbols);
        elf_close(&f);
    }
    return t;
}

static bool has(const rt_table *t, uint64_t address)
{
    uint32_t low = 0, high = t->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->address[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n && t->address[low] == address;
}

bool tl_rt_wanted_patterns(void)
{
    return tl_rt.set.nfunc || tl_rt.set.nnot;
}

bool tl_rt_wanted(const rt_object *o, uintptr_t address)
{
    if (!tl_rt_wanted_patterns())
        return true;
    bool named = tl_rt.set.nfunc != 0; /* is a function in the table wanted? */
    if (!o)
        return !named;
    rt_lock_take(&lock);
    const rt_table *t = table_of(o);
    bool wanted = !t || has(t, address - o->bias) == named;
    rt_lock_give(&lock);
    return wanted;
}

void tl_rt_wanted_add(rt_wanted_count *c, const rt_object *o)
{
    rt_lock_take(&lock);
    const rt_table *t = table_of(o);
    if (t) {
        c->known += t->known;
        c->wanted += !tl_rt_wanted_patterns() ? t->known : tl_rt.set.nfunc ? t->n : t->known - t->n;
    }
    rt_lock_give(&lock);
}

bool tl_rt_wanted_imports(const char *path, const char *function)
{
    rt_elf f = elf_open(path);
    bool found = false;
    if (!f.p)
        return false;
    rt_symtab t = elf_symbols(&f, SHT_DYNSYM);
    for (uint64_t i = 0; i < t.nsymbol && !found; i++) {
        uint64_t address;
        const char *name = function_name(&t, i, false, &address);
        found = name && tl_rt_same(name, function);
    }
    elf_close(&f);
    return found;
}

void tl_rt_wanted_forget(void)
{
    rt_lock_take(&lock);
    for (uint32_t i = 0; i < ntable; i++)
        if (tables[i].address)
            tl_rt_memory_give(tables[i].address, tables[i].size);
    ntable = 0;
    rt_lock_give(&lock);
}

void tl_rt_wanted_child(void)
{
    lock = (rt_lock){.held = 0};
}
