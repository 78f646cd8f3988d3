/* The times of `info`: their origin, and the decimals of the time of day. */
#include "analysis/trace/catalog.h"
#include "view/view.h"
#include "writer_fixture.h"

/* `info --json` of a trace with one event in each of two threads. */
static void check(const tl_clock *clock, const char *const expected[])
{
    fixture f;
    fixture_init(&f);
    tl_trace_set_clock(&f.trace, clock->name, clock->hz);
    f.trace.clock = *clock;
    uint64_t by_class[CLASSES] = {2}, by_track[] = {1, 1}, begin[] = {500, 520}, end[] = {500, 600};
    const tl_count count = {
        .events = 2, .by_class = by_class, .by_track = by_track, .begin = begin, .end = end, .first = 500, .last = 600};
    const tl_ask ask = {.for_programs = true};
    tl_catalog c = {0};
    tl_answer answer;
    tl_output *out;
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, NULL), 0);
    assert_int_equal(tl_catalog_take(&c, &f.trace, &count, true, NULL), 0);
    assert_int_equal(tl_info_answer(&c, &ask, &answer, NULL), 0);
    assert_int_equal(tl_view_json.show(&(tl_showing){&answer, &ask, NULL, out}, NULL), 0);
    tl_answer_fini(&answer);
    tl_catalog_fini(&c);
    size_t n;
    char *text = take_bytes(out, &n);
    for (; *expected; expected++)
        assert_contains(text, *expected);
    free(text);
    tl_output_close(out);
    fixture_fini(&f);
}

#define CHECK(clock, ...) check(&(clock), (const char *const[]){__VA_ARGS__, NULL})

static void test_from_zero(void **state)
{
    tl_clock clock = {
        .name = "milliseconds", .hz = 1000, .has_utc = true, .utc_offset_ns = 1529879068049000000, .from_zero = true};
    CHECK(clock, "\"kind\":\"enter\",\"events\":2}", "\"events\":1,\"begin\":500000000,\"end\":500000000}",
          "\"events\":1,\"begin\":520000000,\"end\":600000000}", "},\"begin\":500000000,\"end\":600000000,",
          "\"start_utc\":\"2018-06-24T22:24:28.049Z\"");
    clock.has_utc = false;
    CHECK(clock, "},\"begin\":500000000,\"end\":600000000,", "\"start_utc\":null");
}

static void test_from_the_first_event(void **state)
{
    tl_clock clock = {.name = "ms", .hz = 1000, .has_utc = true, .utc_offset_ns = 1529879068049000000};
    CHECK(clock, "\"events\":1,\"begin\":0,\"end\":0}", "\"events\":1,\"begin\":20000000,\"end\":100000000}",
          "},\"begin\":0,\"end\":100000000,", "\"start_utc\":\"2018-06-24T22:24:28.549Z\"");
}

/* As many decimals as needed; none that is needed is cut off. */
static void test_decimals(void **state)
{
    tl_clock clock = {.name = "ns", .hz = 1000000000, .has_utc = true, .utc_offset_ns = 7};
    CHECK(clock, "\"start_utc\":\"1970-01-01T00:00:00.000000507Z\"");
    clock.hz = 1000000;
    CHECK(clock, "\"start_utc\":\"1970-01-01T00:00:00.000500007Z\"");
    clock.hz = 1000;
    CHECK(clock, "\"start_utc\":\"1970-01-01T00:00:00.500000007Z\"");
    clock.utc_offset_ns = -1000000;
    clock.from_zero = true;
    CHECK(clock, "\"start_utc\":\"1969-12-31T23:59:59.999Z\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_zero),
        cmocka_unit_test(test_from_the_first_event),
        cmocka_unit_test(test_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
