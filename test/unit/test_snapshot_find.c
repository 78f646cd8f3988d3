/* Snapshots by number: of the right track, and without reading streams that have none. */
#include "analysis/instruction/snapshot_find.h"

#include "hand_insns.h"

static const hand_line snapshots[] = {SNAPSHOT(), INSN(0, OP_ADD), INSN(4, OP_ADD), SNAPSHOT(), SNAPSHOT()};
static const hand_line instructions[] = {INSN(0, OP_ADD), SNAPSHOT()};

static int find(hand *h, const tl_select *select, uint64_t number, uint64_t *ts, tl_error *e)
{
    *ts = 77;
    *e = (tl_error){0};
    return tl_snapshot_find(&h->source, select, number, ts, e);
}

static void test_by_number(void **state)
{
    hand h;
    uint64_t ts;
    tl_error e;
    for (uint32_t batch = 1; batch <= 5; batch++) {
        hand_init(&h, batch);
        HAND_ADD(&h, instructions); /* is not read to its end */
        HAND_ADD(&h, snapshots);
        h.fails = batch == 1 ? 1 : 0;
        assert_int_equal(find(&h, NULL, 0, &ts, &e), 0);
        assert_int_equal(ts, 0);
        assert_int_equal(find(&h, NULL, 2, &ts, &e), 0);
        assert_int_equal(ts, 1);
        assert_int_equal(find(&h, NULL, 3, &ts, &e), TL_ENOMATCH);
        assert_contains(e.message, "there are 3");
        assert_int_equal(find(&h, NULL, UINT64_MAX, &ts, &e), TL_ENOMATCH);
        assert_int_equal(ts, 77);
        hand_fini(&h);
    }
}

static void test_of_which_thread(void **state)
{
    const char *const second[] = {"t1"}, *const third[] = {"102"};
    hand h;
    uint64_t ts;
    tl_error e;
    hand_init(&h, 0);
    HAND_ADD(&h, snapshots);
    HAND_ADD(&h, snapshots);
    HAND_ADD(&h, instructions);
    assert_int_equal(find(&h, NULL, 0, &ts, &e), TL_EINVAL);
    assert_contains(e.message, "t0 and t1");
    assert_int_equal(find(&h, &(tl_select){.thread = second, .nthread = 1}, 1, &ts, &e), 0);
    assert_int_equal(find(&h, &(tl_select){.thread = third, .nthread = 1}, 0, &ts, &e), TL_ENOMATCH);
    assert_contains(e.message, "of that thread");
    hand_fini(&h);
}

static void test_failures(void **state)
{
    hand h;
    uint64_t ts;
    tl_error e;
    hand_init(&h, 0);
    assert_int_equal(find(&h, NULL, 0, &ts, &e), TL_ENOMATCH);
    assert_contains(e.message, "no snapshots");
    HAND_ADD(&h, snapshots);
    h.fails = 1;
    assert_int_equal(find(&h, NULL, 0, &ts, &e), TL_EIO);
    hand_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_number),
        cmocka_unit_test(test_of_which_thread),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
