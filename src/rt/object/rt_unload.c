/* Detects that an object is unloaded.
 *
 * After the object's destructors the compiler's start files call __cxa_finalize, with an address in the object, for the
 * handlers that it registered (atexit). The object's table of foreign addresses (GOT) has the address of that function;
 * we replace it by ours, which calls libc's, and make the table read-only again if it was. Only the object's
 * destructors that have a priority, and its DT_FINI, run after that; nothing is loaded in its place before.
 *
 * Objects without such start files are not watched, nor are those that stay to the end: the program and the
 * recorder. */
#include "rt/object/rt_unload.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "rt/object/rt_maps.h"
#include "rt/rt_say.h"
#include "rt/rt_sys.h"

#if defined(__x86_64__)
enum { FOREIGN = R_X86_64_GLOB_DAT, FOREIGN_CALL = R_X86_64_JUMP_SLOT };
#else
enum { FOREIGN = R_AARCH64_GLOB_DAT, FOREIGN_CALL = R_AARCH64_JUMP_SLOT };
#endif

typedef void finalize(void *object);
static finalize *volatile libc_finalize;
static uint64_t page;
static uintptr_t program; /* an address in it */

void tl_rt_unload_begin(void)
{
    page = getauxval(AT_PAGESZ);
    program = getauxval(AT_PHDR);
}

/* Called by an object that is unloaded, not from hooks; at the end of the process by all objects. */
static void finalize_and_leave(void *object)
{
    libc_finalize(object);
    tl_rt_object_leaves((uintptr_t)object);
}

/* The parts of an object's dynamic section; addresses in memory. */
typedef struct dynamic {
    uintptr_t symbols, strings;
    struct {
        uintptr_t at;
        uint64_t size;
    } relocations[2];
} dynamic;

/* glibc relocates the addresses in the section, other libcs do not. */
static uintptr_t in_memory(const rt_object *o, uint64_t address)
{
    return address < o->low ? o->bias + address : address;
}

static dynamic read_dynamic(const rt_object *o, const Elf64_Dyn *d)
{
    dynamic out;
    rt_zero(&out, sizeof out);
    for (; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            out.symbols = in_memory(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            out.strings = in_memory(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_RELA || d->d_tag == DT_JMPREL)
            out.relocations[d->d_tag == DT_JMPREL].at = in_memory(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_RELASZ || d->d_tag == DT_PLTRELSZ)
            out.relocations[d->d_tag == DT_PLTRELSZ].size = d->d_un.d_val;
    }
    return out;
}

enum { PLACES = 2 };

/* Where the object keeps the address of libc's function, in both kinds of tables: one may only be compared with zero,
 * and the other one called, as on AArch64. NULL: not there. */
typedef struct places {
    finalize *volatile *at[PLACES];
    const Elf64_Phdr *relro; /* the part that is read-only after relocation, or NULL */
} places;

static finalize *volatile *find_in(const rt_object *o, const dynamic *d, unsigned table)
{
    const Elf64_Rela *r = (const Elf64_Rela *)d->relocations[table].at;
    for (uint64_t i = 0; r && i < d->relocations[table].size / sizeof *r; i++) {
        const uint64_t type = ELF64_R_TYPE(r[i].r_info);
        const Elf64_Sym *symbol = (const Elf64_Sym *)d->symbols + ELF64_R_SYM(r[i].r_info);
        if ((type == FOREIGN || type == FOREIGN_CALL) &&
            tl_rt_same((const char *)d->strings + symbol->st_name, "__cxa_finalize"))
            return (finalize *volatile *)(o->bias + r[i].r_offset);
    }
    return NULL;
}

/* The same for an object that may be unloaded. */
static places find_places(const rt_object *o)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)o->header;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(o->header + e->e_phoff), *section = NULL;
    places found = {{NULL, NULL}, NULL};
    for (unsigned i = 0; i < e->e_phnum; i++) {
        section = p[i].p_type == PT_DYNAMIC ? &p[i] : section;
        found.relro = p[i].p_type == PT_GNU_RELRO ? &p[i] : found.relro;
    }
    if (!page || !section || rt_object_has(o, program) || rt_object_has(o, (uintptr_t)&libc_finalize))
        return found;
    const dynamic d = read_dynamic(o, (const Elf64_Dyn *)(o->bias + section->p_vaddr));
    for (unsigned k = 0; d.symbols && d.strings && k < PLACES; k++)
        found.at[k] = find_in(o, &d, k);
    return found;
}

/* Does the loader close the page of the place once it has relocated the object? */
static bool is_closed(const rt_object *o, const Elf64_Phdr *relro, finalize *volatile *place)
{
    const uintptr_t begin = relro ? o->bias + relro->p_vaddr : 0;
    const uintptr_t end = relro ? (begin + relro->p_memsz) & ~(page - 1) : 0;
    return (uintptr_t)place >= begin && (uintptr_t)place < end;
}

typedef struct question {
    uintptr_t address;
    bool writable;
} question;

static bool see(void *arg, const rt_mapping *m)
{
    question *q = arg;
    if (q->address >= m->to)
        return true;
    q->writable = q->address >= m->from && m->writable;
    return false;
}

/* Has the loader relocated the place? */
static bool is_relocated(const rt_object *o, const Elf64_Phdr *relro, finalize *volatile *place)
{
    question q = {(uintptr_t)place, true};
    if (!is_closed(o, relro, place))
        return *place != NULL && !rt_object_has(o, o->bias + (uintptr_t)*place);
    return tl_rt_maps_each(see, &q) == 0 && !q.writable;
}

static void put(const rt_object *o, const Elf64_Phdr *relro, finalize *volatile *place)
{
    const uintptr_t at = (uintptr_t)place & ~(page - 1);
    const bool closed = is_closed(o, relro, place);
    if (closed && RT_SYS3(SYS_mprotect, at, page, PROT_READ | PROT_WRITE) != 0)
        return;
    *place = finalize_and_leave;
    if (closed)
        RT_SYS3(SYS_mprotect, at, page, PROT_READ);
}

bool tl_rt_unload_is_watched(const rt_object *o)
{
    const places p = find_places(o);
    bool watched = p.at[0] || p.at[1];
    for (unsigned k = 0; k < PLACES; k++)
        watched = watched && (!p.at[k] || *p.at[k] == finalize_and_leave);
    return watched;
}

bool tl_rt_unload_is_ready(const rt_object *o)
{
    const places p = find_places(o);
    bool ready = true;
    for (unsigned k = 0; k < PLACES; k++)
        ready = ready && (!p.at[k] || is_relocated(o, p.relro, p.at[k]));
    return ready;
}

void tl_rt_unload_watch(const rt_object *o)
{
    const places p = find_places(o);
    finalize *there = NULL;
    for (unsigned k = 0; k < PLACES; k++)
        if (p.at[k] && !is_relocated(o, p.relro, p.at[k]))
            return; /* the loader still writes there */
    for (unsigned k = 0; k < PLACES && !there; k++) {
        there = p.at[k] ? *p.at[k] : NULL;
        if (rt_object_has(o, (uintptr_t)there)) /* not resolved yet */
            there = NULL;
    }
    /* NULL: no libc defines it. Another one: a second libc (dlmopen). */
    if (!there || there == finalize_and_leave)
        return;
    if (!libc_finalize)
        libc_finalize = there;
    for (unsigned k = 0; k < PLACES; k++)
        if (p.at[k] && libc_finalize == there)
            put(o, p.relro, p.at[k]);
}
