/* The table of threads, for a profile with a tree for each. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/function/table_rows.h"
#include "base/grow.h"

#define IN_NO_ROW UINT32_MAX

/* row[place]: the row of its thread; covered[place]: it or a place above has calls, so that a total includes the time
 * of places below. Parents come before children. */
static void add_up(tl_row_sums *rows, const tl_profile *p, uint32_t *row, bool *covered)
{
    row[0] = IN_NO_ROW;
    for (uint32_t i = 1; i < p->nplace; i++) {
        const tl_place *at = &p->place[i];
        if (at->function == TL_NO_FUNCTION)
            continue; /* the row of a thread's root is already set */
        row[i] = row[at->parent];
        if (row[i] != IN_NO_ROW)
            tl_row_sums_add_nested(rows, p, row[i], i, !covered[at->parent]);
        covered[i] = covered[at->parent] || p->stat[i].calls || p->stat[i].total;
    }
}

int tl_thread_rows(tl_table *out, const tl_profile *p, tl_error *e)
{
    tl_row_sums rows;
    int status = tl_row_sums_init(&rows, p, p->ntrack, e);
    if (status < 0)
        return status;
    uint32_t *row = tl_alloc(p->nplace, sizeof *row);
    uint32_t *order = tl_alloc((size_t)p->ntrack + 1, sizeof *order);
    bool *covered = calloc(p->nplace, sizeof *covered);
    if (!row || !order || !covered) {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " threads", p->ntrack);
        goto out;
    }
    status = tl_profile_track_order(p, order, e);
    if (status < 0)
        goto out;
    for (uint32_t i = 0; i < p->ntrack; i++)
        tl_row_sums_add(&rows, TL_NO_FUNCTION, TL_NO_FUNCTION, order[i]);
    uint32_t *row_of_track = order; /* the inverse, in the same place */
    for (uint32_t i = 0; i < rows.n; i++)
        row_of_track[rows.row[i].track] = i;
    for (uint32_t i = 1; i < p->nplace; i++)
        if (p->place[i].function == TL_NO_FUNCTION)
            row[i] = row_of_track[p->place[i].track];
    add_up(&rows, p, row, covered);
    tl_row_sums_take(&rows, p, TL_BY_TOTAL, out);
out:
    free(row);
    free(order);
    free(covered);
    tl_row_sums_fini(&rows);
    return status;
}
