/* One pass over the instructions of a source: workers take streams, each with a table of its own, and the tables are
 * added up. */
#include "analysis/instruction/insn_pass.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/insn_classes.h"
#include "base/pool.h"
#include "op/insn_select.h"
#include "op/source_impl.h"
#include "op/stream_reader.h"

typedef struct worker {
    void **table;           /* the caller's, or its own */
    uint32_t ready;         /* tables that were initialised */
    tl_insn_select *select; /* or NULL: everything is selected */
    tl_error error;
    uint32_t failed; /* the task that failed; UINT32_MAX: none */
    bool gap;        /* events since the last call were left out */
} worker;

typedef struct pass {
    const tl_insn_fill *fill;
    uint32_t n;
    bool fields, one_order; /* does any table need that? */
    tl_source *source;
    const tl_select *select;
    tl_want want;
    tl_limit limit;
    uint64_t origin; /* the tick that times count from */
    uint32_t *order; /* streams, heaviest first */
    worker *worker;
    unsigned nworker;
} pass;

static int start_tables(const pass *p, worker *w, tl_error *e)
{
    int status = 0;
    while (status == 0 && w->ready < p->n) {
        const uint32_t i = w->ready++; /* even if it fails: partial content must be freed */
        if ((w != p->worker || p->fill[i].first) && p->fill[i].how->init)
            status = p->fill[i].how->init(w->table[i], p->fill[i].options, e);
    }
    return status;
}

static int begin(const pass *p, worker *w, tl_error *e)
{
    int status = 0;
    w->gap = false;
    for (uint32_t i = 0; status == 0 && i < p->n; i++)
        if (p->fill[i].how->begin)
            status = p->fill[i].how->begin(w->table[i], &p->source->trace, e);
    return status;
}

static int end(const pass *p, worker *w, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < p->n; i++)
        if (p->fill[i].how->end)
            status = p->fill[i].how->end(w->table[i], e);
    return status;
}

static int give(const pass *p, worker *w, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < p->n; i++)
        status = p->fill[i].how->events(w->table[i], b, from, to, gap, e);
    return status;
}

/* Adds the selected ones of events from .. to-1. */
static int add(const pass *p, worker *w, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    if (!w->select)
        return give(p, w, b, from, to, false, e);
    uint32_t at = from, until;
    int status = 0;
    while (status == 0 && tl_insn_select_part(w->select, b, &at, to, &until)) {
        status = give(p, w, b, at, until, w->gap || at != from, e);
        w->gap = false;
        from = at = until;
    }
    w->gap = w->gap || from != to;
    return status;
}

static int read_stream(void *arg, unsigned number, uint32_t i)
{
    const pass *p = arg;
    worker *w = &p->worker[number];
    tl_cursor *c = NULL;
    const tl_batch *b;
    int status = start_tables(p, w, &w->error);
    if (status == 0)
        status = tl_cursor_open_want(&c, p->source, p->order[i], &p->want, &p->limit, &w->error);
    if (status == 0)
        status = begin(p, w, &w->error);
    while (status == 0 && (status = tl_cursor_next(c, &b, &w->error)) > 0)
        status = add(p, w, b, 0, b->n, &w->error);
    if (status == 0)
        status = end(p, w, &w->error);
    tl_cursor_close(c);
    if (status < 0 && w->failed == UINT32_MAX)
        w->failed = i;
    return status;
}

/* All streams, each by one of the workers. */
static int read_by_stream(pass *p, tl_error *e)
{
    const int status = tl_parallel(p->nworker, tl_source_streams(p->source), read_stream, p);
    if (status == 0)
        return 0;
    const worker *first = &p->worker[0];
    for (unsigned i = 1; i < p->nworker; i++)
        if (p->worker[i].failed < first->failed)
            first = &p->worker[i];
    if (e)
        *e = first->error;
    return status;
}

/* One worker for all streams in turn, while other threads decode. */
static int read_in_turn(pass *p, tl_error *e)
{
    worker *w = &p->worker[0];
    tl_stream_reader *stream_reader = NULL;
    int status = start_tables(p, w, e);
    if (status == 0)
        status = tl_stream_reader_open(&stream_reader, p->source, &p->want, &p->limit, e);
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(p->source); i++) {
        const tl_batch *b;
        status = begin(p, w, e);
        while (status == 0 && (status = tl_stream_reader_next(stream_reader, p->order[i], &b, e)) > 0)
            status = add(p, w, b, 0, b->n, e);
        if (status == 0)
            status = end(p, w, e);
    }
    tl_stream_reader_close(stream_reader);
    return status;
}

/* All streams in one order, by one worker. */
static int read_in_order(pass *p, tl_error *e)
{
    worker *w = &p->worker[0];
    tl_merge *merge = NULL;
    const tl_run *run;
    uint32_t n;
    int status = start_tables(p, w, e);
    if (status == 0)
        status = tl_merge_open_want(&merge, p->source, &p->want, &p->limit, e);
    if (status == 0)
        status = begin(p, w, e);
    while (status == 0 && (status = tl_merge_runs(merge, &run, &n, e)) > 0) {
        status = 0;
        for (uint32_t i = 0; status == 0 && i < n; i++)
            status = add(p, w, run[i].batch, run[i].from, run[i].to, e);
    }
    if (status == 0)
        status = end(p, w, e);
    tl_merge_close(merge);
    return status;
}

static void find_limit(pass *p)
{
    uint64_t first, last;
    if (!p->source->trace.clock.from_zero && tl_trace_range(&p->source->trace, &first, &last))
        p->origin = first;
    const tl_select *s = p->select;
    if (!s || (!s->has_from && !s->has_to))
        return;
    p->limit = (tl_limit){.set = true, .to = UINT64_MAX};
    if (s->has_from)
        p->limit.from = s->time_from > UINT64_MAX - p->origin ? UINT64_MAX : p->origin + s->time_from;
    if (s->has_to)
        p->limit.to = s->time_to > UINT64_MAX - p->origin ? UINT64_MAX : p->origin + s->time_to;
}

static int make_tables(const pass *p, worker *w)
{
    w->table = calloc((size_t)p->n + 1, sizeof *w->table);
    for (uint32_t i = 0; w->table && i < p->n; i++) {
        w->table[i] = w == p->worker ? p->fill[i].table : calloc(1, p->fill[i].how->size);
        if (!w->table[i])
            return TL_ENOMEM;
    }
    return w->table ? 0 : TL_ENOMEM;
}

/* Makes workers with empty tables, which they initialise when they begin; the first one's are the caller's. */
static int make_workers(pass *p, tl_error *e)
{
    p->order = tl_source_by_weight(p->source);
    p->worker = calloc(p->nworker, sizeof *p->worker);
    int status = p->order && p->worker ? 0 : TL_ENOMEM;
    for (unsigned i = 0; p->worker && i < p->nworker; i++)
        p->worker[i].failed = UINT32_MAX;
    for (unsigned i = 0; status == 0 && i < p->nworker; i++)
        status = make_tables(p, &p->worker[i]);
    if (status < 0)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of instructions");
    for (unsigned i = 0; status == 0 && i < p->nworker; i++)
        status = tl_insn_select_new(&p->worker[i].select, &p->source->trace, p->select, p->origin, e);
    return status;
}

static void free_workers(pass *p)
{
    for (unsigned i = 0; p->worker && i < p->nworker; i++) {
        worker *w = &p->worker[i];
        tl_insn_select_free(w->select);
        for (uint32_t k = 0; i > 0 && w->table && k < p->n; k++) {
            if (k < w->ready)
                p->fill[k].how->fini(w->table[k]);
            free(w->table[k]);
        }
        free(w->table);
    }
    free(p->worker);
    free(p->order);
}

static int run(pass *p, unsigned threads, tl_error *e)
{
    tl_source *s = p->source;
    p->want = tl_source_want(s, p->fields);
    p->want.threads = threads;
    int status = p->one_order                 ? read_in_order(p, e)
                 : tl_source_is_one_stream(s) ? read_in_turn(p, e)
                                              : read_by_stream(p, e);
    tl_trace_sort_damage(&s->trace);
    for (unsigned i = 1; status == 0 && i < p->nworker; i++)
        for (uint32_t k = 0; status == 0 && k < p->worker[i].ready; k++)
            status = p->fill[k].how->merge(p->worker[0].table[k], p->worker[i].table[k], e);
    return status;
}

int tl_insn_pass(void *table, const tl_insn_table *how, const void *options, bool first, tl_source *s,
                 const tl_select *select, unsigned threads, tl_error *e)
{
    return tl_insn_pass_together(&(tl_insn_fill){table, how, options, first}, 1, s, select, threads, e);
}

int tl_insn_pass_together(const tl_insn_fill *fill, uint32_t n, tl_source *s, const tl_select *select, unsigned threads,
                          tl_error *e)
{
    tl_insn_classes classes;
    const bool any = tl_insn_classes_find(&classes, &s->trace);
    const uint32_t streams = tl_source_streams(s);
    pass p = {.fill = fill, .n = n, .source = s, .select = select, .nworker = 1};
    for (uint32_t i = 0; i < n; i++) {
        if (fill[i].first)
            memset(fill[i].table, 0, fill[i].how->size);
        p.fields = p.fields || fill[i].how->fields;
        p.one_order = p.one_order || fill[i].how->one_order;
    }
    if (!threads)
        threads = tl_processors();
    if (!p.one_order && !tl_source_is_one_stream(s))
        p.nworker = threads < streams ? threads : streams;
    find_limit(&p);
    int status = make_workers(&p, e);
    if (status == 0)
        status = start_tables(&p, &p.worker[0], e);
    if (status == 0 && any)
        status = run(&p, threads, e);
    free_workers(&p);
    return status;
}
