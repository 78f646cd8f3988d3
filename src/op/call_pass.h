/* A pass over all calls of a source, or instructions that make calls: each thread takes streams, and adds their calls
 * to a profile of its own. The caller merges these; since the order of merging does not matter, the result does not
 * depend on which thread did what. */
#ifndef TL_OP_CALL_PASS_H
#define TL_OP_CALL_PASS_H

#include "op/callstack.h"
#include "op/insn_calls.h"
#include "op/source_impl.h"
#include "op/stack_calls.h"

typedef struct tl_call_worker {
    tl_profile *profile;
    tl_callstack *calls;  /* of entries and exits; or ... */
    tl_insn_calls *insns; /* ... of instructions; or ... */
    tl_stack_calls told;  /* ... of stacks */
    tl_call_slots slots;
    uint64_t events; /* since memory was counted */
    tl_error error;
    uint32_t failed; /* the task that failed; UINT32_MAX: none */
} tl_call_worker;

typedef struct tl_call_pass {
    /* Set by the caller: */
    tl_source *source;
    const tl_profile_options *options;
    unsigned by; /* not 0: slots (tl_call_by) in place of a tree, as the next ones say; see tl_call_slots */
    uint64_t step, begin, memory;
    const tl_call_places *places;
    /* The result: */
    tl_call_worker *worker; /* those without a profile did nothing */
    unsigned nworker;
    /* Private: */
    bool of_insns;                      /* calls must be found in instructions; or ... */
    bool is_told;                       /* ... stacks tell them: they become slots only */
    struct tl_checkpoints *noting;      /* or NULL */
    const struct tl_checkpoints *known; /* the same: only a part of each stream is read */
    uint32_t *order;
} tl_call_pass;

/* Errors: as tl_profile_from_source(). In every case the caller calls fini. */
int tl_call_pass_run(tl_call_pass *m, tl_error *e);
void tl_call_pass_fini(tl_call_pass *m);
/* Frees what a worker has. */
void tl_call_worker_fini(tl_call_worker *w);

#endif
