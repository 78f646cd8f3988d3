/* Reads tables of events: one source after another, each selected, filtered, and in the order of time on request. */
#include "op/scan/event_scan.h"

#include <stdlib.h>
#include <string.h>

#include "model/value_json.h"
#include "op/scan/event_filter.h"
#include "op/scan/term_copy.h"
#include "traceloom/events.h"

typedef struct event_scan {
    tl_scan scan;
    const tl_scan_table *table;
    const tl_event_table *kind;
    const tl_dataset *dataset;
    tl_term_copy terms;
    tl_scan_ask ask; /* of the copy */
    bool wants_id, wants_fields, wants_cpu;
    uint32_t next; /* the source to open next */
    /* The source that is read: */
    tl_events *events;
    tl_select select;
    tl_event_view view;
    tl_event_filter filter;
    tl_fields json;
    tl_enum_texts labels;
    bool has_json;
    const tl_run *run;
    uint32_t nrun;
    uint64_t last; /* of an ordered scan: the latest tick */
    tl_scan_block block;
    uint32_t at[TL_BATCH_MAX];
} event_scan;

static void close_source(event_scan *s)
{
    tl_events_close(s->events);
    s->events = NULL;
    tl_event_filter_fini(&s->filter);
    if (s->has_json) {
        tl_fields_fini(&s->json);
        tl_enum_texts_fini(&s->labels);
    }
    s->json = (tl_fields){0};
    s->labels = (tl_enum_texts){0};
    s->has_json = false;
    s->nrun = 0;
}

/* Narrows the time of the selection; ticks count from `begin` there. */
static void limit_time(event_scan *s, uint64_t begin)
{
    const tl_event_filter *f = &s->filter;
    const uint64_t from = f->from > begin ? f->from - begin : 0, to = f->to > begin ? f->to - begin : 0;
    if (f->to == UINT64_MAX && from == 0)
        return;
    if (from > 0 && (!s->select.has_from || s->select.time_from < from)) {
        s->select.has_from = true;
        s->select.time_from = from;
    }
    if (f->to != UINT64_MAX && (!s->select.has_to || s->select.time_to > to)) {
        s->select.has_to = true;
        s->select.time_to = to;
    }
}

/* Readers that leave out what is outside of a time do not count it: then times are tested here alone. */
static void keep_numbers(event_scan *s, uint64_t begin)
{
    tl_event_filter *f = &s->filter;
    if (s->select.has_from && begin + s->select.time_from > f->from)
        f->from = begin + s->select.time_from;
    if (s->select.has_to && s->select.time_to < f->to - begin)
        f->to = begin + s->select.time_to;
    f->has_time = f->has_time || s->select.has_from || s->select.has_to;
    s->select.has_from = s->select.has_to = false;
}

/* ONE|ODD */
static void join_labels(void *arg, const char *const *label, uint32_t n, tl_pb *text)
{
    (void)arg;
    for (uint32_t i = 0; i < n; i++) {
        tl_pb_raw(text, "|", i > 0);
        tl_pb_text(text, label[i]);
    }
}

static int open_source(event_scan *s, uint32_t i, tl_error *e)
{
    tl_source *source = s->dataset->source[i];
    const tl_trace *t = tl_source_trace(source);
    uint64_t begin = 0, end;
    if (!t->clock.from_zero)
        tl_trace_range(t, &begin, &end);
    s->view = (tl_event_view){
        .trace = t, .begin = begin, .number = i + 1, .code = source->code, .json = &s->json, .labels = &s->labels};
    s->has_json = true;
    tl_enum_texts_init(&s->labels, join_labels, NULL);
    if (!tl_json_fields_init(&s->json, t))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    const tl_event_table *kind = s->kind;
    int status = tl_event_filter_init(&s->filter, t, begin, &s->ask, kind->part,
                                      kind->source ? kind->source[i].only : NULL, kind->kinds, e);
    if (status < 0)
        return status;
    s->select = s->dataset->select ? *s->dataset->select : (tl_select){0};
    if (s->wants_id)
        keep_numbers(s, begin);
    else
        limit_time(s, begin);
    const bool any = s->dataset->select || s->select.has_from || s->select.has_to;
    tl_want want = source->want;
    want.fields = s->wants_fields;
    want.cpu = s->wants_cpu || s->select.ncpu > 0;
    return tl_events_open_want(&s->events, &source, 1, any ? &s->select : NULL, s->ask.ordered, &want, e);
}

/* The next run with events, or 0 at the end. */
static int read_run(event_scan *s, tl_error *e)
{
    for (;;) {
        if (s->nrun > 0)
            return 1;
        if (s->ask.stop && s->ask.stop(s->ask.stop_arg))
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "stopped");
        int status = s->events ? tl_events_runs(s->events, &s->run, &s->nrun, e) : 0;
        if (status < 0)
            return status;
        if (status > 0)
            continue;
        close_source(s);
        if (s->next == s->dataset->n)
            return 0;
        const uint32_t i = s->next++;
        if (!tl_source_is_profile(s->dataset->source[i]))
            status = open_source(s, i, e);
        if (status < 0)
            return status;
    }
}

/* Whether an ordered scan really is: some traces go back in time. */
static int check_order(event_scan *s, const tl_batch *b, uint32_t n, tl_error *e)
{
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t ts = b->ts[s->at[k]];
        if (ts < s->last)
            return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                           "%s goes back in time: write ORDER BY +ts in place of ORDER BY ts",
                           tl_source_name(s->dataset->source[s->view.number - 1]));
        s->last = ts;
    }
    return 0;
}

static void put_rows(event_scan *s, const tl_batch *b, uint32_t n, uint32_t row)
{
    const tl_event_table *kind = s->kind;
    for (uint32_t c = 0; c < s->table->ncolumn; c++)
        if (kind->part[c] != TL_EVENT_OTHER && tl_scan_has(&s->block, c))
            tl_event_part_put(kind->part[c], &s->view, b, s->at, n, &s->block, c, row);
    if (kind->source && s->wants_fields)
        tl_class_fields_put(&kind->source[s->view.number - 1], &s->view, b, s->at, n, &s->block, s->table, row);
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    event_scan *s = (event_scan *)scan;
    uint32_t rows = 0;
    tl_arena_reset(&s->block.arena);
    while (rows == 0) {
        int status = read_run(s, e);
        if (status <= 0)
            return status;
        for (; s->nrun > 0 && rows + (s->run->to - s->run->from) <= TL_BLOCK_ROWS; s->run++, s->nrun--) {
            const uint32_t n = tl_event_filter_pick(&s->filter, s->run, s->at);
            if (s->ask.ordered && (status = check_order(s, s->run->batch, n, e)) < 0)
                return status;
            put_rows(s, s->run->batch, n, rows);
            rows += n;
        }
    }
    return tl_scan_block_done(&s->block, rows, block, e);
}

static void close_scan(tl_scan *scan)
{
    event_scan *s = (event_scan *)scan;
    close_source(s);
    tl_term_copy_fini(&s->terms);
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
    s->kind = t->arg;
    s->dataset = d;
    s->ask = *ask;
    s->ask.used = NULL;
    for (uint32_t i = 0; i < t->ncolumn; i++)
        if (!ask->used || ask->used[i]) {
            s->wants_id = s->wants_id || s->kind->part[i] == TL_EVENT_ID;
            s->wants_cpu = s->wants_cpu || s->kind->part[i] == TL_EVENT_CPU;
            s->wants_fields = s->wants_fields || tl_event_part_wants_fields(s->kind->part[i]);
        }
    int status = tl_term_copy_init(&s->terms, &s->ask, e);
    if (status == 0)
        status = tl_scan_block_init(&s->block, t->column, t->ncolumn, ask->used, e);
    if (status < 0) {
        close_scan(&s->scan);
        return status;
    }
    *out = &s->scan;
    return 0;
}

double tl_event_scan_keeps(const tl_scan_table *t, uint32_t column, tl_term_op op)
{
    const tl_event_table *kind = t->arg;
    return tl_event_filter_keeps(kind->part[column], op);
}

uint32_t tl_event_scan_order(const tl_dataset *d, uint32_t ts)
{
    return d->n == 1 && !tl_trace_is_ranked(tl_source_trace(d->source[0])) ? ts : TL_NO_ORDER;
}

uint64_t tl_event_scan_guess(const tl_dataset *d)
{
    enum { BYTES_OF_AN_EVENT = 16 };
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < d->n; i++)
        bytes += tl_trace_bytes(tl_source_trace(d->source[i]));
    return bytes / BYTES_OF_AN_EVENT + 1;
}
