/* Tests of base/pair_map.h: many pairs against their own list, and the limit. */
#include "base/pair_map.h"
#include "check.h"

static void test_indices_in_order(void **state)
{
    tl_pair_map m = {0};
    assert_int_equal(tl_pair_map_get(&m, 0, 0), TL_HASH_NONE);
    /* Pairs that differ in one number only, and in both; none is accidentally another one reversed. */
    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(tl_pair_map_add(&m, i % 200, (uint64_t)(i / 200) << 40, UINT32_MAX), i);
    assert_int_equal(m.n, 20000);
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(tl_pair_map_get(&m, i % 200, (uint64_t)(i / 200) << 40), i);
        assert_true(m.pair[i].a == i % 200 && m.pair[i].b == (uint64_t)(i / 200) << 40);
    }
    assert_int_equal(tl_pair_map_get(&m, 200, 0), TL_HASH_NONE);
    assert_int_equal(tl_pair_map_get(&m, UINT64_C(1) << 40, 1), TL_HASH_NONE);
    tl_pair_map_fini(&m);
    assert_int_equal(m.n, 0);
    assert_int_equal(tl_pair_map_get(&m, 0, 0), TL_HASH_NONE);
}

static void test_no_more_than_most(void **state)
{
    tl_pair_map m = {0};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(tl_pair_map_add(&m, UINT64_MAX, i, 5), i);
    assert_int_equal(tl_pair_map_add(&m, 1, 1, 5), TL_HASH_NONE);
    assert_int_equal(m.n, 5);
    assert_int_equal(tl_pair_map_get(&m, 1, 1), TL_HASH_NONE);
    assert_int_equal(tl_pair_map_get(&m, UINT64_MAX, 4), 4);
    tl_pair_map_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_indices_in_order),
                                       cmocka_unit_test(test_no_more_than_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
