/* Where threads recorded together are cut. */
#include "analysis/instruction/time_cut.h"

#include "hand_insns.h"

/* TIMEs 10 and 20 | 15 and 16 of one instruction, 40 | 50, then 30 | none */
static const hand_line first[] = {INSN(0, OP_ADD),  INSN(4, OP_LDR), TIME(10),    LOAD(1, 8),      INSN(8, OP_ADD),
                                  INSN(12, OP_STR), TIME(20),        STORE(1, 8), INSN(16, OP_ADD)};
static const hand_line second[] = {SNAPSHOT(), INSN(0, OP_LDR), TIME(15), LOAD(1, 8), TIME(16),
                                   LOAD(9, 8), INSN(4, OP_LDR), TIME(40), LOAD(1, 8)};
static const hand_line third[] = {INSN(0, OP_LDR), TIME(50), LOAD(1, 8), INSN(4, OP_LDR), TIME(30), LOAD(1, 8)};
static const hand_line timeless[] = {INSN(0, OP_ADD)};
static const hand_line snapshots[] = {SNAPSHOT(), SNAPSHOT()};

static int find(hand *h, const tl_select *select, uint64_t time, tl_time_cut *cut, tl_error *e)
{
    *e = (tl_error){0};
    memset(cut, 0xaa, HAND_TRACKS * sizeof *cut);
    const int status = tl_time_cuts_find(cut, &h->source, select, time, e);
    assert_false(h->source.want.fields);
    return status;
}

static void expect(const tl_time_cut *cut, tl_cut_kind kind, uint64_t at)
{
    assert_int_equal(cut->kind, kind);
    if (kind == TL_CUT_HERE || kind == TL_CUT_BEGIN)
        assert_int_equal(cut->at, at);
}

static void test_rule(void **state)
{
    static const struct {
        uint64_t time;
        tl_cut_kind kind[3];
        uint64_t at[3];
    } one[] = {
        {10, {TL_CUT_HERE, TL_CUT_BEGIN, TL_CUT_BEGIN}, {3, 0, 0}},
        {14, {TL_CUT_HERE, TL_CUT_BEGIN, TL_CUT_BEGIN}, {3, 0, 0}},
        {15, {TL_CUT_HERE, TL_CUT_HERE, TL_CUT_BEGIN}, {3, 0, 0}}, /* an instruction on both sides comes after */
        {16, {TL_CUT_HERE, TL_CUT_HERE, TL_CUT_BEGIN}, {3, 1, 0}},
        {19, {TL_CUT_HERE, TL_CUT_HERE, TL_CUT_BEGIN}, {3, 1, 0}},
        {20, {TL_CUT_ENDED, TL_CUT_HERE, TL_CUT_BEGIN}, {0, 1, 0}}, /* a track without TIME is not later */
        {40, {TL_CUT_ENDED, TL_CUT_ENDED, TL_CUT_BEGIN}, {0, 0, 0}},
    };
    for (uint32_t batch = 1; batch <= 9; batch++)
        for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
            hand h;
            tl_time_cut cut[HAND_TRACKS];
            tl_error e;
            hand_init(&h, batch);
            HAND_ADD(&h, first);
            HAND_ADD(&h, second);
            HAND_ADD(&h, third);
            HAND_ADD(&h, snapshots); /* of nothing */
            assert_int_equal(find(&h, NULL, one[i].time, cut, &e), 0);
            for (unsigned k = 0; k < 3; k++)
                expect(&cut[k], one[i].kind[k], one[i].at[k]);
            assert_int_equal(cut[0].first, 10);
            assert_int_equal(cut[1].first, 15);
            assert_int_equal(cut[2].first, 50);
            assert_int_equal(cut[1].last, one[i].time < 15 ? 15 : one[i].time < 16 ? 16 : 40);
            expect(&cut[3], TL_CUT_NONE, 0);
            expect(&cut[5], TL_CUT_NONE, 0);
            hand_fini(&h);
        }
}

static void test_out_of_range(void **state)
{
    hand h;
    tl_time_cut cut[HAND_TRACKS];
    tl_error e;
    const char *const t0[] = {"t0"}, *const t2[] = {"102"};
    const tl_select one = {.thread = t0, .nthread = 1}, other = {.thread = t2, .nthread = 1};
    hand_init(&h, 0);
    HAND_ADD(&h, first);
    HAND_ADD(&h, second);
    HAND_ADD(&h, third);
    assert_int_equal(find(&h, NULL, 9, cut, &e), TL_ENOMATCH);
    assert_contains(e.message, "TIME 9 is before the first one, 10");
    assert_int_equal(find(&h, NULL, 50, cut, &e), TL_ENOMATCH);
    assert_contains(e.message, "later than TIME 50: the last one is 50");
    assert_int_equal(find(&h, NULL, 49, cut, &e), 0); /* some ended, one begins */
    /* TIMEs that go back: the first later one counts, and the largest is the last. */
    assert_int_equal(find(&h, &other, 49, cut, &e), TL_ENOMATCH);
    assert_contains(e.message, "the first one, 50");
    assert_int_equal(find(&h, &other, UINT64_MAX, cut, &e), TL_ENOMATCH);
    assert_contains(e.message, "the last one is 50");
    assert_int_equal(find(&h, &one, 10, cut, &e), 0);
    expect(&cut[0], TL_CUT_HERE, 3);
    expect(&cut[1], TL_CUT_NONE, 0);
    assert_int_equal(tl_time_cut_tracks(&h.source, &one), 1);
    assert_int_equal(tl_time_cut_tracks(&h.source, NULL), HAND_TRACKS);
    hand_fini(&h);
}

static void test_failures(void **state)
{
    hand h;
    tl_time_cut cut[HAND_TRACKS];
    tl_error e;
    const char *const t2[] = {"t2"};
    hand_init(&h, 0);
    HAND_ADD(&h, snapshots);
    assert_int_equal(find(&h, NULL, 20, cut, &e), TL_ENOMATCH);
    assert_contains(e.message, "no instructions");
    HAND_ADD(&h, first);
    HAND_ADD(&h, timeless);
    assert_int_equal(find(&h, NULL, 15, cut, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "thread t2 has no TIMEs");
    h.source.trace.track[2].is_cpu = true;
    assert_int_equal(find(&h, &(tl_select){.thread = t2, .nthread = 1}, 15, cut, &e), TL_EUNSUPPORTED);
    assert_ptr_equal(strstr(e.message, "t2 has no TIMEs"), e.message); /* not "thread t2" */
    h.fails = 2;
    assert_int_equal(find(&h, NULL, 20, cut, &e), TL_EIO);
    hand_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rule), cmocka_unit_test(test_out_of_range),
                                       cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
