/* The built-in text of instructions. The expected text was written by hand from the syntax in the Arm Architecture
 * Reference Manual; test_a64_disasm.c compares with LLVM. */
#include "base/compiler.h"
#include "check.h"
#include "isa/a64_text.h"

typedef struct expected {
    uint32_t op;
    const char *text;
} expected;

static void check(const expected *list, size_t n, bool has_pc, uint64_t pc)
{
    char text[A64_TEXT_MAX];
    for (size_t i = 0; i < n; i++) {
        memset(text, '!', sizeof text);
        const size_t length = a64_text(list[i].op, has_pc, pc, text);
        assert_string_equal(text, list[i].text);
        assert_int_equal(length, strlen(text));
    }
}

static void test_immediate(void **state)
{
    static const expected list[] = {
        {0x9100bc20, "add x0, x1, #47"},
        {0x91000420, "add x0, x1, #1"},
        {0x91400420, "add x0, x1, #1, lsl #12"},
        {0xd10083ff, "sub sp, sp, #32"},
        {0x910003fd, "mov x29, sp"},
        {0x9100003f, "mov sp, x1"},
        {0x1100003f, "mov wsp, w1"},
        {0x91000020, "add x0, x1, #0"},
        {0xf100083f, "cmp x1, #2"},
        {0xb100083f, "cmn x1, #2"},
        {0x71000420, "subs w0, w1, #1"},
        {0x92401c20, "and x0, x1, #0xff"},
        {0xf27d003f, "tst x1, #0x8"},
        {0xb200c3e0, "mov x0, #72340172838076673"},
        {0xb24003e0, "orr x0, xzr, #0x1"},
        {0xd2800020, "mov x0, #1"},
        {0x92800000, "mov x0, #-1"},
        {0x12800000, "mov w0, #-1"},
        {0xd2a00020, "mov x0, #65536"},
        {0xd2a00000, "movz x0, #0, lsl #16"},
        {0xf2824680, "movk x0, #4660"},
        {0xf2c24680, "movk x0, #4660, lsl #32"},
        {0x13001c20, "sxtb w0, w1"},
        {0x93407c20, "sxtw x0, w1"},
        {0x53001c20, "uxtb w0, w1"},
        {0xd34cfc20, "lsr x0, x1, #12"},
        {0xd374cc20, "lsl x0, x1, #12"},
        {0x937ffc20, "asr x0, x1, #63"},
        {0xd3483c20, "ubfx x0, x1, #8, #8"},
        {0xb3780c20, "bfi x0, x1, #8, #4"},
        {0xb3483c20, "bfxil x0, x1, #8, #8"},
        {0xb3780fe0, "bfc x0, #8, #4"},
        {0x93c12020, "ror x0, x1, #8"},
        {0x93c22020, "extr x0, x1, x2, #8"},
    };
    check(list, TL_COUNT(list), true, 0x1000);
}

static void test_register(void **state)
{
    static const expected list[] = {
        {0x8b020020, "add x0, x1, x2"},
        {0x8b020c20, "add x0, x1, x2, lsl #3"},
        {0xcb0203e0, "neg x0, x2"},
        {0xeb02003f, "cmp x1, x2"},
        {0xab02003f, "cmn x1, x2"},
        {0x8b22c020, "add x0, x1, w2, sxtw"},
        {0x8b2263ff, "add sp, sp, x2"},
        {0x8b226fff, "add sp, sp, x2, lsl #3"},
        {0xeb22701f, "cmp x0, x2, uxtx #4"},
        {0xaa0203e0, "mov x0, x2"},
        {0xaa2203e0, "mvn x0, x2"},
        {0xea02003f, "tst x1, x2"},
        {0x8a22fc20, "bic x0, x1, x2, lsl #63"},
        {0x9a020020, "adc x0, x1, x2"},
        {0xda0203e0, "ngc x0, x2"},
        {0xfa421820, "ccmp x1, #2, #0, ne"},
        {0xfa421020, "ccmp x1, x2, #0, ne"},
        {0x9a820020, "csel x0, x1, x2, eq"},
        {0x1a9f17e0, "cset w0, eq"},
        {0xda9f13e0, "csetm x0, eq"},
        {0x9a811420, "cinc x0, x1, eq"},
        {0xda811420, "cneg x0, x1, eq"},
        {0x9a9fe7e0, "csinc x0, xzr, xzr, al"},
        {0x9b027c20, "mul x0, x1, x2"},
        {0x9b020c20, "madd x0, x1, x2, x3"},
        {0x9b22fc20, "smnegl x0, w1, w2"},
        {0x9b427c20, "smulh x0, x1, x2"},
        {0x9ac20820, "udiv x0, x1, x2"},
        {0x9ac22020, "lsl x0, x1, x2"},
        {0x9ac24c20, "crc32x w0, w1, x2"},
        {0xdac01020, "clz x0, x1"},
        {0xdac00c20, "rev x0, x1"},
        {0x5ac00820, "rev w0, w1"},
        {0xdac103e0, "pacia x0, sp"},
        {0xdac143e0, "xpaci x0"},
    };
    check(list, TL_COUNT(list), true, 0x1000);
}

static void test_memory(void **state)
{
    static const expected list[] = {
        {0xf9400420, "ldr x0, [x1, #8]"},          {0xf94003e0, "ldr x0, [sp]"},
        {0x39000420, "strb w0, [x1, #1]"},         {0x39800420, "ldrsb x0, [x1, #1]"},
        {0xb8404420, "ldr w0, [x1], #4"},          {0xf81f0c20, "str x0, [x1, #-16]!"},
        {0xf85f8020, "ldur x0, [x1, #-8]"},        {0xf8408820, "ldtr x0, [x1, #8]"},
        {0xf8626820, "ldr x0, [x1, x2]"},          {0xf8627820, "ldr x0, [x1, x2, lsl #3]"},
        {0xb862d820, "ldr w0, [x1, w2, sxtw #2]"}, {0x38627820, "ldrb w0, [x1, x2, lsl #0]"},
        {0x3dc00420, "ldr q0, [x1, #16]"},         {0xfd400420, "ldr d0, [x1, #8]"},
        {0xa9bf7bfd, "stp x29, x30, [sp, #-16]!"}, {0xa8c17bfd, "ldp x29, x30, [sp], #16"},
        {0x69410820, "ldpsw x0, x2, [x1, #8]"},    {0xad400820, "ldp q0, q2, [x1]"},
        {0xa8010820, "stnp x0, x2, [x1, #16]"},    {0x885ffc20, "ldaxr w0, [x1]"},
        {0xc8027c20, "stxr w2, x0, [x1]"},         {0x88dffc20, "ldar w0, [x1]"},
        {0xc8a27c20, "cas x2, x0, [x1]"},          {0x48227c24, "casp x2, x3, x4, x5, [x1]"},
        {0xb8220020, "ldadd w2, w0, [x1]"},        {0xf822003f, "stadd x2, [x1]"},
        {0x38e28020, "swpalb w2, w0, [x1]"},       {0xf8bfc020, "ldapr x0, [x1]"},
        {0xd9408020, "ldapur x0, [x1, #8]"},       {0xf9800020, "prfm pldl1keep, [x1]"},
    };
    check(list, TL_COUNT(list), true, 0x1000);
}

static void test_control(void **state)
{
    static const expected list[] = {
        {0xd65f03c0, "ret"},
        {0xd65f0020, "ret x1"},
        {0xd63f0020, "blr x1"},
        {0xd71f0be1, "braa xzr, x1"},
        {0xd69f03e0, "eret"},
        {0xd4000001, "svc #0"},
        {0xd4200020, "brk #0x1"},
        {0xd503201f, "nop"},
        {0xd503213f, "hint #9"},
        {0xd503245f, "bti c"},
        {0xd5033bbf, "dmb ish"},
        {0xd5033fdf, "isb"},
        {0xd5033f5f, "clrex"},
        {0xd50342df, "msr DAIFSet, #2"},
        {0xd53bd040, "mrs x0, TPIDR_EL0"},
        {0xd51bd040, "msr TPIDR_EL0, x0"},
        {0xd50b7420, "dc zva, x0"},
        {0xd508871f, "tlbi vmalle1"},
        {0x00000010, "udf #16"},
    };
    check(list, TL_COUNT(list), true, 0x1000);
}

static void test_places(void **state)
{
    static const expected at[] = {
        {0x14000004, "b 0x400010"},
        {0x97ffffff, "bl 0x3ffffc"},
        {0x54000040, "b.eq 0x400008"},
        {0xb4000040, "cbz x0, 0x400008"},
        {0x37180040, "tbnz w0, #3, 0x400008"},
        {0xb6180040, "tbz x0, #35, 0x400008"},
        {0x10000040, "adr x0, 0x400008"},
        {0xb0000000, "adrp x0, 0x401000"},
        {0x58000040, "ldr x0, 0x400008"},
        {0x1c000040, "ldr s0, 0x400008"},
        {0xd8000040, "prfm pldl1keep, 0x400008"},
    };
    static const expected nowhere[] = {
        {0x14000004, "b #16"},
        {0x97ffffff, "bl #-4"},
        {0xb0000000, "adrp x0, #4096"},
        {0x58000040, "ldr x0, #8"},
    };
    static const expected wrapped[] = {{0x14000004, "b 0xc"}, {0x17fffffe, "b 0xfffffffffffffff4"}};
    check(at, TL_COUNT(at), true, 0x400000);
    check(nowhere, TL_COUNT(nowhere), false, 0);
    check(wrapped, TL_COUNT(wrapped), true, UINT64_MAX - 3);
    uint64_t place = 7;
    assert_true(a64_text_place(0x90000000, 0x400fff, &place)); /* adrp ignores the low bits of its own address */
    assert_int_equal(place, 0x400000);
    assert_false(a64_text_place(0xd65f03c0, 0, &place));
}

/* Unknown, unallocated and unpredictable words are shown as such, with their class. */
static void test_unknown(void **state)
{
    static const expected list[] = {
        {0x1e652928, ".inst 0x1e652928 // simd"},   {0x04e900e7, ".inst 0x04e900e7 // sve"},
        {0xd5380620, ".inst 0xd5380620 // system"}, {0xa9400020, ".inst 0xa9400020 // load"}, /* ldp x0, x0, [x1] */
        {0xf8408421, ".inst 0xf8408421 // load"},                                             /* ldr x1, [x1], #8 */
    };
    check(list, TL_COUNT(list), true, 0x1000);
}

/* The text of any word, random or close to another, fits, is terminated, and is one line. */
static void test_any_word(void **state)
{
    uint64_t s = 1;
    size_t longest = 0;
    for (unsigned i = 0; i < 300000; i++) {
        char text[A64_TEXT_MAX];
        s = s * 6364136223846793005u + 1442695040888963407u;
        const size_t n = a64_text((uint32_t)(s >> 32), i & 1, s, text);
        assert_int_equal(n, strlen(text));
        assert_null(strpbrk(text, "\n\t"));
        longest = n > longest ? n : longest;
    }
    assert_in_range(longest, 30, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_immediate), cmocka_unit_test(test_register), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_control),   cmocka_unit_test(test_places),   cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_any_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
