/* Tests of writing instruction streams and snapshots: every token, which instructions carry a pc, events without a
 * place in a file, and the index of a compressed one. */
#include "check.h"
#include "insn_fixture.h"

#include "format/xtrace/xtrace_write.h"
#include "output_check.h"

static const tl_format writer_only = {
    .name = "xtrace",
    .event_writer = &(const tl_event_writer){.size = sizeof(xtrace_writer),
                                             .create = xtrace_create,
                                             .accept = xtrace_accept,
                                             .write = xtrace_write,
                                             .finish = xtrace_finish,
                                             .discard = xtrace_discard},
};

static void expect_bytes(fixture *f, const void *expected, size_t n)
{
    fixture_finish(f);
    assert_int_equal(f->size, n);
    assert_memory_equal(f->bytes, expected, n);
    fixture_fini(f);
}

/* The tokens of a stream of instructions only: "P" for one with its pc, "i" for one without. */
static void expect_tokens(fixture *f, const char *expected)
{
    size_t at = 0;
    fixture_finish(f);
    for (const char *t = expected; *t; t++) {
        assert_true(at < f->size);
        assert_int_equal(f->bytes[at] & 0x3f, *t == 'P' ? 0x09 : 0x01);
        at += *t == 'P' ? 13 : 5;
    }
    assert_int_equal(at, f->size);
    fixture_fini(f);
}

static void test_pc_where_a_block_begins(void **state)
{
    static const uint32_t op[] = {NOP, LDR, B_EQ, NOP, CALL, NOP, SVC, NOP, NOP, RETURN, NOP};
    fixture f;
    insn_start(&f, &writer_only);
    uint64_t pc = 0x400000;
    for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
        put_insn(&f, pc, op[i], 0);
        pc += op[i] == CALL ? 8 : 4; /* even the next instruction in memory begins a block after a branch */
    }
    put_insn(&f, 0x500000, NOP, 0); /* elsewhere for no visible reason */
    put_insn(&f, 0x500004, NOP, 1); /* the level does not matter */
    expect_tokens(&f, "PiiPiPiPiiPPi");
}

static void test_pcs_wrap(void **state)
{
    fixture f;
    insn_start(&f, &writer_only);
    put_insn(&f, UINT64_MAX - 3, NOP, 0);
    put_insn(&f, 0, NOP, 0);
    expect_tokens(&f, "Pi");
}

static void test_unknown_pcs(void **state)
{
    fixture f;
    insn_start(&f, &writer_only);
    put_insn_without_pc(&f, NOP);
    put_insn_without_pc(&f, RETURN);
    put_insn(&f, 0x400000, NOP, 0);
    put_insn(&f, 0x400004, NOP, 0);
    put_insn_without_pc(&f, NOP); /* a reader finds it */
    put_insn(&f, 0x40000c, NOP, 0);
    fixture_finish(&f);
    assert_int_equal(fixture_dropped(&f, "instructions of unknown pc"), 1);
    assert_int_equal(f.size, 5 + 5 + 13 + 5 + 5 + 13);
    fixture_fini(&f);
}

static void test_levels(void **state)
{
    fixture f;
    insn_start(&f, &writer_only);
    for (unsigned level = 0; level < 4; level++)
        put_insn(&f, 0x400000 + 4 * level, NOP, level);
    expect_bytes(
        &f, "\x09\x00\x00\x40\0\0\0\0\0\x1f\x20\x03\xd5\x41\x1f\x20\x03\xd5\x81\x1f\x20\x03\xd5\xc1\x1f\x20\x03\xd5",
        28);
}

static void test_values(void **state)
{
    static const struct {
        uint32_t cls;
        uint8_t token;
    } cases[] = {{XTRACE_CLASS_STXR, 0x03},    {XTRACE_CLASS_MRS, 0x0b}, {XTRACE_CLASS_SVC_ARG, 0x13},
                 {XTRACE_CLASS_SVC_RET, 0x1b}, {XTRACE_CLASS_DC, 0x23},  {XTRACE_CLASS_TARGET, 0x2b},
                 {XTRACE_CLASS_FLAGS, 0x1c},   {XTRACE_CLASS_TIME, 0x07}};
    uint8_t expected[sizeof cases / sizeof *cases * 9];
    fixture f;
    insn_start(&f, &writer_only);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_state(&f, cases[i].cls, 0x0123456789abcdef - i);
        expected[9 * i] = cases[i].token;
        tl_store64(expected + 9 * i + 1, 0x0123456789abcdef - i, false);
    }
    expect_bytes(&f, expected, sizeof expected);
}

static void test_registers_and_buffers(void **state)
{
    uint8_t expected[257 + 9 + 2 * 16 + 9] = {0x0c};
    fixture f;
    insn_start(&f, &writer_only);
    put_all_gpr(&f, 0xffff000000000000);
    for (size_t i = 0; i < 32; i++)
        tl_store64(expected + 1 + 8 * i, 0xffff000000000000 + i, false);
    const tl_value none = {.type = TL_LIST};
    const tl_value v[] = {{.type = TL_LIST, .n = 2},        {.type = TL_STRUCT, .n = 2},
                          {.type = TL_HEX, .as.u = 0x1000}, {.type = TL_U64, .as.u = 5},
                          {.type = TL_STRUCT, .n = 2},      {.type = TL_HEX, .as.u = 0x2000},
                          {.type = TL_U64, .as.u = 0x1234}};
    insn_event(&f, XTRACE_CLASS_VEC, 0, 0, 0, v, 7);
    insn_event(&f, XTRACE_CLASS_VEC, 0, 0, 0, &none, 1);
    uint8_t *p = expected + 257;
    p[0] = p[9 + 32] = 0x24;
    tl_store64(p + 1, 2, false);
    tl_store64(p + 9, 0x1000, false);
    tl_store64(p + 17, 5, false);
    tl_store64(p + 25, 0x2000, false);
    tl_store64(p + 33, 0x1234, false);
    expect_bytes(&f, expected, sizeof expected);
}

/* Every size of tokens, and sizes without one. */
static void test_sizes_of_accesses(void **state)
{
    char *data = pattern(100000);
    fixture f;
    insn_start(&f, &writer_only);
    for (unsigned k = 0; k < 16; k++)
        put_mem(&f, k & 1, 0x1000 * k, data, 1u << k);
    put_mem(&f, false, 0xffffffffffffffff, data, 3); /* the second part wraps around */
    put_mem(&f, true, 0x100000, data, 70000);
    put_mem(&f, true, 0, data, 0);
    fixture_finish(&f);
    const uint8_t *p = f.bytes;
    for (unsigned k = 0; k < 16; k++) {
        assert_int_equal(p[0], k << 4 | (k & 1) << 3 | 2);
        assert_int_equal(tl_load64(p + 1, false), 0x1000 * k);
        assert_memory_equal(p + 9, data, (size_t)1 << k);
        p += 9 + ((size_t)1 << k);
    }
    static const struct {
        uint8_t token;
        uint32_t at, n;
    } parts[] = {{0x12, 0, 2},       {0x02, 2, 1},      {0xfa, 0, 32768},  {0xfa, 32768, 32768}, {0xca, 65536, 4096},
                 {0x8a, 69632, 256}, {0x6a, 69888, 64}, {0x5a, 69952, 32}, {0x4a, 69984, 16}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(p[0], parts[i].token);
        assert_int_equal(tl_load64(p + 1, false), (i < 2 ? UINT64_MAX : 0x100000) + parts[i].at);
        assert_memory_equal(p + 9, data + parts[i].at, parts[i].n);
        p += 9 + parts[i].n;
    }
    assert_int_equal(p - f.bytes, f.size);
    assert_int_equal(fixture_dropped(&f, "events without their values"), 1);
    fixture_fini(&f);
    free(data);
}

static void test_several_tracks(void **state)
{
    insn_refuses_tracks(&writer_only, "xtrace-set");
}

static void test_snapshots_alone(void **state)
{
    fixture f;
    insn_start(&f, &writer_only);
    put_snapshot(&f, 0, 0x100, 0x7ff0);
    put_snapshot(&f, 1000, 0x200, 0x7fe0);
    fixture_finish(&f);
    assert_int_equal(f.size, 24 + 2 * 1424);
    assert_memory_equal(f.bytes, "TLTX\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
    const uint8_t *p = f.bytes + 24 + 1424;
    assert_int_equal(tl_load64(p, false), 0);
    assert_int_equal(tl_load64(p + 8, false), 2000);
    assert_int_equal(tl_load64(p + 16, false), 1000);
    assert_int_equal(tl_load64(p + 24, false), 1000);
    assert_int_equal(tl_load64(p + 32 + 8 * 30, false), 0x21e);
    assert_int_equal(tl_load64(p + 32 + 8 * 31, false), 0x7fe0);
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(p[288 + 16 * i + 15], i);
    for (size_t i = 0; i < 17; i++) {
        assert_int_equal(tl_load16(p + 800 + 16 * i, false), i * 0x101);
        assert_memory_equal(p + 800 + 16 * i + 2, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 14);
    }
    for (size_t i = 0; i < 11; i++)
        assert_int_equal(tl_load64(p + 1328 + 8 * i, false), UINT64_C(0x100) << i);
    assert_int_equal(tl_load64(p + 1416, false), 128);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_more_snapshots_than_are_held_back(void **state)
{
    fixture f;
    const size_t n = (16u << 20) / 1424 + 100;
    tl_error e;
    insn_start(&f, &writer_only);
    for (size_t i = 0; i < n; i++)
        put_snapshot(&f, i, i, 0x7ff0);
    must(fixture_write(&f, &e), &e);
    put_insn(&f, 0x400000, NOP, 0); /* too late */
    assert_int_equal(fixture_write(&f, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "xtrace-set");
    assert_int_equal(tl_output_bytes(f.out), 24 + n * 1424);
    fixture_fini(&f);
}

static void test_snapshots_of_a_stream(void **state)
{
    fixture f;
    insn_start(&f, &writer_only);
    put_snapshot(&f, 0, 0x100, 0x7ff0);
    put_snapshot(&f, 0, 0x100, 0x7ff0);
    put_insn(&f, 0x400000, NOP, 0);
    put_snapshot(&f, 1, 0x100, 0x7ff0);
    put_insn(&f, 0x400004, NOP, 0);
    fixture_finish(&f);
    assert_int_equal(f.size, 18);
    assert_int_equal(fixture_dropped(&f, "snapshots, which"), 3);
    fixture_fini(&f);
}

static void test_snapshots_of_other_shapes(void **state)
{
    fixture f;
    tl_error e;
    insn_start(&f, &writer_only);
    put_snapshot(&f, 0, 0x100, 0x7ff0);
    must(fixture_write(&f, &e), &e);
    put_snapshot(&f, 1, 0x100, 0x7ff0);
    f.batch.v[f.batch.nval - 1].as.u = 256; /* the vectors are too short */
    must(fixture_write(&f, &e), &e);
    put_snapshot(&f, 1, 0x100, 0x7ff0);
    f.batch.v[4].n = 31;
    must(fixture_write(&f, &e), &e);
    const tl_value v[] = {{.type = TL_U64}};
    insn_event(&f, XTRACE_CLASS_SNAPSHOT, 0, 0, 0, v, 1);
    fixture_finish(&f);
    assert_int_equal(f.size, 24 + 1424);
    assert_int_equal(fixture_dropped(&f, "snapshots of another shape"), 3);
    fixture_fini(&f);
}

/* Names must be right: readers rely on them. */
static void test_name_says_what(void **state)
{
    fixture f;
    tl_error e;
    insn_init(&f);
    f.path = "part/a.xsnapshot.bin.zst";
    assert_int_equal(insn_create(&f, &writer_only, &e), 0);
    for (uint32_t i = 0; i < XTRACE_CLASSES; i++)
        assert_int_equal(xtrace_accept(f.writer, &f.trace.cls[i]),
                         i == XTRACE_CLASS_SNAPSHOT ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP);
    fixture_fini(&f);

    insn_init(&f);
    f.path = "a.xinsndata.bin";
    assert_int_equal(insn_create(&f, &writer_only, &e), 0);
    put_snapshot(&f, 0, 0x100, 0x7ff0);
    fixture_finish(&f);
    assert_int_equal(f.size, 0);
    assert_int_equal(fixture_dropped(&f, "snapshots, which"), 1);
    fixture_fini(&f);
}

static void test_nothing(void **state)
{
    fixture f;
    insn_start(&f, &writer_only);
    expect_bytes(&f, "", 0);
}

static void test_other_traces(void **state)
{
    static const tl_class call = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"};
    static const tl_class valueless = {.kind = TL_MEM, .role = TL_ROLE_LOAD, .aux = TL_AUX_SIZE, .name = "access"};
    fixture f;
    tl_error e;
    insn_init(&f);
    xtrace_writer w = {0};
    assert_int_equal(xtrace_accept(&w, &call), TL_ACCEPT_DROP);
    assert_int_equal(xtrace_accept(&w, &valueless), TL_ACCEPT_DROP);
    for (uint32_t i = 0; i < XTRACE_CLASSES; i++)
        assert_int_equal(xtrace_accept(&w, &f.trace.cls[i]), TL_ACCEPT_KEEP);
    assert_int_equal(tl_trace_set_classes(&f.trace, &call, 1, NULL), 0);
    assert_int_equal(insn_create(&f, &writer_only, &e), TL_EUNSUPPORTED);
    fixture_fini(&f);
}

/* 3 MiB of a stream, compressed: cut where instructions carry their pc, at the places in the index. */
static void test_index(void **state)
{
    fixture f;
    insn_init(&f);
    tl_error e;
    const int r = tl_output_open(&f.out, "out.zst", false, TL_ZSTD, 0, &e);
    if (r == TL_EUNSUPPORTED) {
        fixture_fini(&f);
        skip_because("this build has no libzstd");
    }
    assert_int_equal(insn_create(&f, &writer_only, &e), 0);
    enum { LOOP = 1000, LOOPS = 700 }; /* 5010 bytes each round */
    for (uint32_t k = 0; k < LOOPS; k++)
        for (uint32_t i = 0; i < LOOP; i++)
            put_insn(&f, 0x400000 + 4 * i, i + 1 < LOOP ? NOP : JUMP, k & 1);
    must(fixture_write(&f, &e), &e);
    must(xtrace_finish(f.writer, &e), &e);
    const uint64_t bytes = tl_output_bytes(f.out);
    check_finish(f.out);
    f.out = NULL;
    assert_int_equal(bytes, LOOPS * (5 * LOOP + 8));

    size_t n;
    uint8_t *file = (uint8_t *)scratch_read("out.zst", &n);
    assert_int_equal(tl_load32(file + n - 4, false), 0x8f92eab1);
    const uint32_t frames = tl_load32(file + n - 9, false); /* the last is the note */
    assert_int_equal(frames, 4 + 1);
    const uint8_t *table = file + n - 9 - 8 * frames, *note = table - 8 - (8 + 16 + 4 * 40);
    assert_int_equal(tl_load32(note, false), 0x184d2a5b);
    assert_int_equal(tl_load32(note + 4, false), 16 + 4 * 40);
    assert_memory_equal(note + 8, "TLXI\1\0\0\0\4\0\0\0\0\0\0\0", 16);
    uint64_t offset = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *p = note + 24 + 40 * i;
        const uint64_t insns = tl_load64(p + 8, false);
        assert_int_equal(tl_load64(p, false), offset);
        assert_int_equal(offset, insns / LOOP * (5 * LOOP + 8));
        assert_int_equal(tl_load64(p + 16, false), (insns / LOOP + 1) / 2 * LOOP);
        assert_int_equal(tl_load64(p + 24, false), 0x400000);
        assert_int_equal(tl_load64(p + 32, false), 1);
        offset += tl_load32(table + 8 * i + 4, false);
    }
    assert_int_equal(offset, bytes);
    free(file);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pc_where_a_block_begins),
        cmocka_unit_test(test_pcs_wrap),
        cmocka_unit_test(test_unknown_pcs),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_registers_and_buffers),
        cmocka_unit_test(test_sizes_of_accesses),
        cmocka_unit_test(test_several_tracks),
        cmocka_unit_test(test_snapshots_alone),
        cmocka_unit_test(test_more_snapshots_than_are_held_back),
        cmocka_unit_test(test_snapshots_of_a_stream),
        cmocka_unit_test(test_snapshots_of_other_shapes),
        cmocka_unit_test(test_name_says_what),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_other_traces),
        cmocka_unit_test_setup_teardown(test_index, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
