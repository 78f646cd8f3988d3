/* The table of functions: sums over all places of each. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/function/table_rows.h"
#include "base/grow.h"

int tl_function_rows(tl_table *out, const tl_profile *p, tl_error *e)
{
    tl_row_sums rows;
    int status = tl_row_sums_init(&rows, p, p->nfunction, e);
    if (status < 0)
        return status;
    uint32_t *order = tl_alloc((size_t)p->nfunction + 1, sizeof *order);
    if (!order) {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " functions", p->nfunction);
        goto out;
    }
    status = tl_profile_function_order(p, order, e);
    if (status < 0)
        goto out;
    for (uint32_t i = 0; i < p->nfunction; i++) {
        uint32_t row = tl_row_sums_add(&rows, order[i], TL_NO_FUNCTION, TL_NO_TRACK);
        for (uint32_t at = p->same_first[order[i]]; at; at = p->same_next[at])
            tl_row_sums_add_place(&rows, p, row, at, p->nweight ? p->outer_calls[at] : p->stat[at].calls,
                                  p->stat[at].outer);
    }
    tl_row_sums_take(&rows, p, TL_BY_SELF, out);
out:
    free(order);
    tl_row_sums_fini(&rows);
    return status;
}
