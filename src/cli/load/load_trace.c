/* Loads one trace. */
#include "cli/load/load_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/io/content_id.h"
#include "base/text/number.h"
#include "cli/inputs.h"
#include "cli/load/load_manifest.h"
#include "cli/losses.h"
#include "cli/message.h"

typedef struct trace_job {
    const tl_cli *cli;
    tl_servers *servers;
    const char *path;
    tl_content_id id;
    tl_reading reading;
    tl_query *query;
    tl_load_lock lock;
    tl_load_tables tables;
} trace_job;

#define DAY_NS INT64_C(86400000000000)

/* The day in which it begins, if it says so: all rows of a trace are in one partition, so that a chunk is one part. */
static uint32_t day_of(const tl_trace *t)
{
    const tl_clock *clock = tl_trace_clock(t);
    if (!clock->has_utc || !clock->hz || clock->utc_offset_ns < 0 || clock->utc_offset_ns / DAY_NS > 0xffff)
        return 0;
    return (uint32_t)(clock->utc_offset_ns / DAY_NS);
}

static int open_trace(trace_job *j, tl_error *e)
{
    const tl_want want = {.fields = true, .cpu = true, .strict = j->cli->args->strict, .threads = tl_threads(j->cli)};
    const int status = tl_reading_open(&j->reading, j->cli, j->path, &want);
    if (status != TL_EXIT_DONE)
        return status;
    const tl_query_options options = {.threads = tl_threads(j->cli), .memory = j->cli->args->memory};
    if (tl_query_open(&j->query, &j->reading.source, 1, &options, e) < 0)
        return tl_say_failure(NULL, e);
    return TL_EXIT_DONE;
}

static int init_tables(trace_job *j, const char *const *tables, tl_error *e)
{
    tl_load_tables *t = &j->tables;
    t->servers = j->servers;
    t->query = j->query;
    t->trace = j->id.number;
    t->day = day_of(j->reading.trace);
    for (uint32_t i = 0; i < t->n; i++) {
        t->table[i].name = tables[i];
        t->table[i].table = tl_server_table_find(j->query, tables[i]);
    }
    return j->lock.hold ? tl_chunk_sender_open(&t->sender, j->servers, &j->lock, t->trace, e) : 0;
}

static void add_rows(char *text, size_t size, const char *name, uint64_t rows, bool first)
{
    char number[32];
    const size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s %s", first ? "" : ", ", tl_human_grouped(number, sizeof number, rows), name);
}

/* "loaded 59,978 calls, 120,018 events in 3 chunks" */
static void say_done(const trace_job *j, const tl_load_sums *sums)
{
    static const char *const shown[] = {"calls", "events", "samples", "spans", "functions", "places"};
    char text[256] = "", number[32], before[32];
    uint64_t chunks = 0, sent = 0;
    for (uint32_t i = 0; i < j->tables.n; i++) {
        const tl_load_table *t = &j->tables.table[i];
        chunks += t->n;
        sent += t->sent;
        for (size_t k = 0; k < TL_COUNT(shown); k++)
            if (t->rows && strcmp(t->name, shown[k]) == 0)
                add_rows(text, sizeof text, shown[k], t->rows, !text[0]);
    }
    if (sent == chunks)
        tl_say(j->cli, j->path, "loaded %s%sin %s chunks", text, text[0] ? " " : "",
               tl_human_grouped(number, sizeof number, chunks));
    else
        tl_say(j->cli, j->path, "%s of %s chunks were missing or wrong, sent; all verified",
               tl_human_grouped(before, sizeof before, sums->missing + sums->wrong),
               tl_human_grouped(number, sizeof number, chunks));
}

static int say_verified(const trace_job *j, const tl_load_sums *sums, bool visible)
{
    char chunks[32], missing[32], wrong[32];
    tl_human_grouped(chunks, sizeof chunks, sums->chunks);
    if (sums->missing + sums->wrong == 0 && visible) {
        tl_say(j->cli, j->path, "all %s chunks are there, once", chunks);
        return TL_EXIT_DONE;
    }
    tl_say_error(tl_path_name(j->path), "of %s chunks %s are missing, and %s are double or differ%s", chunks,
                 tl_human_grouped(missing, sizeof missing, sums->missing),
                 tl_human_grouped(wrong, sizeof wrong, sums->wrong),
                 visible ? "" : "; the trace is not marked as loaded");
    return TL_EXIT_NO;
}

static int publish(trace_job *j, tl_error *e)
{
    tl_content_state now = {0};
    int status = tl_content_look(&now, j->path, e);
    if (status == 0 && now.changed != j->id.state.changed)
        return tl_fail(e, TL_EDAMAGED, TL_NO_OFFSET, "was changed while it was loaded; it stays invisible");
    return status < 0 ? status : tl_manifest_write(&j->tables, j->path, e);
}

static int run(trace_job *j, tl_load_sums *sums, bool *visible, tl_error *e)
{
    const int status = tl_load_tables_run(&j->tables, e);
    for (uint32_t i = 0; i < j->tables.n; i++) {
        const tl_load_table *t = &j->tables.table[i];
        sums->chunks += t->n;
        sums->missing += t->missing;
        sums->wrong += t->wrong;
    }
    if (status == 0 && j->lock.hold)
        return publish(j, e);
    return status < 0 ? status : tl_manifest_has(&j->tables, visible, e);
}

/* Failures that are not the command's: a server's refusal is one, too. */
static int say_failed(const trace_job *j, const tl_error *e)
{
    const int status = tl_say_failure(j->path, e);
    return status == TL_EXIT_USAGE ? TL_EXIT_DAMAGED : status;
}

static int load(trace_job *j, const char *const *tables, tl_load_sums *all)
{
    tl_error e = {0};
    tl_load_sums sums = {0};
    bool visible = true, whole = false;
    if (tl_content_id_of(&j->id, j->path, &e) < 0)
        return tl_say_failure(j->path, &e);
    if (!j->cli->args->verify && tl_load_lock_take(&j->lock, j->servers, j->id.number, j->cli, j->path, &e) < 0)
        return say_failed(j, &e);
    int status = open_trace(j, &e);
    if (status != TL_EXIT_DONE)
        return status;
    if (init_tables(j, tables, &e) < 0 || (j->lock.hold && tl_manifest_is_whole(&j->tables, &whole, &e) < 0))
        return say_failed(j, &e);
    if (whole) {
        tl_say(j->cli, j->path, "is there already, as a whole");
        return TL_EXIT_DONE;
    }
    tl_reading_start(&j->reading, j->cli, "loading");
    status = run(j, &sums, &visible, &e);
    tl_reading_stop(&j->reading);
    all->chunks += sums.chunks;
    all->missing += sums.missing;
    all->wrong += sums.wrong;
    if (status < 0)
        return say_failed(j, &e);
    if (!j->lock.hold)
        return say_verified(j, &sums, visible);
    say_done(j, &sums);
    return TL_EXIT_DONE;
}

int tl_load_trace(const tl_cli *c, tl_servers *s, const char *path, const char *const *tables, uint32_t n,
                  tl_load_sums *sums)
{
    trace_job j = {.cli = c, .servers = s, .path = path, .tables.n = n};
    if (strcmp(path, "-") == 0) {
        tl_say_error(NULL, "load reads files, not standard input: it reads them twice");
        return TL_EXIT_USAGE;
    }
    j.tables.table = calloc((size_t)n + 1, sizeof *j.tables.table);
    int status = TL_EXIT_DAMAGED;
    if (j.tables.table)
        status = load(&j, tables, sums);
    else
        tl_say_error(path, "no memory for its tables");
    tl_chunk_sender_close(j.tables.sender);
    tl_load_lock_fini(&j.lock);
    tl_load_tables_fini(&j.tables);
    tl_query_close(j.query);
    if (j.reading.source)
        status = tl_exit_worse(status, tl_say_losses(c, j.reading.trace, 0));
    tl_reading_close(&j.reading);
    return status;
}
