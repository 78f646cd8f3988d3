/* Tables with arguments, by hand. */
#include "query_fixture.h"

typedef struct expected {
    const char *sql, *answer;
} expected;

static void compare(query_fixture *q, const expected *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(query_ask(q, cases[i].sql), cases[i].answer) != 0)
            fail_msg("%s is %s, not %s", cases[i].sql, q->text, cases[i].answer);
}
#define COMPARE(q, cases) compare(q, cases, sizeof(cases) / sizeof *(cases))

/* 3000 calls of 10 ns at 0, 20, 40 ...; every other one in thread 7. */
static void calls_are_summed_up_by_keys(void **state)
{
    query_fixture q;
    static const expected cases[] = {
        {"SELECT ts, function_id, name, place_id, path, track_id, thread, depth, calls, total, self, min_dur, p50, "
         "p999, max_dur FROM call_stats",
         "null,null,null,null,null,null,null,null,3000,30000,30000,10,10,10,10"},
        {"SELECT function_id, name, depth, calls FROM call_stats('function')", "1,#1,null,3000"},
        {"SELECT place_id, path, function_id, calls FROM call_stats('place')", "1,#1,1,3000"},
        {"SELECT thread, depth, calls, total FROM call_stats('thread, depth')",
         "thread 7,1,1500,15000;thread 8,1,1500,15000"},
        {"SELECT ts, calls FROM call_stats('', 20000)", "0,1000;20000,1000;40000,1000"},
        {"SELECT ts, thread, calls FROM call_stats('thread', 59960) WHERE ts > 0 ORDER BY thread",
         "59960,thread 7,1;59960,thread 8,1"},
        {"SELECT hist = x'b817b0ea010a00' FROM call_stats('function')", "1"}, /* 3000, 30000, 10, 0 */
        {"SELECT typeof(hist) FROM call_stats('function')", "blob"}};
    query_open(&q, NULL);
    COMPARE(&q, cases);
    query_close(&q);
}

static void arguments_may_be_anything(void **state)
{
    query_fixture q;
    static const expected cases[] = {
        {"SELECT keys, step_length, calls FROM call_stats(NULL, NULL)", "null,null,3000"},
        {"SELECT keys, step_length, calls FROM call_stats WHERE keys = 'function' AND step_length = 1e6",
         "function,1000000,3000"},
        {"SELECT keys, calls FROM call_stats WHERE keys IN ('thread', 'function') ORDER BY 1, 2",
         "function,3000;thread,1500;thread,1500"},
        {"SELECT calls FROM call_stats('function') WHERE keys = 'thread'", ""},
        {"SELECT calls FROM call_stats WHERE step_length > 5", ""}, /* no argument: it is null */
        {"SELECT calls FROM call_stats('x')",
         "error: call_stats: there is no key x; keys are function, place, thread, cpu, depth"},
        {"SELECT calls FROM call_stats('functions')",
         "error: call_stats: there is no key functions; keys are function, place, thread, cpu, depth"},
        {"SELECT calls FROM call_stats(5)", "error: call_stats: argument 1, keys, is not a string, or too long"},
        {"SELECT calls FROM call_stats(x'00')", "error: call_stats: argument 1, keys, is not a string, or too long"},
        {"SELECT calls FROM call_stats(printf('%5000c', 'x'))",
         "error: call_stats: argument 1, keys, is not a string, or too long"},
        {"SELECT calls FROM call_stats('', '1s')",
         "error: call_stats: argument 2, step_length, is not a whole number; ns('1s') makes one of a time"},
        {"SELECT calls FROM call_stats('', 0.5)",
         "error: call_stats: argument 2, step_length, is not a whole number; ns('1s') makes one of a time"},
        {"SELECT calls FROM call_stats('', 1e300)",
         "error: call_stats: argument 2, step_length, is not a whole number; ns('1s') makes one of a time"},
        {"SELECT calls FROM call_stats('', 0)", "error: call_stats: the step is not above 0"},
        {"SELECT calls FROM call_stats('', -9223372036854775807)", "error: call_stats: the step is not above 0"},
        {"SELECT ts, calls FROM call_stats('', 9223372036854775807)", "0,3000"},
        {"SELECT count(*) FROM call_stats('', 0, 0)", "error: too many arguments on call_stats() - max 2"},
        {"SELECT step FROM columns WHERE 0", "error: no such column: step"}};
    query_open(&q, NULL);
    COMPARE(&q, cases);
    query_close(&q);
}

/* Arguments from rows, joins in any order, and more different ones than are kept. */
static void arguments_may_change(void **state)
{
    query_fixture q;
    static const expected cases[] = {
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
         "SELECT count(*), sum(s.calls), count(DISTINCT s.step_length) FROM n, call_stats('', i * 10000) AS s",
         "50,120000,40"},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
         "SELECT sum((SELECT max(calls) FROM call_stats('thread', (i % 6 + 1) * 1000))) FROM n",
         "3500"},
        {"SELECT count(*), sum(b.calls) FROM call_stats('', 1000) AS a JOIN call_stats('', 1000) AS b USING (ts)",
         "60,3000"},
        {"SELECT count(*) FROM call_stats('', 1000) AS a JOIN call_stats('thread', 1000) AS b USING (ts) "
         "JOIN call_stats('depth', 1000) AS c USING (ts) JOIN call_stats('place', 1000) AS d USING (ts) "
         "JOIN call_stats('cpu', 1000) AS e USING (ts) JOIN call_stats('function', 1000) AS f USING (ts)",
         "120"},
        {"SELECT count(*) FROM calls AS c JOIN call_stats('function', 20000) AS s "
         "ON s.function_id = c.function_id AND s.ts = floor_to(c.ts, 20000)",
         "3000"},
        {"SELECT count(*) FROM calls AS c WHERE dur < (SELECT p50 + c.depth FROM call_stats('function'))", "3000"},
        {"SELECT p.path, s.calls FROM call_stats('place') AS s JOIN places AS p USING (trace, place_id)", "#1,3000"},
        {"SELECT s.calls FROM (SELECT 'pla' || 'ce' AS k) AS t, call_stats(t.k) AS s", "3000"},
        {"SELECT p.place_id, s.calls FROM places AS p LEFT JOIN call_stats('place', p.place_id * 30000) AS s",
         "1,1500;1,1500"}};
    query_open(&q, NULL);
    COMPARE(&q, cases);
    query_close(&q);
}

/* Entries and exits of threads 7 and 8, every 10 ns. */
static void events_are_counted(void **state)
{
    query_fixture q;
    static const expected cases[] = {
        {"SELECT * FROM event_counts", "1,null,null,null,null,null,null,6000"},
        {"SELECT class_id, name, events FROM event_counts('class')", "0,xray.enter,3000;1,xray.exit,3000"},
        {"SELECT ts, thread, events FROM event_counts('thread', 30000)",
         "0,thread 7,1500;0,thread 8,1500;30000,thread 7,1500;30000,thread 8,1500"},
        {"SELECT cpu, events FROM event_counts('cpu', 9223372036854775807)", "0,6000"},
        {"SELECT count(*), max(events) FROM event_counts('', 1)", "6000,1"},
        {"SELECT ts AS step, sum(events) FROM event_counts('class', 20000) GROUP BY step",
         "0,2000;20000,2000;40000,2000"},
        {"SELECT count(*) FROM event_counts('function')",
         "error: event_counts: there is no key function; keys are class, thread, cpu"},
        {"SELECT count(*) FROM sample_stats('function path thread', 5)", "0"}, /* no samples */
        {"SELECT count(*) FROM sample_stats('cpu')",
         "error: sample_stats: there is no key cpu; keys are function, path, thread"},
        {"SELECT count(*) FROM cache_misses('l1d=64:1:64')", "0"}, /* no instructions */
        {"SELECT count(*) FROM cache_misses('l1d=x')",
         "error: cache l1d=x: expected numbers, with or without a suffix K or M"},
        {"SELECT count(*) FROM predictions(5)",
         "error: predictions: argument 1, predictor, is not a string, or too long"},
        {"SELECT count(*) FROM predictions('gshare,ras')", "error: predictions: more than one predictor"},
        {"SELECT count(*) FROM cache_levels('l1d=64:1:64')", "0"},
        {"SELECT count(*) FROM cache_levels(1)",
         "error: cache_levels: argument 1, cache, is not a string, or too long"},
        {"SELECT count(*) FROM reuse(64, 2)", "0"},
        {"SELECT count(*) FROM reuse(0)", "error: reuse: an argument is not a power of two"},
        {"SELECT count(*) FROM reuse(64, -1)", "error: reuse: an argument is not a power of two"},
        {"SELECT count(*) FROM reuse(4294967296)", "error: reuse: an argument is not a power of two"},
        {"SELECT count(*) FROM page_intervals(10)", "0"},
        {"SELECT count(*) FROM page_intervals(0)", "error: page_intervals: the step is not above 0"}};
    query_open(&q, NULL);
    COMPARE(&q, cases);
    query_close(&q);
}

/* The only place is that of function 1. */
static void stacks_are_of_places(void **state)
{
    query_fixture q;
    static const expected cases[] = {
        {"SELECT * FROM stack(1, 1)", "1,1,#1"},
        {"SELECT trace, place_id, name FROM stack(1, 1)", "1,1,#1"},
        {"SELECT p.place_id, s.depth, s.name FROM places AS p, stack(p.trace, p.place_id) AS s", "1,1,#1"},
        {"SELECT count(*) FROM stack", "0"},
        {"SELECT count(*) FROM stack(1)", "0"},
        {"SELECT count(*) FROM stack(1, 0)", "0"},
        {"SELECT count(*) FROM stack(1, 2)", "0"},
        {"SELECT count(*) FROM stack(1, -1)", "0"},
        {"SELECT count(*) FROM stack(1, 4294967297)", "0"},
        {"SELECT count(*) FROM stack(2, 1)", "0"},
        {"SELECT count(*) FROM stack(NULL, 1)", "0"},
        {"SELECT count(*) FROM stack('a', 1)",
         "error: stack: argument 1, trace, is not a whole number; ns('1s') makes one of a time"}};
    query_open(&q, NULL);
    COMPARE(&q, cases);
    query_close(&q);
}

static void results_have_a_limit(void **state)
{
    query_fixture q;
    const tl_query_options o = {.memory = 1 << 20};
    query_open(&q, &o);
    query_ask(&q, "SELECT count(*) FROM call_stats('function', 1)");
    assert_non_null(strstr(q.text, "error: "));
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM call_stats('function', 1000000)"), "1");
    query_ask(&q, "SELECT count(*) FROM event_counts('class', 1)");
    assert_non_null(strstr(q.text, "error: event_counts: too many steps"));
    query_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_summed_up_by_keys), cmocka_unit_test(arguments_may_be_anything),
        cmocka_unit_test(arguments_may_change),        cmocka_unit_test(events_are_counted),
        cmocka_unit_test(stacks_are_of_places),        cmocka_unit_test(results_have_a_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
