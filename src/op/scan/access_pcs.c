/* Which instruction did an access. */
#include "op/scan/access_pcs.h"

#include <stdlib.h>

#include "base/grow.h"

bool tl_access_pcs_see(tl_access_pcs *p, const tl_trace *t, const tl_run *run)
{
    const tl_batch *b = run->batch;
    for (uint32_t i = run->from; i < run->to; i++) {
        if (!TL_GROW_TO(p->last, p->ntrack, b->track[i], TL_TRACKS_MAX))
            return false;
        struct tl_last_insn *last = &p->last[b->track[i]];
        if (t->cls[b->cls[i]].kind == TL_INSN)
            *last = (struct tl_last_insn){b->key[i], b->aux && tl_insn_has_pc(b->aux[i])};
        p->at[i] = *last;
    }
    return true;
}

void tl_access_pcs_put(const tl_access_pcs *p, const uint32_t *at, uint32_t n, tl_scan_block *block, uint32_t column,
                       uint32_t row)
{
    for (uint32_t k = 0; k < n; k++)
        tl_list_int(block, column, row + k, p->at[at[k]].known, (int64_t)p->at[at[k]].pc);
}

void tl_access_pcs_fini(tl_access_pcs *p)
{
    free(p->last);
    p->last = NULL;
    p->ntrack = 0;
}
