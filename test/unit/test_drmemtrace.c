/* Tests of entries for DynamoRIO's tools: those around all others, branches, memory, system calls. */
#include "insn_fixture.h"

#include "format/drmemtrace/drmemtrace_layout.h"

extern const tl_format tl_format_drmemtrace;

typedef struct entry {
    unsigned type, size;
    uint64_t value;
} entry;

/* Entries before the first instruction, and after the last one, of a file of thread 7. */
enum { HEAD = 10, TAIL = 2 };

static entry entry_of(const fixture *f, size_t i)
{
    const uint8_t *p = f->bytes + 12 * i;
    assert_true(12 * (i + 1) <= f->size);
    return (entry){tl_load16(p, false), tl_load16(p + 2, false), tl_load64(p + 4, false)};
}

static void expect_at(const fixture *f, size_t at, const entry *expected, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const entry got = entry_of(f, at + i), *want = &expected[i];
        if (got.type != want->type || got.size != want->size || got.value != want->value)
            fail_msg("entry %zu is %u %u %llx, expected %u %u %llx", at + i, got.type, got.size,
                     (unsigned long long)got.value, want->type, want->size, (unsigned long long)want->value);
    }
}

/* Completes the file and compares all entries between head and tail. */
static void expect(fixture *f, const entry *expected, size_t n)
{
    static const entry tail[] = {{23, 0, 7}, {26, 0, 0}};
    fixture_finish(f);
    expect_at(f, HEAD, expected, n);
    expect_at(f, HEAD + n, tail, TAIL);
    assert_int_equal(f->size, 12 * (HEAD + n + TAIL));
}

#define EXPECT(f, e) expect((f), (e), sizeof(e) / sizeof *(e))

static void test_head_and_tail(void **state)
{
    static const entry head[] = {{25, 0, 7},   {28, 12, 7}, {28, 9, 0x608}, {22, 0, 7}, {24, 0, 7},
                                 {28, 10, 64}, {28, 20, 0}, {28, 18, 4096}, {28, 2, 1}, {28, 3, UINT64_MAX}};
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    expect(&f, NULL, 0);
    expect_at(&f, 0, head, HEAD);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_ids(void **state)
{
    static const struct {
        bool has_pid, has_tid;
        int64_t pid, tid;
        uint64_t out_pid, out_tid;
    } cases[] = {{true, true, 5, 7, 5, 7},
                 {false, true, 0, 7, 7, 7},
                 {false, true, 0, 0, 1u << 22, 1u << 22},
                 {false, false, 0, 0, 1u << 22, 1u << 22},
                 {true, true, -1, -1, 1u << 22, 1u << 22}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        insn_start(&f, &tl_format_drmemtrace);
        tl_track *t = &f.trace.track[0];
        t->has_pid = cases[i].has_pid;
        t->has_tid = cases[i].has_tid;
        t->pid = cases[i].pid;
        t->tid = cases[i].tid;
        put_insn(&f, 0x400000, NOP, 0);
        fixture_finish(&f);
        assert_int_equal(entry_of(&f, 3).value, cases[i].out_tid);
        assert_int_equal(entry_of(&f, 4).value, cases[i].out_pid);
        assert_int_equal(entry_of(&f, HEAD + 2).value, cases[i].out_tid);
        fixture_fini(&f);
    }
}

static void test_instructions_and_memory(void **state)
{
    static const entry expected[] = {{47, 4, LDR},
                                     {10, 4, 0x400000},
                                     {0, 8, 0x1000},
                                     {47, 4, STR},
                                     {10, 4, 0x400004},
                                     {1, 16, 0xffff000000002000},
                                     {1, 1, 5},
                                     /* known already */
                                     {28, 14, 1},
                                     {10, 4, 0x400000},
                                     {0, 8, 0x1008},
                                     {28, 14, 2},
                                     /* written again */
                                     {47, 4, NOP},
                                     {10, 4, 0x400000}};
    static const char data[16];
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_mem(&f, false, 0x500, data, 1); /* belongs to nothing */
    put_insn(&f, 0x400000, LDR, 0);
    put_mem(&f, false, 0x1000, data, 8);
    put_insn(&f, 0x400004, STR, 0);
    put_mem(&f, true, 0xffff000000002000, data, 16);
    put_mem(&f, true, 5, data, 1);
    put_insn(&f, 0x400000, LDR, 0);
    put_mem(&f, false, 0x1008, data, 8);
    put_insn(&f, 0x400000, NOP, 0);
    EXPECT(&f, expected);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_large_accesses(void **state)
{
    static const entry expected[] = {
        {47, 4, STR}, {10, 4, 0x400000}, {1, 32768, 0x1000}, {1, 37232, 0x9000}, {1, 65535, 0}};
    static const char data[70000];
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_insn(&f, 0x400000, STR, 0);
    put_mem(&f, true, 0x1000, data, 70000);
    put_mem(&f, true, 0, data, 65535);
    EXPECT(&f, expected);
    fixture_fini(&f);
}

static void test_branches(void **state)
{
    static const entry expected[] = {
        {47, 4, B_EQ},      {49, 4, 0x400000},                     /* not taken */
        {47, 4, CBZ},       {48, 4, 0x400004},                     /* taken */
        {47, 4, CALL},      {14, 4, 0x40000c},                     /* direct */
        {47, 4, BLR},       {28, 29, 0x500000}, {15, 4, 0x400014}, /* from the next instruction */
        {47, 4, BR},        {28, 29, 0x777},    {12, 4, 0x500000}, /* from the trace */
        {28, 14, 1},        {47, 4, JUMP},      {11, 4, 0x500010}, {47, 4, RETURN},
        {28, 29, 0x500020}, {16, 4, 0x500018},  {47, 4, NOP},      {10, 4, 0x500020},
    };
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_insn(&f, 0x400000, B_EQ, 0);
    put_insn(&f, 0x400004, CBZ, 0);
    put_insn(&f, 0x40000c, CALL, 0);
    put_insn(&f, 0x400014, BLR, 0);
    put_insn(&f, 0x500000, BR, 0);
    put_state(&f, XTRACE_CLASS_TARGET, 0x777);
    put_insn(&f, 0x500010, JUMP, 0);
    put_insn(&f, 0x500018, RETURN, 0);
    put_insn(&f, 0x500020, NOP, 0);
    EXPECT(&f, expected);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

/* Interrupts, unknown pcs and the end hide the target of a branch, which is left out; gaps are marked. */
static void test_branches_to_nowhere(void **state)
{
    static const char data[8];
    static const entry expected[] = {{47, 4, NOP},      {10, 4, 0x3ffffc}, {28, 14, 1},  {47, 4, NOP},
                                     {10, 4, 0x400300}, {28, 14, 2},       {47, 4, NOP}, {10, 4, 0x400500}};
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_insn_without_pc(&f, NOP); /* no gap: nothing is before it */
    put_insn(&f, 0x3ffffc, NOP, 0);
    put_insn(&f, 0x400000, B_EQ, 0);
    put_insn(&f, 0x80000000, RETURN, 1);
    put_insn_without_pc(&f, NOP);
    put_mem(&f, false, 0x1000, data, 8); /* of the one left out */
    put_insn(&f, 0x400100, BR, 0);
    put_mem(&f, false, 0x1000, data, 8); /* nonsense */
    put_insn(&f, 0x400300, NOP, 0);
    put_insn(&f, 0x400500, NOP, 0); /* from there? */
    put_insn(&f, 0x400504, CBZ, 0);
    EXPECT(&f, expected);
    assert_int_equal(fixture_dropped(&f, "instructions without pc"), 2);
    assert_int_equal(fixture_dropped(&f, "branches of which"), 4);
    fixture_fini(&f);
}

/* What an instruction accesses in one piece, up to 65535 bytes, also with the order of accesses in between. */
static void test_accesses_side_by_side(void **state)
{
    static const entry expected[] = {{47, 4, LDR},       {10, 4, 0x400000}, {0, 16, 0x1000},   {0, 8, 0x2000},
                                     {1, 8, 0x2008},     {47, 4, LDR},      {10, 4, 0x400004}, {0, 8, 0x2010},
                                     {0, 65528, 0x3000}, {0, 8, 0x12ff8}};
    static const char data[65528];
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_insn(&f, 0x400000, LDR, 0);
    put_mem(&f, false, 0x1000, data, 8);
    put_state(&f, XTRACE_CLASS_TIME, 5);
    put_mem(&f, false, 0x1008, data, 8);
    put_mem(&f, false, 0x2000, data, 8);
    put_mem(&f, true, 0x2008, data, 8); /* another kind */
    put_insn(&f, 0x400004, LDR, 0);
    put_mem(&f, false, 0x2010, data, 8); /* of another instruction */
    put_mem(&f, false, 0x3000, data, 65528);
    put_mem(&f, false, 0x12ff8, data, 8);
    EXPECT(&f, expected);
    fixture_fini(&f);
}

static void test_caches(void **state)
{
    enum { DC_ZVA = 0xd50b7422, DC_CIVAC = 0xd50b7e22, IC_IVAU = 0xd50b7522, DC_ISW = 0xd5087642 };
    static const entry expected[] = {{47, 4, DC_ZVA},   {10, 4, 0x400000}, {1, 64, 0x1040},  {47, 4, DC_CIVAC},
                                     {10, 4, 0x400004}, {20, 64, 0x1048},  {47, 4, IC_IVAU}, {10, 4, 0x400008},
                                     {18, 64, 0x1048},  {47, 4, DC_ISW},   {10, 4, 0x40000c}};
    static const uint32_t ops[] = {DC_ZVA, DC_CIVAC, IC_IVAU, DC_ISW};
    static const char data[64];
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_state(&f, XTRACE_CLASS_DC, 8); /* of nothing */
    for (uint32_t i = 0; i < 4; i++) {
        put_insn(&f, 0x400000 + 4 * i, ops[i], 0);
        put_state(&f, XTRACE_CLASS_DC, 0x1048);
        if (i == 0)
            put_mem(&f, true, 0x1040, data, 64); /* said by the address already */
    }
    EXPECT(&f, expected);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void put_signal(fixture *f)
{
    put_all_gpr(f, 1);
    put_state(f, XTRACE_CLASS_FLAGS, 0);
}

/* A signal behind an instruction; at one that failed; behind a branch, as the trace says; and returns from handlers. */
static void test_signals(void **state)
{
    enum { UDF = 0x0000dead, B_EQ_BACK = 0x54ffffe0 /* -4 */ };
    static const entry expected[] = {{47, 4, ADD},
                                     {10, 4, 0x400000},
                                     {28, 0, 0x400004},
                                     {47, 4, SVC},
                                     {10, 4, 0x500000},
                                     {28, 2, 1},
                                     {28, 3, UINT64_MAX},
                                     {28, 25, 139},
                                     {28, 4, UINT64_C(0x10000008b)},
                                     {28, 1, 0x500004},
                                     {28, 0, 0x400004},
                                     {10, 4, 0x500000},
                                     {28, 2, 1},
                                     {28, 3, UINT64_MAX},
                                     {28, 25, 139},
                                     {28, 4, UINT64_C(0x10000008b)},
                                     {28, 1, 0x500004},
                                     {28, 41, LDR},
                                     {28, 0, 0x400004},
                                     {47, 4, NOP},
                                     {10, 4, 0x500000},
                                     {28, 14, 1},
                                     {47, 4, B_EQ_BACK},
                                     {48, 4, 0x400008},
                                     {28, 0, 0x400004},
                                     {47, 4, NOP},
                                     {10, 4, 0x500100},
                                     {28, 41, UDF},
                                     {28, 0, 0x500104},
                                     {10, 4, 0x500000}};
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_insn(&f, 0x400000, ADD, 0);
    put_signal(&f);
    put_insn(&f, 0x500000, SVC, 0);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 139);
    put_state(&f, XTRACE_CLASS_TARGET, 0x400004); /* and there is the next signal */
    put_signal(&f);
    put_insn(&f, 0x500000, SVC, 0);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 139);
    put_signal(&f);
    put_insn(&f, 0x400004, LDR, 0); /* without an access */
    put_signal(&f);
    put_insn(&f, 0x500000, NOP, 0);
    put_insn(&f, 0x400008, B_EQ_BACK, 0); /* longjmp, which is not seen here */
    put_state(&f, XTRACE_CLASS_TARGET, 0x400004);
    put_signal(&f);
    put_insn(&f, 0x500100, NOP, 0);
    put_insn(&f, 0x500104, UDF, 0);
    put_signal(&f);
    put_insn(&f, 0x500000, NOP, 0);
    EXPECT(&f, expected);
    assert_int_equal(fixture_dropped(&f, "instructions that failed"), 2);
    assert_int_equal(fixture_dropped(&f, "all_gpr"), 6);
    fixture_fini(&f);
}

/* Flags behind registers, with the next instruction where it is anyway: a level that is not recorded. */
static void test_interrupts(void **state)
{
    static const entry expected[] = {{47, 4, CBZ}, {49, 4, 0x400000}, {47, 4, NOP},     {10, 4, 0x400004},
                                     {28, 14, 1},  {47, 4, NOP},      {10, 4, 0x400100}};
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_insn(&f, 0x400000, CBZ, 0);
    put_signal(&f);
    put_insn(&f, 0x400004, NOP, 0);
    put_all_gpr(&f, 1); /* alone: no signal */
    put_insn(&f, 0x400100, NOP, 0);
    EXPECT(&f, expected);
    fixture_fini(&f);
}

static void test_system_calls(void **state)
{
    static const entry expected[] = {{47, 4, SVC},
                                     {10, 4, 0x400000},
                                     {28, 2, 1},
                                     {28, 3, UINT64_MAX},
                                     {28, 25, 64},
                                     {28, 4, UINT64_C(0x100000040)},
                                     {28, 6, 65},
                                     {28, 6, 66},
                                     {28, 2, 1},
                                     {28, 3, UINT64_MAX},
                                     {28, 4, UINT64_C(0x100000040)},
                                     {28, 7, UINT64_MAX - 1},
                                     {28, 30, 2},
                                     {47, 4, SVC},
                                     {10, 4, 0x400004},
                                     {28, 2, 1},
                                     {28, 3, UINT64_MAX},
                                     {28, 25, 63},
                                     {28, 4, UINT64_C(0x10000003f)},
                                     {28, 2, 1},
                                     {28, 3, UINT64_MAX},
                                     {47, 4, NOP},
                                     {10, 4, 0x400008}};
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 1); /* of nothing */
    put_insn(&f, 0x400000, SVC, 0);
    for (uint64_t i = 0; i < 3; i++)
        put_state(&f, XTRACE_CLASS_SVC_ARG, 64 + i);
    put_state(&f, XTRACE_CLASS_SVC_RET, UINT64_MAX - 1); /* ENOENT */
    put_state(&f, XTRACE_CLASS_SVC_ARG, 1);              /* too late */
    put_state(&f, XTRACE_CLASS_SVC_RET, 1);
    put_insn(&f, 0x400004, SVC, 0);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 63); /* and no result */
    put_insn(&f, 0x400008, NOP, 0);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 1);
    EXPECT(&f, expected);
    assert_int_equal(fixture_dropped(&f, "arguments of system calls"), 4);
    fixture_fini(&f);
}

/* The order of accesses is the time: at calls, and now and then, but not between a branch and its target. */
static void test_times(void **state)
{
    static const entry expected[] = {
        {47, 4, STR},      {10, 4, 0x400000}, {1, 1, 0x1000},      {28, 2, 1001},     {28, 3, UINT64_MAX},
        {47, 4, JUMP},     {11, 4, 0x400004}, {47, 4, NOP},        {10, 4, 0x40000c}, {47, 4, SVC},
        {10, 4, 0x400010}, {28, 2, 1501},     {28, 3, UINT64_MAX}, {28, 25, 64},      {28, 4, UINT64_C(0x100000040)}};
    static const char data[1];
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_insn(&f, 0x400000, STR, 0);
    put_state(&f, XTRACE_CLASS_TIME, 1000);
    put_mem(&f, true, 0x1000, data, 1);
    put_insn(&f, 0x400004, JUMP, 0);
    put_state(&f, XTRACE_CLASS_TIME, 9); /* never back */
    put_insn(&f, 0x40000c, NOP, 0);
    put_state(&f, XTRACE_CLASS_TIME, 1500);
    put_insn(&f, 0x400010, SVC, 0);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 64);
    EXPECT(&f, expected);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_several_tracks(void **state)
{
    insn_refuses_tracks(&tl_format_drmemtrace, "-t");
}

static void test_a_trace_without_instructions(void **state)
{
    static const tl_class call = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"};
    fixture f;
    tl_error e;
    insn_init(&f);
    assert_int_equal(tl_format_drmemtrace.event_writer->accept(NULL, &call), TL_ACCEPT_DROP);
    assert_int_equal(tl_trace_set_classes(&f.trace, &call, 1, NULL), 0);
    assert_int_equal(insn_create(&f, &tl_format_drmemtrace, &e), TL_EUNSUPPORTED);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_and_tail),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_instructions_and_memory),
        cmocka_unit_test(test_large_accesses),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_branches_to_nowhere),
        cmocka_unit_test(test_accesses_side_by_side),
        cmocka_unit_test(test_caches),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_system_calls),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_several_tracks),
        cmocka_unit_test(test_a_trace_without_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
