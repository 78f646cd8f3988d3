/* The table `profile`: the durations of each place, bucket by bucket, as rows that can be added up over traces: a row
 * has all that it needs, and numbers of one trace are nowhere in it but in place_id. */
#include "op/scan/profile_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hasher.h"
#include "model/recording.h"
#include "op/scan/stat_hist.h"

enum { TRACE, APP, HOST, PLACE, HASH, BUCKET, LOW, HIGH, CALLS, TOTAL, SELF, COLUMNS };

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [APP] = {"app", "app", TL_TEXT, TL_UNIT_NONE, "the program; null: not known"},
    [HOST] = {"host", "host", TL_TEXT, TL_UNIT_NONE, "the host that it ran on; null: not known"},
    [PLACE] = {"place_id", "place_id", TL_INTEGER, TL_UNIT_NONE, "the place, as in places"},
    [HASH] = {"path_hash", "path_hash", TL_INTEGER, TL_UNIT_HEX,
              "of places.path, SipHash-2-4 without a key: the same in all traces"},
    [BUCKET] = {"bucket", "bucket", TL_INTEGER, TL_UNIT_NONE,
                "the number of the bucket of durations, of 256 for each power of two; null: durations are not known"},
    [LOW] = {"low", "low", TL_INTEGER, TL_UNIT_TIME, "the lowest duration of the bucket"},
    [HIGH] = {"high", "high", TL_INTEGER, TL_UNIT_TIME, "the highest"},
    [CALLS] = {"calls", "calls", TL_INTEGER, TL_UNIT_COUNT, "how many calls took so long; without a bucket: all"},
    [TOTAL] = {"total", "total", TL_INTEGER, TL_UNIT_TIME,
               "places.total in the first row of a place, 0 in the others: for sums"},
    [SELF] = {"self", "self", TL_INTEGER, TL_UNIT_TIME, "places.self in the first row of a place, 0 in the others"},
};

typedef struct profile_scan {
    tl_scan scan;
    const tl_dataset *dataset;
    const tl_trace_places *places;
    uint32_t source, place;  /* the place of the next row: from 1 on */
    tl_durations durations;  /* of that place, if it has a histogram */
    uint32_t at;             /* where its next bucket is */
    bool is_begun, has_more; /* the place has a row already; it has another one */
    tl_hist_pair next;       /* of that row */
    tl_stat stat;
    const char *app, *host; /* of the source */
    int64_t hash;
    tl_scan_block block;
} profile_scan;

static const char *property(const tl_trace *t, const char *name)
{
    for (uint32_t i = 0; i < tl_trace_properties(t); i++) {
        const tl_property *p = tl_trace_property(t, i);
        if (strcmp(p->name, name) == 0 && p->text && *p->text)
            return p->text;
    }
    return NULL;
}

/* Our recorder has the path of the program, LTTng its name. */
static const char *app_of(const tl_trace *t)
{
    const char *exe = t->recording ? t->recording->process.exe : NULL, *slash = exe ? strrchr(exe, '/') : NULL;
    if (!exe)
        return property(t, "procname");
    return slash && slash[1] ? slash + 1 : exe;
}

static int64_t clamp(uint64_t v)
{
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static void begin_source(profile_scan *s)
{
    const tl_trace *t = tl_source_trace(s->dataset->source[s->source]);
    s->app = app_of(t);
    s->host = property(t, "hostname");
    s->place = 1;
    s->is_begun = false;
}

/* Reads what is the same in all rows of the place. False when memory runs out. */
static bool begin_place(profile_scan *s)
{
    const tl_trace_places *t = &s->places[s->source];
    const uint32_t place = t->order[s->place];
    tl_durations_fini(&s->durations);
    s->at = 0;
    s->is_begun = true;
    tl_profile_stat(t->profile, place, &s->stat);
    if (tl_profile_has_histogram(t->profile) &&
        !tl_stat_durations(&s->durations, &t->profile->stat[place], &t->profile->scale))
        return false;
    s->has_more = tl_hist_each(&s->durations.hist, &s->at, &s->next);
    if (!tl_scan_has(&s->block, HASH))
        return true;
    tl_pb path = {0};
    tl_place_path(t->profile, place, &path);
    s->hash = (int64_t)tl_siphash_24(path.data, path.n);
    const bool ok = !path.failed;
    tl_pb_fini(&path);
    return ok;
}

static void put_row(profile_scan *s, uint32_t row, bool is_first)
{
    const tl_profile *p = s->places[s->source].profile;
    tl_scan_block *b = &s->block;
    tl_list_int(b, TRACE, row, true, s->source + 1);
    if (s->app && tl_scan_has(b, APP))
        tl_scan_put_copy(b, APP, row, s->app, strlen(s->app));
    else
        tl_list_text(b, APP, row, NULL);
    if (s->host && tl_scan_has(b, HOST))
        tl_scan_put_copy(b, HOST, row, s->host, strlen(s->host));
    else
        tl_list_text(b, HOST, row, NULL);
    tl_list_int(b, PLACE, row, true, s->place);
    tl_list_int(b, HASH, row, true, s->hash);
    tl_list_int(b, BUCKET, row, s->has_more, s->next.bucket);
    tl_list_int(b, LOW, row, s->has_more, clamp(tl_hist_low(s->next.bucket)));
    tl_list_int(b, HIGH, row, s->has_more, clamp(tl_hist_high(s->next.bucket)));
    tl_list_int(b, CALLS, row, true, clamp(s->has_more ? s->next.count : s->stat.calls));
    tl_list_int(b, TOTAL, row, true, is_first ? clamp(tl_profile_time(p, s->stat.total)) : 0);
    tl_list_int(b, SELF, row, true, is_first ? clamp(tl_profile_time(p, s->stat.self)) : 0);
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    profile_scan *s = (profile_scan *)scan;
    uint32_t rows = 0;
    tl_scan_block_begin(&s->block);
    while (s->source < s->dataset->n && !tl_scan_block_is_full(&s->block, rows)) {
        const tl_profile *p = s->places[s->source].profile;
        if (!p || s->place >= tl_profile_places(p)) {
            if (++s->source < s->dataset->n)
                begin_source(s);
            continue;
        }
        const bool is_first = !s->is_begun;
        if (is_first && !begin_place(s))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a histogram");
        put_row(s, rows++, is_first);
        s->has_more = s->has_more && tl_hist_each(&s->durations.hist, &s->at, &s->next);
        s->is_begun = s->has_more;
        s->place += !s->has_more;
    }
    return rows == 0 ? 0 : tl_scan_block_done(&s->block, rows, block, e);
}

static void close_scan(tl_scan *scan)
{
    profile_scan *s = (profile_scan *)scan;
    tl_durations_fini(&s->durations);
    tl_scan_block_fini(&s->block);
    free(s);
}

static int open_scan(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    profile_scan *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    s->scan = (tl_scan){next_block, close_scan};
    s->dataset = d;
    s->places = t->arg;
    if (d->n)
        begin_source(s);
    return tl_scan_opened(out, &s->scan, tl_scan_block_init(&s->block, columns, COLUMNS, ask->used, e));
}

void tl_profile_table(tl_scan_table *out, const tl_trace_places *places)
{
    *out = (tl_scan_table){
        .info = {"profile", "durations of each stack, by bucket: for sums over many traces", TL_NEEDS_STACKS},
        .column = columns,
        .ncolumn = COLUMNS,
        .order = TL_NO_ORDER,
        .rows = 10000,
        .arg = places,
        .keeps = tl_scan_keeps_all,
        .open = open_scan};
}
