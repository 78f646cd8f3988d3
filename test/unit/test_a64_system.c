/* Tests of isa/a64_system.h: operands of system and exception instructions, and the names of registers. */
#include "check.h"
#include "isa/a64_system.h"

#define NUMBER A64_SYSTEM_NUMBER

static void test_kinds(void **state)
{
    static const struct {
        uint32_t op;
        a64_system_kind kind;
        uint8_t gpr, value;
        uint16_t number;
    } cases[] = {
        {0xd53bd040, A64_MRS, 0, 0, NUMBER(3, 3, 13, 0, 2)},          /* mrs x0, TPIDR_EL0 */
        {0xd51b421f, A64_MSR, A64_NO_REG, 0, NUMBER(3, 3, 4, 2, 0)},  /* msr NZCV, xzr */
        {0xd50342df, A64_MSR_IMM, A64_NO_REG, 2, 3 << 3 | 6},         /* msr DAIFSet, #2 */
        {0xd50b7423, A64_DC, 3, 0, NUMBER(1, 3, 7, 4, 1)},            /* dc zva, x3 */
        {0xd50b7e24, A64_DC, 4, 0, NUMBER(1, 3, 7, 14, 1)},           /* dc civac, x4 */
        {0xd508751f, A64_IC, A64_NO_REG, 0, NUMBER(1, 0, 7, 5, 0)},   /* ic iallu */
        {0xd50b7525, A64_IC, 5, 0, NUMBER(1, 3, 7, 5, 1)},            /* ic ivau, x5 */
        {0xd508871f, A64_TLBI, A64_NO_REG, 0, NUMBER(1, 0, 8, 7, 0)}, /* tlbi vmalle1 */
        {0xd5087806, A64_AT, 6, 0, NUMBER(1, 0, 7, 8, 0)},            /* at s1e1r, x6 */
        {0xd50bb220, A64_SYS, 0, 0, NUMBER(1, 3, 11, 2, 1)},          /* sys #3, c11, c2, #1, x0 */
        {0xd52b7421, A64_SYS, 1, 0, NUMBER(1, 3, 7, 4, 1)},           /* sysl x1, #3, c7, c4, #1 */
        {0xd503201f, A64_HINT, A64_NO_REG, 0, 0},                     /* nop */
        {0xd503213f, A64_HINT, A64_NO_REG, 0, 9},                     /* hint #9 */
        {0xd50321bf, A64_HINT, A64_NO_REG, 0, 13},                    /* hint #13 */
        {0xd5032fff, A64_HINT, A64_NO_REG, 0, 127},                   /* hint #127 */
        {0xd5033bbf, A64_BARRIER, A64_NO_REG, 11, 5},                 /* dmb ish */
        {0xd5033fdf, A64_BARRIER, A64_NO_REG, 15, 6},                 /* isb */
        {0xd5031001, A64_WAIT, 1, 0, 0},                              /* wfet x1 */
        {0xd500401f, A64_FLAG_OP, A64_NO_REG, 0, 0},                  /* cfinv */
        {0xd4000001, A64_SVC, A64_NO_REG, 0, 0},                      /* svc #0 */
        {0xd41fffe1, A64_SVC, A64_NO_REG, 0, 65535},                  /* svc #65535 */
        {0xd4000022, A64_HVC, A64_NO_REG, 0, 1},                      /* hvc #1 */
        {0xd4000023, A64_SMC, A64_NO_REG, 0, 1},                      /* smc #1 */
        {0xd4207d00, A64_BRK, A64_NO_REG, 0, 1000},                   /* brk #1000 */
        {0xd4400020, A64_HLT, A64_NO_REG, 0, 1},                      /* hlt #1 */
        {0xd4a00001, A64_DCPS, A64_NO_REG, 0, 0},                     /* dcps1 */
        {0xd69f03e0, A64_ERET, A64_NO_REG, 0, 0},                     /* eret */
        {0xd69f0bff, A64_ERET, A64_NO_REG, 0, 0},                     /* eretaa */
        {0x00000007, A64_UDF, A64_NO_REG, 0, 7},                      /* udf #7 */
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        a64_system s;
        assert_true(a64_system_of(cases[i].op, &s));
        assert_int_equal(s.kind, cases[i].kind);
        assert_int_equal(s.gpr, cases[i].gpr);
        assert_int_equal(s.value, cases[i].value);
        assert_int_equal(s.number, cases[i].number);
    }
}

static void test_others_are_none(void **state)
{
    static const uint32_t others[] = {0xd61f0200, 0x910043e0, 0xd65f03c0, 0x14000000, 0x00010000, 0xd4000000};
    for (size_t i = 0; i < TL_COUNT(others); i++) {
        a64_system s;
        memset(&s, 0x55, sizeof s);
        assert_false(a64_system_of(others[i], &s));
        assert_int_equal(s.kind, A64_NOT_SYSTEM);
        assert_int_equal(s.gpr, A64_NO_REG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_others_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
