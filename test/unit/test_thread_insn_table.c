/* Tests of analysis/instruction/thread_insn_table.h: sums of each track; tracks of several sources; order of rows. */
#include "analysis/instruction/thread_insn_table.h"

#include "hand_insns.h"

static const hand_line
    first[] = {INSN(0x1000, OP_ADD), INSN_AT(0x1004, OP_B, 2), INSN(0x1008, OP_LDR), LOAD(0x8000, 8)},
    second[] = {INSN(0x1000, OP_SVC), ARGUMENT(64),         ARGUMENT(1), RESULT(1), INSN(0x1004, OP_SVC),
                ARGUMENT(93),         INSN(0x1008, OP_SVC), ARGUMENT(5), OTHER(),   ARGUMENT(6),
                STORE(0x8000, 16),    INSN_NO_PC(OP_BCOND)},
    third[] = {SNAPSHOT(), SNAPSHOT()};

static void test_rows(void **state)
{
    for (unsigned threads = 1; threads < 4; threads++) {
        hand h;
        tl_threads_insns t;
        hand_init(&h, threads);
        HAND_ADD(&h, first);
        HAND_ADD(&h, second);
        HAND_ADD(&h, third); /* snapshots alone make no row */
        hand_pass(&h, &t, &tl_threads_insns_table, NULL, threads);
        tl_thread_insns *row = tl_threads_insns_rows(&t);
        assert_non_null(row);
        assert_int_equal(t.n, 2);
        const tl_thread_insns *a = &row[0], *b = &row[1];
        assert_string_equal(a->name, "t1");
        assert_int_equal(a->tid, 101);
        assert_true(a->has_tid);
        assert_int_equal(tl_thread_insns_all(a), 4);
        assert_int_equal(a->calls, 4);
        assert_int_equal(a->stores, 1);
        assert_int_equal(a->store_bytes, 16);
        assert_int_equal(a->branches, 1);
        assert_string_equal(b->name, "t0");
        assert_int_equal(tl_thread_insns_all(b), 3);
        assert_int_equal(b->level[0], 2);
        assert_int_equal(b->level[2], 1);
        assert_int_equal(b->loads, 1);
        assert_int_equal(b->load_bytes, 8);
        assert_int_equal(b->branches, 1);
        assert_int_equal(b->calls, 0);
        free(row);
        tl_threads_insns_table.fini(&t);
        hand_fini(&h);
    }
}

/* Tracks with the same name and tid are one row; with another tid, or none, another row. */
static void test_several_sources(void **state)
{
    static const tl_track track[] = {
        {.name = "t", .tid = 1, .has_tid = true}, {.name = "t"},
        {.name = "t", .tid = 2, .has_tid = true}, {.name = "t", .tid = 1, .has_tid = true},
        {.name = "t", .tid = 1, .is_cpu = true},  {.name = "t", .tid = 1, .has_tid = true, .is_cpu = true}};
    tl_threads_insns t;
    tl_error e;
    for (unsigned i = 0; i < 6; i++) {
        hand h;
        hand_init(&h, 0);
        h.source.trace.track[0] = track[i];
        HAND_ADD(&h, first);
        HAND_ADD(&h, second); /* t1 in all of them */
        assert_int_equal(tl_insn_pass(&t, &tl_threads_insns_table, NULL, i == 0, &h.source, NULL, 1 + i % 2, &e), 0);
        hand_fini(&h);
    }
    tl_thread_insns *row = tl_threads_insns_rows(&t);
    assert_non_null(row);
    assert_int_equal(t.n, 5);
    assert_string_equal(row[0].name, "t1");
    assert_int_equal(tl_thread_insns_all(&row[0]), 24);
    assert_int_equal(row[0].calls, 24);
    assert_int_equal(row[1].tid, 1);
    assert_true(row[1].has_tid && !row[1].is_cpu);
    assert_int_equal(tl_thread_insns_all(&row[1]), 6);
    assert_true(row[2].is_cpu && !row[2].has_tid); /* a processor, whatever threads its track names */
    assert_int_equal(row[2].tid, 1);
    assert_int_equal(tl_thread_insns_all(&row[2]), 6);
    assert_false(row[3].has_tid || row[3].is_cpu);
    assert_int_equal(row[4].tid, 2);
    free(row);
    tl_threads_insns_table.fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_several_sources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
