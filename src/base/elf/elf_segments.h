/* The program headers of an ELF file: what of it the kernel and the loader map, whatever its sections say. ELF32 files
 * give only their header. Every access is checked. */
#ifndef TL_BASE_ELF_SEGMENTS_H
#define TL_BASE_ELF_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_elf_segment {
    uint32_t type, flags; /* PT_*, PF_* */
    uint64_t offset, address;
    uint64_t in_file, in_memory; /* bytes */
} tl_elf_segment;

/* An entry of the dynamic section. */
typedef struct tl_elf_dynamic {
    int64_t tag;
    uint64_t value;
    char *text; /* of DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH; else NULL: there is none */
} tl_elf_dynamic;

typedef struct tl_elf_segments {
    bool is64, big;
    uint16_t type, machine; /* ET_*, EM_* */
    uint64_t entry;         /* of the program; 0 for ELF32 */
    uint32_t nsegment, ndynamic;
    tl_elf_segment *segment;
    tl_elf_dynamic *dynamic;
    char *interpreter; /* NULL: none */
    bool go;           /* a note of Go's linker */
    struct tl_input *in;
} tl_elf_segments;

/* Reads the headers. Not ELF: TL_EFORMAT; broken: TL_EDAMAGED with the offset. To be freed in case of success. */
int tl_elf_segments_read(tl_elf_segments *out, const char *path, tl_error *e);
void tl_elf_segments_free(tl_elf_segments *s);
/* Reads exactly n bytes of the file. */
int tl_elf_segments_bytes(const tl_elf_segments *s, uint64_t offset, void *buf, size_t n, tl_error *e);
/* The first segment of a type; NULL: none. */
const tl_elf_segment *tl_elf_segment_find(const tl_elf_segments *s, uint32_t type);

#endif
