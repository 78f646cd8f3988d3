/* Tests of analysis/instruction/branch_table.h: which branches count, their targets, the results of predictors; against
 * a slow model of the same rules. */
#include "analysis/instruction/branch_table.h"

#include "hand_insns.h"

static const tl_branch *row_of(const tl_branches *b, uint64_t pc)
{
    const uint32_t row = tl_hash_get(&b->index, pc);
    return row == TL_HASH_NONE ? NULL : &b->row[row];
}

static void check_row(const tl_branches *b, uint64_t pc, a64_class kind, uint64_t taken, uint64_t not_taken)
{
    const tl_branch *r = row_of(b, pc);
    assert_non_null(r);
    assert_int_equal(r->kind, kind);
    assert_int_equal(r->taken, taken);
    assert_int_equal(r->not_taken, not_taken);
}

static void test_which_count(void **state)
{
    static const hand_line line[] = {INSN_NO_PC(OP_BCOND),
                                     INSN(0x1000, OP_BCOND),
                                     OTHER(),
                                     INSN(0x1004, OP_BCOND),
                                     LOAD(0x8000, 4),
                                     INSN(0x100c, OP_CBZ),
                                     INSN(0x1000, OP_BCOND),
                                     INSN(0x1008, OP_B),
                                     INSN(0x100c, OP_SVC), /* B to the next instruction is taken */
                                     INSN(0x1010, OP_BL),
                                     INSN_AT(0x8000, OP_ADD, 1),
                                     INSN_AT(0x8004, OP_ERET, 1),
                                     INSN(0x2000, OP_RET),
                                     INSN_NO_PC(OP_ADD),
                                     INSN(0x3000, OP_RET)};
    hand h;
    tl_branches b;
    for (uint32_t batch = 1; batch < 17; batch++) {
        hand_init(&h, batch);
        HAND_ADD(&h, line);
        hand_pass(&h, &b, &tl_branches_table, NULL, 1);
        assert_int_equal(b.n, 4);
        check_row(&b, 0x1000, A64_COND, 1, 1);
        check_row(&b, 0x1004, A64_COND, 1, 0);
        check_row(&b, 0x1008, A64_JUMP, 1, 0);
        check_row(&b, 0x100c, A64_COND, 1, 0);
        assert_null(row_of(&b, 0x1010)); /* the level changed */
        assert_int_equal(b.without, 4);  /* ... and two ends, and one without a pc */
        assert_int_equal(b.insns, 13);
        uint32_t *order = tl_branches_order(&b, false);
        assert_non_null(order);
        assert_int_equal(b.row[order[0]].pc, 0x1000);
        assert_int_equal(b.row[order[1]].pc, 0x1004);
        assert_int_equal(b.row[order[3]].pc, 0x100c);
        free(order);
        tl_branches_table.fini(&b);
        hand_fini(&h);
    }
}

static void test_targets(void **state)
{
    static const hand_line line[] = {INSN(0x1000, OP_BR), INSN(0x2000, OP_B),   INSN(0x1000, OP_BR),
                                     INSN(0x3000, OP_B),  INSN(0x1000, OP_BR),  INSN(0x3000, OP_B),
                                     INSN(0x1000, OP_BR), INSN(0x2000, OP_B),   INSN(0x1000, OP_BR),
                                     INSN(0x1000, OP_BR), INSN(0x4000, OP_BLR), INSN(0x4004, OP_ADD)};
    hand h;
    tl_branches b;
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    HAND_ADD(&h, line);
    hand_pass(&h, &b, &tl_branches_table, NULL, 2);
    tl_branch_targets *t = tl_branches_targets(&b);
    assert_non_null(t);
    const tl_branch_targets *br = &t[tl_hash_get(&b.index, 0x1000)], *blr = &t[tl_hash_get(&b.index, 0x4000)];
    assert_int_equal(br->distinct, 4);
    assert_int_equal(br->most, 0x2000); /* as often as 0x3000 */
    assert_int_equal(br->times, 4);
    assert_int_equal(blr->distinct, 1);
    assert_int_equal(blr->most, 0x4004);
    assert_int_equal(blr->times, 2);
    assert_int_equal(t[tl_hash_get(&b.index, 0x2000)].distinct, 0);
    free(t);
    tl_branches_table.fini(&b);
    hand_fini(&h);
}

/* Code may change: of two kinds at one pc the first in the first track counts, with any number of threads. */
static void test_kind_does_not_depend_on_threads(void **state)
{
    static const hand_line long_one[] = {INSN(0x1000, OP_ADD), INSN(0x1004, OP_ADD), INSN(0x1008, OP_RET),
                                         INSN(0x1000, OP_ADD)},
                           first[] = {INSN(0x1008, OP_CBZ), INSN(0x1000, OP_ADD), INSN(0x1008, OP_B),
                                      INSN(0x1000, OP_ADD)},
                           third[] = {INSN(0x1008, OP_B), INSN(0x100c, OP_ADD), OTHER(), OTHER(), OTHER()};
    for (unsigned threads = 1; threads < 5; threads++) {
        hand h;
        tl_branches b;
        hand_init(&h, 0);
        HAND_ADD(&h, first);
        HAND_ADD(&h, long_one);
        HAND_ADD(&h, third); /* the heaviest: is read first */
        hand_pass(&h, &b, &tl_branches_table, NULL, threads);
        check_row(&b, 0x1008, A64_COND, 4, 0);
        tl_branches_table.fini(&b);
        hand_fini(&h);
    }
}

/* The same, slowly: rows in a list. */
static uint32_t slow_branches(const hand_line *line, uint32_t n, tl_branch *row, tl_predictor *predictor)
{
    const hand_line *last = NULL;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < n; i++) {
        const hand_line *l = &line[i];
        if (l->cls != HAND_INSN)
            continue;
        if (last && tl_insn_has_pc(l->aux) && tl_insn_has_pc(last->aux) &&
            tl_insn_level(l->aux) == tl_insn_level(last->aux)) {
            const a64_class cls = a64_class_of(tl_insn_opcode(last->aux));
            if (a64_is_branch(cls)) {
                uint32_t k = 0;
                while (k < rows && row[k].pc != last->key)
                    k++;
                if (k == rows)
                    row[rows++] = (tl_branch){.pc = last->key, .kind = (uint8_t)cls};
                const bool taken = cls != A64_COND || l->key != last->key + 4;
                if (taken)
                    row[k].taken++;
                else
                    row[k].not_taken++;
                for (unsigned p = 0; p < 4; p++)
                    tl_predictor_step(&predictor[p], last->key, cls, taken, l->key);
            }
        }
        last = l;
    }
    return rows;
}

static void test_as_the_slow_model(void **state)
{
    enum { LINES = 30000, ROWS = 1000 };
    tl_predictor_list list;
    char message[200];
    assert_true(tl_predictor_parse(&list, "bimodal:8,gshare:8,ras:8,btb:4", message, sizeof message));
    for (uint32_t seed = 1; seed < 6; seed++) {
        hand_line *line = hand_wander(LINES, seed);
        tl_branch *row = calloc(ROWS, sizeof *row);
        tl_predictor p[4];
        hand h;
        tl_branches b;
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(tl_predictor_init(&p[i], &list.model[i], NULL), 0);
        const uint32_t rows = slow_branches(line, LINES, row, p);
        assert_true(rows > 20 && rows < ROWS);
        hand_init(&h, seed % 2 ? 0 : 3);
        for (unsigned i = 0; i < seed; i++)
            hand_add(&h, line, LINES);
        hand_pass(&h, &b, &tl_branches_table, &list, 1 + seed / 2);
        assert_int_equal(b.n, rows);
        for (uint32_t i = 0; i < rows; i++)
            check_row(&b, row[i].pc, (a64_class)row[i].kind, row[i].taken * seed, row[i].not_taken * seed);
        for (unsigned i = 0; i < 4; i++) {
            uint64_t misses = 0;
            for (uint32_t k = 0; k < b.n; k++)
                misses += b.miss[k * 4 + i];
            assert_true(p[i].misses > 0 && p[i].misses <= p[i].branches);
            assert_int_equal(b.predictor[i].branches, p[i].branches * seed);
            assert_int_equal(b.predictor[i].misses, p[i].misses * seed);
            assert_int_equal(misses, p[i].misses * seed);
            tl_predictor_fini(&p[i]);
        }
        tl_branches_table.fini(&b);
        hand_fini(&h);
        free(row);
        free(line);
    }
}

/* The target of a branch before a gap is unknown. */
static void test_gaps(void **state)
{
    static const hand_line line[] = {INSN(0x1000, OP_BCOND), INSN(0x2000, OP_ADD), INSN(0x1004, OP_ADD),
                                     INSN(0x1000, OP_BCOND), INSN(0x1004, OP_ADD)};
    const tl_select select = {.has_pc = true, .pc_from = 0x1000, .pc_to = 0x2000};
    hand h;
    tl_branches b;
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    assert_int_equal(tl_insn_pass(&b, &tl_branches_table, NULL, true, &h.source, &select, 1, NULL), 0);
    check_row(&b, 0x1000, A64_COND, 0, 1);
    assert_int_equal(b.without, 1);
    tl_branches_table.fini(&b);
    hand_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_count), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_kind_does_not_depend_on_threads),
                                       cmocka_unit_test(test_as_the_slow_model), cmocka_unit_test(test_gaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
