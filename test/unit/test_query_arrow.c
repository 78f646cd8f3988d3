/* Rows in Arrow's form: their values are those of SQL, and structs may be released in any order, also after the session
 * and its sources were closed. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "arrow_check.h"
#include "query_fixture.h"

static tl_statement *prepared(query_fixture *q, const char *sql)
{
    tl_statement *s = NULL;
    tl_error e = {0};
    must(tl_query_prepare(&s, q->query, sql, NULL, &e), &e);
    assert_non_null(s);
    return s;
}

static struct ArrowArrayStream stream_of(query_fixture *q, const char *sql, uint64_t rows)
{
    const tl_arrow_options options = {.rows = rows};
    struct ArrowArrayStream stream = {0};
    tl_error e = {0};
    must(tl_query_arrow(&stream, prepared(q, sql), &options, &e), &e);
    return stream;
}

static struct ArrowArrayStream stream_of_table(query_fixture *q, const char *table, const tl_arrow_options *options)
{
    struct ArrowArrayStream stream = {0};
    tl_error e = {0};
    must(tl_query_table_arrow(&stream, q->query, table, options, &e), &e);
    return stream;
}

static void rows_of_statements(void **state)
{
    static const char *const sql[] = {
        "SELECT * FROM events",
        "SELECT ts, dur, self, name, thread, is_outermost FROM calls ORDER BY dur DESC, id",
        "SELECT hist, p50, name FROM places",
        "SELECT 1 AS a, 1.5 AS b, NULL AS c, x'0102' AS d, '' AS e",
        "SELECT CASE id % 3 WHEN 0 THEN NULL ELSE id END AS n, CASE id % 2 WHEN 0 THEN NULL ELSE name END AS t FROM "
        "events",
        "SELECT ts FROM events WHERE ts < 0"};
    static const uint64_t rows[] = {0, 1, 7, 8, 1000, UINT64_MAX};
    query_fixture q;
    query_open(&q, NULL);
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            struct ArrowArrayStream stream = stream_of(&q, sql[i], rows[k]);
            same_stream(&stream, prepared(&q, sql[i]));
        }
    query_close(&q);
}

/* Every table without arguments, each of its columns. */
static void rows_of_tables(void **state)
{
    query_fixture q;
    char sql[256];
    query_open(&q, NULL);
    for (uint32_t i = 0; i < tl_query_tables(q.query); i++) {
        const char *name = tl_query_table(q.query, i)->name;
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", name);
        const uint64_t rows[] = {0, 13, UINT64_MAX};
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            const tl_arrow_options options = {.rows = rows[k]};
            struct ArrowArrayStream stream = stream_of_table(&q, name, &options);
            const int64_t n = same_stream(&stream, prepared(&q, sql));
            if (strcmp(name, "events") == 0)
                assert_int_equal(n, 2 * QUERY_CALLS);
        }
    }
    query_close(&q);
}

static void chosen_columns(void **state)
{
    static const char *const column[] = {"TRACK_ID", "name", "ts"};
    const tl_arrow_options options = {.column = column, .ncolumn = 3, .ordered = true}, none = {.column = column};
    static const char *const wrong[] = {"ts", "nothing"};
    const tl_arrow_options of_wrong = {.column = wrong, .ncolumn = 2}, in_order = {.ordered = true};
    query_fixture q;
    tl_error e = {0};
    query_open(&q, NULL);
    struct ArrowArrayStream stream = stream_of_table(&q, "Events", &options);
    assert_int_equal(same_stream(&stream, prepared(&q, "SELECT track_id, name, ts FROM events ORDER BY ts")),
                     2 * QUERY_CALLS);

    struct ArrowArray batch;
    stream = stream_of_table(&q, "events", &none); /* no columns: rows can still be counted */
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 2 * QUERY_CALLS);
    assert_int_equal(batch.n_children, 0);
    batch.release(&batch);
    stream.release(&stream);

    assert_int_equal(tl_query_table_arrow(&stream, q.query, "calls", &of_wrong, &e), TL_ESYNTAX);
    assert_string_equal(e.message, "no such column: calls.nothing");
    assert_int_equal(tl_query_table_arrow(&stream, q.query, "nothing", NULL, &e), TL_ESYNTAX);
    assert_string_equal(e.message, "no such table: nothing");
    assert_int_equal(tl_query_table_arrow(&stream, q.query, "function_stats", &in_order, &e), TL_EUNSUPPORTED);
    query_close(&q);
}

static int64_t metadata_of(const struct ArrowSchema *s, char *unit, size_t size)
{
    int32_t n = 0, length = 0;
    if (!s->metadata)
        return 0;
    memcpy(&n, s->metadata, 4);
    memcpy(&length, s->metadata + 4, 4);
    assert_memory_equal(s->metadata + 8, "traceloom.unit", (size_t)length);
    const char *at = s->metadata + 8 + length;
    memcpy(&length, at, 4);
    snprintf(unit, size, "%.*s", (int)length, at + 4);
    return n;
}

static void schemas(void **state)
{
    query_fixture q;
    char unit[32];
    struct ArrowSchema schema;
    query_open(&q, NULL);
    struct ArrowArrayStream stream = stream_of(&q, "SELECT ts, utc, is_outermost, name, 1.5, name FROM calls", 0);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    stream.release(&stream); /* the schema stays */
    static const char *const format[] = {"l", "tsn:UTC", "b", "u", "g", "u"};
    static const char *const word[] = {"ns", "utc", "bool", NULL, NULL, NULL};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(schema.children[i]->format, format[i]);
        assert_int_equal(schema.children[i]->flags, ARROW_FLAG_NULLABLE);
        assert_int_equal(metadata_of(schema.children[i], unit, sizeof unit), word[i] != NULL);
        if (word[i])
            assert_string_equal(unit, word[i]);
    }
    assert_string_equal(schema.children[5]->name, "name_2"); /* readers need names that differ */

    /* A member is moved out, and lives longer than the rest. */
    struct ArrowSchema member = *schema.children[3];
    schema.children[3]->release = NULL;
    schema.release(&schema);
    assert_string_equal(member.name, "name");
    member.release(&member);
    query_close(&q);
}

/* Everything is closed before what was made of it is read and released. */
static void closed_in_any_order(void **state)
{
    query_fixture q;
    struct ArrowArray batch, more;
    query_open(&q, NULL);
    struct ArrowArrayStream table = stream_of_table(&q, "events", &(tl_arrow_options){.rows = 100});
    struct ArrowArrayStream result = stream_of(&q, "SELECT id, name FROM events", 100);
    assert_int_equal(table.get_next(&table, &batch), 0);
    tl_query_close(q.query);
    tl_source_close(q.source);
    assert_int_equal(result.get_next(&result, &more), 0);
    struct ArrowArray column = *more.children[1];
    more.children[1]->release = NULL;
    more.release(&more);
    assert_int_equal(((const int32_t *)column.buffers[1])[2], 19);
    assert_memory_equal(column.buffers[2], "xray.enterxray.exit", 19);
    result.release(&result);
    column.release(&column);
    int64_t rows = batch.length;
    assert_int_equal(table.get_next(&table, &more), 0);
    for (; more.release; table.get_next(&table, &more)) {
        rows += more.length;
        more.release(&more);
    }
    assert_int_equal(rows, 2 * QUERY_CALLS);
    table.release(&table);
    assert_int_equal(((const int64_t *)batch.children[0]->buffers[1])[99], 1);
    batch.release(&batch);
    free(q.log);
}

static void errors(void **state)
{
    query_fixture q;
    struct ArrowArray batch;
    tl_error e = {0};
    query_open(&q, NULL);
    struct ArrowArrayStream stream = stream_of(&q,
                                               "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE "
                                               "i < 20000) SELECT CASE i WHEN 15000 THEN 'text' ELSE i END AS v FROM n",
                                               10000);
    assert_null(stream.get_last_error(&stream));
    assert_int_equal(tl_arrow_error(&stream)->code, 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    batch.release(&batch);
    for (int i = 0; i < 2; i++) { /* it stays */
        assert_int_equal(stream.get_next(&stream, &batch), EINVAL);
        assert_contains(stream.get_last_error(&stream), "row 15001 has text in column v");
        assert_int_equal(tl_arrow_error(&stream)->code, TL_EINVAL);
    }
    stream.release(&stream);
    assert_int_equal(tl_arrow_error(&stream)->code, 0);

    tl_statement *s = prepared(&q, "SELECT abs(-9223372036854775807 - 1)");
    assert_int_equal(tl_query_arrow(&stream, s, NULL, &e), TL_EINVAL);
    assert_contains(e.message, "integer overflow");
    tl_statement_close(s); /* it was not taken over */

    stream = stream_of_table(&q, "events", &(tl_arrow_options){.rows = 10});
    tl_query_interrupt(q.query);
    assert_int_equal(stream.get_next(&stream, &batch), ECANCELED);
    assert_int_equal(tl_arrow_error(&stream)->code, TL_ELIMIT);
    assert_string_equal(stream.get_last_error(&stream), "interrupted");
    stream.release(&stream);
    assert_string_equal(query_ask(&q, "SELECT 1"), "1");
    query_close(&q);
}

static void time_limit(void **state)
{
    query_fixture q;
    struct ArrowArray batch;
    query_open(&q, &(tl_query_options){.timeout_ns = 1});
    struct ArrowArrayStream stream = stream_of_table(&q, "events", NULL);
    assert_int_equal(stream.get_next(&stream, &batch), ECANCELED);
    assert_contains(stream.get_last_error(&stream), "time limit");
    stream.release(&stream);
    query_close(&q);
}

/* Each event is a row of the table of its class, in the order of time. */
static void all_classes(void **state)
{
    query_fixture q;
    tl_error e = {0};
    query_open(&q, NULL);
    for (uint64_t group = 0; group < 4000; group = group * 8 + 500) {
        tl_arrow_events *r = NULL;
        const uint32_t *table = NULL;
        uint32_t n = 0;
        must(tl_arrow_events_open(&r, q.query, &(tl_arrow_options){.rows = group, .ordered = true}, &e), &e);
        tl_statement *events =
            prepared(&q, "SELECT table_name, id FROM events JOIN classes USING (class_id) ORDER BY events.ts");
        uint64_t all = 0;
        int status;
        while ((status = tl_arrow_events_next(r, &table, &n, &e)) > 0) {
            uint32_t of = 0, parts = 0;
            struct ArrowArray part[2];
            int64_t at[2] = {0}, next[2];
            while (tl_arrow_events_take(r, &of, &part[parts], &e) > 0) {
                assert_true(parts < 2);
                next[parts++] = of;
            }
            assert_true(parts > 0);
            for (uint32_t i = 0; i < n; i++) {
                const uint32_t k = next[0] == table[i] ? 0 : 1;
                assert_int_equal(next[k], table[i]);
                assert_int_equal(tl_statement_step(events, &e), 1);
                assert_string_equal(tl_query_table(q.query, table[i])->name, tl_statement_value(events, 0)->text);
                assert_int_equal(((const int64_t *)part[k].children[1]->buffers[1])[at[k]++],
                                 tl_statement_value(events, 1)->i64);
            }
            for (uint32_t k = 0; k < parts; k++) {
                assert_int_equal(at[k], part[k].length);
                part[k].release(&part[k]);
            }
            all += n;
        }
        must(status, &e);
        assert_int_equal(tl_statement_step(events, &e), 0);
        assert_int_equal(all, 2 * QUERY_CALLS);
        tl_statement_close(events);
        tl_arrow_events_close(r);
    }
    tl_arrow_events_close(NULL);
    query_close(&q);
}

typedef struct reader {
    struct ArrowArrayStream stream;
    atomic_bool *go;
    uint64_t rows, refused;
} reader;

static void *read_all(void *arg)
{
    reader *r = arg;
    struct ArrowArray batch;
    while (!atomic_load(r->go))
        ;
    for (;;) {
        const int status = r->stream.get_next(&r->stream, &batch);
        if (status == EBUSY) {
            r->refused++;
            continue;
        }
        if (status != 0 || !batch.release)
            break;
        r->rows += (uint64_t)batch.length;
        batch.release(&batch);
    }
    r->stream.release(&r->stream);
    return NULL;
}

/* Two threads that do not wait for each other: each gets its rows or is refused, whatever the other does. */
static void two_threads(void **state)
{
    query_fixture q;
    atomic_bool go = false;
    query_open(&q, NULL);
    reader r[2] = {{.stream = stream_of_table(&q, "events", &(tl_arrow_options){.rows = 10}), .go = &go},
                   {.stream = stream_of(&q, "SELECT * FROM events", 10), .go = &go}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_all, &r[i]), 0);
    atomic_store(&go, true);
    tl_query_close(q.query);
    tl_source_close(q.source);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(r[i].rows, 2 * QUERY_CALLS);
    }
    free(q.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_statements),  cmocka_unit_test(rows_of_tables),
                                       cmocka_unit_test(chosen_columns),      cmocka_unit_test(schemas),
                                       cmocka_unit_test(closed_in_any_order), cmocka_unit_test(errors),
                                       cmocka_unit_test(time_limit),          cmocka_unit_test(all_classes),
                                       cmocka_unit_test(two_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
