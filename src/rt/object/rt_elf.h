/* ELF files of this program's class: section headers, and parts of the file. Files are read into our own memory, not
 * mapped: truncating them does not crash the program. Nothing in a file is trusted. From anywhere, system calls only.
 */
#ifndef TL_RT_ELF_H
#define TL_RT_ELF_H

#include <elf.h>

#include "rt/rt_store.h"

typedef struct rt_part {
    char *p;
    size_t n;
} rt_part;

typedef struct rt_elf {
    int fd;
    uint64_t size;
    rt_part headers; /* of sections */
    uint32_t names;  /* index of the section that holds the names of all */
} rt_elf;

/* False: there is no such file, it is not one of this class, or memory runs out; then nothing has to be closed. The
 * program's own file (tl_rt.exe) stays reachable even if it was renamed or removed. A path that is not a file,
 * such as a pipe, does not block. */
bool tl_rt_elf_open(rt_elf *f, const char *path);
void tl_rt_elf_close(rt_elf *f);

size_t tl_rt_elf_sections(const rt_elf *f);
Elf64_Shdr tl_rt_elf_section(const rt_elf *f, size_t i); /* 0 .. tl_rt_elf_sections()-1 */

/* Reads n bytes; false: the file is shorter. */
bool tl_rt_elf_read(const rt_elf *f, void *p, size_t n, uint64_t offset);
/* The same, into memory of ours; ends with tl_rt_elf_give(). False, with nothing allocated, for 0 bytes, too. */
bool tl_rt_elf_take(rt_part *m, const rt_elf *f, uint64_t offset, uint64_t n);
void tl_rt_elf_give(rt_part *m);

#endif
