/* Branches: how often each was taken, where those to a register went, and how well simple predictors do.
 *
 * A branch counts if its outcome is known: the next instruction has a known pc and the same level. */
#ifndef TL_ANALYSIS_BRANCH_TABLE_H
#define TL_ANALYSIS_BRANCH_TABLE_H

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "analysis/instruction/predictor.h"
#include "base/pair_map.h"
#include "isa/a64.h"

#define TL_BRANCHES_MAX       (1u << 24) /* distinct ones, and pairs with a target; more is TL_ENOMEM */
#define TL_BRANCH_TARGETS_MAX (1u << 24)

typedef struct tl_branch {
    uint64_t pc;
    uint64_t taken, not_taken;
    uint64_t first_ts;    /* when `kind` was first executed ... */
    uint32_t first_track; /* ... by the first track: the code at a pc may change */
    uint8_t kind;         /* a64_class */
} tl_branch;

typedef struct tl_branches {
    tl_hash index; /* pc -> row */
    tl_branch *row;
    uint32_t n, capacity;
    tl_pair_map to;   /* pc and target -> index; for branches to a register */
    uint64_t *times;  /* by that index: how often */
    uint32_t ntimes;  /* capacity */
    uint64_t insns;   /* all instructions */
    uint64_t without; /* branches that do not count */
    tl_predictor predictor[TL_PREDICTORS];
    unsigned npredictor;
    uint64_t *miss; /* [row * npredictor + predictor] */
    uint32_t nmiss; /* rows that it has room for */

    /* State of reading. */
    tl_insn_classes classes;
    struct {
        bool is;      /* the last instruction was a branch with a known pc */
        uint8_t kind; /* a64_class */
        uint8_t level;
        uint32_t track;
        uint64_t pc, ts;
    } open;
} tl_branches;
/* Options: a tl_predictor_list, or NULL for none. */
extern const tl_insn_table tl_branches_table;

/* Where a branch went. */
typedef struct tl_branch_targets {
    uint32_t distinct; /* 0: not counted, always the same */
    uint64_t most;     /* the most frequent one, the lowest of several */
    uint64_t times;
} tl_branch_targets;

/* Row numbers, most frequently executed branches first, ties by pc; with by_misses, most misses of any one predictor
 * first. The caller frees them. NULL when memory runs out. */
uint32_t *tl_branches_order(const tl_branches *b, bool by_misses);
/* Targets by row; the caller frees them. NULL when memory runs out. */
tl_branch_targets *tl_branches_targets(const tl_branches *b);

#endif
