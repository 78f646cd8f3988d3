/* Tests of base/stop_sort.h. */
#include "base/stop_sort.h"
#include "check.h"
#include "traceloom/error.h"

static int by_value(const void *a, const void *b, void *arg)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    ++*(uint64_t *)arg;
    return (x > y) - (x < y);
}

/* A permutation of 0 .. n-1, for n that is no multiple of the factor. */
static uint32_t *shuffled(uint32_t n)
{
    uint32_t *v = malloc(((size_t)n + 1) * sizeof *v);
    assert_non_null(v);
    for (uint32_t i = 0; i < n; i++)
        v[i] = (uint32_t)((uint64_t)i * 1000003 % n);
    return v;
}

static bool after(void *left)
{
    return (*(unsigned *)left)-- == 0;
}

static void test_any_length_is_sorted(void **state)
{
    static const uint32_t length[] = {0, 1, 2, 32768, 32769, 65536, 98305, 200001, 262145};
    for (size_t k = 0; k < sizeof length / sizeof *length; k++) {
        uint32_t *v = shuffled(length[k]);
        uint64_t compared = 0;
        assert_int_equal(tl_stop_sort(v, length[k], sizeof *v, by_value, &compared, NULL, NULL), 0);
        for (uint32_t i = 0; i < length[k]; i++)
            assert_int_equal(v[i], i);
        free(v);
    }
}

/* Wherever it stops, no element is lost, and little is done after the answer. */
static void test_stopped_anywhere(void **state)
{
    enum { N = 200001, LOOKS = 32 };
    for (unsigned looks = 0; looks < LOOKS; looks++) {
        uint32_t *v = shuffled(N);
        uint8_t *seen = calloc(N, 1);
        unsigned left = looks;
        uint64_t compared = 0;
        assert_non_null(seen);
        const int status = tl_stop_sort(v, N, sizeof *v, by_value, &compared, after, &left);
        if (looks < 20)
            assert_int_equal(status, TL_ELIMIT);
        assert_true(status == TL_ELIMIT ? compared < (looks + 1) * UINT64_C(600000) : status == 0);
        for (uint32_t i = 0; i < N; i++) {
            assert_true(v[i] < N && !seen[v[i]]);
            seen[v[i]] = 1;
        }
        free(seen);
        free(v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_length_is_sorted),
        cmocka_unit_test(test_stopped_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
