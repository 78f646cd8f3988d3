/* ELF files as images for src/patch, for the tools of these tests. */
#ifndef TL_TEST_ELF_IMAGE_H
#define TL_TEST_ELF_IMAGE_H

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "patch/patch_image.h"

typedef struct elf_file {
    const uint8_t *bytes;
    size_t size;
    unsigned machine; /* e_machine */
    patch_image image;
} elf_file;

static inline bool elf_parts(elf_file *f)
{
    Elf64_Ehdr head;
    if (f->size < sizeof head || memcmp(f->bytes, ELFMAG, SELFMAG) != 0 || f->bytes[EI_CLASS] != ELFCLASS64)
        return false;
    memcpy(&head, f->bytes, sizeof head);
    f->machine = head.e_machine;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr p;
        const uint64_t at = head.e_phoff + i * (uint64_t)sizeof p;
        if (at > f->size || f->size - at < sizeof p)
            return false;
        memcpy(&p, f->bytes + at, sizeof p);
        if (p.p_type == PT_GNU_EH_FRAME)
            f->image.frame_header = p.p_vaddr;
        if (p.p_type == PT_LOAD && p.p_offset <= f->size && p.p_filesz <= f->size - p.p_offset &&
            f->image.parts < PATCH_PARTS_MAX)
            f->image.part[f->image.parts++] =
                (patch_part){p.p_vaddr, p.p_filesz, f->bytes + p.p_offset, p.p_flags & PF_X};
    }
    return true;
}

/* False: it cannot be read, or is no ELF file of 64 bits; nothing has to be closed then. */
static inline bool elf_open(elf_file *f, const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    *f = (elf_file){.size = 0};
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    f->size = (size_t)st.st_size;
    void *bytes = f->size ? mmap(NULL, f->size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    f->bytes = bytes;
    if (elf_parts(f))
        return true;
    munmap(bytes, f->size);
    return false;
}

static inline void elf_close(elf_file *f)
{
    munmap((void *)(uintptr_t)f->bytes, f->size);
}

#endif
