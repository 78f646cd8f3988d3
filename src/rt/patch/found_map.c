/* Finds xray_instr_map of an object that was not linked with the recorder. No symbol says where it is: its section's
 * header in the file does, which `strip` leaves there. The section itself is loaded, and read in memory. */
#include "rt/hook/rt_sled.h"
#include "rt/object/rt_elf.h"
#include "rt/patch/sleds_found.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

enum { PAGE_MIN = 4096 };
static const char wanted[] = "xray_instr_map";

/* The header of the section; false: there is none. */
static bool find_section(const rt_elf *f, Elf64_Shdr *out)
{
    const size_t n = tl_rt_elf_sections(f);
    if (f->names >= n)
        return false;
    const Elf64_Shdr text = tl_rt_elf_section(f, f->names);
    for (size_t i = 0; i < n; i++) {
        char name[sizeof wanted];
        *out = tl_rt_elf_section(f, i);
        if (out->sh_type == SHT_PROGBITS && (out->sh_flags & SHF_ALLOC) && out->sh_size > 0 &&
            out->sh_name < text.sh_size && text.sh_offset < f->size &&
            tl_rt_elf_read(f, name, sizeof name, text.sh_offset + out->sh_name) && !name[sizeof name - 1] &&
            tl_rt_same(name, wanted))
            return true;
    }
    return false;
}

/* `first`: n bytes of the file's begin. */
static bool read_file(const char *path, Elf64_Shdr *section, unsigned char *first, size_t n)
{
    rt_elf f;
    if (!tl_rt_elf_open(&f, path[0] ? path : tl_rt.exe)) /* the loader has no name for the program */
        return false;
    bool found = find_section(&f, section) && tl_rt_elf_read(&f, first, n, 0);
    tl_rt_elf_close(&f);
    return found;
}

bool tl_rt_found_in_file(const char *path)
{
    Elf64_Shdr section;
    return read_file(path, &section, NULL, 0);
}

/* Do [address, address + size) lie in a part of the object that has all the flags? */
static bool is_in(const rt_object *o, uintptr_t address, uintptr_t size, uint32_t flags)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)o->header;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(o->header + e->e_phoff);
    for (size_t i = 0; i < e->e_phnum; i++) {
        const uintptr_t begin = o->bias + p[i].p_vaddr;
        if (p[i].p_type == PT_LOAD && (p[i].p_flags & flags) == flags && address >= begin &&
            address - begin <= p[i].p_filesz && size <= p[i].p_filesz - (address - begin))
            return true;
    }
    return false;
}

/* Has the file been replaced since it was loaded? Then another section would be taken for the map. */
static bool is_same(const rt_object *o, const unsigned char *first)
{
    const unsigned char *loaded = (const unsigned char *)o->header;
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)o->header;
    const size_t end = e->e_phoff + (size_t)e->e_phnum * sizeof(Elf64_Phdr);
    for (size_t i = 0; i < sizeof *e; i++)
        if (loaded[i] != first[i])
            return false;
    for (size_t i = e->e_phoff; i < end; i++) /* within the first page: tl_rt_image_read() */
        if (loaded[i] != first[i])
            return false;
    return true;
}

bool tl_rt_found_map(const rt_object *o, const char *path, uintptr_t *begin, uintptr_t *end)
{
    Elf64_Shdr s;
    unsigned char *first = tl_rt_memory_take(PAGE_MIN);
    bool found = first && read_file(path, &s, first, PAGE_MIN) && is_same(o, first);
    if (first)
        tl_rt_memory_give(first, PAGE_MIN);
    if (!found || !is_in(o, o->bias + s.sh_addr, s.sh_size, PF_R))
        return false;
    *begin = o->bias + s.sh_addr;
    *end = *begin + s.sh_size;
    return true;
}

rt_found_state tl_rt_found_look(const rt_object *o, uintptr_t begin, uintptr_t end)
{
    rt_found_state f = {.good = (end - begin) % RT_SLED_RECORD == 0, .relative = true};
    for (uintptr_t p = begin; f.good && p < end; p += RT_SLED_RECORD) {
        rt_sled_place s;
        f.good =
            tl_rt_map_sled(p, &s) && is_in(o, s.at, tl_rt_sled_bytes(s.kind), PF_X) && is_in(o, s.function, 1, PF_X);
        f.relative = f.relative && s.relative;
        f.patched = f.patched || (f.good && tl_rt_sled_state(s.at, s.kind) == RT_SLED_ON);
    }
    return f;
}
