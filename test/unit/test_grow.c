/* Tests of base/grow.h: contents of the array stay, and impossible sizes are refused. */
#include "base/grow.h"
#include "check.h"

static void test_elements_stay(void **state)
{
    uint64_t *number = NULL;
    uint32_t n = 0, capacity = 0;
    for (uint32_t more = 1; n < 10000; more = more % 97 + 1) {
        const uint32_t before = capacity;
        assert_true(TL_GROW(number, n, more, capacity));
        assert_true(capacity >= n + more);
        assert_true(capacity == before || capacity >= 2 * before);
        for (uint32_t i = 0; i < more; i++, n++)
            number[n] = (uint64_t)n * n;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(number[i], (uint64_t)i * i);
    free(number);
}

static void test_capacity_of_any_width(void **state)
{
    struct {
        char *text;
        size_t capacity, behind;
    } wide = {.behind = 77};
    for (size_t n = 0; n < 5000; n++) {
        const size_t before = wide.capacity;
        assert_true(TL_GROW(wide.text, n, 1, wide.capacity));
        assert_true(wide.capacity == before || wide.capacity >= 2 * before);
        wide.text[n] = (char)('a' + n % 26);
    }
    for (size_t n = 0; n < 5000; n++)
        assert_int_equal(wide.text[n], 'a' + n % 26);
    assert_int_equal(wide.behind, 77);
    free(wide.text);

    struct {
        char *text;
        uint32_t capacity, behind;
    } narrow = {.behind = 77};
    assert_true(TL_GROW(narrow.text, 0, 5000, narrow.capacity));
    assert_int_equal(narrow.capacity, 5000);
    assert_int_equal(narrow.behind, 77);
    free(narrow.text);
}

/* There may be one for each thread of a trace: a large element costs no more than itself. */
static void test_first_capacity_is_small(void **state)
{
    struct large {
        char bytes[1000];
    } *large = NULL;
    uint64_t *number = NULL;
    uint32_t capacity = 0;
    assert_true(TL_GROW(large, 0, 1, capacity));
    assert_int_equal(capacity, 1);
    assert_true(TL_GROW(large, 1, 1, capacity));
    assert_int_equal(capacity, 2);
    capacity = 0;
    assert_true(TL_GROW(number, 0, 1, capacity));
    assert_int_equal(capacity, 128 / sizeof *number);
    free(large);
    free(number);
}

static void test_too_much_is_refused(void **state)
{
    char *text = NULL;
    uint32_t capacity = 0;
    assert_true(TL_GROW(text, 0, 1, capacity));
    const char *const was = text;
    const uint32_t before = capacity;
    assert_false(TL_GROW(text, capacity, UINT32_MAX, capacity));
    assert_false(tl_grow(&text, capacity, 1, &capacity, sizeof capacity, SIZE_MAX / 2));
    assert_false(tl_resize(&text, SIZE_MAX / 64, 64));
    assert_false(tl_resize(&text, 64, SIZE_MAX / 64));
    assert_ptr_equal(text, was);
    assert_int_equal(capacity, before);
    free(text);
}

/* A host of 32 bits has at most 2^31 - 1 bytes of elements; a capacity of 32 bits at most 2^32 - 1 of them. */
static void test_limits_of_hosts(void **state)
{
    static const struct {
        uint64_t n, more, capacity, most, size, room;
    } row[] = {
        {100, 1, 100, INT32_MAX / 24, 24, 200},
        {60000000, 1, 60000000, INT32_MAX / 24, 24, INT32_MAX / 24},         /* twice is too much, one more is not */
        {INT32_MAX / 24, 1, INT32_MAX / 24, INT32_MAX / 24, 24, 0},          /* full */
        {INT32_MAX / 24, UINT32_MAX, INT32_MAX / 24, INT32_MAX / 24, 24, 0}, /* n + more wraps in 32 bits */
        {INT32_MAX, 1, INT32_MAX, INT32_MAX / 24, 24, 0},                    /* more than there can be */
        {0, INT32_MAX / 24, 0, INT32_MAX / 24, 24, INT32_MAX / 24},
        {0, INT32_MAX / 24 + 1, 0, INT32_MAX / 24, 24, 0},
        {1u << 31, 1, 1u << 31, UINT32_MAX, 1, UINT32_MAX},
        {UINT32_MAX, 1, UINT32_MAX, UINT32_MAX, 1, 0},
        {1, UINT64_MAX, 1, INT64_MAX, 1, 0}, /* n + more wraps in 64 bits */
        {INT64_MAX, UINT64_MAX, INT64_MAX, INT64_MAX, 1, 0},
        {0, 1, 0, INT32_MAX, 1, 128},
        {0, 1, 0, INT32_MAX / 128, 128, 1},
        {0, 1, 0, INT32_MAX / 129, 129, 1},
    };
    for (size_t i = 0; i < TL_COUNT(row); i++)
        assert_int_equal(tl_grow_room(row[i].n, row[i].more, row[i].capacity, row[i].most, row[i].size), row[i].room);
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

static void test_exact_size(void **state)
{
    uint32_t *number = NULL;
    assert_true(TL_RESIZE(number, 3));
    number[2] = 7;
    assert_true(TL_RESIZE(number, 1000));
    assert_int_equal(number[2], 7);
    assert_true(TL_RESIZE(number, 0)); /* which is not freed: NULL would be an error */
    assert_non_null(number);
    free(number);
}

static void test_array_of_checked_size(void **state)
{
    uint64_t *number = tl_alloc(1000, sizeof *number);
    assert_non_null(number);
    memset(number, 0xff, 1000 * sizeof *number);
    free(number);
    void *const nothing = tl_alloc(0, 8);
    assert_non_null(nothing);
    free(nothing);
    assert_null(tl_alloc(SIZE_MAX / 8 + 2, 8)); /* the product wraps to 8 */
    assert_null(tl_alloc(8, SIZE_MAX / 8 + 2));
    assert_null(tl_alloc(SIZE_MAX / 2 + 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements_stay),
                                       cmocka_unit_test(test_capacity_of_any_width),
                                       cmocka_unit_test(test_first_capacity_is_small),
                                       cmocka_unit_test(test_too_much_is_refused),
                                       cmocka_unit_test(test_limits_of_hosts),
                                       cmocka_unit_test(test_new_elements_are_zero),
                                       cmocka_unit_test(test_exact_size),
                                       cmocka_unit_test(test_array_of_checked_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
