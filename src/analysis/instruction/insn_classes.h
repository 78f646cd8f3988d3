/* The meaning of a trace's events for the tables of this folder, by class: decided once, from kinds and roles, so that
 * a loop over events tests one byte and no class. */
#ifndef TL_ANALYSIS_INSN_CLASSES_H
#define TL_ANALYSIS_INSN_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "traceloom/trace.h"

typedef enum tl_insn_what {
    TL_IS_OTHER,         /* irrelevant for instructions */
    TL_IS_INSN,          /* an instruction of A64: key and aux as of TL_AUX_INSN */
    TL_IS_LOAD,          /* aux: bytes */
    TL_IS_STORE,         /* the same */
    TL_IS_TARGET,        /* key: the target of the branch before it */
    TL_IS_STORED,        /* key: 0 if the exclusive store stored */
    TL_IS_SYSTEM_VALUE,  /* key */
    TL_IS_CACHE_ADDRESS, /* key */
    TL_IS_CALL_ARGUMENT, /* key */
    TL_IS_CALL_RESULT,   /* key */
    TL_IS_CALL_BUFFERS,  /* its fields */
    TL_IS_ORDER,         /* key */
    TL_IS_FLAGS,         /* key */
    TL_IS_GENERAL,       /* its fields */
    TL_IS_SNAPSHOT       /* its fields */
} tl_insn_what;

#define TL_INSN_CLASSES 256u /* most classes of a trace of instructions */

/* Zeroed: everything is TL_IS_OTHER. */
typedef struct tl_insn_classes {
    uint8_t what[TL_INSN_CLASSES]; /* tl_insn_what */
    uint32_t insn;                 /* the last class that is TL_IS_INSN ... */
    uint32_t insns;                /* ... of this many */
} tl_insn_classes;

/* True if the trace has instructions. Traces with more classes than fit count as having none. */
bool tl_insn_classes_find(tl_insn_classes *c, const tl_trace *t);

static inline tl_insn_what tl_insn_what_is(const tl_insn_classes *c, uint32_t cls)
{
    return (tl_insn_what)c->what[cls % TL_INSN_CLASSES];
}

/* Numbers of events of a batch, in order, with room for all of it. */
typedef struct tl_insn_picked {
    uint16_t at[TL_BATCH_MAX];
} tl_insn_picked;

/* Splits events from .. to-1 of a batch into instructions and, if `others` is not NULL, all others; returns the number
 * of instructions. Branch-free, because the kinds of events are unpredictable: branching on each would take more time
 * than everything else. */
TL_ALWAYS_INLINE uint32_t tl_insn_pick(const tl_insn_classes *c, const tl_batch *b, uint32_t from, uint32_t to,
                                       tl_insn_picked *insns, tl_insn_picked *others)
{
    const uint32_t *const cls = b->cls;
    const uint32_t insn = c->insn, several = c->insns > 1;
    uint32_t n = 0, m = 0;
    for (uint32_t i = from; i < to; i++) {
        const bool is = several ? c->what[cls[i] % TL_INSN_CLASSES] == TL_IS_INSN : cls[i] == insn;
        insns->at[n] = (uint16_t)i;
        n += is;
        if (others) {
            others->at[m] = (uint16_t)i;
            m += !is;
        }
    }
    return n;
}

#endif
