/* Tests of analysis/instruction/mix_table.h: classes, levels and widths; rows in order; the sum of several sources. */
#include "analysis/instruction/mix_table.h"

#include "hand_insns.h"

static const hand_line few[] = {INSN_NO_PC(OP_ADD),
                                INSN(0x1000, OP_LDR),
                                LOAD(0x8000, 8),
                                LOAD(0x8008, 16),
                                INSN(0x1004, OP_STR),
                                STORE(0x9000, 1),
                                INSN(0x1008, OP_SVC),
                                ARGUMENT(64),
                                INSN_AT(0x4000, OP_MRS, 1),
                                OTHER(),
                                INSN_AT(0x4004, OP_ERET, 3),
                                SNAPSHOT(),
                                INSN(0x100c, OP_ADD),
                                STORE(0x9000, 32768),
                                STORE(0x9000, 40000)};

static void test_counts(void **state)
{
    hand h;
    tl_mix m;
    hand_init(&h, 4);
    HAND_ADD(&h, few);
    hand_pass(&h, &m, &tl_mix_table, NULL, 1);
    assert_int_equal(tl_mix_insns(&m), 7);
    assert_int_equal(tl_mix_level(&m, 0), 5);
    assert_int_equal(tl_mix_level(&m, 1), 1);
    assert_int_equal(tl_mix_level(&m, 2), 0);
    assert_int_equal(tl_mix_level(&m, 3), 1);
    assert_int_equal(m.without_pc, 1);
    assert_int_equal(m.load.tokens, 2);
    assert_int_equal(m.load.bytes, 24);
    assert_int_equal(m.load.width[3], 1);
    assert_int_equal(m.load.width[4], 1);
    assert_int_equal(m.store.tokens, 3);
    assert_int_equal(m.store.bytes, 1 + 32768 + 40000);
    assert_int_equal(m.store.width[0], 1);
    assert_int_equal(m.store.width[15], 1);
    assert_int_equal(m.store.width[16], 1);
    assert_int_equal(m.insns[1][A64_SYSTEM], 1);
    tl_mix_table.fini(&m);
    hand_fini(&h);
}

static void test_rows_by_count_then_name(void **state)
{
    static const struct {
        const char *name;
        uint64_t insns;
    } expected[] = {{"int", 2}, {"exception", 2}, {"load", 1}, {"store", 1}, {"system", 1}};
    hand h;
    tl_mix m;
    tl_mix_row row[A64_CLASSES];
    hand_init(&h, 0);
    HAND_ADD(&h, few);
    hand_pass(&h, &m, &tl_mix_table, NULL, 1);
    assert_int_equal(tl_mix_rows(&m, row), 5);
    /* "exception" comes before "int" */
    for (unsigned i = 0; i < 5; i++) {
        const unsigned at = i < 2 ? 1 - i : i;
        assert_string_equal(a64_class_name(row[i].cls), expected[at].name);
        assert_int_equal(row[i].insns, expected[at].insns);
    }
    tl_mix empty = {0};
    assert_int_equal(tl_mix_rows(&empty, row), 0);
    tl_mix_table.fini(&m);
    hand_fini(&h);
}

/* Four streams on any number of threads, and again into the same table, are four and eight times one. */
static void test_sums(void **state)
{
    hand_line *line = hand_wander(20000, 7);
    hand one, four;
    tl_mix m, sum;
    tl_error e = {0};
    hand_init(&one, 0);
    hand_add(&one, line, 20000);
    hand_pass(&one, &m, &tl_mix_table, NULL, 1);
    assert_true(tl_mix_insns(&m) > 3000 && m.load.tokens > 100 && m.store.tokens > 100);
    for (unsigned threads = 1; threads < 6; threads++) {
        hand_init(&four, 100);
        for (unsigned i = 0; i < 4; i++)
            hand_add(&four, line, 20000);
        hand_pass(&four, &sum, &tl_mix_table, NULL, threads);
        assert_int_equal(tl_insn_pass(&sum, &tl_mix_table, NULL, false, &four.source, NULL, threads, &e), 0);
        for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
            for (unsigned c = 0; c < A64_CLASSES; c++)
                assert_int_equal(sum.insns[level][c], 8 * m.insns[level][c]);
        assert_int_equal(sum.without_pc, 8 * m.without_pc);
        assert_int_equal(sum.load.bytes, 8 * m.load.bytes);
        assert_int_equal(sum.load.tokens, 8 * m.load.tokens);
        assert_int_equal(sum.store.bytes, 8 * m.store.bytes);
        for (unsigned i = 0; i < TL_MIX_WIDTHS; i++)
            assert_int_equal(sum.store.width[i], 8 * m.store.width[i]);
        tl_mix_table.fini(&sum);
        hand_fini(&four);
    }
    hand_fini(&one);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_rows_by_count_then_name),
                                       cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
