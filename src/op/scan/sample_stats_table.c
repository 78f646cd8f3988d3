/* The table sample_stats(keys, step): samples by function, stack and thread, over time; the sums of rows of `samples`.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pair_map.h"
#include "op/scan/made_scan.h"
#include "op/scan/sample_tables.h"

enum { TRACE, TS, FUNCTION, NAME, PATH, TRACK, THREAD, SAMPLES, TIME, KEYS, STEP, COLUMNS };

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when the step begins; null: no steps"},
    [FUNCTION] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE, "the function on top; null: not a key"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name"},
    [PATH] = {"path", "path", TL_TEXT, TL_UNIT_NONE, "the stack, with ; between functions; null: not a key"},
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the track; null: thread is not a key"},
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its name"},
    [SAMPLES] = {"samples", "samples", TL_INTEGER, TL_UNIT_COUNT, "how many samples"},
    [TIME] = {"time", "time", TL_INTEGER, TL_UNIT_TIME, "the time that they stand for; null: not known"},
    [KEYS] = {"keys", "keys", TL_TEXT, TL_UNIT_NONE,
              "argument 1: some of function, path and thread; none: all together"},
    [STEP] = {"step_length", "step_length", TL_INTEGER, TL_UNIT_TIME,
              "argument 2: the length of a step; null: no steps"},
};

enum { BY_FUNCTION = 1, BY_PATH = 2, BY_THREAD = 4 };

/* Samples that have all keys in common; text is interned. */
typedef struct sum {
    int64_t step, function, track, samples, time;
    const char *name, *path;
    bool has_function, has_time;
} sum;

typedef struct sums {
    unsigned by;
    int64_t step;
    uint64_t most; /* bytes */
    tl_strings text;
    tl_pair_map functions, stacks, keys; /* number, name; path, track; indices of both, begin of a step -> row */
    sum *row;                            /* [n] */
    uint32_t n, capacity;
} sums;

static void free_sums(void *rows)
{
    sums *s = rows;
    tl_strings_fini(&s->text);
    tl_pair_map_fini(&s->functions);
    tl_pair_map_fini(&s->stacks);
    tl_pair_map_fini(&s->keys);
    free(s->row);
    free(s);
}

/* The columns of `samples` that are read, by the same numbers. */
static void find_columns(const tl_scan_table *t, uint32_t at[COLUMNS], uint8_t *used, unsigned by)
{
    for (uint32_t c = TS; c <= TIME; c++)
        for (uint32_t k = 0; k < t->ncolumn; k++)
            if (strcmp(t->column[k].name, columns[c].name) == 0)
                at[c] = k;
    used[at[TS]] = used[at[SAMPLES]] = used[at[TIME]] = 1;
    used[at[FUNCTION]] = used[at[NAME]] = (by & BY_FUNCTION) != 0;
    used[at[PATH]] = (by & BY_PATH) != 0;
    used[at[TRACK]] = (by & BY_THREAD) != 0;
}

/* False when memory runs out. */
static bool intern(sums *s, const tl_block_column *c, uint32_t i, const char **out)
{
    *out = c->is_null[i] ? NULL : tl_strings_get(&s->text, c->text[i], strlen(c->text[i]));
    return c->is_null[i] || *out;
}

static int64_t add(int64_t a, int64_t b)
{
    int64_t out;
    return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
}

static bool add_row(sums *s, const tl_block *b, const uint32_t at[COLUMNS], uint32_t i)
{
    const tl_block_column *c = b->column;
    sum key = {.track = -1};
    if (s->step && !c[at[TS]].is_null[i]) {
        const int64_t ts = c[at[TS]].i64[i], rest = ts % s->step;
        key.step = ts - rest - (rest < 0 && ts - rest > INT64_MIN + s->step ? s->step : 0);
    }
    if (s->by & BY_FUNCTION) {
        key.has_function = !c[at[FUNCTION]].is_null[i];
        key.function = key.has_function ? c[at[FUNCTION]].i64[i] : INT64_MIN;
        if (!intern(s, &c[at[NAME]], i, &key.name))
            return false;
    }
    if (s->by & BY_PATH && !intern(s, &c[at[PATH]], i, &key.path))
        return false;
    if (s->by & BY_THREAD)
        key.track = c[at[TRACK]].i64[i];
    const uint32_t function = tl_pair_map_number(&s->functions, (uint64_t)key.function, (uintptr_t)key.name),
                   stack = tl_pair_map_number(&s->stacks, (uintptr_t)key.path, (uint64_t)key.track);
    if (function == TL_HASH_NONE || stack == TL_HASH_NONE)
        return false;
    const uint32_t row = tl_pair_map_number(&s->keys, (uint64_t)function << 32 | stack, (uint64_t)key.step);
    if (row == TL_HASH_NONE || (row == s->n && !TL_GROW(s->row, s->n, 1, s->capacity)))
        return false;
    if (row == s->n)
        s->row[s->n++] = key;
    sum *to = &s->row[row];
    to->samples = add(to->samples, c[at[SAMPLES]].i64[i]);
    to->has_time = to->has_time || !c[at[TIME]].is_null[i];
    to->time = add(to->time, c[at[TIME]].is_null[i] ? 0 : c[at[TIME]].i64[i]);
    return true;
}

static int read_samples(sums *s, const tl_dataset *one, tl_error *e)
{
    enum { COLUMNS_OF_SAMPLES = 64 };
    uint8_t used[COLUMNS_OF_SAMPLES] = {0};
    uint32_t at[COLUMNS] = {0};
    tl_scan_table t;
    tl_scan *scan = NULL;
    tl_block block;
    tl_sample_table(0, &t, one);
    assert(t.ncolumn <= COLUMNS_OF_SAMPLES);
    find_columns(&t, at, used, s->by);
    const tl_scan_ask ask = {.used = used};
    int status = tl_scan_open(&scan, &t, one, &ask, e);
    while (status >= 0 && (status = tl_scan_next(scan, &block, e)) > 0) {
        for (uint32_t i = 0; i < block.rows && status > 0; i++)
            if (!add_row(s, &block, at, i))
                status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for sums of samples");
        if (status > 0 && s->text.arena.total + s->n * (uint64_t)(2 * sizeof *s->row) > s->most)
            status = tl_fail(e, TL_ELIMIT, TL_NO_OFFSET,
                             "sample_stats: too many for the memory of a query: take a larger step, or fewer keys");
    }
    tl_scan_close(scan);
    return status;
}

static int compare_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_key(const void *x, const void *y)
{
    const sum *a = x, *b = y;
    int order = (a->step > b->step) - (a->step < b->step);
    order = order ? order : compare_text(a->path, b->path);
    order = order ? order : compare_text(a->name, b->name);
    order = order ? order : (a->function > b->function) - (a->function < b->function);
    return order ? order : (a->track > b->track) - (a->track < b->track);
}

static int make(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    static const char *const word[] = {"function", "path", "thread"}; /* as bits: BY_... */
    const tl_dataset one = {
        .source = &t->dataset->source[source], .n = 1, .select = t->dataset->select, .threads = t->dataset->threads};
    unsigned by;
    uint64_t step;
    if (!tl_made_words(&argument[0], t->kind->info.name, word, TL_COUNT(word), &by, e) ||
        !tl_made_step(&argument[1], t->kind->info.name, &step, e))
        return TL_EINVAL;
    sums *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for sums of samples");
    s->by = by;
    s->step = (int64_t)step;
    s->most = t->memory;
    const int status = read_samples(s, &one, e);
    if (status < 0) {
        free_sums(s);
        return status;
    }
    if (s->n > 0)
        qsort(s->row, s->n, sizeof *s->row, by_key);
    *out = s;
    return 0;
}

static uint64_t count(const void *rows)
{
    return ((const sums *)rows)->n;
}

static void put(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const sums *s = rows;
    const sum *r = &s->row[i];
    const tl_track *track =
        s->by & BY_THREAD ? tl_trace_track(tl_source_trace(t->dataset->source[source]), (uint32_t)r->track) : NULL;
    tl_list_int(b, TRACE, row, true, source + 1);
    tl_list_int(b, TS, row, s->step != 0, r->step);
    tl_list_int(b, FUNCTION, row, r->has_function, r->function);
    tl_list_text(b, NAME, row, r->name);
    tl_list_text(b, PATH, row, r->path);
    tl_list_int(b, TRACK, row, track != NULL, r->track);
    tl_list_text(b, THREAD, row, track ? track->name : NULL);
    tl_list_int(b, SAMPLES, row, true, r->samples);
    tl_list_int(b, TIME, row, r->has_time, r->time);
}

const tl_made_kind tl_sample_stats_kind = {
    .info = {"sample_stats", "samples by keys and steps of time: sample_stats(keys, step)", TL_NEEDS_SAMPLES},
    .column = columns,
    .ncolumn = COLUMNS,
    .nargument = 2,
    .make = make,
    .free_rows = free_sums,
    .count = count,
    .put = put};
