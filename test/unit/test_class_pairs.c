/* Tests of analysis/event/class_pairs.h: which begin an end belongs to, and that threads from a file cannot make lists
 * long. What commands print of pairs is compared in test/cli/class_pairs.py. */
#include "analysis/event/class_pairs.h"

#include <stdlib.h>

#include "check.h"

static void begin(tl_class_pairs *p, uint32_t pair, uint64_t thread, uint64_t ts)
{
    tl_error e;
    assert_int_equal(tl_class_pairs_begin(p, pair, thread, ts, &e), 0);
}

static void end(tl_class_pairs *p, uint32_t pair, uint64_t thread, uint64_t ts)
{
    tl_error e;
    assert_int_equal(tl_class_pairs_end(p, pair, thread, ts, &e), 0);
}

static tl_class_pairs two_pairs(void)
{
    tl_class_pairs p = {.pair = calloc(2, sizeof *p.pair), .n = 2};
    assert_non_null(p.pair);
    return p;
}

static void test_an_end_takes_the_latest_begin_of_its_thread(void **state)
{
    tl_class_pairs p = two_pairs();
    begin(&p, 0, 7, 100);
    begin(&p, 0, 7, 200);
    begin(&p, 0, 8, 210);
    begin(&p, 1, 7, 220);
    end(&p, 0, 7, 230); /* of 200 */
    end(&p, 0, 9, 240); /* of none */
    end(&p, 0, 7, 300); /* of 100 */
    tl_class_pairs_finish(&p);
    assert_int_equal(p.pair[0].pairs, 2);
    assert_int_equal(p.pair[0].total, 230);
    assert_int_equal(p.pair[0].shortest, 30);
    assert_int_equal(p.pair[0].longest, 200);
    assert_int_equal(p.pair[0].no_begin, 1);
    assert_int_equal(p.pair[0].no_end, 1);
    assert_int_equal(p.pair[1].no_end, 1);
    tl_class_pairs_fini(&p);
}

static void test_the_oldest_of_too_many_is_given_up(void **state)
{
    tl_class_pairs p = two_pairs();
    for (uint64_t i = 0; i <= TL_PAIRS_OPEN_MAX; i++)
        begin(&p, 0, i, i);
    assert_int_equal(p.pair[0].no_end, 1);
    end(&p, 0, 0, 1000000);
    assert_int_equal(p.pair[0].no_begin, 1);
    end(&p, 0, 1, 1000000);
    assert_int_equal(p.pair[0].pairs, 1);
    tl_class_pairs_fini(&p);
}

/* If a thread could undo what the number of a pair does to the hash, each of these ends would walk over all open
 * begins, 260 thousand million steps in all. */
static void test_chosen_threads_do_not_share_a_list(void **state)
{
    tl_class_pairs p = two_pairs();
    const uint64_t thread = UINT64_C(1) << 63 | 4711;
    for (uint64_t i = 0; i < TL_PAIRS_OPEN_MAX; i++)
        begin(&p, 0, thread, i);
    for (uint32_t i = 0; i < 4000000; i++)
        end(&p, 1, thread ^ UINT64_C(1) << 40, 1000000);
    assert_int_equal(p.pair[1].no_begin, 4000000);
    end(&p, 0, thread, 1000000);
    assert_int_equal(p.pair[0].pairs, 1);
    assert_int_equal(p.pair[0].longest, 1000000 - (TL_PAIRS_OPEN_MAX - 1));
    tl_class_pairs_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_end_takes_the_latest_begin_of_its_thread),
        cmocka_unit_test(test_the_oldest_of_too_many_is_given_up),
        cmocka_unit_test(test_chosen_threads_do_not_share_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
