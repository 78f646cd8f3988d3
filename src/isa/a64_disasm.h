/* Text of any instruction of A64: from LLVM's shared library if it is installed, else from a64_text.c.
 *
 * The library is looked for when the first handle is made, newest first, and stays loaded. The environment variable
 * TRACELOOM_LLVM names one (a path or a name for the dynamic linker), "off" disables the search. A handle belongs to
 * one thread at a time; handles of several threads are independent. */
#ifndef TL_ISA_A64_DISASM_H
#define TL_ISA_A64_DISASM_H

#include "isa/a64_text.h"
#include "traceloom/error.h"

typedef struct a64_disasm a64_disasm;

/* *out belongs to the caller: a64_disasm_free(). plain: always a64_text.c's text. Errors: TL_ENOMEM. */
int a64_disasm_new(a64_disasm **out, bool plain, tl_error *e);
void a64_disasm_free(a64_disasm *d); /* NULL is fine */
/* Where the text comes from: the library's name ("libLLVM-14.so.1"), or "built in". Static, or from the environment. */
const char *a64_disasm_engine(const a64_disasm *d);
/* As a64_text(), for every instruction that the library knows. */
size_t a64_disasm_text(a64_disasm *d, uint32_t op, bool has_pc, uint64_t pc, char text[static A64_TEXT_MAX]);

#endif
