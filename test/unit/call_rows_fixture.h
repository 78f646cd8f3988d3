/* Shared by tests of rows of calls: a scan's rows with ids in place of indices, and their comparison with the profile
 * of the same trace. */
#ifndef TL_TEST_CALL_ROWS_FIXTURE_H
#define TL_TEST_CALL_ROWS_FIXTURE_H

#include "check.h"
#include "op/call_scan.h"
#include "op/call_sums.h"

static const tl_call_scan_options all_calls = {.places = NULL};

/* A row as the model and the scan give it, with ids of functions in place of indices. */
typedef struct row {
    uint64_t id, exit, parent, begin, end, self;
    int64_t function, caller; /* -1: none */
    uint32_t depth, place;
    int64_t tid;
    int32_t cpu;
    uint8_t flags, padding[3]; /* rows are compared as bytes */
} row;

typedef struct rows {
    row *row;
    size_t n, capacity;
    uint64_t exits, open; /* unmatched */
} rows;

static inline void add_row(rows *r, const row *one)
{
    if (r->n == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 256;
        r->row = realloc(r->row, r->capacity * sizeof *r->row);
        assert_non_null(r->row);
    }
    r->row[r->n++] = *one;
}

static inline void same_rows(const rows *a, const rows *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (memcmp(&a->row[i], &b->row[i], sizeof(row)) != 0)
            fail_msg("row %zu: id %llx and %llx, begin %llu and %llu, end %llu and %llu, function %lld and %lld", i,
                     (unsigned long long)a->row[i].id, (unsigned long long)b->row[i].id,
                     (unsigned long long)a->row[i].begin, (unsigned long long)b->row[i].begin,
                     (unsigned long long)a->row[i].end, (unsigned long long)b->row[i].end,
                     (long long)a->row[i].function, (long long)b->row[i].function);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->exits, b->exits);
    assert_int_equal(a->open, b->open);
}

static inline row row_of(const tl_call_rows *r, uint32_t i, const tl_profile *p, const tl_trace *t)
{
    row one;
    memset(&one, 0, sizeof one); /* compared as bytes */
    one.id = r->id[i], one.exit = r->exit[i], one.parent = r->parent[i];
    one.begin = r->begin[i], one.end = r->end[i], one.self = r->self[i];
    one.function = tl_profile_get_function(p, r->function[i])->id;
    one.caller = r->caller[i] == TL_CALL_NONE ? -1 : tl_profile_get_function(p, r->caller[i])->id;
    one.depth = r->depth[i], one.place = r->place[i];
    one.tid = t->track[r->track[i]].tid;
    one.cpu = r->cpu[i], one.flags = r->flags[i];
    return one;
}

/* Adds the rows of some parts. */
static inline void scan_parts(rows *out, tl_source *s, uint32_t first, uint32_t n, const tl_call_scan_options *o)
{
    tl_error e = {0};
    tl_call_scan *c = NULL;
    tl_call_rows block;
    int status;
    must(tl_call_scan_open(&c, s, first, n, o, &e), &e);
    while ((status = tl_call_scan_next(c, &block, &e)) > 0) {
        assert_in_range(block.n, 1, TL_CALL_ROWS_MOST);
        for (uint32_t i = 0; i < block.n; i++) {
            const row one = row_of(&block, i, tl_call_scan_profile(c), &s->trace);
            add_row(out, &one);
        }
    }
    must(status, &e);
    out->exits += tl_profile_unmatched_exits(tl_call_scan_profile(c));
    out->open += tl_profile_unmatched_open(tl_call_scan_profile(c));
    tl_call_scan_close(c);
}

static inline rows scan(tl_source *s, const tl_call_scan_options *o)
{
    tl_error e = {0};
    rows all = {0};
    must(tl_call_scan_prepare(s, &e), &e);
    scan_parts(&all, s, 0, tl_call_scan_parts(s), o);
    return all;
}

static inline tl_profile *profile_of(tl_source *s, unsigned threads, const tl_select *select)
{
    tl_profile *p = NULL;
    tl_error e = {0};
    must(tl_profile_from_source(&p, s, &(tl_profile_options){.threads = threads, .select = select}, &e), &e);
    return p;
}

/* Are the sums of the rows of every place those of the profile, and the functions the same? Calls of a function that
 * lie in one that never ended are in nobody's total but its own, so `outer` is not compared. */
static inline void same_as_profile(const rows *r, const tl_profile *p, const tl_call_places *places)
{
    tl_place_stat *sum = calloc(p->nplace, sizeof *sum);
    assert_non_null(sum);
    for (size_t i = 0; i < r->n; i++) {
        const row *one = &r->row[i];
        assert_in_range(one->place, 1, p->nplace - 1);
        const uint32_t place = places->order[one->place], parent = p->place[place].parent;
        assert_int_equal(p->function[p->place[place].function].id, one->function);
        if (one->caller != -1)
            assert_int_equal(p->function[p->place[parent].function].id, one->caller);
        if (one->flags & TL_CALL_OPEN)
            continue;
        const uint64_t ticks = one->end - one->begin;
        tl_place_stat *s = &sum[place];
        s->min = s->calls == 0 || ticks < s->min ? ticks : s->min;
        s->max = ticks > s->max ? ticks : s->max;
        s->calls++;
        s->total += ticks;
        s->self += one->self;
    }
    for (uint32_t i = 0; i < p->nplace; i++) {
        assert_int_equal(sum[i].calls, p->stat[i].calls);
        assert_int_equal(sum[i].total, p->stat[i].total);
        assert_int_equal(sum[i].self, p->stat[i].self);
        assert_int_equal(sum[i].max, p->stat[i].max);
        assert_true(sum[i].calls == 0 || sum[i].min == p->stat[i].min);
    }
    assert_int_equal(r->exits, p->unmatched_exits);
    assert_int_equal(r->open, p->unmatched_open);
    free(sum);
}

/* Are the sums by function those of the profile? */
static inline void sums_as_profile(tl_source *s, const tl_profile *p, unsigned threads, const tl_select *select)
{
    tl_call_sums *sums = NULL;
    tl_error e = {0};
    uint64_t calls = 0, all = 0;
    const tl_call_sums_options o = {.by = TL_BY_FUNCTION, .threads = threads, .select = select};
    must(tl_call_sums_new(&sums, s, &o, &e), &e);
    for (uint32_t i = 0; i < sums->n; i++) {
        const tl_place_stat *found = sums->row[i].stat;
        const int64_t id = sums->profile->function[sums->row[i].key.function].id;
        uint32_t f = 0;
        while (f < p->nfunction && p->function[f].id != id)
            f++;
        tl_stat stat;
        tl_profile_function_stat(p, f, &stat);
        assert_int_equal(found->calls, stat.calls);
        assert_int_equal(found->outer, stat.total);
        assert_int_equal(found->self, stat.self);
        assert_int_equal(found->min, stat.min);
        assert_int_equal(found->max, stat.max);
        assert_int_equal(tl_hist_percentile(&found->hist, 900, found->min, found->max),
                         tl_profile_function_percentile(p, f, 900));
        calls += found->calls;
    }
    for (uint32_t i = 0; i < p->nplace; i++)
        all += p->stat[i].calls;
    assert_int_equal(calls, all);
    assert_int_equal(sums->profile->unmatched_exits, p->unmatched_exits);
    assert_int_equal(sums->profile->unmatched_open, p->unmatched_open);
    tl_call_sums_free(sums);
}

static inline void check_places(tl_source *s, const tl_select *select)
{
    tl_error e = {0};
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        tl_profile *p = profile_of(s, threads, select);
        tl_call_places *places = NULL;
        must(tl_call_places_new(&places, p, &e), &e);
        rows found = scan(s, &(tl_call_scan_options){.places = places, .select = select});
        same_as_profile(&found, p, places);
        sums_as_profile(s, p, threads, select);
        free(found.row);
        tl_call_places_free(places);
        tl_profile_free(p);
    }
}

#endif
