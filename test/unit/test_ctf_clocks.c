/* Tests of clocks: those of several units as one, offsets of any size, and the arithmetic. */
#include "check.h"
#include "ctf_source.h"
#include "format/ctf/read/ctf_wide.h"

#include <inttypes.h>

/* A trace of one file for each clock: a packet from `begin` to begin + 10 with one event. */
typedef struct clocked {
    const char *clock, *name;
    uint64_t begin;
} clocked;

static tl_source *open_clocks(ctf_bytes *folder, const clocked *c, unsigned n)
{
    *folder = (ctf_bytes){0};
    for (unsigned i = 0; i < n; i++) {
        char path[16] = {(char)('a' + (char)i), '\0'};
        made_unit(folder, path, &(ctf_made){.parts = MADE_ALL, .clock = c[i].clock, .name = c[i].name});
        ctf_bytes data = {0};
        made_packet(&data, MADE_ALL, (ctf_made_packet){.begin = c[i].begin, .end = c[i].begin + 10, .events = 1});
        strcat(path, "/s");
        made_file(folder, path, &data);
    }
    return open_made(folder, NULL);
}

static const tl_track *nth(const tl_source *s, unsigned i)
{
    const char name[] = {'0', '/', (char)('a' + (char)i), '/', 's', '\0'};
    return track_of(s, name);
}

static void one_clock_is_the_clock_of_the_trace(void **state)
{
    static const clocked c = {"freq = 1234; offset_s = 50; offset = 617;", "lamp", 99};
    ctf_bytes folder;
    tl_source *s = open_clocks(&folder, &c, 1);
    const tl_clock *clock = tl_trace_clock(&s->trace);
    assert_string_equal(clock->name, "lamp");
    assert_int_equal(clock->hz, 1234);
    assert_int_equal(s->trace.begin, 99); /* ticks are values */
    if (clock->has_utc)
        assert_true(clock->utc_offset_ns == INT64_C(50500000000));
    close_made(s, &folder);
}

/* LTTng's clock counts from the epoch, whatever the metadata says. */
static void monotonic_has_utc(void **state)
{
    static const clocked c = {"freq = 1000000000; offset = 1600000000000000000;", "monotonic", 77};
    ctf_bytes folder;
    tl_source *s = open_clocks(&folder, &c, 1);
    assert_true(tl_trace_clock(&s->trace)->has_utc);
    assert_true(tl_trace_clock(&s->trace)->utc_offset_ns == INT64_C(1600000000000000000));
    assert_int_equal(s->trace.begin, 77);
    close_made(s, &folder);
}

static void offsets_count_from_the_earliest(void **state)
{
    static const clocked c[] = {{"freq = 1000; offset_s = 100; offset = 5;", NULL, 1000},
                                {"freq = 1000; offset_s = 99;", NULL, 1000},
                                {"freq = 1000; offset_s = 101; offset = -1001;", NULL, 1000}};
    ctf_bytes folder;
    tl_source *s = open_clocks(&folder, c, 3);
    assert_int_equal(tl_trace_clock(&s->trace)->hz, 1000);
    assert_string_equal(tl_trace_clock(&s->trace)->name, "mono");
    assert_int_equal(nth(s, 0)->begin, 1000 + 1005);
    assert_int_equal(nth(s, 1)->begin, 1000);
    assert_int_equal(nth(s, 2)->begin, 1000 + 999);
    assert_int_equal(s->trace.begin, 1000);
    assert_int_equal(s->trace.end, 2015);
    const tl_batch *b;
    uint64_t latest = 0;
    while (tl_source_next(s, &b, NULL) > 0)
        latest = b->ts[0] > latest ? b->ts[0] : latest;
    assert_int_equal(latest, 2005); /* events are on the same clock */
    close_made(s, &folder);
}

static void different_frequencies_become_nanoseconds(void **state)
{
    static const clocked c[] = {{"freq = 1000; offset_s = 100;", NULL, 1500},
                                {"freq = 3; offset_s = 100; offset = -1;", "other", 4},
                                {"freq = 1000000000; offset_s = 99; offset = 999999999;", NULL, 7}};
    ctf_bytes folder;
    tl_source *s = open_clocks(&folder, c, 3);
    assert_int_equal(tl_trace_clock(&s->trace)->hz, 1000000000);
    assert_null(tl_trace_clock(&s->trace)->name); /* none is right for all */
    /* The earliest offset is 99.666666666 s and two thirds of a ns, which count. */
    assert_int_equal(nth(s, 0)->begin, 101500000000u - 99666666666u);
    assert_int_equal(nth(s, 1)->begin, 101000000000u - 99666666666u);
    assert_int_equal(nth(s, 2)->begin, 100000000006u - 99666666666u);
    close_made(s, &folder);
}

/* Offsets too large for any type: no crash, and differences stay right as long as they fit. */
static void extreme_offsets(void **state)
{
    static const char *const at[] = {
        "freq = 18446744073709551615; offset_s = -9223372036854775808; offset = -9223372036854775808;",
        "freq = 18446744073709551615; offset_s = 9223372036854775807; offset = 9223372036854775807;",
        "freq = 1; offset_s = 9223372036854775807; offset = 9223372036854775807;",
        "freq = 1; offset_s = -9223372036854775808; offset = -9223372036854775808;",
        "freq = 1000000000; offset = -9223372036854775808;"};
    enum { N = sizeof at / sizeof *at };
    for (unsigned i = 0; i < N; i++)
        for (unsigned k = 0; k < N; k++) {
            const clocked c[] = {{at[i], "monotonic", 5}, {at[k], "monotonic", UINT64_MAX - 20}};
            ctf_bytes folder;
            tl_source *s = open_clocks(&folder, c, 2);
            const tl_clock *clock = tl_trace_clock(&s->trace);
            if (i == k) {
                assert_int_equal(nth(s, 0)->begin, 5);
                assert_true(nth(s, 1)->begin == UINT64_MAX - 20);
                assert_true(clock->has_utc == (i == 4)); /* years beyond an int64_t of nanoseconds */
            }
            if (s->trace.ndamage)
                fail_msg("%s: %s", s->trace.damage[0].rule, s->trace.damage[0].what);
            assert_int_equal(read_all(s), 2);
            close_made(s, &folder);
        }
    const clocked near[] = {{"freq = 1000000000; offset_s = 9223372036854775807;", NULL, 5},
                            {"freq = 1000000000; offset_s = 9223372036854775806; offset = 3;", NULL, 5}};
    ctf_bytes folder;
    tl_source *s = open_clocks(&folder, near, 2);
    assert_int_equal(nth(s, 0)->begin, 5 + 999999997);
    assert_int_equal(nth(s, 1)->begin, 5);
    close_made(s, &folder);
}

/* A clock that measured nothing does not spoil the others. */
static void clocks_without_files_do_not_count(void **state)
{
    static const clocked c = {"freq = 1000; offset_s = 100;", NULL, 5};
    ctf_bytes folder;
    tl_source *s = open_clocks(&folder, &c, 1);
    tl_source_close(s);
    made_unit(&folder, "z", &(ctf_made){.parts = MADE_ALL, .clock = "freq = 7; offset_s = 1;", .name = "unused"});
    s = open_made(&folder, NULL);
    assert_int_equal(tl_trace_clock(&s->trace)->hz, 1000);
    assert_int_equal(s->trace.begin, 5);
    close_made(s, &folder);
}

/* Units that share classes keep clocks of their own. */
static void shared_classes_have_their_own_clocks(void **state)
{
    enum { N = 20 };
    clocked c[N];
    char text[N][64];
    for (unsigned i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "freq = 1000; offset = %u;", 500 - 10 * i);
        c[i] = (clocked){text[i], NULL, 1000};
    }
    ctf_bytes folder;
    tl_source *s = open_clocks(&folder, c, N);
    assert_int_equal(s->trace.ncls, 1);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(nth(s, i)->begin, 1000 + 10 * (N - 1 - i));
    close_made(s, &folder);
}

/* ---- arithmetic ---- */

#ifdef __SIZEOF_INT128__
static uint64_t random_state = 88172645463325252u;

static uint64_t random_u64(void)
{
    static const uint64_t edges[] = {0, 1, 2, UINT32_MAX, UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % 4 == 0 ? edges[random_state / 4 % 8] : random_state >> random_state % 64;
}
#endif

static void wide_integers(void **state)
{
    const ctf_wide least = ctf_wide_of(INT64_MIN), one = ctf_wide_of(1);
    assert_true(ctf_wide_fits(least) && !ctf_wide_fits(ctf_wide_subtract(least, one)));
    assert_true(ctf_wide_less(ctf_wide_subtract(least, one), least) && !ctf_wide_less(one, least));
#ifdef __SIZEOF_INT128__
    __extension__ typedef __int128 wide;
    __extension__ typedef unsigned __int128 uwide;
    for (unsigned i = 0; i < 1000000; i++) {
        const uint64_t a = random_u64(), b = random_u64(), c = random_u64();
        const ctf_wide p = ctf_wide_multiply((int64_t)a, b);
        const uwide product = (uwide)(wide)(int64_t)a * (uwide)b;
        assert_true(p.low == (uint64_t)product && p.high == (uint64_t)(product >> 64));
        const ctf_wide q = {c, a};
        const uwide other = (uwide)c << 64 | a, sum = product + other, difference = product - other;
        const ctf_wide s = ctf_wide_add(p, q), d = ctf_wide_subtract(p, q);
        assert_true(s.low == (uint64_t)sum && s.high == (uint64_t)(sum >> 64));
        assert_true(d.low == (uint64_t)difference && d.high == (uint64_t)(difference >> 64));
        assert_true(ctf_wide_less(p, q) == ((wide)product < (wide)other));
        assert_true(ctf_wide_fits(p) == ((wide)product >= INT64_MIN && (wide)product <= INT64_MAX));
    }
#else
    skip_because("the compiler has no integers of 128 bits to compare with");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_clock_is_the_clock_of_the_trace),
        cmocka_unit_test(monotonic_has_utc),
        cmocka_unit_test(offsets_count_from_the_earliest),
        cmocka_unit_test(different_frequencies_become_nanoseconds),
        cmocka_unit_test(extreme_offsets),
        cmocka_unit_test(clocks_without_files_do_not_count),
        cmocka_unit_test(shared_classes_have_their_own_clocks),
        cmocka_unit_test(wide_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
