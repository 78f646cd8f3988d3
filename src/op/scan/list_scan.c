/* Tables whose rows are in memory already. */
#include "op/scan/list_scan.h"

#include <stdlib.h>

typedef struct list_scan {
    tl_scan scan;
    const tl_list *list;
    uint32_t source, sources;
    uint64_t next, n; /* the next row of the source, and how many it has */
    tl_list_at at;
    tl_scan_block block;
} list_scan;

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    list_scan *s = (list_scan *)scan;
    uint32_t rows = 0;
    tl_scan_block_begin(&s->block);
    while (s->source < s->sources && !tl_scan_block_is_full(&s->block, rows)) {
        const tl_list *l = s->list;
        if (s->next == 0)
            s->n = l->count(l->arg, s->source);
        if (s->next == s->n) {
            s->source++;
            s->next = 0;
            s->at = (tl_list_at){0};
        } else if (l->put_at) {
            l->put_at(l->arg, s->source, s->next++, &s->at, &s->block, rows++);
        } else {
            l->put(l->arg, s->source, s->next++, &s->block, rows++);
        }
    }
    return rows == 0 ? 0 : tl_scan_block_done(&s->block, rows, block, e);
}

static void close_scan(tl_scan *scan)
{
    list_scan *s = (list_scan *)scan;
    tl_scan_block_fini(&s->block);
    free(s);
}

double tl_list_scan_keeps(const tl_scan_table *t, uint32_t column, tl_term_op op)
{
    (void)t;
    (void)column;
    (void)op;
    return 1;
}

int tl_list_scan_open(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    list_scan *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    s->scan = (tl_scan){next_block, close_scan};
    s->list = t->arg;
    s->sources = d->n;
    const int status = tl_scan_block_init(&s->block, t->column, t->ncolumn, ask->used, e);
    return tl_scan_opened(out, &s->scan, status);
}
