/* Names for functions that are addresses, from the binaries of which the events told where they were loaded. */
#ifndef TL_OP_MODULE_NAMES_H
#define TL_OP_MODULE_NAMES_H

#include "op/source_impl.h"

/* A binary in memory. */
typedef struct tl_module {
    uint64_t base, size;
    const char *path; /* NULL: only its build-id is known */
    char build_id[2 * 64 + 1];
    bool is_absolute; /* addresses are those of the file */
} tl_module;

/* Names the functions of the trace whose id is an address. A function is in the module with the highest base below it,
 * if that reaches so far: no two modules have one base. s->exe, if not NULL, takes the place of the module of the same
 * file name, or else of the first one that has functions; without modules all addresses are its own. The other modules'
 * files are opened unless s->no_names, each once, if they are regular files (see named_file.h) and their build-id, if
 * known, is the one recorded. Functions whose file is not there stay without a name. */
int tl_name_modules(tl_source *s, const tl_module *module, uint32_t n, tl_error *e);

#endif
