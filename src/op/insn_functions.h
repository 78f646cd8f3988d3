/* Which functions instructions are in, and the trace of calls for a tl_callstack, which gets its functions as they are
 * found. */
#ifndef TL_OP_INSN_FUNCTIONS_H
#define TL_OP_INSN_FUNCTIONS_H

#include "model/trace_impl.h"
#include "op/symbols/code_map.h"

enum { TL_INSN_ENTER, TL_INSN_EXIT }; /* the classes of the trace of calls */

#define TL_INSN_FUNCTIONS_CACHE 1024u /* functions found without a search: a power of two */

typedef struct tl_insn_function {
    int64_t id;          /* in the trace of calls: the address of its begin, or another number */
    uint64_t from, size; /* its addresses; size 0: unknown */
    bool is_known;       /* the binary has it */
} tl_insn_function;

typedef struct tl_insn_functions {
    const tl_trace *trace;   /* of the instructions; the functions of `code` have addresses in it */
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
void tl_insn_functions_fini(tl_insn_functions *f); /* also if empty or zeroed */

/* The function that contains pc; without a binary, one that begins there. Errors of all: TL_ENOMEM. */
int tl_insn_functions_called(tl_insn_functions *f, uint64_t pc, tl_insn_function *out, tl_error *e);
/* The function that contains pc; without a binary, "[entry 0x400000]"; "?" if the pc is unknown. */
int tl_insn_functions_entry(tl_insn_functions *f, bool has_pc, uint64_t pc, tl_insn_function *out, tl_error *e);
/* "[el1]" */
int tl_insn_functions_level(tl_insn_functions *f, unsigned level, tl_insn_function *out, tl_error *e);

#endif
