/* The tables of samples and allocations: lists longer than a block, stacks from before a selection, names given again.
 */
#include "query/query_control.h"
#include "query_fixture.h"

/* Items of the long allocation. */
#define MANY 5000u

/* Opens a copy of a log. */
static void log_open(query_fixture *q, const tl_query_options *o, const char *text, size_t n)
{
    uint8_t *log = malloc(n);
    assert_non_null(log);
    memcpy(log, text, n);
    query_open_log(q, o, "a.log", log, n);
}

/* A log with samples of 10 ms, and an allocation with more items than a block has rows. */
static void samples_open(query_fixture *q, const tl_query_options *o)
{
    static const char head[] = "prf cfg SamplingTimeoutMs 10\n"
                               "fun nam 0x1 \"A:a\" \"void\" \"()\"\nfun nam 0x2 \"B:b\" \"void\" \"()\"\n"
                               "cls nam 0x7 \"Old\"\n"
                               "sam str 0x1 10 2 0:0 0x1:? 0x2:0x20\n"
                               "sam mem 0x1 20 0x7:1:16\n"
                               "cls nam 0x7 \"New\"\n"
                               "sam str 0x2 30 0 0:0 0x2:0x24\n" /* counts nothing: sets the stack */
                               "sam mem 0x2 40";
    const size_t room = sizeof head + MANY * 16 + 64;
    char *log = malloc(room);
    assert_non_null(log);
    size_t n = (size_t)snprintf(log, room, "%s", head);
    for (uint32_t i = 0; i < MANY; i++)
        n += (size_t)snprintf(log + n, room - n, " 0x7:%u:8", i);
    n += (size_t)snprintf(log + n, room - n, "\nsam str 0x1 50 1 1:2\nsam mem 0x3 60 0x9:2:32\n");
    log_open(q, o, log, n);
    free(log);
}

static void samples(void **state)
{
    query_fixture q;
    samples_open(&q, NULL);
    assert_string_equal(
        query_ask(&q, "SELECT ts, thread, samples, time, function_id, name, depth, path, ip FROM samples"),
        "10000000,thread 0x1,2,20000000,2,B:b,2,A:a;B:b,32;50000000,thread 0x1,1,10000000,1,A:a,1,A:a,null");
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM samples WHERE thread = 'thread 0x2'"), "0");
    assert_string_equal(query_ask(&q, "SELECT name FROM samples WHERE ts > 10000000"), "A:a");
    query_close(&q);
}

static void allocations(void **state)
{
    query_fixture q;
    samples_open(&q, NULL);
    assert_string_equal(
        query_ask(&q, "SELECT ts, count(*), sum(objects), sum(bytes), min(path), max(type_name), count(DISTINCT id)"
                      "  FROM allocations GROUP BY ts ORDER BY ts"),
        "20000000,1,1,16,A:a;B:b,Old,1;40000000,5000,12497500,40000,B:b,New,1;60000000,1,2,32,null,null,1");
    /* Each item once, in their order, also where a block ends. */
    assert_string_equal(query_ask(&q, "SELECT count(*), min(d), max(d) FROM (SELECT objects - lag(objects) OVER () AS d"
                                      "  FROM allocations WHERE ts = 40000000) WHERE d IS NOT NULL"),
                        "4999,1,1");
    assert_string_equal(
        query_ask(&q, "SELECT name, depth, path FROM allocations WHERE ts BETWEEN 20000000 AND 30000000"),
        "B:b,2,A:a;B:b");
    query_close(&q);
}

/* What was selected keeps the stacks and names from before it. */
static void selection(void **state)
{
    query_fixture q;
    const tl_select later = {.has_from = true, .time_from = 15, .has_to = true, .time_to = 40};
    samples_open(&q, &(tl_query_options){.select = &later});
    assert_string_equal(query_ask(&q, "SELECT ts, type_name, path FROM allocations"), "20000000,Old,A:a;B:b");
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM samples"), "0");
    query_close(&q);
    const char *const name[] = {"thread 0x1"};
    const tl_select thread = {.thread = name, .nthread = 1};
    samples_open(&q, &(tl_query_options){.select = &thread});
    assert_string_equal(query_ask(&q, "SELECT ts, type_name, path FROM allocations"), "20000000,Old,A:a;B:b");
    assert_string_equal(query_ask(&q, "SELECT ts FROM samples"), "10000000;50000000");
    query_close(&q);
}

/* Calls that stacks tell: of an instrumented program. */
static void told_calls(void **state)
{
    static const char log[] = "prf cfg CollectionMethod Instrumentation\n"
                              "fun nam 0x1 \"A:a\" \"void\" \"()\"\nfun nam 0x2 \"B:b\" \"void\" \"()\"\n"
                              "sam str 0x1 10 0 0:0 0x1:?\nsam str 0x1 15 0 1:1 0x2:?\nsam str 0x1 20 0 1:2\n"
                              "sam str 0x1 30 0 0:1\nsam str 0x2 40 0 0:0 0x1:? 0x9:?\n";
    static const char *const b[] = {"B*"}, *const c[] = {"C*"};
    const tl_select b_only = {.func = b, .nfunc = 1}, none = {.func = c, .nfunc = 1};
    query_fixture q;
    log_open(&q, NULL, log, sizeof log - 1);
    assert_string_equal(query_ask(&q,
                                  "SELECT ts, dur, self, depth, thread, name, path, place_id, parent_id = lag(id) OVER"
                                  "  (ORDER BY ts) FROM calls WHERE dur > 0 ORDER BY ts"),
                        "10000000,20000000,15000000,1,thread 0x1,A:a,A:a,1,null;"
                        "15000000,5000000,5000000,2,thread 0x1,B:b,A:a;B:b,2,1");
    assert_string_equal(
        query_ask(&q,
                  "SELECT ts, name, caller, id - (SELECT max(id) FROM events), parent_id - (SELECT max(id) FROM events)"
                  "  FROM calls WHERE dur IS NULL AND track_id = 2 ORDER BY depth"),
        "40000000,A:a,null,0,null;40000000,0x9,A:a,1099511627776,0");
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM calls WHERE function_id = 2 AND depth = 2"), "1");
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM samples"), "0");
    assert_string_equal(query_ask(&q, "SELECT ts, function_id, name, thread, depth, calls, total, self, p50"
                                      "  FROM call_stats('function thread depth', 5000000) WHERE calls > 0"),
                        "10000000,1,A:a,thread 0x1,1,1,20000000,15000000,20000000;15000000,2,B:b,thread "
                        "0x1,2,1,5000000,5000000,5000000");
    assert_string_equal(query_ask(&q, "SELECT place_id, path, name, calls FROM call_stats('function place')"),
                        "1,A:a,A:a,1;2,A:a;B:b,B:b,1");
    query_close(&q);
    log_open(&q, &(tl_query_options){.select = &b_only}, log, sizeof log - 1);
    assert_string_equal(query_ask(&q, "SELECT name, calls, self FROM call_stats('function')"), "B:b,1,5000000");
    query_close(&q);
    log_open(&q, &(tl_query_options){.select = &none}, log, sizeof log - 1);
    assert_string_equal(query_ask(&q, "SELECT name FROM call_stats('function')"), "error: no function matches \"C*\"");
    query_close(&q);
}

/* Ids are those of events, also beyond the first batch. */
static void ids_of_told_calls(void **state)
{
    enum { PAIRS = 3000 };
    const size_t room = 64 + PAIRS * 96;
    char *log = malloc(room);
    assert_non_null(log);
    size_t n = (size_t)snprintf(log, room, "prf cfg CollectionMethod Instrumentation\n");
    for (unsigned i = 0; i < PAIRS; i++)
        n += (size_t)snprintf(log + n, room - n, "sam str 0x1 %u 0 0:0 0x1:? 0x2:?\nsam str 0x1 %u 0 0:2\n", 10 + 2 * i,
                              11 + 2 * i);
    query_fixture q;
    log_open(&q, NULL, log, n);
    free(log);
    assert_string_equal(
        query_ask(&q, "SELECT count(*), sum(e.ts = c.ts) FROM calls AS c JOIN events AS e USING (trace, id)"),
        "3000,3000");
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM calls AS c JOIN calls AS d ON d.id = c.parent_id"), "3000");
    query_close(&q);
}

static void find_order(void *found, const char *line)
{
    *(bool *)found = *(bool *)found || strstr(line, "sorted by name in memory");
}

/* Logs of text have few events for their bytes: what groups sort fits into memory. */
static void rows_of_logs_are_guessed(void **state)
{
    enum { LINES = 20000, ROOM = 128 };
    char *log = malloc((size_t)LINES * ROOM);
    assert_non_null(log);
    size_t n = 0;
    for (unsigned i = 0; i < LINES; i++)
        n += (size_t)snprintf(log + n, ROOM,
                              "sam str 0x1 %u 1 0:0 0x1:? 0x2:? 0x3:? 0x1:? 0x2:? 0x3:? 0x1:? 0x2:? 0x3:? 0x2:?\n",
                              10 + 2 * i);
    query_fixture q;
    log_open(&q, &(tl_query_options){.memory = 1 << 20}, log, n);
    free(log);
    const char *rest;
    bool found = false;
    tl_error e;
    must(tl_query_explain(q.query, "SELECT name, count(*) FROM samples GROUP BY name", &rest, find_order, &found, &e),
         &e);
    assert_true(found);
    assert_string_equal(query_ask(&q, "SELECT name, count(*) FROM samples GROUP BY name"), "0x2,20000");
    query_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples),           cmocka_unit_test(allocations),
                                       cmocka_unit_test(selection),         cmocka_unit_test(told_calls),
                                       cmocka_unit_test(ids_of_told_calls), cmocka_unit_test(rows_of_logs_are_guessed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
