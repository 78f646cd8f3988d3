/* The tables of a session. */
#include <stdlib.h>
#include <string.h>

#include "op/call_scan.h"
#include "query/analysis_kinds.h"
#include "query/query_impl.h"

#define MEMORY_USUAL (UINT64_C(256) << 20)

uint64_t tl_query_memory(const tl_query *q)
{
    return q->options.memory ? q->options.memory : MEMORY_USUAL;
}

static const tl_made_kind *const made_kinds[] = {&tl_call_stats_kind,   &tl_event_counts_kind, &tl_sample_stats_kind,
                                                 &tl_hist_buckets_kind, &tl_compilations_kind, &tl_cpu_usage_kind,
                                                 &tl_pauses_kind,       &tl_syscalls_kind,     &tl_cache_misses_kind,
                                                 &tl_predictions_kind,  &tl_stack_kind,        &tl_page_intervals_kind};

/* Results of arguments are kept, so that each may take only a part of the memory of statements. */
static int init_made(tl_query *q, tl_sql_table *t, const tl_made_kind *kind, tl_error *e)
{
    enum { RESULTS = 4 };
    t->origin = TL_TABLE_MADE;
    t->made = (tl_made_table){
        .kind = kind, .dataset = &q->dataset, .places = q->places, .memory = tl_query_memory(q) / RESULTS};
    return tl_made_table_init(&t->made, &t->own, e);
}

static int add_rows(tl_query *q, tl_error *e)
{
    size_t n;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        if (!kind[i]->sql)
            continue;
        tl_sql_table *t = &q->table[q->ntable++];
        *t = (tl_sql_table){.query = q, .origin = TL_TABLE_ROWS, .place = UINT32_MAX, .table = &t->own};
        if (tl_report_has_arguments(kind[i]) && !tl_report_made_kind(&t->kind, kind[i], &q->classes.arena))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for tables");
        const int status = tl_report_has_arguments(kind[i])
                               ? init_made(q, t, &t->kind, e)
                               : tl_rows_table_init(&t->rows, kind[i], &q->dataset, &t->own, e);
        if (status < 0)
            return status;
    }
    return 0;
}

static int add_made(tl_query *q, tl_error *e)
{
    int status = 0;
    for (size_t i = 0; i < TL_COUNT(made_kinds) && status == 0; i++) {
        tl_sql_table *t = &q->table[q->ntable++];
        *t = (tl_sql_table){.query = q, .place = UINT32_MAX, .table = &t->own};
        status = init_made(q, t, made_kinds[i], e);
    }
    return status;
}

static tl_sql_table *add_scan(tl_query *q)
{
    tl_sql_table *t = &q->table[q->ntable++];
    *t = (tl_sql_table){.query = q, .origin = TL_TABLE_SCAN, .place = UINT32_MAX};
    t->table = &t->own;
    return t;
}

/* Spans, counters and slices. */
static void add_lines(tl_query *q, const tl_sql_table *calls)
{
    tl_sql_table *spans = add_scan(q);
    tl_spans_table(&spans->own, &q->dataset);
    tl_counters_table(&add_scan(q)->own, &q->dataset);
    q->slices = (tl_slices){{&calls->own, &spans->own}};
    tl_slices_table(&add_scan(q)->own, &q->slices);
}

int tl_query_tables_init(tl_query *q, tl_error *e)
{
    enum { SCANS = TL_EVENT_TABLES + TL_SAMPLE_TABLES + 6 };
    size_t kinds;
    tl_table_kinds(&kinds);
    int status = tl_class_tables_init(&q->classes, &q->dataset, e);
    if (status < 0)
        return status;
    q->table = calloc(SCANS + TL_CATALOG_TABLES + TL_COUNT(made_kinds) + kinds + q->classes.n, sizeof *q->table);
    q->places = calloc((size_t)q->dataset.n + 1, sizeof *q->places);
    q->fields = calloc((size_t)q->dataset.n + 1, sizeof *q->fields);
    if (!q->table || !q->places || !q->fields)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for tables");
    for (uint32_t i = 0; i < TL_EVENT_TABLES; i++)
        if (!tl_event_table_make(i, &add_scan(q)->own, &q->dataset, &q->classes.arena))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for tables");
    tl_sql_table *t = add_scan(q);
    tl_calls_table(&t->own, &q->dataset, q->places);
    t->place = TL_CALLS_FIRST_PLACE;
    add_lines(q, t);
    t = add_scan(q);
    tl_places_table(&t->own, &t->list, q->places);
    t->place = 0;
    t = add_scan(q);
    tl_profile_table(&t->own, q->places);
    t->place = 0;
    for (uint32_t i = 0; i < TL_SAMPLE_TABLES; i++)
        tl_sample_table(i, &add_scan(q)->own, &q->dataset);
    for (uint32_t i = 0; i < TL_CATALOG_TABLES; i++) {
        t = add_scan(q);
        tl_catalog_table(i, q, &t->list, &t->own);
        t->of_columns = i == TL_CATALOG_COLUMNS;
        t->of_fields = i == TL_CATALOG_FIELDS || i == TL_CATALOG_LABELS;
    }
    status = add_made(q, e);
    if (status == 0)
        status = add_rows(q, e);
    for (uint32_t i = 0; status == 0 && i < q->classes.n; i++)
        q->table[q->ntable++] = (tl_sql_table){
            .query = q, .origin = TL_TABLE_CLASS, .index = i, .place = UINT32_MAX, .table = &q->classes.table[i].table};
    return status;
}

void tl_query_tables_fini(tl_query *q)
{
    for (uint32_t i = 0; i < q->ntable; i++) {
        tl_rows_table_fini(&q->table[i].rows);
        tl_made_table_fini(&q->table[i].made);
    }
    for (uint32_t i = 0; q->places && i < q->dataset.n; i++)
        tl_trace_places_fini(&q->places[i]);
    free(q->places);
    tl_field_rows_fini(q);
    free(q->table);
    tl_class_tables_fini(&q->classes);
}

int tl_query_table_open(tl_sql_table *t, tl_error *e)
{
    return t->origin == TL_TABLE_CLASS ? tl_class_table_make(&t->query->classes, t->index, e) : 0;
}

/* Threads and functions that only events say. */
static int prepare_calls(tl_query *q, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; i < q->dataset.n && status == 0; i++)
        if (!tl_source_is_profile(q->source[i]) && tl_call_scan_wanted(tl_source_trace(q->source[i])))
            status = tl_call_scan_prepare(q->source[i], e);
    return status;
}

static bool reads_calls(const tl_sql_table *t)
{
    return t->own.arg == t->query->places || t->own.arg == &t->query->slices ||
           (t->origin == TL_TABLE_MADE && t->made.kind->of_calls);
}

static int make_places(tl_query *q, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; i < q->dataset.n && status == 0 && !q->has_places; i++) {
        tl_trace_places_fini(&q->places[i]);
        status = tl_trace_places_make(&q->places[i], &q->dataset, i, e);
    }
    q->has_places = q->has_places || status == 0;
    return status;
}

int tl_query_make_rows(tl_query *q, tl_error *e)
{
    int status = q->wants_places ? make_places(q, e) : 0;
    for (uint32_t i = 0; i < q->ntable && status == 0; i++) {
        tl_sql_table *t = &q->table[i];
        if (!t->is_used)
            continue;
        for (uint32_t k = 0; k < q->ntable && t->of_columns && status == 0; k++)
            status = tl_query_table_open(&q->table[k], e);
        if (status == 0 && t->of_fields)
            status = tl_field_rows_make(q, e);
        if (status == 0 && reads_calls(t))
            status = prepare_calls(q, e);
        if (status == 0 && t->wants_places)
            status = make_places(q, e);
        if (status == 0 && t->origin == TL_TABLE_ROWS)
            status = tl_rows_table_make(&t->rows, e);
    }
    return status;
}

uint32_t tl_query_tables(const tl_query *q)
{
    return q->ntable;
}

const tl_table_info *tl_query_table(const tl_query *q, uint32_t i)
{
    return i < q->ntable ? &q->table[i].table->info : NULL;
}

const tl_column_info *tl_query_table_columns(tl_query *q, uint32_t i, uint32_t *n)
{
    *n = 0;
    if (i >= q->ntable || tl_query_table_open(&q->table[i], NULL) < 0)
        return NULL;
    *n = q->table[i].table->ncolumn;
    return q->table[i].table->column;
}
