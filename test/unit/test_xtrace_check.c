/* Tests of format/xtrace/xtrace_check.h: each rule where it holds, where it is broken, and where it does not apply. */
#include "snapshot_fixture.h"

#include "format/xtrace/xtrace_check.h"
#include "make_xtrace.h"

enum { NOP = 0xd503201fu, RET = 0xd65f03c0u, BLR_X3 = 0xd63f0060u, ERET = 0xd69f03e0u, SVC = 0xd4000001u };
enum { DC_ZVA = 0xd50b7420u, LDR_X1_X2_16 = 0xf9400841u, LDR_X1_SP = 0xf94003e1u };
#define PC 0x400000u

#define B(words)   (0x14000000u | ((uint32_t)(words)&0x3ffffffu))
#define CBZ(words) (0xb4000000u | ((uint32_t)(words)&0x7ffffu) << 5)

static void check_made(const made_stream *s, xtrace_claims *claims, tl_trace *t)
{
    tl_input *in;
    assert_int_equal(tl_input_open_memory(&in, s->data, s->n, "made", NULL), 0);
    assert_int_equal(xtrace_check_stream(in, t, NULL, claims, false, NULL), 0);
    tl_input_close(in);
}

/* Checks a stream and frees it. */
static void expect_stream(made_stream *s, const told *expected, size_t n)
{
    tl_trace t;
    tl_trace_init(&t);
    check_made(s, NULL, &t);
    expect_told(&t, expected, n);
    tl_trace_fini(&t);
    free(s->data);
    *s = (made_stream){0};
}

#define EXPECT_STREAM(s, ...)                                                                                          \
    expect_stream(s, (const told[]){__VA_ARGS__}, sizeof((const told[]){__VA_ARGS__}) / sizeof(told))
#define EXPECT_GOOD(s) expect_stream(s, NULL, 0)

/* An instruction at PC, and the next at another pc. */
static made_stream pair(uint32_t opcode, uint64_t next)
{
    made_stream s = {0};
    made_pcinst(&s, 0, PC, opcode);
    made_pcinst(&s, 0, next, NOP);
    return s;
}

static void test_chain(void **state)
{
    static const struct {
        uint32_t opcode;
        uint64_t next;
        bool good;
    } cases[] = {
        {NOP, PC + 4, true},           {NOP, PC, false},
        {B(5), PC + 20, true},         {B(5), PC + 4, false},
        {B(-2), PC - 8, true},         {B(1), PC + 4, true},
        {0x94000003u, PC + 12, true},  {0x94000003u, PC + 4, false},
        {CBZ(3), PC + 12, true},       {CBZ(3), PC + 4, true},
        {CBZ(3), PC + 8, false},       {0x54000060u, PC + 12, true},  /* B.EQ */
        {0x36000060u, PC + 12, true},  {0x36000060u, PC + 16, false}, /* TBZ */
        {RET, PC + 400, true},         {BLR_X3, 0, true},
        {SVC, PC + 400, true},         {0xd4200000u, 8, true},         /* BRK */
        {0x00000001u, PC + 400, true}, {0x00010000u, PC + 400, false}, /* UDF, and another word */
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        made_stream s = pair(cases[i].opcode, cases[i].next);
        if (cases[i].good)
            EXPECT_GOOD(&s);
        else
            EXPECT_STREAM(&s, {13, "xtrace.pc-chain"});
    }
    made_stream s = {0};
    made_pcinst(&s, 0, UINT64_MAX - 3, NOP); /* around the end of memory */
    made_pcinst(&s, 0, 0, B(-1));
    made_pcinst(&s, 0, UINT64_MAX - 3, NOP);
    EXPECT_GOOD(&s);
    made_pcinst(&s, 0, PC, B(4));
    made_inst(&s, 0, NOP); /* its pc follows the branch */
    EXPECT_STREAM(&s, {13, "xtrace.pc-chain"});
}

static void test_chain_is_unknown(void **state)
{
    made_stream s = {0};
    made_inst(&s, 0, B(7)); /* no pc yet */
    made_inst(&s, 0, NOP);
    made_pcinst(&s, 0, PC, NOP);
    made_pcinst(&s, 1, 8, NOP); /* an interrupt */
    made_pcinst(&s, 1, 12, ERET);
    made_pcinst(&s, 0, PC, NOP);
    EXPECT_GOOD(&s);
}

static void test_target(void **state)
{
    made_stream s = {0};
    made_pcinst(&s, 0, PC, RET);
    made_value(&s, XTRACE_TARGET, 0x1000);
    made_pcinst(&s, 0, 0x1000, NOP);
    made_inst(&s, 0, RET);
    made_value(&s, XTRACE_TARGET, 0x2000);
    made_pcinst(&s, 0, 0x2004, NOP);
    EXPECT_STREAM(&s, {40, "xtrace.target"});

    made_pcinst(&s, 0, PC, RET); /* an interrupt comes first */
    made_value(&s, XTRACE_TARGET, 0x1000);
    made_pcinst(&s, 1, 0x80, NOP);
    made_pcinst(&s, 1, 0x84, ERET); /* but ERET changes the level itself */
    made_value(&s, XTRACE_TARGET, 0x1000);
    made_pcinst(&s, 0, 0x1000, NOP);
    EXPECT_GOOD(&s);
    made_pcinst(&s, 1, 0x84, ERET);
    made_value(&s, XTRACE_TARGET, 0x1000);
    made_pcinst(&s, 0, 0x1004, NOP);
    EXPECT_STREAM(&s, {13, "xtrace.target"});

    made_value(&s, XTRACE_TARGET, 0x1000); /* of nothing, and of an instruction without a pc */
    made_inst(&s, 0, RET);
    made_value(&s, XTRACE_TARGET, 0x1000);
    made_inst(&s, 0, NOP);
    made_value(&s, XTRACE_TARGET, 0x1000);
    made_pcinst(&s, 0, 0x1004, NOP);
    EXPECT_STREAM(&s, {28, "xtrace.target"});
}

static void test_loads(void **state)
{
    made_stream s = {0};
    made_access(&s, true, 0x1000, 3, 1);  /* at 0, before any instruction */
    made_access(&s, false, 0x1004, 1, 5); /* at 17 */
    made_access(&s, false, 0x1002, 2, 9); /* at 28: wrong, and the known value from now on */
    made_access(&s, false, 0x1002, 2, 9);
    made_access(&s, false, 0x1000, 3, 1);            /* at 54 */
    made_access(&s, true, UINT64_MAX - 3, 3, 0x80);  /* at 71, over the end of memory */
    made_access(&s, false, 0, 2, 0x84);              /* at 88 */
    made_access(&s, false, UINT64_MAX - 1, 1, 0x83); /* at 101 */
    EXPECT_STREAM(&s, {28, "xtrace.shadow"}, {54, "xtrace.shadow"}, {101, "xtrace.shadow"});
}

/* Memory with known bytes; then an event; then other bytes. */
static made_stream known_memory(unsigned level)
{
    made_stream s = {0};
    made_pcinst(&s, level, PC, NOP);
    made_access(&s, true, 0x1000, 3, 1);
    return s;
}

static void test_memory_is_forgotten(void **state)
{
    static const uint32_t calls[] = {SVC, 0xd4000002u, 0xd4000003u};
    for (size_t i = 0; i < TL_COUNT(calls); i++) {
        made_stream s = known_memory(0);
        made_inst(&s, 0, calls[i]);
        made_access(&s, false, 0x1000, 3, 9);
        EXPECT_GOOD(&s);
    }
    made_stream s = known_memory(0);
    made_inst(&s, 0, 0xd4200000u); /* BRK is not a call of the system */
    made_access(&s, false, 0x1000, 3, 9);
    EXPECT_STREAM(&s, {35, "xtrace.shadow"});

    s = known_memory(0);
    made_value(&s, XTRACE_SVC_RET, 0);
    made_access(&s, false, 0x1000, 3, 9);
    EXPECT_GOOD(&s);

    s = known_memory(0);
    made_inst(&s, 1, NOP);
    made_access(&s, false, 0x1000, 3, 9);
    EXPECT_GOOD(&s);

    s = known_memory(0);
    made_value(&s, XTRACE_TIME, 5);
    made_access(&s, true, 0x1000, 3, 1);
    made_access(&s, false, 0x1000, 3, 9); /* and never again */
    EXPECT_GOOD(&s);
}

static void test_cleared_memory(void **state)
{
    made_stream s = {0};
    made_access(&s, true, 0x17ff, 0, 1);
    made_access(&s, true, 0x1800, 0, 1);
    made_access(&s, true, 0x1fff, 0, 1);
    made_access(&s, true, 0x2000, 0, 1); /* 40 bytes until here */
    made_pcinst(&s, 0, PC, DC_ZVA | 7);
    made_value(&s, XTRACE_DC, 0x1900); /* 62 */
    made_access(&s, false, 0x17ff, 0, 2);
    made_access(&s, false, 0x1800, 0, 2);
    made_access(&s, false, 0x1fff, 0, 2);
    made_access(&s, false, 0x2000, 0, 2);
    EXPECT_STREAM(&s, {62, "xtrace.shadow"}, {92, "xtrace.shadow"});

    static const uint32_t clearing[] = {DC_ZVA, 0xd50b7480u /* GZVA */},
                          other[] = {0xd50b7460u /* GVA: tags */, 0xd50b74a0u};
    for (size_t i = 0; i < 2; i++) {
        s = known_memory(0);
        made_inst(&s, 0, clearing[i] | 3);
        made_value(&s, XTRACE_DC, 0x1000);
        made_access(&s, false, 0x1000, 3, 9);
        EXPECT_GOOD(&s);
        s = known_memory(0);
        made_inst(&s, 0, other[i] | 3);
        made_value(&s, XTRACE_DC, 0x1000);
        made_access(&s, false, 0x1000, 3, 9);
        EXPECT_STREAM(&s, {44, "xtrace.shadow"});
    }

    s = known_memory(0);
    made_inst(&s, 0, 0xd50b7a20u); /* DC CVAC */
    made_value(&s, XTRACE_DC, 0x1000);
    made_access(&s, false, 0x1000, 3, 9);
    EXPECT_STREAM(&s, {44, "xtrace.shadow"});
}

static void test_exclusive_stores(void **state)
{
    for (uint64_t failed = 0; failed < 2; failed++) {
        made_stream s = known_memory(0);
        made_inst(&s, 0, 0xc8007c20u); /* at 30: STXR */
        made_access(&s, true, 0x1000, 2, 0x40);
        made_access(&s, true, 0x1004, 1, 0x50);
        made_value(&s, XTRACE_STXR, failed); /* at 59 */
        made_inst(&s, 0, NOP);
        made_access(&s, false, 0x1000, 2, 1); /* at 73 */
        made_access(&s, false, 0x1006, 1, 8); /* at 86 */
        if (failed)
            EXPECT_STREAM(&s, {86, "xtrace.shadow"});
        else
            EXPECT_STREAM(&s, {73, "xtrace.shadow"}, {86, "xtrace.shadow"});
    }
    made_stream s = known_memory(0); /* more stores than any instruction makes */
    made_inst(&s, 0, 0xc8007c20u);
    for (unsigned i = 0; i < 1000; i++)
        made_access(&s, true, 0x2000 + i, 0, 1);
    made_value(&s, XTRACE_STXR, 1);
    made_access(&s, false, 0x2000 + 999, 0, 2);
    made_access(&s, false, 0x1000, 3, 9); /* everything was forgotten, not only the stored bytes */
    EXPECT_GOOD(&s);
}

/* Longer than the window, with tokens of all lengths over its ends. */
static void test_long_stream(void **state)
{
    made_stream s = {0};
    told expected[300];
    size_t n = 0;
    made_pcinst(&s, 0, PC, NOP);
    for (unsigned i = 0; n < TL_COUNT(expected); i++) {
        made_registers(&s, i);
        made_value(&s, XTRACE_FLAGS, i);
        made_buffers(&s, i % 3, i % 3);
        made_access(&s, true, 0x10000, i % 16, 1);
        made_inst(&s, 0, NOP);
        if (i % 4 == 0)
            expected[n++] = (told){s.n, "xtrace.shadow"};
        made_access(&s, false, 0x10000, i % 16, i % 4 == 0 ? 2 : 1);
    }
    assert_true(s.n > 1000000);
    expect_stream(&s, expected, n);
}

static void test_stops_at_damage(void **state)
{
    made_stream s = pair(NOP, PC);
    made_pcinst(&s, 0, PC, NOP);
    *stream_room(&s, 1) = 0x06;
    made_pcinst(&s, 0, PC, NOP);
    EXPECT_STREAM(&s, {13, "xtrace.pc-chain"}, {26, "xtrace.pc-chain"}); /* reading reports the damage itself */
    s = pair(NOP, PC);
    s.n--;
    EXPECT_GOOD(&s);
    EXPECT_GOOD(&s); /* empty */
}

enum { BLOCK = 93 };

/* Ten instructions in each BLOCK bytes, eight of level 0; `first` are the first ones. */
static made_stream make_blocks(size_t blocks, const uint32_t *first, size_t nfirst)
{
    made_stream s = {0};
    for (size_t i = 0; i < blocks; i++) {
        made_pcinst(&s, 0, PC, i < nfirst ? first[i] : NOP);
        made_access(&s, false, 0x123000, 3, 0);
        made_value(&s, XTRACE_FLAGS, 0);
        made_value(&s, XTRACE_TARGET, 3000);
        for (unsigned k = 1; k < 10; k++)
            made_inst(&s, k < 8 ? 0 : 1, NOP);
    }
    assert_int_equal(s.n, BLOCK * blocks);
    return s;
}

static void expect_snapshots(made_snapshots *m, made_stream *stream, const told *expected, size_t n)
{
    tl_trace t;
    tl_input *in, *with = NULL;
    xtrace_snapshots s;
    xtrace_claims c;
    tl_trace_init(&t);
    assert_int_equal(tl_input_open_memory(&in, m->data, m->total, "made", NULL), 0);
    assert_int_equal(xtrace_snapshots_open(&s, in, &t, NULL, NULL), 0);
    if (stream)
        assert_int_equal(tl_input_open_memory(&with, stream->data, stream->n, "made", NULL), 0);
    assert_int_equal(xtrace_claims_init(&c, &s, with, NULL), 0);
    if (stream)
        assert_int_equal(xtrace_check_stream(with, NULL, NULL, &c, false, NULL), 0);
    expect_told(&t, expected, n);
    xtrace_claims_fini(&c);
    tl_input_close(in);
    tl_input_close(with);
    tl_trace_fini(&t);
}

#define EXPECT_SNAPSHOTS(m, s, ...)                                                                                    \
    expect_snapshots(m, s, (const told[]){__VA_ARGS__}, sizeof((const told[]){__VA_ARGS__}) / sizeof(told))

static void set(const made_snapshots *m, size_t record, size_t at, uint64_t value)
{
    tl_store64(made_record(m, record) + at, value, false);
}

static made_snapshots snapshots_of_blocks(void)
{
    made_snapshots m = make_snapshots(24, 128, 6);
    for (size_t i = 0; i < m.n; i++)
        set(&m, i, XTRACE_SNAPSHOT_OFFSET, BLOCK * i);
    return m;
}

#define AT(record) (24 + 1424 * (record))

static void test_order_of_snapshots(void **state)
{
    made_snapshots m = snapshots_of_blocks();
    expect_snapshots(&m, NULL, NULL, 0);
    set(&m, 1, XTRACE_SNAPSHOT_USER, 11);           /* of 10 */
    set(&m, 2, XTRACE_SNAPSHOT_INSNS, 50);          /* so that the next one is smaller */
    set(&m, 4, XTRACE_SNAPSHOT_USER, 23);           /* after 24 */
    set(&m, 5, XTRACE_SNAPSHOT_INSNS, 0);           /* ignored: */
    set(&m, 5, m.size - XTRACE_SNAPSHOT_TAIL, 256); /* ... it is damaged */
    EXPECT_SNAPSHOTS(&m, NULL, {AT(1), "xtrace.snapshot-order"}, {AT(3), "xtrace.snapshot-order"},
                     {AT(4), "xtrace.snapshot-order"});
    free(m.data);
}

static void test_offsets_of_snapshots(void **state)
{
    made_snapshots m = snapshots_of_blocks();
    made_stream s = make_blocks(5, NULL, 0); /* the last snapshot is of its end */
    expect_snapshots(&m, &s, NULL, 0);
    set(&m, 1, XTRACE_SNAPSHOT_OFFSET, BLOCK + 13); /* after the instruction */
    set(&m, 2, XTRACE_SNAPSHOT_OFFSET, BLOCK + 1);  /* inside of a token: found by its count */
    set(&m, 3, XTRACE_SNAPSHOT_USER, 25);
    set(&m, 4, XTRACE_SNAPSHOT_OFFSET, UINT64_MAX);
    set(&m, 5, XTRACE_SNAPSHOT_INSNS, 51);
    EXPECT_SNAPSHOTS(&m, &s, {AT(1), "xtrace.snapshot-offset"}, {AT(3), "xtrace.snapshot-offset"},
                     {AT(5), "xtrace.snapshot-offset"});
    set(&m, 5, XTRACE_SNAPSHOT_OFFSET, 7); /* not at a token: there are fewer */
    for (size_t i = 0; i < 5; i++)
        set(&m, i, XTRACE_SNAPSHOT_FILE, 1); /* of another stream */
    EXPECT_SNAPSHOTS(&m, &s, {AT(5), "xtrace.snapshot-offset"});
    free(m.data);
    free(s.data);
}

static void test_registers_of_snapshots(void **state)
{
    static const uint32_t first[] = {LDR_X1_X2_16, BLR_X3, LDR_X1_SP, RET, 0x3dc00441u /* LDR Q1, [X2, 16] */, NOP};
    made_snapshots m = snapshots_of_blocks();
    made_stream s = make_blocks(6, first, TL_COUNT(first));
    set(&m, 0, XTRACE_SNAPSHOT_X + 8 * 2, 0x123000 - 16);
    set(&m, 2, XTRACE_SNAPSHOT_X + 8 * 31, 0x123000);
    set(&m, 3, XTRACE_SNAPSHOT_X + 8 * 30, 3000);
    set(&m, 4, XTRACE_SNAPSHOT_X + 8 * 2, 0x123000 - 16);
    expect_snapshots(&m, &s, NULL, 0);
    set(&m, 0, XTRACE_SNAPSHOT_X + 8 * 2, 0x123000);
    set(&m, 1, XTRACE_SNAPSHOT_X + 8 * 3, 2999);
    set(&m, 2, XTRACE_SNAPSHOT_X + 8 * 31, 0);
    set(&m, 3, XTRACE_SNAPSHOT_X + 8 * 30, 0);
    set(&m, 4, XTRACE_SNAPSHOT_X + 8 * 2, 0x123000);
    EXPECT_SNAPSHOTS(&m, &s, {AT(0), "xtrace.snapshot-regs"}, {AT(1), "xtrace.snapshot-regs"},
                     {AT(2), "xtrace.snapshot-regs"}, {AT(3), "xtrace.snapshot-regs"}, {AT(4), "xtrace.snapshot-regs"});
    set(&m, 0, XTRACE_SNAPSHOT_USER, 1); /* one problem is enough */
    set(&m, 1, XTRACE_SNAPSHOT_OFFSET, BLOCK - 1);
    EXPECT_SNAPSHOTS(&m, &s, {AT(0), "xtrace.snapshot-order"}, {AT(0), "xtrace.snapshot-offset"},
                     {AT(1), "xtrace.snapshot-regs"}, {AT(2), "xtrace.snapshot-regs"}, {AT(3), "xtrace.snapshot-regs"},
                     {AT(4), "xtrace.snapshot-regs"});
    s.n = 4 * BLOCK + 20; /* the access of the last one is cut */
    set(&m, 5, XTRACE_SNAPSHOT_OFFSET, s.n);
    set(&m, 5, XTRACE_SNAPSHOT_INSNS, 41);
    set(&m, 5, XTRACE_SNAPSHOT_USER, 33);
    EXPECT_SNAPSHOTS(&m, &s, {AT(0), "xtrace.snapshot-order"}, {AT(0), "xtrace.snapshot-offset"},
                     {AT(1), "xtrace.snapshot-regs"}, {AT(2), "xtrace.snapshot-regs"}, {AT(3), "xtrace.snapshot-regs"});
    free(m.data);
    free(s.data);
}

/* Close to each other: at every second token, and inside the tokens between. */
static void test_dense_snapshots(void **state)
{
    enum { N = 400 };
    made_snapshots m = make_snapshots(0, 128, N);
    made_stream s = {0};
    made_pcinst(&s, 0, PC, NOP);
    for (size_t i = 1; i < N + 2; i++)
        made_inst(&s, 0, NOP);
    for (size_t i = 0; i < N; i++) {
        set(&m, i, XTRACE_SNAPSHOT_OFFSET, 13 + 5 * i + (i % 2 ? i % 5 : 0));
        set(&m, i, XTRACE_SNAPSHOT_INSNS, 1 + i);
        set(&m, i, XTRACE_SNAPSHOT_USER, 1 + i);
    }
    expect_snapshots(&m, &s, NULL, 0);
    told expected[N];
    size_t n = 0;
    for (size_t i = 0; i < N; i += 7) {
        set(&m, i, XTRACE_SNAPSHOT_USER, i);
        if (i % 2 == 0 || i % 5 == 0)
            expected[n++] = (told){1424 * i, "xtrace.snapshot-offset"};
    }
    expect_snapshots(&m, &s, expected, n);
    free(m.data);
    free(s.data);
}

/* Many, unsorted. */
static void test_many_snapshots(void **state)
{
    enum { N = 3000 };
    made_snapshots m = make_snapshots(0, 128, N);
    made_stream s = make_blocks(N, NULL, 0);
    for (size_t i = 0; i < N; i++) {
        const size_t block = i * 1201 % N;
        set(&m, i, XTRACE_SNAPSHOT_OFFSET, BLOCK * block);
        set(&m, i, XTRACE_SNAPSHOT_INSNS, 10 * block + (i == 77));
        set(&m, i, XTRACE_SNAPSHOT_USER, 8 * block);
    }
    tl_trace t;
    tl_trace_init(&t);
    tl_input *in, *with;
    xtrace_snapshots all;
    xtrace_claims c;
    assert_int_equal(tl_input_open_memory(&in, m.data, m.total, "made", NULL), 0);
    assert_int_equal(tl_input_open_memory(&with, s.data, s.n, "made", NULL), 0);
    assert_int_equal(xtrace_snapshots_open(&all, in, &t, NULL, NULL), 0);
    assert_int_equal(xtrace_claims_init(&c, &all, with, NULL), 0);
    assert_int_equal(xtrace_check_stream(with, NULL, NULL, &c, false, NULL), 0);
    unsigned misplaced = 0;
    for (uint32_t i = 0; i < tl_trace_damages(&t); i++)
        if (strcmp(tl_trace_damage(&t, i)->rule, "xtrace.snapshot-offset") == 0) {
            assert_int_equal(tl_trace_damage(&t, i)->at, 77 * 1424);
            misplaced++;
        }
    assert_int_equal(misplaced, 1);
    xtrace_claims_fini(&c);
    tl_input_close(in);
    tl_input_close(with);
    tl_trace_fini(&t);
    free(m.data);
    free(s.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_chain_is_unknown),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_memory_is_forgotten),
        cmocka_unit_test(test_cleared_memory),
        cmocka_unit_test(test_exclusive_stores),
        cmocka_unit_test(test_long_stream),
        cmocka_unit_test(test_stops_at_damage),
        cmocka_unit_test(test_order_of_snapshots),
        cmocka_unit_test(test_offsets_of_snapshots),
        cmocka_unit_test(test_registers_of_snapshots),
        cmocka_unit_test(test_dense_snapshots),
        cmocka_unit_test(test_many_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
