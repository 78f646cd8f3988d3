/* Names, files and lines for the functions of a trace, from the traced binary and its separate debug file. */
#ifndef TL_OP_SYMBOLIZE_H
#define TL_OP_SYMBOLIZE_H

#include "base/elf/elf_file.h"
#include "model/trace_impl.h"

/* Fills linkage_name, name (demangled if `demangle`) of every function of t that has an address and no name, from the
 * symbols of elf; then, if `lines`, file and line from DWARF (needs libdw; without it they stay unknown). Finds a
 * separate debug file by build-id (/usr/lib/debug/.build-id/xx/rest.debug) or by debuglink (beside the binary, in
 * .debug/ beside it, under /usr/lib/debug). A name comes from a function symbol with exactly the address: global before
 * weak before local, then the first in the table. Functions without a symbol keep a NULL name. */
int tl_symbolize(tl_trace *t, tl_elf *elf, bool demangle, bool lines, tl_error *e);

/* The same for the functions in this binary, if a trace has functions of several. */
typedef struct tl_symbolize_options {
    bool demangle, lines;
    const uint32_t *only; /* indices of functions; NULL: all of the trace */
    uint32_t nonly;
} tl_symbolize_options;
int tl_symbolize_some(tl_trace *t, tl_elf *elf, const tl_symbolize_options *o, tl_error *e);

#endif
