/* Reads tables of events: a row for each. */
#include <stdlib.h>

#include "op/scan/access_pcs.h"
#include "op/scan/event_reader.h"
#include "op/symbols/code_map.h"

typedef struct event_scan {
    tl_scan scan;
    const tl_scan_table *table;
    tl_event_reader reader;
    uint64_t last;   /* of an ordered scan: the latest tick */
    bool wants_pcs;  /* of accesses: */
    uint32_t pcs_of; /* the number of the source */
    tl_access_pcs pcs;
    tl_scan_block block;
    const tl_batch *batch;  /* of the current run: */
    uint32_t picked, given; /* events that terms leave, and of these in blocks */
    uint32_t at[TL_BATCH_MAX];
} event_scan;

/* Whether an ordered scan really is: some traces go back in time. */
static int check_order(event_scan *s, const tl_batch *b, uint32_t n, tl_error *e)
{
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t ts = b->ts[s->at[k]];
        if (ts < s->last)
            return tl_scan_goes_back(s->reader.dataset->source[s->reader.view.number - 1], e);
        s->last = ts;
    }
    return 0;
}

/* The function of an instruction. */
static void put_code(tl_event_part part, const tl_event_view *v, const tl_batch *b, uint32_t i, tl_scan_block *block,
                     uint32_t column, uint32_t row)
{
    const bool has_pc = b->aux && tl_insn_has_pc(b->aux[i]);
    const tl_code_symbol *code = has_pc && v->code ? tl_code_map_find(v->code, b->key[i], NULL) : NULL;
    if (!code)
        tl_scan_put_null(block, column, row);
    else if (part == TL_EVENT_CODE_NAME)
        tl_scan_put_text(block, column, row, code->name);
    else
        tl_scan_put_int(block, column, row, (int64_t)(b->key[i] - code->from));
}

static void put_part(event_scan *s, const tl_batch *b, const uint32_t *at, uint32_t n, uint32_t column, uint32_t row)
{
    tl_event_reader *r = &s->reader;
    const tl_event_part part = r->kind->part[column];
    if (part == TL_EVENT_ACCESS_PC)
        tl_access_pcs_put(&s->pcs, at, n, &s->block, column, row);
    else if (part == TL_EVENT_CODE_NAME || part == TL_EVENT_CODE_OFFSET)
        for (uint32_t k = 0; k < n; k++)
            put_code(part, &r->view, b, at[k], &s->block, column, row + k);
    else if (part != TL_EVENT_OTHER)
        tl_event_part_put(part, &r->view, b, at, n, &s->block, column, row);
}

static void put_rows(event_scan *s, const tl_batch *b, const uint32_t *at, uint32_t n, uint32_t row)
{
    tl_event_reader *r = &s->reader;
    const tl_event_table *kind = r->kind;
    for (uint32_t c = 0; c < s->table->ncolumn; c++)
        if (tl_scan_has(&s->block, c))
            put_part(s, b, at, n, c, row);
    if (kind->source && r->wants_fields)
        tl_class_fields_put(&kind->source[r->view.number - 1], &r->view, b, at, n, &s->block, s->table, row);
}

/* Notes which instruction did each access of a run. */
static void see_accesses(event_scan *s, const tl_run *run)
{
    const tl_event_view *v = &s->reader.view;
    if (s->pcs_of != v->number)
        tl_access_pcs_fini(&s->pcs);
    s->pcs_of = v->number;
    s->block.failed = !tl_access_pcs_see(&s->pcs, v->trace, run) || s->block.failed;
}

/* Begins with the next run: picks its rows. */
static int begin_run(event_scan *s, tl_error *e)
{
    tl_event_reader *r = &s->reader;
    const tl_run *run = r->run++;
    r->nrun--;
    if (s->wants_pcs)
        see_accesses(s, run);
    s->batch = run->batch;
    s->picked = tl_event_filter_pick(&r->filter, run, s->at);
    s->given = 0;
    return r->ask.ordered ? check_order(s, s->batch, s->picked, e) : 0;
}

/* Is there more for the block? Runs begin only where there is room for all their rows. */
static bool goes_on(const event_scan *s, uint32_t rows)
{
    const tl_event_reader *r = &s->reader;
    return !tl_scan_block_is_full(&s->block, rows) &&
           (s->given < s->picked || (r->nrun > 0 && rows + (r->run->to - r->run->from) <= TL_BLOCK_ROWS));
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    event_scan *s = (event_scan *)scan;
    tl_event_reader *r = &s->reader;
    uint32_t rows = 0;
    int status = 1;
    tl_scan_block_begin(&s->block);
    while (rows == 0) {
        if (s->given == s->picked && (status = tl_event_reader_next(r, e)) <= 0)
            return status;
        while (goes_on(s, rows)) {
            if (s->given == s->picked && (status = begin_run(s, e)) < 0)
                return status;
            const uint32_t left = s->picked - s->given,
                           n = r->wants_fields && left > TL_BLOCK_TEXTS ? TL_BLOCK_TEXTS : left;
            put_rows(s, s->batch, s->at + s->given, n, rows);
            s->given += n;
            rows += n;
        }
    }
    return tl_scan_block_done(&s->block, rows, block, e);
}

static void close_scan(tl_scan *scan)
{
    event_scan *s = (event_scan *)scan;
    tl_access_pcs_fini(&s->pcs);
    tl_event_reader_fini(&s->reader);
    tl_scan_block_fini(&s->block);
    free(s);
}

int tl_event_scan_open(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    event_scan *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    s->scan = (tl_scan){next_block, close_scan};
    s->table = t;
    for (uint32_t i = 0; i < t->ncolumn; i++)
        s->wants_pcs = s->wants_pcs || (((const tl_event_table *)t->arg)->part[i] == TL_EVENT_ACCESS_PC &&
                                        (!ask->used || ask->used[i]));
    int status = tl_event_reader_init(&s->reader, t, d, ask, e);
    if (status == 0)
        status = tl_scan_block_init(&s->block, t->column, t->ncolumn, ask->used, e);
    return tl_scan_opened(out, &s->scan, status);
}

double tl_event_scan_keeps(const tl_scan_table *t, uint32_t column, tl_term_op op)
{
    const tl_event_table *kind = t->arg;
    return tl_event_filter_keeps(kind->part[column], op);
}

static uint32_t streams_of(const tl_source *s)
{
    return tl_source_is_profile(s) ? 0 : tl_source_streams(s);
}

/* Does opening it read it, to find its begin? */
static bool is_read_first(const tl_source *s)
{
    uint64_t begin, end;
    const tl_trace *t = tl_source_trace(s);
    return !tl_source_is_profile(s) && !t->clock.from_zero && !tl_trace_range(t, &begin, &end);
}

/* Threads and calls are selected, and accesses told their instruction, by all events of a track, which may be in
 * several streams. */
static bool needs_tracks(const tl_event_table *kind, const tl_select *s)
{
    return kind->kinds & 1u << TL_MEM ||
           (s && (s->nfunc || s->nnot || s->nthread || s->depth || s->min_ticks || s->levels || s->has_pc));
}

uint32_t tl_event_scan_parts(const tl_scan_table *t, const tl_dataset *d, tl_scan_part *out, uint32_t most)
{
    bool whole = needs_tracks(t->arg, d->select);
    for (uint32_t i = 0; i < d->n; i++)
        whole = whole || is_read_first(d->source[i]);
    return whole ? 0 : tl_source_walk_parts(d, streams_of, out, most);
}

uint32_t tl_event_scan_order(const tl_dataset *d, uint32_t ts)
{
    return d->n == 1 && !tl_trace_is_ranked(tl_source_trace(d->source[0])) ? ts : TL_NO_ORDER;
}

uint64_t tl_event_scan_guess(const tl_dataset *d)
{
    enum { BYTES_OF_AN_EVENT = 16 };
    uint64_t events = 1;
    for (uint32_t i = 0; i < d->n; i++) {
        const tl_reader *r = d->source[i]->reader;
        const unsigned bytes = r && r->event_bytes ? r->event_bytes : BYTES_OF_AN_EVENT;
        events += tl_trace_bytes(tl_source_trace(d->source[i])) / bytes;
    }
    return events;
}
