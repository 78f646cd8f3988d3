/* Loaded objects: program headers and dynamic symbols in memory, and the loader's list. */
#include "rt/patch/rt_patch_image.h"

#include <elf.h>
#include <sys/auxv.h>

#include "patch/patch_select.h"
#include "rt/patch/sleds_found.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

static uintptr_t program, loader; /* program headers; where ld.so is */
static unsigned programs;         /* how many headers */

void tl_rt_patch_image_begin(void)
{
    program = getauxval(AT_PHDR);
    programs = (unsigned)getauxval(AT_PHNUM);
    loader = getauxval(AT_BASE);
}

uintptr_t tl_rt_patch_program(void)
{
    return program;
}

const struct r_debug *tl_rt_patch_loader(void)
{
    const Elf64_Phdr *p = (const Elf64_Phdr *)program;
    uintptr_t bias = 0;
    for (unsigned i = 0; i < programs; i++)
        if (p[i].p_type == PT_PHDR)
            bias = program - p[i].p_vaddr;
    for (unsigned i = 0; i < programs; i++) {
        if (p[i].p_type != PT_DYNAMIC)
            continue;
        for (const Elf64_Dyn *d = (const Elf64_Dyn *)(bias + p[i].p_vaddr); d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_DEBUG)
                return (const struct r_debug *)d->d_un.d_ptr;
    }
    return NULL;
}

/* ---- program headers ---- */

static const Elf64_Phdr *headers(const rt_object *o, unsigned *n)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)o->header;
    *n = e->e_phnum;
    return (const Elf64_Phdr *)(o->header + e->e_phoff);
}

bool tl_rt_patch_image(const rt_object *o, patch_image *out)
{
    unsigned n;
    const Elf64_Phdr *p = headers(o, &n);
    rt_zero(out, sizeof *out);
    for (unsigned i = 0; i < n; i++) {
        const uintptr_t at = o->bias + p[i].p_vaddr;
        if (p[i].p_type == PT_GNU_EH_FRAME)
            out->frame_header = at;
        if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_R) || p[i].p_memsz == 0)
            continue;
        if (out->parts == PATCH_PARTS_MAX)
            return false;
        out->part[out->parts++] = (patch_part){
            .address = at, .size = p[i].p_memsz, .bytes = (const uint8_t *)at, .code = (p[i].p_flags & PF_X) != 0};
    }
    return true;
}

/* ---- dynamic symbols ---- */

typedef struct symbols {
    patch_image image;
    const Elf64_Sym *symbol;
    uint64_t n;
    uint64_t strings, size; /* their address and size */
} symbols;

/* n bytes of the object that can be read; NULL: not all of them are its own. */
static const void *bytes_at(const patch_image *image, uint64_t address, uint64_t n)
{
    const patch_part *part = patch_part_of(image, address, n);
    return part ? part->bytes + (address - part->address) : NULL;
}

/* The loader relocates most of these addresses, some loaders none. */
static uint64_t in_memory(const rt_object *o, uint64_t address)
{
    return address < o->low ? o->bias + address : address;
}

/* How many symbols a table of DT_GNU_HASH has: the end of the chain that begins last. */
static uint64_t count_gnu(const patch_image *image, uint64_t at)
{
    const uint32_t *head = bytes_at(image, at, 16); /* buckets, first symbol, words of the filter, shift */
    const uint64_t buckets = head ? at + 16 + (uint64_t)head[2] * 8 : 0;
    const uint32_t *bucket = head ? bytes_at(image, buckets, (uint64_t)head[0] * 4) : NULL;
    uint32_t last = 0;
    for (uint32_t i = 0; bucket && i < head[0]; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (!bucket || last < head[1])
        return head ? head[1] : 0;
    for (;; last++) {
        const uint32_t *hash = bytes_at(image, buckets + ((uint64_t)head[0] + last - head[1]) * 4, 4);
        if (!hash || (*hash & 1) || last == UINT32_MAX)
            return hash ? (uint64_t)last + 1 : 0;
    }
}

static void read_dynamic(const rt_object *o, const Elf64_Dyn *d, symbols *s)
{
    uint64_t table = 0, gnu = 0, old = 0;
    for (; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            table = in_memory(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            s->strings = in_memory(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRSZ)
            s->size = d->d_un.d_val;
        else if (d->d_tag == DT_GNU_HASH)
            gnu = in_memory(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            old = in_memory(o, d->d_un.d_ptr);
    }
    const uint32_t *counts = old ? bytes_at(&s->image, old, 8) : NULL;
    s->n = gnu ? count_gnu(&s->image, gnu) : counts ? counts[1] : 0;
    s->symbol = s->n ? bytes_at(&s->image, table, s->n * sizeof *s->symbol) : NULL;
    if (!s->symbol || !bytes_at(&s->image, s->strings, s->size))
        s->n = 0;
}

static void open_symbols(const rt_object *o, symbols *s)
{
    unsigned n;
    const Elf64_Phdr *p = headers(o, &n);
    rt_zero(s, sizeof *s);
    if (!tl_rt_patch_image(o, &s->image))
        return;
    for (unsigned i = 0; i < n; i++)
        if (p[i].p_type == PT_DYNAMIC && bytes_at(&s->image, o->bias + p[i].p_vaddr, sizeof(Elf64_Dyn)))
            read_dynamic(o, (const Elf64_Dyn *)(o->bias + p[i].p_vaddr), s);
}

/* Symbols that the object defines. */
static bool is_defined(const Elf64_Sym *y)
{
    return y->st_shndx != SHN_UNDEF && y->st_shndx < SHN_LORESERVE && y->st_value != 0;
}

static bool is_function(const Elf64_Sym *y)
{
    return is_defined(y) && ELF64_ST_TYPE(y->st_info) == STT_FUNC;
}

/* Is the symbol's name one of the list, which ends with NULL? */
static bool is_among(const symbols *s, const Elf64_Sym *y, const char *const *list)
{
    for (; *list; list++) {
        const size_t n = rt_length(*list) + 1;
        if (y->st_name < s->size && n <= s->size - y->st_name &&
            tl_rt_same((const char *)s->strings + y->st_name, *list))
            return true;
    }
    return false;
}

bool tl_rt_patch_is_sanitized(const rt_object *o)
{
    static const char *const marks[] = {"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init", NULL};
    symbols s;
    open_symbols(o, &s);
    for (uint64_t i = 0; i < s.n; i++)
        if (is_among(&s, &s.symbol[i], marks))
            return true;
    return false;
}

void tl_rt_patch_names(const rt_object *o, rt_patch_named *room, patch_named *out)
{
    symbols s;
    *out = (patch_named){.never = room->never, .enter = room->enter};
    open_symbols(o, &s);
    for (uint64_t i = 0; i < s.n; i++) {
        const Elf64_Sym *y = &s.symbol[i];
        if (!is_function(y))
            continue;
        if (out->nevers < PATCH_NAMED && is_among(&s, y, patch_never))
            room->never[out->nevers++] = o->bias + y->st_value;
        if (out->enters < PATCH_NAMED && is_among(&s, y, patch_twice))
            room->enter[out->enters++] = o->bias + y->st_value;
    }
}

/* ---- without .eh_frame ---- */

patch_range *tl_rt_patch_symbols(const rt_object *o, uint32_t *count, size_t *size)
{
    symbols s;
    *count = 0;
    open_symbols(o, &s);
    if (s.n == 0 || s.n > PATCH_FUNCTIONS_MAX)
        return NULL;
    *size = s.n * sizeof(patch_range);
    patch_range *p = tl_rt_memory_take(*size);
    for (uint64_t i = 0; p && i < s.n; i++)
        if (is_function(&s.symbol[i]) && s.symbol[i].st_size)
            p[(*count)++] = (patch_range){o->bias + s.symbol[i].st_value, s.symbol[i].st_size};
    return p;
}

/* ---- which objects ---- */

/* Its dynamic section lies in the recorder's object. */
static bool is_recorder(const struct link_map *m)
{
    extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
    return m->l_ld == _DYNAMIC;
}

/* Has it hooks of a compiler? Then it is recorded through these. patch=on patches all but sleds. */
static bool has_hooks(const struct link_map *m)
{
    const char *path = m->l_name && m->l_name[0] ? m->l_name : tl_rt.exe;
    return tl_rt_found_in_file(path) ||
           (tl_rt.set.patch == RT_PATCH_AUTO && tl_rt_symbols_import(path, "__cyg_profile_func_enter"));
}

bool tl_rt_patch_is_wanted(const struct link_map *m)
{
    const struct r_debug *d = tl_rt_patch_loader();
    if (d && m == d->r_map)
        return !has_hooks(m);
    if ((loader && m->l_addr == loader) || is_recorder(m) || !m->l_name)
        return false;
    for (unsigned i = 0; i < tl_rt.set.nlibs; i++)
        if (patch_selects_library(tl_rt.set.libs[i], m->l_name, tl_rt_glob))
            return !has_hooks(m);
    return false;
}
