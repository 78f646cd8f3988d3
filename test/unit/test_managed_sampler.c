/* Sampled allocations: sums over what was chosen are those of all objects, on average. */
#include "managed/managed_sampler.h"

#include "check.h"

typedef struct sums {
    double objects, bytes, hits;
} sums;

/* What is recorded of n objects of this size. */
static sums record(uint64_t every, uint64_t size, uint64_t n, uint64_t seed)
{
    managed_sampler s;
    sums sum = {0};
    managed_sampler_begin(&s, every, seed);
    for (uint64_t i = 0; i < n; i++)
        if (!managed_sampler_passes(&s, size)) {
            const uint64_t objects = managed_sampler_hit(&s, every, size);
            sum.objects += (double)objects;
            sum.bytes += (double)(objects * size);
            sum.hits++;
        }
    return sum;
}

static void test_every_object(void **state)
{
    const uint64_t size[] = {1, 16, 24, 4096, 1u << 30};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        const sums sum = record(MANAGED_EVERY_OBJECT, size[i], 1000, i);
        assert_true(sum.objects == 1000 && sum.hits == 1000);
    }
}

/* Small objects, those of about the distance, and large ones. The variance of the sum is n (1 - p) / p. */
static void test_sums_are_right_on_average(void **state)
{
    const struct {
        uint64_t size, n;
        double p; /* 1 - exp(-size / 65536) */
    } of[] = {{24, 40000000, 3.66143e-4}, {4000, 2000000, 0.0592097}, {65536, 400000, 0.632121}, {1000000, 4000, 1.0}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        const sums sum = record(65536, of[i].size, of[i].n, 7 * i);
        const double n = (double)of[i].n, off = sum.objects - n, variance = n * (1 - of[i].p) / of[i].p + n / 4;
        assert_true(off * off < 16 * variance);
        assert_true(sum.bytes == sum.objects * (double)of[i].size);
        const double hits = sum.hits - n * of[i].p;
        assert_true(hits * hits <= 16 * n * of[i].p);
    }
}

/* Objects of two sizes in turns have both their shares: a fixed distance would hit only one of them. */
static void test_turns_of_two_sizes(void **state)
{
    managed_sampler s;
    double small = 0, large = 0;
    const uint64_t n = 4000000;
    managed_sampler_begin(&s, 4096, 3);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t size = i % 2 ? 32 : 4064;
        if (managed_sampler_passes(&s, size))
            continue;
        *(i % 2 ? &small : &large) += (double)managed_sampler_hit(&s, 4096, size);
    }
    assert_true(small > 0.98 * (double)(n / 2) && small < 1.02 * (double)(n / 2));
    assert_true(large > 0.99 * (double)(n / 2) && large < 1.01 * (double)(n / 2));
}

static void test_objects_without_bytes(void **state)
{
    managed_sampler s;
    managed_sampler_begin(&s, 1 << 20, 1);
    s.left = 0;
    assert_false(managed_sampler_passes(&s, 0));
    assert_int_equal(managed_sampler_hit(&s, 1 << 20, 0), 1);
    assert_true(s.left >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_object),
        cmocka_unit_test(test_sums_are_right_on_average),
        cmocka_unit_test(test_turns_of_two_sizes),
        cmocka_unit_test(test_objects_without_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
