/* Tests of entries for DynamoRIO's tools: those around all others, branches, memory, system calls. */
#include "insn_fixture.h"

#include "format/drmemtrace/drmemtrace_layout.h"

extern const tl_format tl_format_drmemtrace;

typedef struct entry {
    unsigned type, size;
    uint64_t value;
} entry;

/* Entries before the first instruction, and after the last one, of a file of thread 7. */
enum { HEAD = 7, TAIL = 2 };

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
    static const entry head[] = {{25, 0, 5}, {28, 12, 5}, {28, 9, 0x608},     {22, 0, 7},
                                 {24, 0, 7}, {28, 2, 1},  {28, 3, UINT64_MAX}};
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
                                     {10, 4, 0x400000},
                                     {0, 8, 0x1008},
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
        {47, 4, B_EQ},     {49, 4, 0x400000},                     /* not taken */
        {47, 4, CBZ},      {48, 4, 0x400004},                     /* taken */
        {47, 4, CALL},     {14, 4, 0x40000c},                     /* direct */
        {47, 4, BLR},      {28, 29, 0x500000}, {15, 4, 0x400014}, /* from the next instruction */
        {47, 4, BR},       {28, 29, 0x777},    {12, 4, 0x500000}, /* from the trace */
        {47, 4, JUMP},     {11, 4, 0x500010},  {47, 4, RETURN},   {28, 29, 0x500020},
        {16, 4, 0x500018}, {47, 4, NOP},       {10, 4, 0x500020},
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

/* Interrupts, unknown pcs and the end hide the target of a branch. */
static void test_branches_to_nowhere(void **state)
{
    static const char data[8];
    static const entry expected[] = {{47, 4, B_EQ},       {13, 4, 0x400000}, {47, 4, RETURN},
                                     {16, 4, 0x80000000}, {47, 4, BR},       {12, 4, 0x400100},
                                     {0, 8, 0x1000},      {47, 4, CBZ},      {13, 4, 0x400200}};
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_insn(&f, 0x400000, B_EQ, 0);
    put_insn(&f, 0x80000000, RETURN, 1);
    put_insn_without_pc(&f, NOP);
    put_mem(&f, false, 0x1000, data, 8); /* of the one left out */
    put_insn(&f, 0x400100, BR, 0);
    put_mem(&f, false, 0x1000, data, 8); /* nonsense */
    put_insn(&f, 0x400200, CBZ, 0);
    EXPECT(&f, expected);
    assert_int_equal(fixture_dropped(&f, "instructions without pc"), 1);
    assert_int_equal(fixture_dropped(&f, "branches of which"), 4);
    fixture_fini(&f);
}

static void test_system_calls(void **state)
{
    static const entry expected[] = {{47, 4, SVC},      {10, 4, 0x400000}, {28, 25, 64}, {47, 4, SVC},
                                     {10, 4, 0x400004}, {28, 25, 63},      {47, 4, NOP}, {10, 4, 0x400008}};
    fixture f;
    insn_start(&f, &tl_format_drmemtrace);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 1); /* of nothing */
    put_insn(&f, 0x400000, SVC, 0);
    for (uint64_t i = 0; i < 7; i++)
        put_state(&f, XTRACE_CLASS_SVC_ARG, 64 + i);
    put_insn(&f, 0x400004, SVC, 0);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 63);
    put_insn(&f, 0x400008, NOP, 0);
    put_state(&f, XTRACE_CLASS_SVC_ARG, 1);
    EXPECT(&f, expected);
    assert_int_equal(fixture_dropped(&f, "arguments of system calls"), 8);
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
        cmocka_unit_test(test_system_calls),
        cmocka_unit_test(test_several_tracks),
        cmocka_unit_test(test_a_trace_without_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
