/* Tests of isa/a64_operands.h: registers that instructions of each group read and write, checked by hand. */
#include "check.h"
#include "isa/a64_operands.h"

#define B(n) ((uint32_t)1 << (n))
#define LR   B(30)

typedef struct expectation {
    uint32_t op;
    a64_regs reads, writes;
    const char *text;
} expectation;

static void check(const expectation *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        a64_operands o;
        a64_operands_of(cases[i].op, &o);
        if (o.reads.x != cases[i].reads.x || o.reads.v != cases[i].reads.v || o.reads.p != cases[i].reads.p ||
            o.writes.x != cases[i].writes.x || o.writes.v != cases[i].writes.v || o.writes.p != cases[i].writes.p)
            fail_msg("%s: reads %x %x %x, writes %x %x %x", cases[i].text, o.reads.x, o.reads.v, o.reads.p, o.writes.x,
                     o.writes.v, o.writes.p);
        assert_int_equal(o.memory.access, A64_NO_ACCESS);
        assert_int_equal(o.memory.size, 0);
    }
}

static void test_integer(void **state)
{
    static const expectation cases[] = {
        {0x910043e0, {A64_SP, 0, 0}, {B(0), 0, 0}, "add x0, sp, #16"},
        {0x6b031041, {B(2) | B(3), 0, 0}, {B(1), 0, A64_NZCV}, "subs w1, w2, w3, lsl #4"},
        {0xf10000bf, {B(5), 0, 0}, {0, 0, A64_NZCV}, "cmp x5, #0"},
        {0x2b22c43f, {B(1) | B(2), 0, 0}, {0, 0, A64_NZCV}, "cmn w1, w2, sxtw #1"},
        {0x8b2163ff, {A64_SP | B(1), 0, 0}, {A64_SP, 0, 0}, "add sp, sp, x1"},
        {0xba020020, {B(1) | B(2), 0, A64_NZCV}, {B(0), 0, A64_NZCV}, "adcs x0, x1, x2"},
        {0x9a020020, {B(1) | B(2), 0, A64_NZCV}, {B(0), 0, 0}, "adc x0, x1, x2"},
        {0xfa441862, {B(3), 0, A64_NZCV}, {0, 0, A64_NZCV}, "ccmp x3, #4, #2, ne"},
        {0xfa441062, {B(3) | B(4), 0, A64_NZCV}, {0, 0, A64_NZCV}, "ccmp x3, x4, #2, ne"},
        {0x1a9f0020, {B(1), 0, A64_NZCV}, {B(0), 0, 0}, "csel w0, w1, wzr, eq"},
        {0x9b020c20, {B(1) | B(2) | B(3), 0, 0}, {B(0), 0, 0}, "madd x0, x1, x2, x3"},
        {0x9bc27c20, {B(1) | B(2), 0, 0}, {B(0), 0, 0}, "umulh x0, x1, x2"},
        {0xf2a24687, {B(7), 0, 0}, {B(7), 0, 0}, "movk x7, #4660, lsl #16"},
        {0xd2800027, {0, 0, 0}, {B(7), 0, 0}, "mov x7, #1"},
        {0xb3780c20, {B(0) | B(1), 0, 0}, {B(0), 0, 0}, "bfi x0, x1, #8, #4"},
        {0xd3482c20, {B(1), 0, 0}, {B(0), 0, 0}, "ubfx x0, x1, #8, #4"},
        {0x93c21c20, {B(1) | B(2), 0, 0}, {B(0), 0, 0}, "extr x0, x1, x2, #7"},
        {0xf2401d49, {B(10), 0, 0}, {B(9), 0, A64_NZCV}, "ands x9, x10, #0xff"},
        {0xaa0a03e9, {B(10), 0, 0}, {B(9), 0, 0}, "mov x9, x10"},
        {0xb0000003, {0, 0, 0}, {B(3), 0, 0}, "adrp x3, #4096"},
        {0xdac103e1, {B(1) | A64_SP, 0, 0}, {B(1), 0, 0}, "pacia x1, sp"},
        {0x9adf3020, {B(1) | A64_SP, 0, 0}, {B(0), 0, 0}, "pacga x0, x1, sp"},
        {0x9ac213e0, {B(2) | A64_SP, 0, 0}, {B(0), 0, 0}, "irg x0, sp, x2"},
        {0xba018485, {B(4), 0, A64_NZCV}, {0, 0, A64_NZCV}, "rmif x4, #3, #5"},
        {0x9ac24c20, {B(1) | B(2), 0, 0}, {B(0), 0, 0}, "crc32x w0, w1, x2"},
        {0xdac00020, {B(1), 0, 0}, {B(0), 0, 0}, "rbit x0, x1"},
        {0xdac18bfe, {B(15) | B(16) | B(17), 0, 0}, {B(17), 0, 0}, "pacia171615"},
    };
    check(cases, TL_COUNT(cases));
}

static void test_branches(void **state)
{
    static const expectation cases[] = {
        {0x14000004, {0, 0, 0}, {0, 0, 0}, "b #16"},
        {0x97ffffff, {0, 0, 0}, {LR, 0, 0}, "bl #-4"},
        {0x54000041, {0, 0, A64_NZCV}, {0, 0, 0}, "b.ne #8"},
        {0xb400005f, {0, 0, 0}, {0, 0, 0}, "cbz xzr, #8"},
        {0x372fff03, {B(3), 0, 0}, {0, 0, 0}, "tbnz w3, #5, #-32"},
        {0xd61f0200, {B(16), 0, 0}, {0, 0, 0}, "br x16"},
        {0xd63f0220, {B(17), 0, 0}, {LR, 0, 0}, "blr x17"},
        {0xd65f03c0, {LR, 0, 0}, {0, 0, 0}, "ret"},
        {0xd65f0bff, {LR | A64_SP, 0, 0}, {0, 0, 0}, "retaa"},
        {0xd71f083f, {B(1) | A64_SP, 0, 0}, {0, 0, 0}, "braa x1, sp"},
        {0xd69f03e0, {0, 0, 0}, {0, 0, 0}, "eret"},
        {0xd4000001, {0, 0, 0}, {0, 0, 0}, "svc #0"},
        {0x00000007, {0, 0, 0}, {0, 0, 0}, "udf #7"},
    };
    check(cases, TL_COUNT(cases));
}

static void test_system(void **state)
{
    static const expectation cases[] = {
        {0xd53bd040, {0, 0, 0}, {B(0), 0, 0}, "mrs x0, TPIDR_EL0"},
        {0xd53b4400, {0, 0, A64_FPCR}, {B(0), 0, 0}, "mrs x0, FPCR"},
        {0xd51b4201, {B(1), 0, 0}, {0, 0, A64_NZCV}, "msr NZCV, x1"},
        {0xd51b4421, {B(1), 0, 0}, {0, 0, A64_FPSR}, "msr FPSR, x1"},
        {0xd50342df, {0, 0, 0}, {0, 0, 0}, "msr DAIFSet, #2"},
        {0xd50b7423, {B(3), 0, 0}, {0, 0, 0}, "dc zva, x3"},
        {0xd508751f, {0, 0, 0}, {0, 0, 0}, "ic iallu"},
        {0xd503233f, {LR | A64_SP, 0, 0}, {LR, 0, 0}, "paciasp"},
        {0xd50320ff, {LR, 0, 0}, {LR, 0, 0}, "xpaclri"},
        {0xd503211f, {B(16) | B(17), 0, 0}, {B(17), 0, 0}, "pacia1716"},
        {0xd503213f, {0, 0, 0}, {0, 0, 0}, "hint #9"},
        {0xd5031001, {B(1), 0, 0}, {0, 0, 0}, "wfet x1"},
        {0xd500401f, {0, 0, A64_NZCV}, {0, 0, A64_NZCV}, "cfinv"},
        {0xd52b7421, {0, 0, 0}, {B(1), 0, 0}, "sysl x1, #3, c7, c4, #1"},
        {0xd54eae94, {B(20) | B(21), 0, 0}, {0, 0, 0}, "sysp #6, c10, c14, #4, x20, x21"},
        {0xd560080a, {0, 0, 0}, {B(10) | B(11), 0, 0}, "mrrs x10, x11, S0_0_C0_C8_0"},
    };
    check(cases, TL_COUNT(cases));
}

static void test_simd(void **state)
{
    static const expectation cases[] = {
        {0x1e622820, {0, B(1) | B(2), 0}, {0, B(0), 0}, "fadd d0, d1, d2"},
        {0x1f020c20, {0, B(1) | B(2) | B(3), 0}, {0, B(0), 0}, "fmadd s0, s1, s2, s3"},
        {0x1e602028, {0, B(1), 0}, {0, 0, A64_NZCV}, "fcmp d1, #0.0"},
        {0x1e22b423, {0, B(1) | B(2), A64_NZCV}, {0, 0, A64_NZCV}, "fccmp s1, s2, #3, lt"},
        {0x1e23bc41, {0, B(2) | B(3), A64_NZCV}, {0, B(1), 0}, "fcsel s1, s2, s3, lt"},
        {0x9e660020, {0, B(1), 0}, {B(0), 0, 0}, "fmov x0, d1"},
        {0x9eaf0041, {B(2), B(1), 0}, {0, B(1), 0}, "fmov v1.d[1], x2"},
        {0x1e380020, {0, B(1), 0}, {B(0), 0, 0}, "fcvtzs w0, s1"},
        {0x9e620020, {B(1), 0, 0}, {0, B(0), 0}, "scvtf d0, x1"},
        {0x1e7e0020, {0, B(1), 0}, {B(0), 0, A64_NZCV}, "fjcvtzs w0, d1"},
        {0x4ea29420, {0, B(0) | B(1) | B(2), 0}, {0, B(0), 0}, "mla v0.4s, v1.4s, v2.4s"},
        {0x4f3f1820, {0, B(0) | B(1) | B(15), 0}, {0, B(0), 0}, "fmla v0.8h, v1.8h, v15.h[7]"},
        {0x4fbf9820, {0, B(1) | B(31), 0}, {0, B(0), 0}, "fmul v0.4s, v1.4s, v31.s[3]"},
        {0x6e621c20, {0, B(0) | B(1) | B(2), 0}, {0, B(0), 0}, "bsl v0.16b, v1.16b, v2.16b"},
        {0x6f00e400, {0, 0, 0}, {0, B(0), 0}, "movi v0.2d, #0"},
        {0x4f001420, {0, B(0), 0}, {0, B(0), 0}, "orr v0.4s, #1"},
        {0x0e073c20, {0, B(1), 0}, {B(0), 0, 0}, "umov w0, v1.b[3]"},
        {0x4e040c20, {B(1), 0, 0}, {0, B(0), 0}, "dup v0.4s, w1"},
        {0x4e0c1c40, {B(2), B(0), 0}, {0, B(0), 0}, "mov v0.s[1], w2"},
        {0x4e0223e0, {0, B(31) | B(0) | B(2), 0}, {0, B(0), 0}, "tbl v0.16b, { v31.16b, v0.16b }, v2.16b"},
        {0x4e021020, {0, B(0) | B(1) | B(2), 0}, {0, B(0), 0}, "tbx v0.16b, { v1.16b }, v2.16b"},
        {0x4e212820, {0, B(0) | B(1), 0}, {0, B(0), 0}, "xtn2 v0.16b, v1.8h"},
        {0x0e212820, {0, B(1), 0}, {0, B(0), 0}, "xtn v0.8b, v1.8h"},
        {0x4f3d1420, {0, B(0) | B(1), 0}, {0, B(0), 0}, "ssra v0.4s, v1.4s, #3"},
        {0x5f7d0420, {0, B(1), 0}, {0, B(0), 0}, "sshr d0, d1, #3"},
        {0x4e284820, {0, B(0) | B(1), 0}, {0, B(0), 0}, "aese v0.16b, v1.16b"},
        {0xce628020, {0, B(0) | B(1) | B(2), 0}, {0, B(0), 0}, "sha512h q0, q1, v2.2d"},
        {0xce020c20, {0, B(1) | B(2) | B(3), 0}, {0, B(0), 0}, "eor3 v0.16b, v1.16b, v2.16b, v3.16b"},
        {0x4eb1b820, {0, B(1), 0}, {0, B(0), 0}, "addv s0, v1.4s"},
    };
    check(cases, TL_COUNT(cases));
}

static void test_sve(void **state)
{
    static const expectation cases[] = {
        {0x04800440, {0, B(0) | B(2), B(1)}, {0, B(0), 0}, "add z0.s, p1/m, z0.s, z2.s"},
        {0x04835c40, {0, B(0) | B(2) | B(3), B(7)}, {0, B(0), 0}, "mla z0.s, p7/m, z2.s, z3.s"},
        {0x04a20020, {0, B(1) | B(2), 0}, {0, B(0), 0}, "add z0.s, z1.s, z2.s"},
        {0x04812440, {0, B(2), B(1)}, {0, B(0), 0}, "uaddv d0, p1, z2.s"},
        {0x2484a861, {0, B(3) | B(4), B(2)}, {0, 0, B(1) | A64_NZCV}, "cmpeq p1.s, p2/z, z3.s, z4.s"},
        {0x25a21c20, {B(1) | B(2), 0, 0}, {0, 0, B(0) | A64_NZCV}, "whilelo p0.s, x1, x2"},
        {0x25a26431, {B(1) | B(2), 0, 0}, {0, 0, B(9) | A64_NZCV}, "whilelt pn9.s, x1, x2, vlx4"},
        {0x2550cc80, {0, 0, B(3) | B(4)}, {0, 0, A64_NZCV}, "ptest p3, p4.b"},
        {0x2518f041, {0, 0, B(2) | A64_FFR}, {0, 0, B(1)}, "rdffr p1.b, p2/z"},
        {0x252c9000, {0, 0, 0}, {0, 0, A64_FFR}, "setffr"},
        {0x04a0e3e0, {0, 0, 0}, {B(0), 0, 0}, "cntw x0"},
        {0x0430e3e5, {B(5), 0, 0}, {B(5), 0, 0}, "incb x5"},
        {0x043f57ff, {A64_SP, 0, 0}, {A64_SP, 0, 0}, "addvl sp, sp, #-1"},
        {0x25044a71, {0, 0, B(2) | B(3) | B(4)}, {0, 0, B(1)}, "sel p1.b, p2, p3.b, p4.b"},
        {0x25b72110, {B(8) | B(23), 0, A64_NZCV}, {0, 0, A64_NZCV}, "ctermne w8, w23"},
    };
    check(cases, TL_COUNT(cases));
}

static void test_sme(void **state)
{
    static const expectation cases[] = {
        {0x80844461, {0, B(3) | B(4), B(1) | B(2) | A64_ZA}, {0, 0, A64_ZA}, "fmopa za1.s, p1/m, p2/m, z3.s, z4.s"},
        {0xc0cc8020, {0, B(1), A64_ZT0}, {0, B(0), 0}, "luti2 z0.b, zt0, z1[2]"},
        {0xc1a41811,
         {B(8), B(0) | B(1) | B(4) | B(5), A64_ZA},
         {0, 0, A64_ZA},
         "add za.s[w8, 1, vgx2], { z0.s, z1.s }, { z4.s, z5.s }"},
        {0xc0480001, {0, 0, 0}, {0, 0, A64_ZT0}, "zero { zt0 }"},
        {0xc0060444, {B(12), 0, A64_ZA}, {0, B(4) | B(5) | B(6) | B(7), 0}, "mov { z4.b - z7.b }, za0h.b[w12, 8:11]"},
    };
    check(cases, TL_COUNT(cases));
}

/* For any word, the structure is filled, with values in their ranges. */
static void test_any_word(void **state)
{
    uint32_t op = 1;
    for (unsigned i = 0; i < 2000000; i++) {
        op = op * 1664525u + 1013904223u;
        a64_operands o;
        a64_operands_of(op, &o);
        const a64_memory *m = &o.memory;
        assert_true(m->access <= A64_PREFETCHES && m->mode <= A64_MODE_VECTOR && m->atomic <= A64_FILL);
        assert_true(m->extend <= A64_SXTX && m->shift <= 4 && m->registers <= 8 && m->size <= 64);
        assert_true(m->base <= A64_BASE_PC || m->base == A64_NO_REG);
        assert_true(m->index < 32 || m->index == A64_NO_REG);
        assert_true(!((o.reads.p | o.writes.p) & ~((A64_ZT0 << 1) - 1)));
        assert_true(m->access != A64_NO_ACCESS || m->size == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integer),  cmocka_unit_test(test_branches), cmocka_unit_test(test_system),
        cmocka_unit_test(test_simd),     cmocka_unit_test(test_sve),      cmocka_unit_test(test_sme),
        cmocka_unit_test(test_any_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
