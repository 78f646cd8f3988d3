/* Durations as bytes: against lists of all values and a reader of its own, and with every byte damaged. */
#include "check.h"
#include "model/hist_bytes.h"
#include "random_profile.h"

enum { VALUES = 400 };

/* The bucket of docs/format/profile.md, by its words. */
static uint32_t bucket_of(uint64_t v)
{
    if (v < 512)
        return (uint32_t)v;
    uint32_t power = 9;
    while (power < 63 && v >> (power + 1))
        power++;
    return 512 + (power - 9) * 256 + (uint32_t)((v >> (power - 8)) - 256);
}

static uint64_t next_number(const uint8_t **at)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        v |= (uint64_t)(**at & 127) << shift;
        if (*(*at)++ < 128)
            return v;
    }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Do the bytes say what the values are? */
static void check_bytes(const tl_pb *b, uint64_t *v, size_t n)
{
    const uint8_t *at = b->data;
    uint64_t sum = 0;
    qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    assert_int_equal(next_number(&at), n);
    assert_int_equal(next_number(&at), sum);
    assert_int_equal(next_number(&at), v[0]);
    assert_int_equal(next_number(&at), v[n - 1] - v[0]);
    uint32_t bucket = bucket_of(v[0]);
    for (size_t i = 0; i < n && bucket_of(v[0]) != bucket_of(v[n - 1]);) {
        size_t from = i;
        if (i > 0)
            bucket += (uint32_t)next_number(&at);
        assert_int_equal(bucket, bucket_of(v[i]));
        while (i < n && bucket_of(v[i]) == bucket)
            i++;
        assert_int_equal(next_number(&at), i - from);
    }
    assert_ptr_equal(at, b->data + b->n);
}

static void check_percentiles(const tl_durations *d, const uint64_t *sorted, size_t n)
{
    for (unsigned permille = 0; permille <= 1000; permille += 5) {
        size_t rank = (n * permille + 999) / 1000;
        const uint64_t exact = sorted[rank ? rank - 1 : 0], found = tl_durations_percentile(d, permille);
        const uint64_t apart = exact > found ? exact - found : found - exact;
        assert_true(apart <= exact / 256);
    }
}

static tl_durations durations_of(const uint64_t *v, size_t n)
{
    tl_durations d = {0};
    for (size_t i = 0; i < n; i++)
        assert_true(tl_durations_add(&d, v[i]));
    return d;
}

static tl_pb encoded(const tl_durations *d)
{
    tl_pb b = {0};
    tl_hist_encode(&b, d);
    assert_false(b.failed);
    return b;
}

static void same_bytes(const tl_pb *a, const tl_pb *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->data, b->data, a->n);
}

static void test_there_and_back(void **state)
{
    uint64_t seed = 5;
    for (int round = 0; round < 60; round++) {
        uint64_t v[VALUES];
        const size_t n = 1 + (size_t)(fixture_random(&seed) % VALUES);
        const unsigned bits = 1 + (unsigned)(fixture_random(&seed) % 50);
        for (size_t i = 0; i < n; i++)
            v[i] = round % 3 ? fixture_random(&seed) >> (64 - bits) : 77;
        tl_durations d = durations_of(v, n), back = {0};
        tl_pb b = encoded(&d);
        check_bytes(&b, v, n);
        tl_error e = {0};
        must(tl_hist_decode(&back, b.data, b.n, &e), &e);
        assert_int_equal(back.calls, n);
        check_percentiles(&back, v, n);
        tl_pb again = encoded(&back);
        same_bytes(&b, &again);
        tl_pb_fini(&b), tl_pb_fini(&again);
        tl_durations_fini(&d), tl_durations_fini(&back);
    }
}

static void test_merge(void **state)
{
    uint64_t seed = 6, v[VALUES];
    for (size_t i = 0; i < VALUES; i++)
        v[i] = fixture_random(&seed) >> (seed & 31) >> 20;
    tl_durations all = durations_of(v, VALUES), sum = {0};
    for (size_t from = 0; from < VALUES; from += 100) {
        tl_durations part = durations_of(v + from, 100);
        assert_true(tl_durations_merge(&sum, &part));
        tl_durations_fini(&part);
    }
    const tl_durations none = {0};
    assert_true(tl_durations_merge(&sum, &none));
    tl_pb a = encoded(&all), b = encoded(&sum);
    same_bytes(&a, &b);
    tl_pb_fini(&a), tl_pb_fini(&b);
    tl_durations_fini(&all), tl_durations_fini(&sum);
}

static void test_none(void **state)
{
    tl_durations none = {0}, back = {0};
    tl_pb b = encoded(&none);
    tl_error e = {0};
    assert_int_equal(b.n, 1);
    must(tl_hist_decode(&back, b.data, b.n, &e), &e);
    assert_int_equal(back.calls, 0);
    assert_int_equal(tl_durations_percentile(&back, 500), 0);
    tl_pb_fini(&b);
}

/* Saturated numbers. */
static void test_largest(void **state)
{
    tl_durations d = durations_of((const uint64_t[]){UINT64_MAX, UINT64_MAX, 0, 3}, 4), back = {0};
    tl_error e = {0};
    for (int i = 0; i < 70; i++)
        assert_true(tl_durations_merge(&d, &d));
    assert_int_equal(d.calls, UINT64_MAX);
    assert_int_equal(d.sum, UINT64_MAX);
    tl_pb b = encoded(&d);
    must(tl_hist_decode(&back, b.data, b.n, &e), &e);
    assert_int_equal(back.max, UINT64_MAX);
    tl_pb_fini(&b);
    tl_durations_fini(&d), tl_durations_fini(&back);
}

/* Bytes are either refused, or those of what they decode to. Returns whether they were refused. */
static bool refused(const uint8_t *bytes, size_t n)
{
    tl_durations d = {0};
    tl_error e = {0};
    uint8_t *copy = malloc(n + (n == 0)); /* of exactly this size, for the sanitizer */
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    const int status = tl_hist_decode(&d, copy, n, &e);
    free(copy);
    if (status < 0) {
        assert_int_equal(status, TL_EDAMAGED);
        assert_true(e.offset <= n);
        assert_int_equal(d.calls, 0);
        return true;
    }
    tl_pb b = encoded(&d);
    assert_int_equal(b.n, n);
    assert_memory_equal(b.data, bytes, n);
    tl_pb_fini(&b);
    tl_durations_fini(&d);
    return false;
}

static void test_every_byte_damaged(void **state)
{
    tl_durations d = durations_of((const uint64_t[]){5, 5, 9, 700, 701, 90000, 1u << 30}, 7);
    tl_pb b = encoded(&d);
    size_t n = 0;
    for (size_t i = 0; i < b.n; i++)
        assert_true(refused(b.data, i));
    for (size_t i = 0; i < b.n; i++)
        for (unsigned v = 0; v < 256; v++) {
            const uint8_t was = b.data[i];
            b.data[i] = (uint8_t)v;
            n += refused(b.data, b.n);
            b.data[i] = was;
        }
    assert_in_range(n, b.n * 200, b.n * 255);
    tl_pb_raw(&b, "", 1);
    assert_true(refused(b.data, b.n));
    tl_pb_fini(&b);
    tl_durations_fini(&d);
}

static void test_random_bytes(void **state)
{
    uint64_t seed = 9;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[24];
        const size_t n = (size_t)(fixture_random(&seed) % sizeof bytes);
        for (size_t k = 0; k < n; k++)
            bytes[k] = (uint8_t)(fixture_random(&seed) >> 20 & (k % 3 ? 255 : 7));
        refused(bytes, n);
    }
}

static void test_words_of_errors(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        uint64_t offset;
        const char *message;
    } cases[] = {
        {"", 0, 0, "histogram: the bytes end inside the number of calls"},
        {"\x01\x05\x85\x00", 4, 2, "histogram: a superfluous zero byte ends a shortest call"},
        {"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, 1, "histogram: larger than 64 bits: the sum"},
        {"\x02\x0b\x05\x00", 4, 0, "histogram: has 2 calls of 5 to 5 that sum up to 11"},
        {"\x02\x0b\x05\x01\x01\x02\x01", 7, 4, "histogram: goes from bucket 5 on by 2, but its last is 6"},
        {"\x02\x0b\x05\x01\x02\x01\x00", 7, 4, "histogram: has an empty bucket"},
        {"\x02\x0b\x05\x01\x02\x01\x01", 7, 4, "histogram: has 2 calls, but 3 in its histogram"},
        {"\x00\x00", 2, 1, "histogram: 1 bytes after it"},
        {"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", 22, 0,
         "histogram: has a longest call that is larger than 64 bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_durations d = {0};
        tl_error e = {0};
        assert_int_equal(tl_hist_decode(&d, (const uint8_t *)cases[i].bytes, cases[i].n, &e), TL_EDAMAGED);
        assert_string_equal(e.message, cases[i].message);
        assert_int_equal(e.offset, cases[i].offset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_every_byte_damaged),
        cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_words_of_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
