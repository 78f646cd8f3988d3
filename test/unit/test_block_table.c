/* Tests of analysis/instruction/block_table.h: where blocks begin and end, against a slow model of the same rules. */
#include "analysis/instruction/block_table.h"

#include "hand_insns.h"

static void check_rows(const tl_blocks *b, const tl_insn_block *expected, uint32_t n)
{
    tl_insn_block *row = tl_blocks_rows(b);
    assert_non_null(row);
    assert_int_equal(b->map.n, n);
    for (uint32_t i = 0; i < n; i++)
        if (row[i].start != expected[i].start || row[i].length != expected[i].length ||
            row[i].executions != expected[i].executions)
            fail_msg("row %u: start %#llx, %llu instructions, %llu times", i, (unsigned long long)row[i].start,
                     (unsigned long long)row[i].length, (unsigned long long)row[i].executions);
    free(row);
}

static void test_begins(void **state)
{
    static const hand_line line[] = {INSN_NO_PC(OP_ADD),         INSN_NO_PC(OP_ADD),          INSN_NO_PC(OP_B),
                                     INSN_NO_PC(OP_ADD),         INSN(0x1000, OP_ADD),        LOAD(0x8000, 8),
                                     INSN(0x1004, OP_B),                               /* the pc becomes known */
                                     INSN(0x2000, OP_MRS),       INSN(0x2004, OP_SVC), /* MRS ends none, SVC does */
                                     INSN(0x2008, OP_ADD),       INSN(0x3000, OP_ADD), /* a jump for no known reason */
                                     INSN_AT(0x3004, OP_ADD, 1), INSN_AT(0x3008, OP_ERET, 1), /* another level */
                                     INSN(0x300c, OP_ADD),       INSN_NO_PC(OP_ADD),          /* unknown again */
                                     INSN(0x1000, OP_ADD),       INSN(0x1004, OP_BCOND),      INSN(0x1008, OP_ADD)};
    static const tl_insn_block expected[] = {{0x1000, 2, 2}, {0x2000, 2, 1}, {0x3004, 2, 1}, {0x1008, 1, 1},
                                             {0x2008, 1, 1}, {0x3000, 1, 1}, {0x300c, 1, 1}};
    for (uint32_t batch = 1; batch < 20; batch++) {
        hand h;
        tl_blocks b;
        hand_init(&h, batch);
        HAND_ADD(&h, line);
        hand_pass(&h, &b, &tl_blocks_table, NULL, 1);
        check_rows(&b, expected, TL_COUNT(expected));
        assert_int_equal(b.without_pc, 5);
        assert_int_equal(b.insns, 17);
        tl_blocks_table.fini(&b);
        hand_fini(&h);
    }
}

/* The pc may wrap around. */
static void test_wraps(void **state)
{
    static const hand_line line[] = {INSN(UINT64_MAX - 3, OP_ADD), INSN(0, OP_ADD), INSN(4, OP_ADD)};
    static const tl_insn_block expected[] = {{UINT64_MAX - 3, 3, 1}};
    hand h;
    tl_blocks b;
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    hand_pass(&h, &b, &tl_blocks_table, NULL, 1);
    check_rows(&b, expected, 1);
    tl_blocks_table.fini(&b);
    hand_fini(&h);
}

/* A stream ends its block; the next one starts without state. */
static void test_streams_are_apart(void **state)
{
    static const hand_line first[] = {INSN(0x1000, OP_ADD), INSN(0x1004, OP_ADD)},
                           second[] = {INSN(0x1008, OP_ADD), INSN(0x100c, OP_B)};
    static const tl_insn_block expected[] = {{0x1000, 2, 1}, {0x1008, 2, 1}};
    hand h;
    tl_blocks b;
    hand_init(&h, 0);
    HAND_ADD(&h, first);
    HAND_ADD(&h, second);
    hand_pass(&h, &b, &tl_blocks_table, NULL, 1);
    check_rows(&b, expected, 2);
    tl_blocks_table.fini(&b);
    hand_fini(&h);
}

/* A gap in the selection ends a block, too. */
static void test_gaps(void **state)
{
    static const hand_line line[] = {INSN(0x1000, OP_ADD), INSN(0x1004, OP_ADD), INSN(0x1008, OP_CBZ),
                                     INSN(0x100c, OP_ADD), INSN(0x1004, OP_ADD), INSN(0x1008, OP_ADD),
                                     INSN(0x100c, OP_ADD)};
    static const tl_insn_block expected[] = {{0x1004, 2, 2}};
    for (uint32_t batch = 1; batch < 8; batch++) {
        hand h;
        tl_blocks b;
        tl_error e = {0};
        const tl_select select = {.has_pc = true, .pc_from = 0x1004, .pc_to = 0x100c};
        hand_init(&h, batch);
        HAND_ADD(&h, line);
        assert_int_equal(tl_insn_pass(&b, &tl_blocks_table, NULL, true, &h.source, &select, 1, &e), 0);
        check_rows(&b, expected, 1);
        tl_blocks_table.fini(&b);
        hand_fini(&h);
    }
}

/* The same program, slowly: rows in a list. */
static uint32_t slow_blocks(const hand_line *line, uint32_t n, tl_insn_block *row, uint64_t *without)
{
    uint32_t rows = 0;
    const hand_line *last = NULL;
    tl_insn_block open = {0};
    bool known = false;
    *without = 0;
    for (uint32_t i = 0; i <= n; i++) {
        const hand_line *l = i < n ? &line[i] : NULL;
        if (l && l->cls != HAND_INSN)
            continue;
        const uint32_t op = last ? tl_insn_opcode(last->aux) : 0;
        const bool begins =
            !l || !last || a64_ends_block(a64_class_of(op)) || tl_insn_level(l->aux) != tl_insn_level(last->aux) ||
            tl_insn_has_pc(l->aux) != tl_insn_has_pc(last->aux) || (tl_insn_has_pc(l->aux) && l->key != last->key + 4);
        if (begins && open.length) {
            uint32_t k = 0;
            while (k < rows && (row[k].start != open.start || row[k].length != open.length))
                k++;
            if (!known)
                *without += open.length;
            else if (k == rows)
                row[rows++] = (tl_insn_block){open.start, open.length, 1};
            else
                row[k].executions++;
            open.length = 0;
        }
        if (l && open.length++ == 0) {
            open.start = l->key;
            known = tl_insn_has_pc(l->aux);
        }
        last = l;
    }
    return rows;
}

static void test_as_the_slow_model(void **state)
{
    enum { LINES = 30000, ROWS = 3000 };
    for (uint32_t seed = 1; seed < 6; seed++) {
        hand_line *line = hand_wander(LINES, seed);
        tl_insn_block *row = calloc(ROWS, sizeof *row);
        uint64_t without;
        hand h;
        tl_blocks b;
        const uint32_t rows = slow_blocks(line, LINES, row, &without);
        assert_true(rows > 100 && rows < ROWS && without > 5);
        hand_init(&h, seed % 2 ? 0 : 3);
        for (unsigned i = 0; i < seed; i++)
            hand_add(&h, line, LINES);
        hand_pass(&h, &b, &tl_blocks_table, NULL, seed);
        assert_int_equal(b.map.n, rows);
        assert_int_equal(b.without_pc, without * seed);
        for (uint32_t i = 0; i < rows; i++) {
            const uint32_t index = tl_pair_map_get(&b.map, row[i].start, row[i].length);
            assert_true(index < rows);
            assert_int_equal(b.executions[index], row[i].executions * seed);
        }
        tl_blocks_table.fini(&b);
        hand_fini(&h);
        free(row);
        free(line);
    }
}

/* a64_block_class() may omit the classes that end no block, and no others. */
static void test_quick_class(void **state)
{
    uint32_t x = 1;
    for (uint32_t i = 0; i < 2000000; i++) {
        const uint32_t op = hand_random(&x, 1u << 16) << 16 | hand_random(&x, 1u << 16);
        const a64_class cls = a64_class_of(op);
        if (a64_ends_block(cls) || a64_is_branch(cls))
            assert_int_equal(a64_block_class(op), cls);
        else
            assert_false(a64_ends_block(a64_block_class(op)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_begins),
                                       cmocka_unit_test(test_wraps),
                                       cmocka_unit_test(test_streams_are_apart),
                                       cmocka_unit_test(test_gaps),
                                       cmocka_unit_test(test_as_the_slow_model),
                                       cmocka_unit_test(test_quick_class)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
