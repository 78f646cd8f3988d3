/* Tests of base/id_map.h: small and large ids, set again, and the border between them. */
#include "base/id_map.h"
#include "check.h"

static void test_ids_of_any_size(void **state)
{
    static const uint64_t ids[] = {0,          1,         255, 256, 4095, TL_ID_MAP_DIRECT - 1, TL_ID_MAP_DIRECT,
                                   UINT32_MAX, UINT64_MAX};
    tl_id_map m = {0};
    for (uint32_t i = 0; i < TL_COUNT(ids); i++)
        assert_int_equal(tl_id_map_get(&m, ids[i]), TL_HASH_NONE);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < TL_COUNT(ids); i++)
            assert_true(tl_id_map_put(&m, ids[i], i + 100 * round));
        for (uint32_t i = 0; i < TL_COUNT(ids); i++)
            assert_int_equal(tl_id_map_get(&m, ids[i]), i + 100 * round);
    }
    assert_int_equal(tl_id_map_get(&m, 2), TL_HASH_NONE);
    assert_int_equal(tl_id_map_get(&m, TL_ID_MAP_DIRECT + 1), TL_HASH_NONE);
    tl_id_map_fini(&m);
    assert_int_equal(tl_id_map_get(&m, 0), TL_HASH_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids_of_any_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
