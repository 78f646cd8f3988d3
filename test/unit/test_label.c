/* Ready-made text: made once, found again, and forgotten when there is too much. */
#include "base/text/number.h"
#include "check.h"
#include "model/label.h"

typedef struct counter {
    unsigned made;
    size_t padding; /* bytes added to every label */
} counter;

static void make(void *arg, uint64_t number, tl_pb *text)
{
    counter *c = arg;
    char digits[24];
    c->made++;
    tl_pb_raw(text, digits, (size_t)(tl_put_u64(digits, number) - digits));
    for (size_t i = 0; i < c->padding; i += 64)
        tl_pb_raw(text, "................................................................", 64);
}

static void test_made_once(void **state)
{
    counter c = {0};
    tl_labels labels = {0};
    tl_labels_init(&labels, make, &c);
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t number = i * UINT64_C(0x123456789abcdef);
            tl_label label = tl_labels_get(&labels, number);
            char digits[24];
            size_t n = (size_t)(tl_put_u64(digits, number) - digits);
            assert_int_equal(label.n, n);
            assert_memory_equal(label.p, digits, n);
        }
    assert_int_equal(c.made, 1000);
    tl_labels_fini(&labels);
}

static void test_number_is_bounded(void **state)
{
    counter c = {0};
    tl_labels labels = {0};
    tl_labels_init(&labels, make, &c);
    for (uint64_t i = 0; i < TL_LABELS_MAX + 1000; i++)
        assert_non_null(tl_labels_get(&labels, i).p);
    assert_in_range(labels.n, 1, TL_LABELS_MAX);
    tl_label label = tl_labels_get(&labels, 7); /* forgotten: made again, correctly */
    assert_int_equal(label.n, 1);
    assert_memory_equal(label.p, "7", 1);
    assert_int_equal(c.made, TL_LABELS_MAX + 1001);
    tl_labels_fini(&labels);
}

static void test_bytes_are_bounded(void **state)
{
    counter c = {.padding = 1 << 20};
    tl_labels labels = {0};
    tl_labels_init(&labels, make, &c);
    for (uint64_t i = 0; i < 200; i++) {
        assert_non_null(tl_labels_get(&labels, i).p);
        assert_true(labels.arena.total < TL_LABEL_BYTES_MAX + (8 << 20));
    }
    tl_labels_fini(&labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_once),
        cmocka_unit_test(test_number_is_bounded),
        cmocka_unit_test(test_bytes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
