/* Which function of a binary contains an address: for instructions, which may be anywhere in it. */
#ifndef TL_OP_CODE_MAP_H
#define TL_OP_CODE_MAP_H

#include "base/elf/elf_file.h"

/* A function: addresses from .. to-1, not shared with another. */
typedef struct tl_code_symbol {
    uint64_t from, to;
    const char *name; /* linkage name: lives as long as the map */
} tl_code_symbol;

typedef struct tl_code_map tl_code_map;

/* From the symbols of an ELF file, or of its debug file if it is stripped. Functions of unknown size reach to the next
 * one, or to the end of their section; where functions overlap, the one that begins last has the address. Errors: as
 * tl_elf_open(). */
int tl_code_map_open(tl_code_map **out, const char *path, tl_error *e);
void tl_code_map_close(tl_code_map *m); /* NULL is fine */

uint32_t tl_code_map_symbols(const tl_code_map *m);
const tl_code_symbol *tl_code_map_symbol(const tl_code_map *m, uint32_t i); /* in the order of addresses */

/* The function that contains pc, or NULL; then *gap, if not NULL, is the range of addresses around pc without a
 * function. */
const tl_code_symbol *tl_code_map_find(const tl_code_map *m, uint64_t pc, tl_code_symbol *gap);

#endif
