/* The table of slices: calls and spans in the same columns, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "model/scan_block.h"
#include "op/scan/line_tables.h"
#include "op/scan/term_copy.h"

enum { TRACE, ID, PARENT, TS, DUR, END, TRACK, THREAD, NAME, DEPTH, CATEGORY, COLUMNS };

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [ID] = {"id", "id", TL_INTEGER, TL_UNIT_NONE, "the event of its begin, as in events"},
    [PARENT] = {"parent_id", "parent_id", TL_INTEGER, TL_UNIT_NONE,
                "the call that it is part of; null: it is outermost, or a span"},
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when it began, from the begin of the trace"},
    [DUR] = {"dur", "dur", TL_INTEGER, TL_UNIT_TIME, "how long it took: end_ts - ts; null: as in calls and spans"},
    [END] = {"end_ts", "end_ts", TL_INTEGER, TL_UNIT_TIME, "when it ended; null: as dur"},
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the number of its track, from 0"},
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its thread"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "the function, or what the span is"},
    [DEPTH] = {"depth", "depth", TL_INTEGER, TL_UNIT_NONE, "1: outermost; null: a span"},
    [CATEGORY] = {"category", "category", TL_TEXT, TL_UNIT_NONE, "call or span"},
};
static const char *const categories[TL_SLICE_PARTS] = {"call", "span"};

#define NONE UINT32_MAX

typedef struct slices_scan {
    tl_scan scan;
    const tl_slices *slices;
    const tl_dataset *dataset;
    tl_term_copy terms;
    tl_scan_ask ask; /* of the copy */
    bool used[COLUMNS];
    uint32_t next;        /* the part to open next */
    tl_scan *part;        /* that is read */
    uint32_t at[COLUMNS]; /* its columns, or NONE */
    const char *category[TL_BLOCK_ROWS];
    int64_t zero[TL_BLOCK_ROWS];
    uint8_t null[TL_BLOCK_ROWS], none[TL_BLOCK_ROWS]; /* all 1, all 0 */
    tl_block_column column[COLUMNS];
} slices_scan;

/* The column of a part with a name, or NONE. */
static uint32_t column_of(const tl_scan_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->ncolumn; i++)
        if (strcmp(t->column[i].name, name) == 0)
            return i;
    return NONE;
}

/* Can rows of a part fulfil what is asked of the category? */
static bool is_wanted(const slices_scan *s, uint32_t part)
{
    for (uint32_t i = 0; i < s->ask.nterm; i++)
        if (s->ask.term[i].column == CATEGORY && !tl_term_takes_text(&s->ask, &s->ask.term[i], categories[part]))
            return false;
    return true;
}

/* Opens the next part, which is asked what it has columns for. */
static int open_part(slices_scan *s, tl_error *e)
{
    const uint32_t part = s->next++;
    const tl_scan_table *t = s->slices->part[part];
    if (!is_wanted(s, part))
        return 0;
    uint8_t *used = calloc((size_t)t->ncolumn + 1, 1);
    tl_term *term = calloc((size_t)s->ask.nterm + 1, sizeof *term);
    tl_scan_ask ask = s->ask;
    ask.nterm = 0;
    for (uint32_t i = 0; used && i < COLUMNS; i++) {
        s->at[i] = column_of(t, columns[i].name);
        if (s->at[i] != NONE)
            used[s->at[i]] = s->used[i];
    }
    for (uint32_t i = 0; term && i < s->ask.nterm; i++) {
        term[ask.nterm] = s->ask.term[i];
        term[ask.nterm].column = s->at[s->ask.term[i].column];
        ask.nterm += term[ask.nterm].column != NONE;
    }
    ask.used = used;
    ask.term = term;
    int status = used && term ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    if (status == 0)
        status = tl_scan_open(&s->part, t, s->dataset, &ask, e);
    free(used);
    free(term);
    for (uint32_t i = 0; i < TL_BLOCK_ROWS; i++)
        s->category[i] = categories[part];
    return status;
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    slices_scan *s = (slices_scan *)scan;
    tl_block rows;
    for (;;) {
        int status = s->part ? tl_scan_next(s->part, &rows, e) : 0;
        if (status < 0)
            return status;
        if (status > 0)
            break;
        tl_scan_close(s->part);
        s->part = NULL;
        if (s->next == TL_SLICE_PARTS)
            return 0;
        status = open_part(s, e);
        if (status < 0)
            return status;
    }
    for (uint32_t i = 0; i < COLUMNS; i++)
        s->column[i] = s->at[i] != NONE ? rows.column[s->at[i]] : (tl_block_column){.i64 = s->zero, .is_null = s->null};
    s->column[CATEGORY] = (tl_block_column){.text = s->category, .is_null = s->none};
    *block = (tl_block){.rows = rows.rows, .column = s->column};
    return 1;
}

static void close_scan(tl_scan *scan)
{
    slices_scan *s = (slices_scan *)scan;
    tl_scan_close(s->part);
    tl_term_copy_fini(&s->terms);
    free(s);
}

static int open_scan(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    slices_scan *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    s->scan = (tl_scan){next_block, close_scan};
    s->slices = t->arg;
    s->dataset = d;
    s->ask = *ask;
    s->ask.used = NULL;
    memset(s->null, 1, sizeof s->null);
    for (uint32_t i = 0; i < COLUMNS; i++)
        s->used[i] = !ask->used || ask->used[i];
    const int status = tl_term_copy_init(&s->terms, &s->ask, e);
    return tl_scan_opened(out, &s->scan, status);
}

/* As much as the part that uses the term least: the other has fewer rows then. */
static double keeps(const tl_scan_table *t, uint32_t column, tl_term_op op)
{
    const tl_slices *slices = t->arg;
    double most = 0;
    for (uint32_t i = 0; i < TL_SLICE_PARTS; i++) {
        const tl_scan_table *p = slices->part[i];
        const uint32_t at = column_of(p, columns[column].name);
        const double k = at == NONE ? 1 : p->keeps(p, at, op);
        most = k > most ? k : most;
    }
    return column == CATEGORY && op == TL_TERM_IS ? 0.5 : most;
}

void tl_slices_table(tl_scan_table *out, const tl_slices *slices)
{
    *out = (tl_scan_table){.info = {"slices", "calls and spans, in the same columns", TL_NEEDS_SLICES},
                           .column = columns,
                           .ncolumn = COLUMNS,
                           .order = TL_NO_ORDER,
                           .rows = slices->part[0]->rows + slices->part[1]->rows,
                           .arg = slices,
                           .is_large = true,
                           .keeps = keeps,
                           .open = open_scan};
}
