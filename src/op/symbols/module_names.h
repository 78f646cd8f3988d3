/* Names for functions that are addresses, from binaries whose places are in the events. */
#ifndef TL_OP_MODULE_NAMES_H
#define TL_OP_MODULE_NAMES_H

#include "op/source_impl.h"

/* A binary in memory. */
typedef struct tl_module {
    uint64_t base, size;
    const char *path; /* NULL: unknown; only its build-id */
    char build_id[2 * 64 + 1];
    bool is_absolute; /* addresses are those of the file */
} tl_module;

/* Names the functions of the trace whose id is an address. A function is in the module with the highest base below it,
 * if that is large enough: no two modules have the same base. s->exe, if not NULL, replaces the module of the same file
 * name, or else the first one with functions; without modules all addresses are its own. Other modules' files are
 * opened unless s->no_names, each once, if they are regular files (see named_file.h) and their build-id, if known, is
 * the recorded one. Functions that no file names are called by their
 * place in it, "lua5.4+0x8870". */
int tl_name_modules(tl_source *s, const tl_module *module, uint32_t n, tl_error *e);

#endif
