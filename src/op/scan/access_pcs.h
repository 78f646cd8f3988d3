/* Which instruction did an access: the last one before it on its track. */
#ifndef TL_OP_ACCESS_PCS_H
#define TL_OP_ACCESS_PCS_H

#include "model/scan_block.h"
#include "op/scan/scan.h"

/* Zeroed, it has seen nothing. */
typedef struct tl_access_pcs {
    struct tl_last_insn {
        uint64_t pc;
        bool known;
    } * last; /* [ntrack] by track: of the last instruction */
    uint32_t ntrack;
    struct tl_last_insn at[TL_BATCH_MAX]; /* by event of the batch: of the instruction before it */
} tl_access_pcs;

/* Looks at the next events of a trace; all of them come, in the order of each track. False when memory runs out. */
bool tl_access_pcs_see(tl_access_pcs *p, const tl_trace *t, const tl_run *run);
/* Puts the addresses for n of these events, whose indices are at[], into rows `row` and after. */
void tl_access_pcs_put(const tl_access_pcs *p, const uint32_t *at, uint32_t n, tl_scan_block *block, uint32_t column,
                       uint32_t row);
/* Forgets everything: another trace begins. */
void tl_access_pcs_fini(tl_access_pcs *p);

#endif
