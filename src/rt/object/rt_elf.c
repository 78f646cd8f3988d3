/* Reads ELF files with system calls only. */
#include "rt/object/rt_elf.h"

#include <fcntl.h>

#include "rt/rt_core.h"
#include "rt/rt_say.h"
#include "rt/rt_sys.h"

enum { SECTIONS_MAX = 1 << 20 };
#define TABLE_BYTES_MAX (UINT64_C(1) << 32)

bool tl_rt_elf_read(const rt_elf *f, void *to, size_t n, uint64_t offset)
{
    char *p = to;
    if (offset > f->size || n > f->size - offset)
        return false;
    while (n > 0) {
        long got = RT_SYS4(SYS_pread64, f->fd, p, n, offset);
        if (got <= 0)
            return false;
        p += got, n -= (size_t)got, offset += (uint64_t)got;
    }
    return true;
}

void tl_rt_elf_give(rt_part *m)
{
    if (m->p)
        tl_rt_memory_give(m->p, m->n);
    *m = (rt_part){NULL, 0};
}

bool tl_rt_elf_take(rt_part *m, const rt_elf *f, uint64_t offset, uint64_t n)
{
    if (n == 0 || n > TABLE_BYTES_MAX || offset > f->size || n > f->size - offset)
        return false;
    *m = (rt_part){tl_rt_memory_take(n), n};
    if (m->p && tl_rt_elf_read(f, m->p, n, offset))
        return true;
    tl_rt_elf_give(m);
    return false;
}

size_t tl_rt_elf_sections(const rt_elf *f)
{
    return f->headers.n / sizeof(Elf64_Shdr);
}

Elf64_Shdr tl_rt_elf_section(const rt_elf *f, size_t i)
{
    Elf64_Shdr h;
    rt_copy(&h, f->headers.p + i * sizeof h, sizeof h);
    return h;
}

static bool is_usable(const Elf64_Ehdr *e)
{
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
    for (size_t i = 0; i < sizeof ident; i++)
        if (e->e_ident[i] != ident[i])
            return false;
    return e->e_shentsize == sizeof(Elf64_Shdr);
}

static bool read_headers(rt_elf *f)
{
    Elf64_Ehdr e;
    Elf64_Shdr first;
    long size = RT_SYS3(SYS_lseek, f->fd, 0, 2 /* SEEK_END */);
    f->size = size > 0 ? (uint64_t)size : 0;
    if (!tl_rt_elf_read(f, &e, sizeof e, 0) || !is_usable(&e) || e.e_shoff == 0 ||
        !tl_rt_elf_read(f, &first, sizeof first, e.e_shoff))
        return false;
    /* What is too large for the header is in that of the first section. */
    const uint64_t n = e.e_shnum ? e.e_shnum : first.sh_size;
    f->names = e.e_shstrndx == SHN_XINDEX ? first.sh_link : e.e_shstrndx;
    return n <= SECTIONS_MAX && tl_rt_elf_take(&f->headers, f, e.e_shoff, n * sizeof first);
}

bool tl_rt_elf_open(rt_elf *f, const char *path)
{
    if (path[0] && tl_rt_same(path, tl_rt.exe))
        path = "/proc/self/exe";
    *f = (rt_elf){.fd = (int)RT_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)};
    if (f->fd < 0)
        return false;
    if (read_headers(f))
        return true;
    RT_SYS1(SYS_close, f->fd);
    return false;
}

void tl_rt_elf_close(rt_elf *f)
{
    tl_rt_elf_give(&f->headers);
    RT_SYS1(SYS_close, f->fd);
}
