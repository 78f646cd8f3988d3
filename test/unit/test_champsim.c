/* Tests of the records for ChampSim: registers, branches, memory accesses, and what cannot be stored. */
#include "insn_fixture.h"

#include "format/champsim/champsim_registers.h"

extern const tl_format tl_format_champsim;

typedef struct expected_operands {
    uint32_t op;
    unsigned destination[2], source[4];
} expected_operands;

/* Derived by hand from the Arm manual and docs/format/champsim.md. */
static const expected_operands operand_cases[] = {
    {NOP, {0, 0}, {0, 0, 0, 0}},
    {ADD, {32, 0}, {32, 0, 0, 0}},
    {0x910003fd, {61, 0}, {6, 0, 0, 0}},    /* mov x29, sp */
    {0xf1000441, {33, 25}, {34, 0, 0, 0}},  /* subs x1, x2, #1 */
    {0xf100045f, {25, 0}, {34, 0, 0, 0}},   /* cmp x2, #1 */
    {0xd2800020, {32, 0}, {0, 0, 0, 0}},    /* mov x0, #1 */
    {0xf2a00020, {32, 0}, {32, 0, 0, 0}},   /* movk x0, #1, lsl #16 */
    {0x10000000, {32, 0}, {0, 0, 0, 0}},    /* adr x0, . */
    {0x92400041, {33, 0}, {34, 0, 0, 0}},   /* and x1, x2, #1 */
    {0xf240005f, {25, 0}, {34, 0, 0, 0}},   /* tst x2, #1 */
    {0xb3400041, {33, 0}, {34, 33, 0, 0}},  /* bfxil x1, x2, #0, #1 */
    {0x93c20041, {33, 0}, {34, 34, 0, 0}},  /* ror x1, x2, #0 */
    {0x8b030041, {33, 0}, {34, 35, 0, 0}},  /* add x1, x2, x3 */
    {0x8b2363ff, {6, 0}, {6, 35, 0, 0}},    /* add sp, sp, x3 */
    {0xeb03005f, {25, 0}, {34, 35, 0, 0}},  /* cmp x2, x3 */
    {0x9a030041, {33, 0}, {34, 35, 25, 0}}, /* adc x1, x2, x3 */
    {0xfa430040, {25, 0}, {34, 35, 25, 0}}, /* ccmp x2, x3, #0, eq */
    {0xfa430840, {25, 0}, {34, 25, 0, 0}},  /* ccmp x2, #3, #0, eq */
    {0x9a830041, {33, 0}, {34, 35, 25, 0}}, /* csel x1, x2, x3, eq */
    {0x9ac30841, {33, 0}, {34, 35, 0, 0}},  /* udiv x1, x2, x3 */
    {0xdac00c41, {33, 0}, {34, 0, 0, 0}},   /* rev x1, x2 */
    {0x9b031041, {33, 0}, {34, 35, 36, 0}}, /* madd x1, x2, x3, x4 */
    {LDR, {33, 0}, {34, 0, 0, 0}},
    {0xf94003e1, {33, 0}, {6, 0, 0, 0}},   /* ldr x1, [sp] */
    {0xf8408441, {33, 34}, {34, 0, 0, 0}}, /* ldr x1, [x2], #8 */
    {0xf8636841, {33, 0}, {34, 35, 0, 0}}, /* ldr x1, [x2, x3] */
    {0x58000001, {33, 0}, {0, 0, 0, 0}},   /* ldr x1, . */
    {0xa9bf7bfd, {6, 0}, {6, 61, 62, 0}},  /* stp x29, x30, [sp, #-16]! */
    {0xa8c17bfd, {61, 62}, {6, 0, 0, 0}},  /* ldp x29, x30, [sp], #16: the base is beyond two */
    {0x3dc00041, {65, 0}, {34, 0, 0, 0}},  /* ldr q1, [x2] */
    {0xc8a37c41, {33, 0}, {34, 35, 0, 0}}, /* cas x3, x1, [x2] */
    {0xf8230041, {33, 0}, {34, 35, 0, 0}}, /* ldadd x3, x1, [x2] */
    {0xf9800040, {0, 0}, {0, 0, 0, 0}},    /* prfm pldl1keep, [x2] */
    {0x1e632841, {65, 0}, {66, 67, 0, 0}}, /* fadd d1, d2, d3 */
    {0x04e30041, {65, 0}, {66, 67, 0, 0}}, /* add z1.d, z2.d, z3.d */
    {0xd53bd040, {32, 0}, {0, 0, 0, 0}},   /* mrs x0, tpidr_el0 */
    {0xd51bd040, {0, 0}, {32, 0, 0, 0}},   /* msr tpidr_el0, x0 */
    {SVC, {0, 0}, {0, 0, 0, 0}},
    {JUMP, {26, 0}, {0, 0, 0, 0}},
    {B_EQ, {26, 0}, {26, 25, 0, 0}},
    {CBZ, {26, 0}, {26, 35, 0, 0}},
    {0xb400005f, {26, 0}, {26, 25, 0, 0}}, /* cbz xzr: it has to read a register */
    {CALL, {26, 6}, {26, 6, 0, 0}},
    {BLR, {26, 6}, {26, 6, 49, 0}},
    {BR, {26, 0}, {49, 0, 0, 0}},
    {RETURN, {26, 6}, {6, 0, 0, 0}},
};

static void test_operands(void **state)
{
    for (size_t i = 0; i < sizeof operand_cases / sizeof *operand_cases; i++) {
        const expected_operands *c = &operand_cases[i];
        const champsim_operands o = champsim_operands_of(c->op);
        for (int k = 0; k < 2; k++)
            if (o.destination[k] != c->destination[k])
                fail_msg("%08x: destination %d is %u, expected %u", c->op, k, o.destination[k], c->destination[k]);
        for (int k = 0; k < 4; k++)
            if (o.source[k] != c->source[k])
                fail_msg("%08x: source %d is %u, expected %u", c->op, k, o.source[k], c->source[k]);
    }
}

/* ChampSim's own rules for branches, from the registers read (SP, IP, flags, others) and written. */
static const char *kind_of(const champsim_operands *o)
{
    bool reads_sp = false, reads_ip = false, reads_flags = false, reads_other = false, writes_sp = false,
         writes_ip = false;
    for (int i = 0; i < 4; i++) {
        const unsigned r = o->source[i];
        reads_sp |= r == 6;
        reads_ip |= r == 26;
        reads_flags |= r == 25;
        reads_other |= r != 0 && r != 6 && r != 25 && r != 26;
    }
    for (int i = 0; i < 2; i++) {
        writes_sp |= o->destination[i] == 6;
        writes_ip |= o->destination[i] == 26;
    }
    if (!writes_ip)
        return "none";
    if (!reads_sp && !reads_flags && !reads_other && !writes_sp)
        return "direct";
    if (!reads_sp && !reads_ip && !reads_flags && reads_other && !writes_sp)
        return "indirect";
    if (!reads_sp && reads_ip && !writes_sp && (reads_flags || reads_other))
        return "conditional";
    if (reads_sp && reads_ip && !reads_flags && !reads_other && writes_sp)
        return "call";
    if (reads_sp && reads_ip && !reads_flags && reads_other && writes_sp)
        return "indirect call";
    if (reads_sp && !reads_ip && writes_sp)
        return "return";
    return "other";
}

static void test_branches_are_what_they_are(void **state)
{
    static const struct {
        uint32_t op;
        const char *kind;
    } cases[] = {{JUMP, "direct"},
                 {B_EQ, "conditional"},
                 {CBZ, "conditional"},
                 {0x3600005f, "conditional"},
                 {0xb400005f, "conditional"},
                 {CALL, "call"},
                 {BLR, "indirect call"},
                 {0xd63f03e0, "indirect call"},
                 {BR, "indirect"},
                 {0xd61f03e0, "indirect"},
                 {RETURN, "return"},
                 {0xd65f0020, "return"},
                 {SVC, "none"},
                 {0xd69f03e0, "none"},
                 {ADD, "none"},
                 {LDR, "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const champsim_operands o = champsim_operands_of(cases[i].op);
        assert_string_equal(kind_of(&o), cases[i].kind);
        assert_int_equal(o.is_branch, strcmp(cases[i].kind, "none") != 0);
        assert_int_equal(o.is_conditional, strcmp(cases[i].kind, "conditional") == 0);
    }
}

static const uint8_t *record(const fixture *f, size_t i)
{
    assert_true((i + 1) * 64 <= f->size);
    return f->bytes + i * 64;
}

static uint64_t word(const uint8_t *p, size_t offset)
{
    return tl_load64(p + offset, false);
}

static void test_record(void **state)
{
    fixture f;
    insn_start(&f, &tl_format_champsim);
    put_insn(&f, 0x400000, LDR, 0);
    put_mem(&f, false, 0x1000, "01234567", 8);
    put_insn(&f, 0x400004, STR, 0);
    put_mem(&f, true, 0xffff000000001008, "01234567", 8);
    fixture_finish(&f);
    assert_int_equal(f.size, 128);
    const uint8_t *p = record(&f, 0);
    assert_int_equal(word(p, 0), 0x400000);
    assert_memory_equal(p + 8, "\0\0\x21\0\x22\0\0\0", 8);
    assert_int_equal(word(p, 16), 0);
    assert_int_equal(word(p, 24), 0);
    assert_int_equal(word(p, 32), 0x1000);
    assert_int_equal(word(p, 40), 0);
    p = record(&f, 1);
    assert_memory_equal(p + 8, "\0\0\0\0\x22\x21\0\0", 8);
    assert_int_equal(word(p, 16), 0xffff000000001008);
    assert_int_equal(word(p, 32), 0);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_taken(void **state)
{
    fixture f;
    insn_start(&f, &tl_format_champsim);
    put_insn(&f, 0x400000, B_EQ, 0); /* not taken */
    put_insn(&f, 0x400004, B_EQ, 0); /* taken */
    put_insn(&f, 0x40000c, JUMP, 0);
    put_insn(&f, 0x400014, RETURN, 0);
    put_insn(&f, 0x400018, B_EQ, 0); /* with unknown target */
    put_insn_without_pc(&f, NOP);
    put_insn(&f, 0x40001c, B_EQ, 0); /* the last one */
    fixture_finish(&f);
    static const char taken[] = {0, 1, 1, 1, 0, 0};
    assert_int_equal(f.size, 64 * sizeof taken);
    for (size_t i = 0; i < sizeof taken; i++) {
        assert_int_equal(record(&f, i)[8], 1);
        assert_int_equal(record(&f, i)[9], taken[i]);
    }
    assert_int_equal(fixture_dropped(&f, "instructions without pc"), 1);
    fixture_fini(&f);
}

static void test_more_accesses_than_places(void **state)
{
    fixture f;
    insn_start(&f, &tl_format_champsim);
    put_mem(&f, false, 0x500, "x", 1); /* belongs to nothing */
    put_insn_without_pc(&f, LDR);
    put_mem(&f, false, 0x600, "x", 1); /* as little */
    put_insn(&f, 0x400000, LDR, 0);
    for (uint64_t i = 0; i < 6; i++)
        put_mem(&f, false, 0x1000 + 2 * i, "x", 1);
    for (uint64_t i = 0; i < 5; i++)
        put_mem(&f, true, 0x2000 + 2 * i, "x", 1);
    put_insn(&f, 0x400004, NOP, 0);
    fixture_finish(&f);
    assert_int_equal(f.size, 128);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(word(record(&f, 0), 32 + 8 * i), 0x1000 + 2 * i);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(word(record(&f, 0), 16 + 8 * i), 0x2000 + 2 * i);
    assert_int_equal(word(record(&f, 1), 32), 0);
    assert_int_equal(fixture_dropped(&f, "loads beyond 4"), 2);
    assert_int_equal(fixture_dropped(&f, "stores beyond 2"), 3);
    assert_int_equal(fixture_dropped(&f, "instructions without pc"), 1);
    fixture_fini(&f);
}

/* What an instruction accesses in one piece, as a pair, has one address. */
static void test_accesses_side_by_side(void **state)
{
    fixture f;
    insn_start(&f, &tl_format_champsim);
    put_insn(&f, 0x400000, LDR, 0);
    put_mem(&f, false, 0x1038, "abcdefgh", 8);
    put_mem(&f, false, 0x1040, "abcdefgh", 8); /* in the next cache line, too */
    put_mem(&f, true, 0x2000, "abcd", 4);
    put_mem(&f, false, 0x1048, "abcdefgh", 8);
    put_mem(&f, true, 0x2004, "abcd", 4);
    put_mem(&f, false, 0x1000, "abcdefgh", 8);
    put_mem(&f, true, 0x1000, "abcd", 4); /* of another kind */
    put_insn(&f, 0x400004, LDR, 0);
    put_mem(&f, false, 0x1008, "abcdefgh", 8); /* of another instruction */
    fixture_finish(&f);
    assert_int_equal(word(record(&f, 0), 16), 0x2000);
    assert_int_equal(word(record(&f, 0), 24), 0x1000);
    assert_int_equal(word(record(&f, 0), 32), 0x1038);
    assert_int_equal(word(record(&f, 0), 40), 0x1000);
    assert_int_equal(word(record(&f, 0), 48), 0);
    assert_int_equal(word(record(&f, 1), 32), 0x1008);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_several_tracks(void **state)
{
    insn_refuses_tracks(&tl_format_champsim, "-t");
}

static void test_a_trace_without_instructions(void **state)
{
    static const tl_class call = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"};
    fixture f;
    tl_error e;
    insn_init(&f);
    assert_int_equal(tl_trace_set_classes(&f.trace, &call, 1, NULL), 0);
    assert_int_equal(insn_create(&f, &tl_format_champsim, &e), TL_EUNSUPPORTED);
    assert_string_equal(e.message, "champsim: the trace has no instructions of A64");
    fixture_fini(&f);
}

static void test_accepts(void **state)
{
    fixture f;
    insn_start(&f, &tl_format_champsim);
    assert_int_equal(tl_format_champsim.event_writer->accept(f.writer, &f.trace.cls[XTRACE_CLASS_INSN]),
                     TL_ACCEPT_KEEP);
    assert_int_equal(tl_format_champsim.event_writer->accept(f.writer, &f.trace.cls[XTRACE_CLASS_LOAD]),
                     TL_ACCEPT_KEEP);
    assert_int_equal(tl_format_champsim.event_writer->accept(f.writer, &f.trace.cls[XTRACE_CLASS_STORE]),
                     TL_ACCEPT_KEEP);
    assert_int_equal(tl_format_champsim.event_writer->accept(f.writer, &f.trace.cls[XTRACE_CLASS_FLAGS]),
                     TL_ACCEPT_DROP);
    /* The next instruction tells where a branch went. */
    assert_int_equal(tl_format_champsim.event_writer->accept(f.writer, &f.trace.cls[XTRACE_CLASS_TARGET]),
                     TL_ACCEPT_IGNORE);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_branches_are_what_they_are),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_more_accesses_than_places),
        cmocka_unit_test(test_accesses_side_by_side),
        cmocka_unit_test(test_several_tracks),
        cmocka_unit_test(test_a_trace_without_instructions),
        cmocka_unit_test(test_accepts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
