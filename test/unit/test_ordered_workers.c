/* Tests of base/ordered_workers.h: pieces, the end and errors come in order, whichever thread makes them. */
#include "base/ordered_workers.h"
#include "check.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct shop {
    uint64_t slot[TL_ORDERED_SLOTS_MAX];
    uint64_t last; /* pieces 0 .. last-1 exist */
    int at_last;   /* result of making piece `last` */
    _Atomic uint64_t made;
} shop;

static int make(void *arg, unsigned slot, uint64_t number)
{
    shop *s = arg;
    s->slot[slot] = number;
    if (number >= s->last)
        return s->at_last;
    for (volatile int i = 0; i < (int)(number * 7919 % 5000); i++)
        ;
    s->made++;
    return 1;
}

static void run(unsigned workers, unsigned slots, uint64_t last, int at_last)
{
    shop s = {.last = last, .at_last = at_last};
    tl_ordered_workers *r = NULL;
    tl_error e;
    unsigned slot = 99;
    assert_int_equal(tl_ordered_open(&r, workers, slots, make, &s, &e), 0);
    for (uint64_t i = 0; i < last; i++) {
        assert_int_equal(tl_ordered_next(r, &slot), 1);
        assert_int_equal(s.slot[slot], i);
        assert_int_equal(slot, i % slots);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tl_ordered_next(r, &slot), at_last);
        assert_int_equal(slot, last % slots);
    }
    assert_int_equal(s.made, last);
    tl_ordered_close(r);
}

static void test_pieces_come_in_order(void **state)
{
    for (unsigned workers = 0; workers < 4; workers++)
        for (unsigned slots = 1; slots < 6; slots++) {
            run(workers, slots, 500, 0);
            run(workers, slots, 37, -5);
            run(workers, slots, 0, 0);
            run(workers, slots, 0, -3);
        }
}

static void test_closed_in_the_middle(void **state)
{
    shop s = {.last = UINT64_MAX};
    tl_ordered_workers *r = NULL;
    tl_error e;
    unsigned slot;
    assert_int_equal(tl_ordered_open(&r, 3, 4, make, &s, &e), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(tl_ordered_next(r, &slot), 1);
    tl_ordered_close(r);
    assert_true(s.made >= 10 && s.made <= 14);
    tl_ordered_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces_come_in_order),
                                       cmocka_unit_test(test_closed_in_the_middle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
