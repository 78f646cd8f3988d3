/* The statements that make tables and views on a server. */
#include <string.h>

#include "base/compiler.h"
#include "query/server/server_table.h"

typedef struct maker {
    tl_query *query;
    const tl_server_place *at;
    void (*take)(void *arg, const char *sql);
    void *arg;
    tl_pb sql;
    bool failed;
} maker;

static void put(maker *m, const char *text)
{
    tl_pb_text(&m->sql, text);
}

static void put_table(maker *m, const char *name, const char *suffix)
{
    tl_server_put_name(&m->sql, m->at->database);
    put(m, ".`");
    put(m, name);
    put(m, suffix);
    put(m, "`");
}

static void give(maker *m)
{
    tl_pb_raw(&m->sql, "", 1);
    m->failed = m->failed || m->sql.failed;
    if (!m->failed)
        m->take(m->arg, (const char *)m->sql.data);
    tl_pb_clear(&m->sql);
}

static void make_local(maker *m, const char *name, const tl_column_info *c, uint32_t n, uint32_t table)
{
    put(m, "CREATE TABLE IF NOT EXISTS ");
    put_table(m, name, "_local");
    put(m, " (day UInt32, trace Int64, chunk UInt32, seq UInt64");
    for (uint32_t i = 0; i < n; i++)
        if (tl_server_keeps(m->query, table, c, n, i)) {
            put(m, ", ");
            tl_server_put_name(&m->sql, c[i].name);
            put(m, " ");
            put(m, tl_native_type_name(tl_server_type(&c[i])));
        }
    put(m, ") ENGINE = MergeTree PARTITION BY day ORDER BY (trace, seq)");
    give(m);
}

static void make_all(maker *m, const char *name)
{
    put(m, "CREATE TABLE IF NOT EXISTS ");
    put_table(m, name, "_all");
    put(m, " AS ");
    put_table(m, name, "_local");
    put(m, " ENGINE = ");
    if (m->at->cluster) {
        put(m, "Distributed(");
        tl_server_put_name(&m->sql, m->at->cluster);
        put(m, ", ");
        tl_server_put_name(&m->sql, m->at->database);
        put(m, ", `");
        put(m, name);
        put(m, "_local`)");
    } else {
        put(m, "Merge(");
        tl_server_put_name(&m->sql, m->at->database);
        put(m, ", '^");
        put(m, name);
        put(m, "_local$')");
    }
    give(m);
}

static void make_view(maker *m, const char *name, const tl_column_info *c, uint32_t n, uint32_t table)
{
    put(m, "CREATE VIEW IF NOT EXISTS ");
    put_table(m, name, "");
    put(m, " AS SELECT trace");
    for (uint32_t i = 0; i < n; i++)
        if (tl_server_keeps(m->query, table, c, n, i)) {
            const bool is_blob = c[i].unit == TL_UNIT_BLOB;
            put(m, is_blob ? ", unhex(" : ", ");
            tl_server_put_name(&m->sql, c[i].name);
            if (is_blob) {
                put(m, ") AS ");
                tl_server_put_name(&m->sql, c[i].name);
            }
        }
    put(m, " FROM ");
    put_table(m, name, "_all");
    /* The list is read once, by the server that is asked: no shard has a trace before another. */
    put(m, " WHERE trace GLOBAL IN (SELECT trace FROM ");
    put_table(m, "loaded", "");
    put(m, " WHERE tbl = '");
    put(m, name);
    put(m, "')");
    give(m);
}

static void make_manifest(maker *m)
{
    put(m, "CREATE TABLE IF NOT EXISTS ");
    put_table(m, "chunks", "");
    put(m, " (trace Int64, tbl String, chunk UInt32, nrows UInt64, digest UInt64)"
           " ENGINE = ReplacingMergeTree ORDER BY (trace, tbl, chunk)");
    give(m);
    put(m, "CREATE TABLE IF NOT EXISTS ");
    put_table(m, "loaded", "");
    put(m, " (trace Int64, tbl String, chunks UInt32, nrows UInt64, path String, writer String, loaded_at UInt32)"
           " ENGINE = ReplacingMergeTree(loaded_at) ORDER BY (trace, tbl)");
    give(m);
    /* What loaders are about is the name of a statement that they leave open: nothing is ever in here. */
    put(m, "CREATE TABLE IF NOT EXISTS ");
    put_table(m, "loading", "");
    put(m, " (x UInt8) ENGINE = Null");
    give(m);
}

/* Made of calls and spans in the session, too. */
static void make_slices(maker *m)
{
    put(m, "CREATE VIEW IF NOT EXISTS ");
    put_table(m, "slices", "");
    put(m, " AS SELECT trace, id, parent_id, ts, dur, end_ts, track_id, thread, name, depth, 'call' AS category FROM ");
    put_table(m, "calls", "");
    put(m, " UNION ALL SELECT trace, id, CAST(NULL AS Nullable(Int64)) AS parent_id, ts, dur, end_ts, track_id, thread,"
           " name, CAST(NULL AS Nullable(Int64)) AS depth, 'span' AS category FROM ");
    put_table(m, "spans", "");
    give(m);
}

/* What --rollup makes of `profile`: the rows of a run have its number, and those of the last run can be seen. */
static void make_rollup(maker *m)
{
    put(m, "CREATE TABLE IF NOT EXISTS ");
    put_table(m, "profile_days", "_local");
    put(m, " (rollup UInt64, day UInt32, app Nullable(String), host Nullable(String), path_hash Nullable(Int64),"
           " path Nullable(String), bucket Nullable(Int64), low Nullable(Int64), high Nullable(Int64),"
           " calls Nullable(Int64), total Nullable(Int64), self Nullable(Int64), traces UInt64)"
           " ENGINE = MergeTree PARTITION BY rollup ORDER BY (rollup, day)");
    give(m);
    put(m, "CREATE TABLE IF NOT EXISTS ");
    put_table(m, "rollups", "");
    put(m, " (rollup UInt64, made_at UInt32, writer String) ENGINE = MergeTree ORDER BY rollup");
    give(m);
    put(m, "CREATE VIEW IF NOT EXISTS ");
    put_table(m, "profile_days", "");
    put(m, " AS SELECT day, app, host, path_hash, path, bucket, low, high, calls, total, self, traces FROM ");
    put_table(m, "profile_days", "_local");
    put(m, " WHERE rollup IN (SELECT max(rollup) FROM ");
    put_table(m, "rollups", "");
    put(m, ")");
    give(m);
}

bool tl_server_make(tl_query *q, const tl_server_place *at, void (*take)(void *arg, const char *sql), void *arg)
{
    maker m = {.query = q, .at = at, .take = take, .arg = arg};
    put(&m, "CREATE DATABASE IF NOT EXISTS ");
    tl_server_put_name(&m.sql, at->database);
    give(&m);
    make_manifest(&m);
    const tl_server_table *t;
    for (uint32_t i = 0; (t = tl_server_table_at(i)) != NULL; i++) {
        uint32_t n;
        const uint32_t table = tl_server_table_find(q, t->name);
        const tl_column_info *c = table == UINT32_MAX ? NULL : tl_query_table_columns(q, table, &n);
        if (!c)
            continue;
        make_local(&m, t->name, c, n, table);
        make_all(&m, t->name);
        make_view(&m, t->name, c, n, table);
    }
    make_slices(&m);
    make_rollup(&m);
    tl_pb_fini(&m.sql);
    return !m.failed;
}
