/* Which functions instructions are in, and the trace of calls that a tl_callstack is given for them: its functions are
 * added as they come. */
#ifndef TL_OP_INSN_FUNCTIONS_H
#define TL_OP_INSN_FUNCTIONS_H

#include "model/trace_impl.h"
#include "op/symbols/code_map.h"

enum { TL_INSN_ENTER, TL_INSN_EXIT }; /* the classes of the trace of calls */

#define TL_INSN_FUNCTIONS_CACHE 1024u /* functions that are found without a search: a power of two */

typedef struct tl_insn_function {
    int64_t id;          /* in the trace of calls: the address that it begins with, or another number */
    uint64_t from, size; /* its addresses; size 0: not known */
    bool is_known;       /* the binary has it */
} tl_insn_function;

typedef struct tl_insn_functions {
    const tl_trace *trace;   /* of the instructions: knows the functions of `code` by address */
    const tl_code_map *code; /* or NULL */
    tl_trace calls;          /* with the tracks of `trace` */
    struct {
        bool is_set;
        uint64_t pc;
        tl_insn_function function;
    } * cache; /* [TL_INSN_FUNCTIONS_CACHE], by pc */
} tl_insn_functions;

/* Both are borrowed. Errors: TL_ENOMEM; then it is empty. */
int tl_insn_functions_init(tl_insn_functions *f, const tl_trace *t, const tl_code_map *code, tl_error *e);
void tl_insn_functions_fini(tl_insn_functions *f); /* of one that is empty or zeroed, too */

/* The function that holds pc, and where no binary says so, the one that begins there. Errors of all: TL_ENOMEM. */
int tl_insn_functions_called(tl_insn_functions *f, uint64_t pc, tl_insn_function *out, tl_error *e);
/* The function that holds pc, and where no binary says so, "[entry 0x400000]"; "?" if the pc is not known. */
int tl_insn_functions_entry(tl_insn_functions *f, bool has_pc, uint64_t pc, tl_insn_function *out, tl_error *e);
/* "[el1]" */
int tl_insn_functions_level(tl_insn_functions *f, unsigned level, tl_insn_function *out, tl_error *e);

#endif
