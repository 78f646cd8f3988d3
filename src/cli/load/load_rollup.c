/* load --rollup.
 *
 * Each server has the sums over all shards, so that one of them can be asked. A run's rows have its number, and the
 * view shows those of the highest number in `rollups`, a table of one row for each run: one row is written at once,
 * while two tables are not renamed at once by servers of all releases. Rows of older runs go when the new ones can be
 * seen. */
#include "cli/load/load_rollup.h"

#include <string.h>
#include <time.h>

#include "traceloom/format.h"

/* The time, so that the last run wins; two never have the same one, in practice. */
static uint64_t number_of_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void put_number(tl_pb *sql, const char *before, uint64_t number)
{
    tl_pb_text(sql, before);
    tl_pb_text_u64(sql, number);
}

/* The paths are joined to sums, not to rows: a stack occurs in many traces. */
static void put_insert(tl_pb *sql, const char *database, uint64_t number)
{
    static const char *const text[] = {
        "INSERT INTO `",
        "`.profile_days_local SELECT ",
        " AS rollup, day, app, host, path_hash, stack, bucket, low, high, calls, total, self, traces FROM ("
        "SELECT day, app, host, path_hash, bucket, low, high, sum(calls) AS calls, sum(total) AS total,"
        " sum(self) AS self, uniqExact(trace) AS traces FROM `",
        "`.profile_all WHERE trace GLOBAL IN (SELECT trace FROM `",
        "`.loaded WHERE tbl = 'profile') GROUP BY day, app, host, path_hash, bucket, low, high) AS p ANY LEFT JOIN ("
        "SELECT toNullable(reinterpretAsInt64(reinterpretAsString(sipHash64(assumeNotNull(path))))) AS path_hash,"
        " any(path) AS stack FROM `",
        "`.places_all WHERE path IS NOT NULL AND trace GLOBAL IN (SELECT trace FROM `",
        "`.loaded WHERE tbl = 'places') GROUP BY path_hash) AS n USING (path_hash)"};
    tl_pb_text(sql, text[0]);
    tl_pb_text(sql, database);
    put_number(sql, text[1], number);
    for (size_t i = 2; i < sizeof text / sizeof *text; i++) {
        tl_pb_text(sql, text[i]);
        if (i + 1 < sizeof text / sizeof *text)
            tl_pb_text(sql, database);
    }
}

/* Rows of a run on the first shard. The others have as many, unless a trace was loaded meanwhile. */
static int count_rows(tl_servers *s, uint64_t number, uint64_t *rows, tl_error *e)
{
    tl_shard *first = &s->shard[0];
    tl_shard_sql(first, "SELECT count() FROM `%s`.profile_days_local WHERE rollup = %" PRIu64, s->database, number);
    const int status = tl_shard_run(first, e);
    const char *reply = status == 0 ? (const char *)first->reply.data : "";
    *rows = tl_reply_number(&reply);
    return status;
}

static int publish(tl_servers *s, uint64_t number, tl_error *e)
{
    tl_pb sql = {0};
    tl_pb_text(&sql, "INSERT INTO `");
    tl_pb_text(&sql, s->database);
    put_number(&sql, "`.rollups (rollup, made_at, writer) VALUES (", number);
    put_number(&sql, ", ", number / 1000000000);
    tl_pb_text(&sql, ", ");
    tl_server_put_literal(&sql, tl_version(), strlen(tl_version()));
    tl_pb_text(&sql, ")");
    const int status = tl_servers_run_all(s, &sql, e);
    tl_pb_fini(&sql);
    return status;
}

/* Each run is a partition. One that comes back after a crash cannot be seen, and goes the next time. */
static int drop_older(tl_shard *s, uint64_t number, tl_error *e)
{
    tl_pb older = {0};
    tl_shard_sql(s, "SELECT DISTINCT rollup FROM `%s`.profile_days_local WHERE rollup < %" PRIu64, s->database, number);
    int status = tl_shard_run(s, e);
    if (status == 0)
        tl_pb_raw(&older, s->reply.data, s->reply.n);
    const char *p = (const char *)older.data;
    while (status == 0 && !older.failed && p && *p) {
        tl_shard_sql(s, "ALTER TABLE `%s`.profile_days_local DROP PARTITION %" PRIu64, s->database,
                     tl_reply_number(&p));
        status = tl_shard_run(s, e);
    }
    tl_pb_fini(&older);
    return status;
}

/* Before one of them fails because it does not reach another: names the one that does not answer. */
static int reach_all(tl_servers *s, tl_error *e)
{
    tl_pb sql = {0};
    tl_pb_text(&sql, "SELECT 1");
    const int status = tl_servers_run_all(s, &sql, e);
    tl_pb_fini(&sql);
    return status;
}

int tl_load_rollup(tl_servers *s, uint64_t *rows, tl_error *e)
{
    const uint64_t number = number_of_now();
    tl_pb sql = {0};
    int status = reach_all(s, e);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < s->n; i++)
        tl_http_set_timeout(s->shard[i].http, 0);
    put_insert(&sql, s->database, number);
    status = tl_servers_run_all(s, &sql, e);
    tl_pb_fini(&sql);
    if (status == 0)
        status = count_rows(s, number, rows, e);
    if (status == 0)
        status = publish(s, number, e);
    for (uint32_t i = 0; i < s->n && status == 0; i++)
        status = drop_older(&s->shard[i], number, e);
    return status;
}
