/* Tests of base/text/number.h; the conversion of ticks against long division by hand, in 32-bit digits. */
#include <inttypes.h>

#include "base/text/number.h"
#include "check.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Of any magnitude. */
static uint64_t random_size(void)
{
    return random64() >> (random64() % 64);
}

/* (a * b + add) / d, saturated: schoolbook multiplication, then division bit by bit. Rounded down, and *remainder. */
static uint64_t slow_divide(uint64_t a, uint64_t b, uint64_t add, uint64_t d, uint64_t *remainder)
{
    uint32_t digit[4] = {(uint32_t)add, (uint32_t)(add >> 32)};
    const uint32_t x[2] = {(uint32_t)a, (uint32_t)(a >> 32)}, y[2] = {(uint32_t)b, (uint32_t)(b >> 32)};
    for (int i = 0; i < 2; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < 2; k++) {
            carry += (uint64_t)x[i] * y[k] + digit[i + k];
            digit[i + k] = (uint32_t)carry;
            carry >>= 32;
        }
        for (int k = i + 2; k < 4; k++) {
            carry += digit[k];
            digit[k] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    *remainder = 0;
    uint64_t rest = 0, quotient = 0;
    for (int bit = 127; bit >= 0; bit--) {
        int top = (int)(rest >> 63);
        rest = rest << 1 | (digit[bit / 32] >> bit % 32 & 1);
        if (quotient >> 63)
            return UINT64_MAX;
        quotient <<= 1;
        if (top || rest >= d) {
            rest -= d;
            quotient |= 1;
        }
    }
    *remainder = rest;
    return quotient;
}

/* a * b / d rounded half to even. */
static uint64_t slow_scale(uint64_t a, uint64_t b, uint64_t d)
{
    uint64_t rest, quotient = slow_divide(a, b, 0, d, &rest);
    /* rest / d against one half, without doubling what may not fit */
    if (rest > d - rest || (rest == d - rest && quotient % 2 == 1))
        return quotient == UINT64_MAX ? quotient : quotient + 1;
    return quotient;
}

static void check_scale(const tl_scale *s, uint64_t ticks)
{
    uint64_t expected = s->hz == 0 ? ticks : slow_scale(ticks, 1000000000u, s->hz), got = tl_scale_ns(s, ticks);
    if (got != expected)
        fail_msg("%" PRIu64 " ticks of %" PRIu64 " Hz: %" PRIu64 ", expected %" PRIu64, ticks, s->hz, got, expected);
    const uint64_t rests[] = {0, s->hz ? s->hz - 1 : 0, s->hz ? random64() % s->hz : 0};
    for (int i = 0; i < 3; i++) {
        uint64_t remainder;
        expected = s->hz == 0 ? ticks : slow_divide(ticks, 1000000000u, rests[i], s->hz, &remainder);
        got = tl_scale_ns_down(s, ticks, rests[i]);
        if (got != expected)
            fail_msg("%" PRIu64 " ticks of %" PRIu64 " Hz and %" PRIu64 ": %" PRIu64 ", expected %" PRIu64, ticks,
                     s->hz, rests[i], got, expected);
    }
    /* The inverse: the first tick shown as so many ns or more. */
    const uint64_t ns = ticks;
    got = tl_scale_ticks(s, ns);
    if (got != UINT64_MAX && tl_scale_ns(s, got) < ns)
        fail_msg("%" PRIu64 " ns at %" PRIu64 " Hz: tick %" PRIu64 " is earlier", ns, s->hz, got);
    if (got != 0 && got != UINT64_MAX && tl_scale_ns(s, got - 1) >= ns)
        fail_msg("%" PRIu64 " ns at %" PRIu64 " Hz: tick %" PRIu64 " is not the first", ns, s->hz, got);
    if (got == UINT64_MAX && s->hz && slow_scale(ns, s->hz, 1000000000u) < UINT64_MAX - s->hz)
        fail_msg("%" PRIu64 " ns at %" PRIu64 " Hz: saturated", ns, s->hz);
}

static void test_slow_scale_itself(void **state)
{
    assert_true(slow_scale(7, 6, 2) == 21);
    assert_true(slow_scale(5, 1, 2) == 2);
    assert_true(slow_scale(7, 1, 2) == 4);
    assert_true(slow_scale(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    assert_true(slow_scale(UINT64_MAX, 3, 2) == UINT64_MAX);
    assert_true(slow_scale(UINT64_MAX, 10, 100) == 1844674407370955162u);
}

static void test_scale_of_usual_clocks(void **state)
{
    static const uint64_t hz[] = {1,          2,          3,          100,        1000,       32768,      1000000,
                                  1193182,    3579545,    10000000,   14318180,   19200000,   24000000,   54000000,
                                  62500000,   100000000,  999999999,  1000000000, 1000000001, 1800000000, 2000000000,
                                  2596096000, 3000000000, 3333333333, 4000000000, 5200000000};
    for (size_t h = 0; h < sizeof hz / sizeof *hz; h++) {
        tl_scale s;
        tl_scale_init(&s, hz[h]);
        for (uint64_t t = 0; t < 3000; t++)
            check_scale(&s, t);
        for (int i = 0; i < 20000; i++)
            check_scale(&s, random_size());
        for (uint64_t t = UINT64_MAX - 100; t != 0; t++)
            check_scale(&s, t);
    }
}

static void test_scale_at_random(void **state)
{
    for (int i = 0; i < 100000; i++) {
        tl_scale s;
        tl_scale_init(&s, random_size());
        for (int k = 0; k < 10; k++)
            check_scale(&s, random_size());
    }
}

/* Powers of two and their neighbours, both as frequency and as ticks; and the ticks around every saturation. */
static void test_scale_at_edges(void **state)
{
    for (int a = 0; a < 64; a++)
        for (int da = -1; da <= 1; da++) {
            tl_scale s;
            tl_scale_init(&s, ((uint64_t)1 << a) + (uint64_t)(int64_t)da);
            for (int b = 0; b < 64; b++)
                for (int db = -1; db <= 1; db++)
                    check_scale(&s, ((uint64_t)1 << b) + (uint64_t)(int64_t)db);
            uint64_t last = slow_scale(UINT64_MAX, s.hz, 1000000000u);
            for (uint64_t t = 0; t < 5; t++)
                check_scale(&s, last - 2 + t);
        }
    tl_scale s;
    tl_scale_init(&s, UINT64_MAX);
    check_scale(&s, UINT64_MAX);
}

static void test_scale_rounds_half_to_even(void **state)
{
    tl_scale s;
    tl_scale_init(&s, 2000000000u); /* half a ns */
    assert_int_equal(tl_scale_ns(&s, 1), 0);
    assert_int_equal(tl_scale_ns(&s, 3), 2);
    assert_int_equal(tl_scale_ns(&s, 5), 2);
    assert_int_equal(tl_scale_ns(&s, 7), 4);
}

static void test_scale_identity(void **state)
{
    tl_scale s;
    for (uint64_t hz = 0; hz <= 1000000000u; hz += 1000000000u) {
        tl_scale_init(&s, hz);
        assert_true(tl_scale_ns(&s, UINT64_MAX) == UINT64_MAX);
        assert_true(tl_scale_ticks(&s, UINT64_MAX) == UINT64_MAX);
        assert_true(tl_scale_ns(&s, 12345) == 12345);
    }
    s = (tl_scale){0};
    assert_true(tl_scale_ns(&s, 12345) == 12345);
}

static void check_text(uint64_t v)
{
    char expected[32], got[32];
    memset(got, '#', sizeof got);
    snprintf(expected, sizeof expected, "%" PRIu64, v);
    *tl_put_u64(got, v) = '\0';
    assert_string_equal(got, expected);
    snprintf(expected, sizeof expected, "%" PRIx64, v);
    *tl_put_hex(got, v) = '\0';
    assert_string_equal(got, expected);
    snprintf(expected, sizeof expected, "%" PRId64, (int64_t)v);
    *tl_put_i64(got, (int64_t)v) = '\0';
    assert_string_equal(got, expected);
}

static void test_put(void **state)
{
    for (uint64_t v = 0; v < 20000; v++)
        check_text(v);
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10)
        for (uint64_t v = power - 2; v != power + 3; v++)
            check_text(v);
    for (int bit = 0; bit < 64; bit++) {
        check_text((uint64_t)1 << bit);
        check_text(((uint64_t)1 << bit) - 1);
    }
    check_text(UINT64_MAX);
    for (int i = 0; i < 100000; i++)
        check_text(random_size());
}

static void test_put_writes_nothing_beyond(void **state)
{
    uint64_t power = 1;
    for (size_t n = 1; n <= 20; n++, power *= 10) {
        char text[24];
        memset(text, '#', sizeof text);
        assert_ptr_equal(tl_put_u64(text + 2, power), text + 2 + n);
        assert_int_equal(text[1], '#');
        assert_int_equal(text[2 + n], '#');
    }
}

typedef char *human(char *buf, size_t n, uint64_t value);

static char *human_ns(char *buf, size_t n, uint64_t value)
{
    return tl_human_time(buf, n, value, true);
}

static char *human_ticks(char *buf, size_t n, uint64_t value)
{
    return tl_human_time(buf, n, value, false);
}

static void check_human(human *f, uint64_t value, const char *expected)
{
    char buf[64];
    assert_ptr_equal(f(buf, sizeof buf, value), buf);
    assert_string_equal(buf, expected);
}

static void test_human_time(void **state)
{
    check_human(human_ns, 0, "0 ns");
    check_human(human_ns, 999, "999 ns");
    check_human(human_ns, 1000, "1.00 us");
    check_human(human_ns, 9994, "9.99 us");
    check_human(human_ns, 9995, "10.0 us");
    check_human(human_ns, 999499, "999 us");
    check_human(human_ns, 999500, "1.00 ms");
    check_human(human_ns, 1240000, "1.24 ms");
    check_human(human_ns, 12300000000u, "12.3 s");
    check_human(human_ns, 59949999999u, "59.9 s");
    check_human(human_ns, 59950000000u, "1 min 00 s");
    check_human(human_ns, 83000000000u, "1 min 23 s");
    check_human(human_ns, 3599499999999u, "59 min 59 s");
    check_human(human_ns, 3599500000000u, "1 h 00 min");
    check_human(human_ns, 7380000000000u, "2 h 03 min");
    check_human(human_ns, UINT64_MAX, "5124095 h 35 min");
    check_human(human_ticks, 12345678, "12.3 M");
    check_human(human_ticks, 12, "12");
}

static void test_human_count_and_bytes(void **state)
{
    check_human(tl_human_count, 0, "0");
    check_human(tl_human_count, 999, "999");
    check_human(tl_human_count, 1230, "1.23 k");
    check_human(tl_human_count, 999500, "1.00 M");
    check_human(tl_human_count, 12300000, "12.3 M");
    check_human(tl_human_count, 123000000, "123 M");
    check_human(tl_human_count, UINT64_MAX, "18.4 E");
    check_human(tl_human_bytes, 0, "0 B");
    check_human(tl_human_bytes, 999, "999 B");
    check_human(tl_human_bytes, 1023, "1023 B");
    check_human(tl_human_bytes, 16384, "16.0 KiB");
    check_human(tl_human_bytes, 106509968, "101.6 MiB");
    check_human(tl_human_bytes, 1048575, "1.0 MiB");
    check_human(tl_human_bytes, UINT64_MAX, "16.0 EiB");
}

static void test_human_grouped(void **state)
{
    check_human(tl_human_grouped, 0, "0");
    check_human(tl_human_grouped, 999, "999");
    check_human(tl_human_grouped, 1000, "1,000");
    check_human(tl_human_grouped, 1204133, "1,204,133");
    check_human(tl_human_grouped, 123456, "123,456");
    check_human(tl_human_grouped, UINT64_MAX, "18,446,744,073,709,551,615");
}

static void test_human_respects_the_buffer(void **state)
{
    human *const f[] = {human_ns, human_ticks, tl_human_bytes, tl_human_grouped};
    for (size_t i = 0; i < sizeof f / sizeof *f; i++)
        for (size_t n = 1; n < 8; n++) {
            char buf[16];
            memset(buf, '#', sizeof buf);
            f[i](buf, n, 123456789012u);
            assert_true(strlen(buf) < n);
            assert_int_equal(buf[n], '#');
        }
}

static void test_parse_u64(void **state)
{
    uint64_t v = 42;
    assert_true(tl_parse_u64("0", &v) && v == 0);
    assert_true(tl_parse_u64("18446744073709551615", &v) && v == UINT64_MAX);
    assert_true(tl_parse_u64("00000000000000000000000017", &v) && v == 17);
    static const char *const bad[] = {
        "", " 1", "1 ", "+1", "-1", "1.0", "0x10", "a", "18446744073709551616", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(tl_parse_u64(bad[i], &v));
        assert_int_equal(v, 17); /* unchanged */
    }
}

static void test_parse_count(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"17", 17},
                {"64k", 64000},
                {"64K", 64000},
                {"100M", 100000000},
                {"18G", UINT64_C(18000000000)},
                {"18446744073G", UINT64_C(18446744073000000000)},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"", "k", "1kk", "1 k", "1.5k", "-1", "1T", "1ki", "18446744074G", "0x10", "+1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t v = 42;
        assert_true(tl_parse_count(good[i].text, &v));
        assert_int_equal(v, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t v = 42;
        if (tl_parse_count(bad[i], &v))
            fail_msg("\"%s\" is a number", bad[i]);
        assert_int_equal(v, 42);
    }
}

static void test_parse_duration(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"250", 250},
                {"250ns", 250},
                {"1.5us", 1500},
                {"1.5\xc2\xb5s", 1500},
                {"2ms", 2000000},
                {"3s", 3000000000u},
                {"0.001s", 1000000},
                {"1min", 60000000000u},
                {"1.5h", 5400000000000u},
                {"0.0000000014s", 1},
                {"0.33333333333333333333333333333h", 1200000000000u},
                {"18446744073709551615ns", UINT64_MAX},
                {"18446744073.709551615s", UINT64_MAX},
                {"0", 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t ns = 42;
        assert_true(tl_parse_duration(good[i].text, &ns));
        assert_true(ns == good[i].ns);
    }
    static const char *const bad[] = {"",
                                      "s",
                                      "-1s",
                                      "1 s",
                                      "1.s",
                                      ".5s",
                                      "1m",
                                      "1sec",
                                      "1S",
                                      "1e3",
                                      "1s ",
                                      "+1",
                                      "0x1s",
                                      "1.5.5s",
                                      "18446744073.709551616s",
                                      "5124096h",
                                      "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t ns = 42;
        assert_false(tl_parse_duration(bad[i], &ns));
        assert_int_equal(ns, 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_scale_itself),
        cmocka_unit_test(test_scale_of_usual_clocks),
        cmocka_unit_test(test_scale_at_random),
        cmocka_unit_test(test_scale_at_edges),
        cmocka_unit_test(test_scale_rounds_half_to_even),
        cmocka_unit_test(test_scale_identity),
        cmocka_unit_test(test_put),
        cmocka_unit_test(test_put_writes_nothing_beyond),
        cmocka_unit_test(test_human_time),
        cmocka_unit_test(test_human_count_and_bytes),
        cmocka_unit_test(test_human_grouped),
        cmocka_unit_test(test_human_respects_the_buffer),
        cmocka_unit_test(test_parse_u64),
        cmocka_unit_test(test_parse_count),
        cmocka_unit_test(test_parse_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
