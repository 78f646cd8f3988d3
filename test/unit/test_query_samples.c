/* The tables of samples and allocations: lists longer than a block, stacks from before a selection, names given again.
 */
#include "query_fixture.h"

/* Items of the long allocation. */
#define MANY 5000u

/* A log with samples of 10 ms, and an allocation with more items than a block has rows. */
static void log_open(query_fixture *q, const tl_query_options *o)
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
    tl_error e = {0};
    assert_non_null(log);
    size_t n = (size_t)snprintf(log, room, "%s", head);
    for (uint32_t i = 0; i < MANY; i++)
        n += (size_t)snprintf(log + n, room - n, " 0x7:%u:8", i);
    n += (size_t)snprintf(log + n, room - n, "\nsam str 0x1 50 1 1:2\nsam mem 0x3 60 0x9:2:32\n");
    *q = (query_fixture){.log = (uint8_t *)log};
    const tl_open_options options = {.no_names = true, .want = {.fields = true, .cpu = true}};
    must(tl_source_open_memory(&q->source, log, n, "a.log", &options, &e), &e);
    const int status = tl_query_open(&q->query, &q->source, 1, o, &e);
    if (status == TL_EUNSUPPORTED) {
        tl_source_close(q->source);
        free(log);
        skip_because("this build has no SQL");
    }
    must(status, &e);
}

static void samples(void **state)
{
    query_fixture q;
    log_open(&q, NULL);
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
    log_open(&q, NULL);
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
    log_open(&q, &(tl_query_options){.select = &later});
    assert_string_equal(query_ask(&q, "SELECT ts, type_name, path FROM allocations"), "20000000,Old,A:a;B:b");
    assert_string_equal(query_ask(&q, "SELECT count(*) FROM samples"), "0");
    query_close(&q);
    const char *const name[] = {"thread 0x1"};
    const tl_select thread = {.thread = name, .nthread = 1};
    log_open(&q, &(tl_query_options){.select = &thread});
    assert_string_equal(query_ask(&q, "SELECT ts, type_name, path FROM allocations"), "20000000,Old,A:a;B:b");
    assert_string_equal(query_ask(&q, "SELECT ts FROM samples"), "10000000;50000000");
    query_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples), cmocka_unit_test(allocations),
                                       cmocka_unit_test(selection)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
