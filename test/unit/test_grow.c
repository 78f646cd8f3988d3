/* Tests of base/grow.h: what stands in the array stays, and sizes that no memory has are refused. */
#include "base/grow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_elements_stay(void **state)
{
    (void)state;
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
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements_stay),
                                       cmocka_unit_test(test_too_much_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
