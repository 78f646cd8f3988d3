/* Reads tables whose rows are made of events. */
#include "op/scan/line_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "op/scan/event_scan.h"

bool tl_line_wants(const tl_line_scan *s, uint32_t track, uint64_t ts)
{
    const tl_event_filter *f = &s->filter;
    return (!f->track || track >= f->ntrack || f->track[track]) && (!f->has_time || (ts >= f->from && ts < f->to));
}

void *tl_line_add(tl_line_scan *s, uint32_t track, uint64_t ts)
{
    const size_t size = s->kind->row;
    if (s->nrow == s->row_capacity) {
        const uint32_t capacity = s->row_capacity ? 2 * s->row_capacity : 64;
        uint8_t *row = s->row;
        if (s->row_capacity > UINT32_MAX / 2 || capacity > SIZE_MAX / size || !TL_RESIZE(row, capacity * size))
            return NULL;
        s->row = row;
        s->row_capacity = capacity;
    }
    uint8_t *row = s->row + s->nrow++ * size;
    memset(row, 0, size);
    const tl_line_row head = {.ts = ts, .track = track};
    memcpy(row, &head, sizeof head);
    return row;
}

bool tl_line_takes_text(const tl_line_scan *s, uint32_t column, const char *text)
{
    for (uint32_t i = 0; i < s->ask.nterm; i++)
        if (s->ask.term[i].column == column && !tl_term_takes_text(&s->ask, &s->ask.term[i], text))
            return false;
    return true;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
}

static void close_source(void *scan)
{
    tl_line_scan *s = scan;
    if (s->trace)
        s->kind->close(s);
    tl_events_close(s->events);
    tl_event_filter_fini(&s->filter);
    free(s->use);
    s->trace = NULL;
    s->events = NULL;
    s->use = NULL;
    s->nrun = 0;
    s->has_ended = s->is_alone = false;
}

/* What to do with the events of each class. 1; 0: no row can come of any. */
static int choose_classes(tl_line_scan *s, tl_error *e)
{
    const tl_trace *t = s->trace;
    bool any = false;
    uint8_t *only = tl_alloc((size_t)t->ncls + 1, 1);
    s->use = calloc((size_t)t->ncls + 1, 1);
    for (uint32_t i = 0; only && i < t->ncls; i++) {
        only[i] = s->kind->takes(s, &t->cls[i]);
        any = any || only[i];
    }
    int status = only && s->use ? any : no_memory(e);
    if (status > 0 && tl_event_filter_init(&s->filter, t, s->origin, &s->ask, s->kind->part, only, 0, e) < 0)
        status = TL_ENOMEM;
    free(only);
    any = false;
    for (uint32_t i = 0; status > 0 && i < t->ncls; i++) {
        s->use[i] = s->kind->use(s, &t->cls[i]);
        any = any || s->use[i];
    }
    return status > 0 ? any : status;
}

static int open_source(void *scan, uint32_t i, tl_error *e)
{
    tl_line_scan *s = scan;
    tl_source *source = s->dataset->source[i];
    if (tl_source_is_profile(source))
        return 0;
    s->trace = tl_source_trace(source);
    s->number = i + 1;
    s->origin = tl_scan_begin(s->trace);
    const int status = choose_classes(s, e);
    if (status <= 0)
        return status;
    if (!s->kind->begin(s))
        return no_memory(e);
    s->select = s->dataset->select ? *s->dataset->select : (tl_select){0};
    if (s->is_alone)
        tl_event_filter_limit(&s->filter, s->origin, &s->select);
    const bool any = s->dataset->select || s->select.has_from || s->select.has_to;
    tl_want want = source->want;
    want.fields = true;
    want.cpu = s->select.ncpu > 0;
    const int opened =
        tl_events_open_want(&s->events, &source, 1, any ? &s->select : NULL, !s->trace->unsorted, &want, e);
    return opened < 0 ? opened : 1;
}

static bool read_run(tl_line_scan *s, const tl_run *run)
{
    const tl_batch *b = run->batch;
    bool ok = true;
    for (uint32_t i = run->from; ok && i < run->to; i++)
        if (s->use[b->cls[i]])
            ok = s->kind->event(s, b, i);
    return ok;
}

static int read_source(void *scan, tl_error *e)
{
    tl_line_scan *s = scan;
    if (s->has_ended)
        return 0;
    const int status = s->nrun > 0 ? 1 : tl_events_runs(s->events, &s->run, &s->nrun, e);
    if (status < 0)
        return status;
    s->has_ended = status == 0;
    if (s->has_ended)
        return s->kind->end(s) ? 1 : no_memory(e);
    if (s->nrun > 0) {
        s->nrun--;
        if (!read_run(s, s->run++))
            return no_memory(e);
    }
    return 1;
}

static const tl_source_reading reading = {open_source, read_source, close_source};

/* Puts rows that wait into the block; how many. */
static int put_rows(tl_line_scan *s, uint32_t *rows, tl_error *e)
{
    *rows = 0;
    for (; s->at < s->nrow && !tl_scan_block_is_full(&s->block, *rows); s->at++) {
        const uint8_t *row = s->row + s->at * s->kind->row;
        tl_line_row head;
        memcpy(&head, row, sizeof head);
        if (s->ask.ordered && head.ts < s->last)
            return tl_scan_goes_back(s->dataset->source[s->number - 1], e);
        s->last = head.ts;
        s->kind->put(s, row, (*rows)++);
    }
    return 0;
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    tl_line_scan *s = (tl_line_scan *)scan;
    uint32_t rows;
    tl_scan_block_begin(&s->block);
    for (;;) {
        int status = put_rows(s, &rows, e);
        if (status < 0)
            return status;
        if (rows > 0)
            return tl_scan_block_done(&s->block, rows, block, e);
        s->at = s->nrow = 0;
        status = tl_source_walk_read(&s->walk, e);
        if (status <= 0)
            return status;
    }
}

static void close_scan(tl_scan *scan)
{
    tl_line_scan *s = (tl_line_scan *)scan;
    close_source(s);
    tl_term_copy_fini(&s->terms);
    tl_scan_block_fini(&s->block);
    free(s->row);
    free(s);
}

static int open_scan(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    const tl_line_kind *kind = t->arg;
    tl_line_scan *s = calloc(1, kind->size);
    if (!s)
        return no_memory(e);
    s->scan = (tl_scan){next_block, close_scan};
    s->table = t;
    s->kind = kind;
    s->dataset = d;
    s->ask = *ask;
    s->ask.used = NULL;
    s->walk = (tl_source_walk){.dataset = d, .ask = &s->ask, .reading = &reading, .scan = s};
    int status = tl_term_copy_init(&s->terms, &s->ask, e);
    if (status == 0)
        status = tl_scan_block_init(&s->block, t->column, t->ncolumn, ask->used, e);
    return tl_scan_opened(out, &s->scan, status);
}

static double keeps(const tl_scan_table *t, uint32_t column, tl_term_op op)
{
    const tl_line_kind *kind = t->arg;
    if (kind->texts >> column & 1)
        return op == TL_TERM_IS || op == TL_TERM_GLOB ? 0.3 : 1;
    return tl_event_filter_keeps(kind->part[column], op);
}

void tl_line_table(tl_scan_table *out, const tl_dataset *d, const tl_line_kind *kind, uint32_t order)
{
    *out = (tl_scan_table){.info = kind->info,
                           .column = kind->column,
                           .ncolumn = kind->ncolumn,
                           .order = order,
                           .rows = tl_event_scan_guess(d) / 20 + 1,
                           .arg = kind,
                           .is_large = true,
                           .keeps = keeps,
                           .open = open_scan};
}
