/* Tests of base/grow.h: contents of the array stay, and impossible sizes are refused. */
#include "base/grow.h"
#include "check.h"

static void test_elements_stay(void **state)
{
    uint64_t *number = NULL;
    uint32_t n = 0, capacity = 0;
    for (uint32_t more = 1; n < 10000; more = more % 97 + 1) {
        assert_true(TL_GROW(number, n, more, capacity));
        assert_true(capacity >= n + more);
        for (uint32_t i = 0; i < more; i++, n++)
            number[n] = (uint64_t)n * n;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(number[i], (uint64_t)i * i);
    free(number);
}

static void test_too_much_is_refused(void **state)
{
    char *text = NULL;
    uint32_t capacity = 0;
    assert_true(TL_GROW(text, 0, 1, capacity));
    const uint32_t before = capacity;
    assert_false(TL_GROW(text, 1, UINT32_MAX - 1, capacity));
    void *array = text;
    assert_false(tl_grow(&array, 1, 1u << 30, &capacity, SIZE_MAX / 2));
    assert_ptr_equal(array, text);
    assert_int_equal(capacity, before);
    free(text);
}

static void test_new_elements_are_zero(void **state)
{
    uint32_t *number = NULL, n = 0;
    for (uint32_t index = 0; index < 5000; index += 333) {
        const uint32_t before = n;
        assert_true(TL_GROW_TO(number, n, index, 5000));
        assert_true(n > index);
        for (uint32_t i = before; i < n; i++)
            assert_int_equal(number[i], 0);
        number[index] = index + 1;
    }
    for (uint32_t index = 0; index < 5000; index += 333)
        assert_int_equal(number[index], index + 1);
    const uint32_t *const was = number;
    assert_false(TL_GROW_TO(number, n, n + 1, n + 1));
    assert_ptr_equal(number, was);
    free(number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements_stay), cmocka_unit_test(test_too_much_is_refused),
                                       cmocka_unit_test(test_new_elements_are_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
