/* ELF64 files, as far as function maps and symbols need them; either byte order. Every access is checked. */
#ifndef TL_BASE_ELF_FILE_H
#define TL_BASE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_elf tl_elf;

typedef struct tl_elf_section {
    const char *name;
    uint32_t type, link, info;
    uint64_t flags, address, offset, size, entry_size;
} tl_elf_section;

typedef struct tl_elf_symbol {
    const char *name;
    uint64_t value, size;
    uint8_t type;    /* STT_* */
    uint8_t binding; /* STB_* */
    uint16_t section;
} tl_elf_symbol;

/* Opens an ELF64 file. Not ELF: TL_EFORMAT; ELF32: TL_EUNSUPPORTED; broken headers: TL_EDAMAGED with the offset. */
int tl_elf_open(tl_elf **out, const char *path, tl_error *e);
int tl_elf_open_memory(tl_elf **out, const void *data, size_t size, const char *path, tl_error *e);
void tl_elf_close(tl_elf *elf);

const char *tl_elf_path(const tl_elf *elf);
bool tl_elf_big_endian(const tl_elf *elf);
uint16_t tl_elf_machine(const tl_elf *elf);     /* EM_* */
uint16_t tl_elf_type(const tl_elf *elf);        /* ET_* */
const char *tl_elf_build_id(const tl_elf *elf); /* hex, or NULL */
/* Name and CRC of the separate debug file, or NULL. */
const char *tl_elf_debuglink(const tl_elf *elf, uint32_t *crc);

uint32_t tl_elf_sections(const tl_elf *elf);
const tl_elf_section *tl_elf_section_get(const tl_elf *elf, uint32_t index);
const tl_elf_section *tl_elf_section_find(const tl_elf *elf, const char *name); /* NULL if there is none */
/* The bytes of a section (borrowed until close). TL_EDAMAGED if it reaches beyond the file. SHT_NOBITS: empty. */
int tl_elf_section_data(tl_elf *elf, const tl_elf_section *s, const uint8_t **data, size_t *size, tl_error *e);

/* Calls visit for every symbol of .symtab, then of .dynsym; stops when it returns non-zero, and returns that. */
int tl_elf_each_symbol(tl_elf *elf, int (*visit)(void *arg, const tl_elf_symbol *s), void *arg, tl_error *e);
/* Calls visit for every RELA entry of the file: place, type, addend, value of its symbol (0: none). `section` is the
 * index of the section that the entry applies to (sh_info; meaningful in ET_REL). */
int tl_elf_each_rela(tl_elf *elf,
                     int (*visit)(void *arg, uint32_t section, uint64_t place, uint32_t type, uint64_t symbol_value,
                                  int64_t addend),
                     void *arg, tl_error *e);

#endif
