/* The table of callers: pairs of caller and callee, and the cost of these calls. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/function/table_rows.h"
#include "base/grow.h"

typedef struct pairs {
    tl_row_sums rows;
    tl_hash index;    /* caller << 32 | callee -> row */
    uint32_t *row;    /* of each place */
    uint32_t *active; /* of each row: how many of its places are on the stack */
} pairs;

/* The row of a place's pair, made if needed; TL_HASH_NONE when memory runs out. */
static uint32_t pair_row(pairs *s, const tl_profile *p, uint32_t place)
{
    uint32_t callee = p->place[place].function, caller = p->place[p->place[place].parent].function;
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t row = tl_hash_get(&s->index, key);
    if (row == TL_HASH_NONE) {
        if (!tl_hash_put(&s->index, key, s->rows.n))
            return TL_HASH_NONE;
        row = tl_row_sums_add(&s->rows, callee, caller, TL_NO_TRACK);
    }
    return row;
}

/* A place whose calls never ended does not cover the calls below it. */
static bool hides(const tl_profile *p, uint32_t place)
{
    return p->place[place].function != TL_NO_FUNCTION && (p->stat[place].calls || p->stat[place].total);
}

/* Walks the tree depth-first: places[] must be in such an order. */
static bool add_up(pairs *s, const tl_profile *p, const uint32_t *places)
{
    for (uint32_t i = 1, last = 0; i < p->nplace; last = places[i++]) {
        uint32_t place = places[i];
        for (; last != p->place[place].parent; last = p->place[last].parent)
            if (hides(p, last))
                s->active[s->row[last]]--;
        if (p->place[place].function == TL_NO_FUNCTION)
            continue;
        uint32_t row = pair_row(s, p, place);
        if (row == TL_HASH_NONE)
            return false;
        s->row[place] = row;
        tl_row_sums_add_nested(&s->rows, p, row, place, s->active[row] == 0);
        s->active[row] += hides(p, place);
    }
    return true;
}

int tl_caller_rows(tl_table *out, const tl_profile *p, tl_error *e)
{
    pairs s = {.row = calloc(p->nplace, sizeof *s.row), .active = calloc(p->nplace, sizeof *s.active)};
    uint32_t *order = tl_alloc(p->nplace, sizeof *order);
    int status = tl_row_sums_init(&s.rows, p, p->nplace, e);
    if (status < 0)
        goto out;
    if (!s.row || !s.active || !order) {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " places", p->nplace);
        goto out;
    }
    status = tl_profile_canonical_order(p, order, e); /* so that rows are found in a reproducible order */
    if (status < 0)
        goto out;
    if (add_up(&s, p, order))
        tl_row_sums_take(&s.rows, p, TL_BY_TOTAL, out);
    else
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " calls", s.rows.n);
out:
    tl_row_sums_fini(&s.rows);
    tl_hash_fini(&s.index);
    free(s.row);
    free(s.active);
    free(order);
    return status;
}
