/* Sessions and statements of query.h: parameters, several statements, errors, interruption, ends at any row. */
#include <time.h>

#include "query/query_control.h"
#include "query_fixture.h"

static tl_statement *prepare(query_fixture *q, const char *sql)
{
    tl_statement *s = NULL;
    tl_error e = {0};
    must(tl_query_prepare(&s, q->query, sql, NULL, &e), &e);
    assert_non_null(s);
    return s;
}

static void rows_and_columns(void **state)
{
    query_fixture q;
    tl_error e = {0};
    query_open(&q, NULL);
    tl_statement *s = prepare(&q, "SELECT ts, name AS what, 1.5, NULL, x'0102', '' FROM events WHERE ts = 20");
    assert_int_equal(tl_statement_columns(s), 6);
    assert_string_equal(tl_statement_column(s, 0)->name, "ts");
    assert_int_equal(tl_statement_column(s, 0)->unit, TL_UNIT_TIME);
    assert_string_equal(tl_statement_column(s, 1)->name, "what");
    assert_null(tl_statement_column(s, 6));
    for (int round = 0; round < 2; round++) { /* after the end it begins again */
        assert_int_equal(tl_statement_step(s, &e), 1);
        assert_int_equal(tl_statement_value(s, 0)->i64, 20);
        assert_string_equal(tl_statement_value(s, 1)->text, "xray.enter");
        assert_int_equal(tl_statement_value(s, 1)->size, 10);
        assert_true(tl_statement_value(s, 2)->real > 1.4 && tl_statement_value(s, 2)->real < 1.6);
        assert_int_equal(tl_statement_value(s, 3)->kind, TL_VALUE_NULL);
        assert_int_equal(tl_statement_value(s, 4)->kind, TL_VALUE_BLOB);
        assert_memory_equal(tl_statement_value(s, 4)->text, "\1\2", 2);
        assert_int_equal(tl_statement_value(s, 5)->kind, TL_VALUE_TEXT);
        assert_int_equal(tl_statement_value(s, 5)->size, 0);
        assert_int_equal(tl_statement_step(s, &e), 0);
    }
    tl_statement_close(s);
    tl_statement_close(NULL);
    query_close(&q);
}

static void parameters(void **state)
{
    query_fixture q;
    tl_error e = {0};
    query_open(&q, NULL);
    tl_statement *s = prepare(&q, "SELECT count(*) FROM events WHERE ts < :most AND name GLOB @name AND tid = ?");
    assert_int_equal(tl_statement_parameters(s), 3);
    assert_string_equal(tl_statement_parameter(s, 0), "most");
    assert_string_equal(tl_statement_parameter(s, 1), "name");
    assert_null(tl_statement_parameter(s, 2));
    assert_null(tl_statement_parameter(s, 3));
    char name[] = "*enter";
    must(tl_statement_bind(s, 0, &(tl_sql_value){.kind = TL_VALUE_REAL, .real = 100.5}, &e), &e);
    must(tl_statement_bind(s, 1, &(tl_sql_value){.kind = TL_VALUE_TEXT, .text = name, .size = 6}, &e), &e);
    must(tl_statement_bind(s, 2, &(tl_sql_value){.kind = TL_VALUE_INTEGER, .i64 = 7}, &e), &e);
    memset(name, 'x', 6); /* it was copied */
    assert_int_equal(tl_statement_step(s, &e), 1);
    assert_int_equal(tl_statement_value(s, 0)->i64, 3); /* at 0, 40, 80 */
    assert_int_equal(tl_statement_bind(s, 3, &(tl_sql_value){.kind = TL_VALUE_NULL}, &e), TL_EINVAL);
    assert_contains(e.message, "parameter 4");
    tl_statement_close(s);
    query_close(&q);
}

static void several_statements(void **state)
{
    query_fixture q;
    query_open(&q, NULL);
    assert_string_equal(query_ask(&q, "SELECT 1; SELECT 2;; -- nothing\n; SELECT 3"), "1;2;3");
    assert_string_equal(query_ask(&q, ""), "");
    assert_string_equal(query_ask(&q, " ;; "), "");
    const char *sql = "/* only a comment */", *rest = NULL;
    tl_statement *s = (tl_statement *)&q;
    tl_error e = {0};
    must(tl_query_prepare(&s, q.query, sql, &rest, &e), &e);
    assert_null(s);
    assert_int_equal(*rest, 0);
    /* Two at a time, and the one that began first ends last. */
    tl_statement *a = prepare(&q, "SELECT ts FROM events ORDER BY ts"), *b = prepare(&q, "SELECT ts FROM events");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tl_statement_step(a, &e), 1);
        assert_int_equal(tl_statement_step(b, &e), 1);
        assert_int_equal(tl_statement_value(a, 0)->i64, 10 * i);
    }
    tl_statement_close(b);
    assert_int_equal(tl_statement_step(a, &e), 1);
    tl_statement_close(a);
    query_close(&q);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *sql, *message;
        tl_code code;
        uint64_t offset;
    } cases[] = {{"SELEC 1", "syntax error", TL_ESYNTAX, 0},
                 {"SELECT 1, absent FROM events", "absent", TL_ESYNTAX, 10},
                 {"SELECT * FROM absent", "absent", TL_ESYNTAX, TL_NO_OFFSET},
                 {"SELECT \"absent\" FROM events", "absent", TL_ESYNTAX, 7}, /* no text */
                 {"DELETE FROM events", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"UPDATE events SET ts = 1", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"INSERT INTO events(ts) VALUES(1)", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"DROP TABLE events", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"ALTER TABLE events RENAME TO x", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"CREATE INDEX i ON events(ts)", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; END", "statements can only read",
                  TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"SELECT * FROM pragma_table_info('x')", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"SELECT [table x may not be modified] FROM events", "no such column", TL_ESYNTAX, 7},
                 {"ATTACH 'x' AS x", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET},
                 {"CREATE TEMP TABLE t(a)", "statements can only read", TL_EUNSUPPORTED, TL_NO_OFFSET}};
    query_fixture q;
    query_open(&q, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_statement *s = NULL;
        tl_error e = {0};
        assert_int_equal(tl_query_prepare(&s, q.query, cases[i].sql, NULL, &e), cases[i].code);
        assert_int_equal(e.code, cases[i].code);
        assert_contains(e.message, cases[i].message);
        if (cases[i].offset != TL_NO_OFFSET)
            assert_int_equal(e.offset, cases[i].offset);
        assert_null(s);
        assert_int_equal(tl_query_prepare(&s, q.query, cases[i].sql, NULL, NULL), cases[i].code);
    }
    assert_string_equal(query_ask(&q, "SELECT floor_to(1, 0)"), "error: floor_to: the step is not above 0");
    assert_string_equal(query_ask(&q, "SELECT 1"), "1"); /* the session goes on */
    query_close(&q);
}

static void interruption(void **state)
{
    query_fixture q;
    tl_error e = {0};
    query_open(&q, NULL);
    tl_query_interrupt(q.query); /* none runs: the next one ends */
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM events AS a, events AS b"), "error: interrupted");
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM events"), "6000");
    static const char *const of_passes[] = {"function_stats", "places", "class_stats", "thread_stats", "stack_stats"};
    for (size_t i = 0; i < sizeof of_passes / sizeof *of_passes; i++) { /* tables that are made before the first row */
        char sql[100], rows[100];
        snprintf(sql, sizeof sql, "SELECT count(*) > 0 FROM %s", of_passes[i]);
        tl_query_interrupt(q.query);
        assert_string_equal(query_ask(&q, sql), "error: interrupted");
        snprintf(rows, sizeof rows, "%s", query_ask(&q, sql));
        assert_string_equal(rows, "1");
    }
    for (uint32_t rows = 1; rows < 5000; rows += 1009) { /* between two rows */
        tl_statement *s = prepare(&q, "SELECT a.ts FROM events AS a, events AS b WHERE b.ts = -1 OR a.ts = b.ts");
        int status = 1;
        for (uint32_t i = 0; i < 3 && status > 0; i++)
            status = tl_statement_step(s, &e);
        assert_int_equal(status, 1);
        tl_query_interrupt(q.query);
        while (status > 0)
            status = tl_statement_step(s, &e);
        assert_int_equal(status, TL_ELIMIT);
        assert_string_equal(e.message, "interrupted");
        tl_statement_close(s);
    }
    query_close(&q);
}

static void limits(void **state)
{
    query_fixture q;
    query_open(&q, &(tl_query_options){.timeout_ns = 20000000});
    assert_string_equal(
        query_ask(&q, "SELECT count(*) FROM events AS a, events AS b, events AS c WHERE a.ts + b.ts = -c.ts"),
        "error: it took longer than its time limit");
    assert_string_equal(query_ask(&q, "SELECT 1"), "1");
    query_close(&q);
    query_open(&q, &(tl_query_options){.timeout_ns = 1}); /* of a pass before the first row, too */
    assert_string_equal(query_ask(&q, "SELECT * FROM function_stats"), "error: it took longer than its time limit");
    query_close(&q);
    query_open(&q, &(tl_query_options){.memory = 4 << 20});
    assert_string_equal(query_ask(&q, "SELECT length(replace(printf('%9000000d', 1), ' ', 'xx'))"),
                        "error: it needs more memory than its limit");
    assert_string_equal(query_ask(&q, "SELECT 1"), "1");
    query_close(&q);
    query_open(&q, &(tl_query_options){.memory = 200 << 10});
    assert_contains(query_ask(&q, "SELECT count(*) FROM events AS a JOIN events AS b USING (ts, kind)"),
                    "events is sorted, or read for each row of another table, and its rows need more memory");
    query_close(&q);
    query_open(&q, &(tl_query_options){.temporary = true});
    assert_string_equal(query_ask(&q,
                                  "CREATE TEMP TABLE t AS SELECT ts FROM events WHERE tid = 7; SELECT count(*) FROM t;"
                                  "DELETE FROM t WHERE ts > 100; SELECT count(*) FROM t; DROP TABLE t"),
                        "3000;6");
    assert_contains(query_ask(&q, "CREATE TABLE main.t(a)"), "statements can only read");
    query_close(&q);
}

/* Steps more than the engine takes between two looks at the clock. */
static int step_often(tl_statement *s, tl_error *e)
{
    int status = 1;
    for (unsigned i = 0; i < 50000 && status > 0; i++)
        status = tl_statement_step(s, e);
    return status;
}

/* What the caller says that it waited is not time of the statement. */
static void time_of_the_caller(void **state)
{
    const struct timespec past = {.tv_nsec = 2000000};
    for (int waits = 0; waits < 2; waits++) {
        query_fixture q;
        tl_error e = {0};
        query_open(&q, &(tl_query_options){.timeout_ns = 1000000});
        tl_statement *s =
            prepare(&q, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n");
        must(tl_statement_step(s, &e), &e);
        if (waits)
            tl_query_delay(q.query, UINT64_C(3600000000000));
        nanosleep(&past, NULL);
        assert_int_equal(step_often(s, &e), waits ? 1 : TL_ELIMIT);
        tl_statement_close(s);
        query_close(&q);
    }
}

/* At each row of a small answer, and at the edges of blocks. */
static void ends_at_any_row(void **state)
{
    static const uint32_t ends[] = {0, 1, 2, 1023, 1024, 1025, 2047, 2048, 2049, 5999, 6000};
    query_fixture q;
    tl_error e = {0};
    query_open(&q, NULL);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int ordered = 0; ordered < 2; ordered++) {
            tl_statement *s =
                prepare(&q, ordered ? "SELECT ts, fields FROM events ORDER BY ts" : "SELECT * FROM events");
            for (uint32_t row = 0; row < ends[i]; row++)
                assert_int_equal(tl_statement_step(s, &e), 1);
            if (i % 2)
                tl_statement_close(s);
            else
                tl_statement_close(s); /* others are ended by the session */
        }
    query_close(&q);
    tl_query_close(NULL);
}

/* Terms that a scan uses leave the rows that SQLite's own test leaves. */
static void terms(void **state)
{
    static const char *const where[] = {"{ts} = 20",
                                        "{ts} = 20.0",
                                        "{ts} = 20.5",
                                        "{ts} < 15",
                                        "{ts} <= 20",
                                        "{ts} > 59985",
                                        "{ts} >= -5 AND {ts} < 25",
                                        "{ts} BETWEEN 95 AND 105",
                                        "{ts} IN (10, 20, 20, -3)",
                                        "{ts} IN (10, NULL, 30.0, 31.5)",
                                        "{ts} IN (20, 20)",
                                        "{ts} IN (SELECT 20)",
                                        "{ts} IN (SELECT NULL)",
                                        "{ts} IN (SELECT 5 WHERE 0)",
                                        "{ts} IN (SELECT x'00')",
                                        "{trace} IN (1, 1)",
                                        "{thread} IN ('thread 7', 'thread 7')",
                                        "{ts} NOT IN (20, 20)",
                                        "{ts} > 9223372036854775807",
                                        "{ts} > 1e300",
                                        "{ts} < 1e300",
                                        "{ts} < -1e300",
                                        "{ts} = NULL",
                                        "{ts} IS NULL",
                                        "{ts} > 'x'",
                                        "{ts} < 'x'",
                                        "{ts} < x'00'",
                                        "{name} = 'xray.enter'",
                                        "{name} = 'XRAY.ENTER'",
                                        "{name} = 'XRAY.ENTER' COLLATE NOCASE",
                                        "{name} IN ('xray.exit', 'x')",
                                        "{name} GLOB '*exit'",
                                        "{name} GLOB ''",
                                        "{name} GLOB NULL",
                                        "{name} > 'xray.enter'",
                                        "{kind} = 'exit'",
                                        "{kind} IN ('enter', NULL)",
                                        "{thread} = 'thread 7'",
                                        "{thread} GLOB '*8'",
                                        "{tid} = 7",
                                        "{tid} <> 7",
                                        "{tid} < 7.5",
                                        "{track_id} = 1",
                                        "{track_id} >= 1",
                                        "{class_id} = 0",
                                        "{class_id} < 1",
                                        "{class_id} IN (1, 5)",
                                        "{function_id} = 1",
                                        "{function_id} IN (1, 2)",
                                        "{function_id} = 2",
                                        "{function_id} > 0",
                                        "{function_id} IS NOT NULL",
                                        "{cpu} = 0",
                                        "{pid} = 7",
                                        "{trace} = 1",
                                        "{trace} = 2",
                                        "{id} < 5",
                                        "{key} = 1",
                                        "{utc} IS NULL",
                                        "{utc} > 5",
                                        "{ts} = {id} * 10",
                                        "{ts} < 100 AND {tid} = 8 AND {name} GLOB '*enter' AND {function_id} = 1",
                                        "{ts} < 100 OR {tid} = 8",
                                        "NOT ({ts} < 100)"};
    query_fixture q;
    query_open(&q, NULL);
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        char sql[2][512], first[256];
        for (int plus = 0; plus < 2; plus++) { /* unary plus: the scan is not told */
            size_t n = (size_t)snprintf(sql[plus], sizeof *sql,
                                        "SELECT count(*), sum(ts), min(id), max(id) FROM events WHERE ");
            for (const char *p = where[i]; *p; p++)
                if (*p == '{') {
                    if (plus)
                        sql[plus][n++] = '+';
                } else if (*p != '}') {
                    sql[plus][n++] = *p;
                }
            sql[plus][n] = '\0';
        }
        snprintf(first, sizeof first, "%s", query_ask(&q, sql[0]));
        if (strcmp(first, query_ask(&q, sql[1])) != 0 || strncmp(first, "error", 5) == 0)
            fail_msg("%s: %s with pushdown, %s without", where[i], first, q.text);
    }
    query_close(&q);
}

/* A function without a name is its number, in every table of calls. */
static void functions_without_a_name(void **state)
{
    query_fixture q;
    query_open(&q, NULL);
    assert_string_equal(query_ask(&q, "SELECT DISTINCT name FROM calls ORDER BY 1"), "#1");
    assert_string_equal(query_ask(&q, "SELECT name FROM function_stats ORDER BY 1"), "#1");
    assert_string_equal(query_ask(&q, "SELECT DISTINCT name FROM places ORDER BY 1"), "#1");
    assert_string_equal(query_ask(&q, "SELECT DISTINCT callee FROM caller_stats ORDER BY 1"), "#1");
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM function_stats WHERE name <> '#' || function_id"), "0");
    query_close(&q);
}

/* Text of one value may not end the JSON of a row. */
static void tables_of_a_session(void **state)
{
    query_fixture q;
    query_open(&q, NULL);
    const uint32_t n = tl_query_tables(q.query);
    assert_true(n > 10);
    assert_null(tl_query_table(q.query, n));
    for (uint32_t i = 0; i < n; i++) {
        char sql[512];
        uint32_t columns = 0;
        const tl_table_info *t = tl_query_table(q.query, i);
        assert_non_null(tl_query_table_columns(q.query, i, &columns));
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" LIMIT 1", t->name);
        tl_statement *s = prepare(&q, sql);
        const tl_column_info *c = tl_query_table_columns(q.query, i, &columns);
        while (strncmp(c[columns - 1].what, "argument ", 9) == 0)
            columns--; /* SELECT * leaves it out */
        assert_int_equal(tl_statement_columns(s), columns);
        tl_statement_close(s);
    }
    uint32_t columns = 1;
    assert_null(tl_query_table_columns(q.query, n, &columns));
    assert_int_equal(columns, 0);
    query_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_and_columns),
                                       cmocka_unit_test(parameters),
                                       cmocka_unit_test(several_statements),
                                       cmocka_unit_test(what_is_wrong_is_said),
                                       cmocka_unit_test(interruption),
                                       cmocka_unit_test(limits),
                                       cmocka_unit_test(time_of_the_caller),
                                       cmocka_unit_test(ends_at_any_row),
                                       cmocka_unit_test(terms),
                                       cmocka_unit_test(tables_of_a_session),
                                       cmocka_unit_test(functions_without_a_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
