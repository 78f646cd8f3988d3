/* Tests of isa/a64_system.h: what system and exception instructions name, and the names of registers. */
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

static void test_names(void **state)
{
    static const struct {
        uint16_t number;
        const char *name;
    } cases[] = {
        {NUMBER(2, 0, 0, 2, 2), "MDSCR_EL1"},
        {NUMBER(3, 0, 0, 0, 0), "MIDR_EL1"},
        {NUMBER(3, 0, 2, 0, 0), "TTBR0_EL1"},
        {NUMBER(3, 0, 4, 0, 1), "ELR_EL1"},
        {NUMBER(3, 0, 5, 2, 0), "ESR_EL1"},
        {NUMBER(3, 0, 13, 0, 4), "TPIDR_EL1"},
        {NUMBER(3, 3, 4, 2, 0), "NZCV"},
        {NUMBER(3, 3, 4, 2, 1), "DAIF"},
        {NUMBER(3, 3, 4, 4, 0), "FPCR"},
        {NUMBER(3, 3, 4, 4, 1), "FPSR"},
        {NUMBER(3, 3, 13, 0, 2), "TPIDR_EL0"},
        {NUMBER(3, 3, 13, 0, 3), "TPIDRRO_EL0"},
        {NUMBER(3, 3, 14, 0, 2), "CNTVCT_EL0"},
        {NUMBER(3, 6, 5, 2, 0), "ESR_EL3"},
        {NUMBER(3, 3, 15, 2, 1), "S3_3_C15_C2_1"},
        {NUMBER(0, 0, 0, 0, 0), "S0_0_C0_C0_0"},
        {NUMBER(3, 7, 15, 15, 7), "S3_7_C15_C15_7"},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        char name[A64_SYSTEM_NAME_MAX];
        assert_ptr_equal(a64_system_register_name(cases[i].number, name), name);
        assert_string_equal(name, cases[i].name);
    }
}

/* All numbers have a name, and those of the table are found: it is in order. */
static void test_all_numbers(void **state)
{
    unsigned named = 0;
    for (unsigned number = 0; number <= UINT16_MAX; number++) {
        char name[A64_SYSTEM_NAME_MAX];
        a64_system_register_name((uint16_t)number, name);
        assert_in_range(strlen(name), 3, A64_SYSTEM_NAME_MAX - 1);
        named += name[0] != 'S' || name[1] < '0' || name[1] > '3';
    }
    assert_int_equal(named, 101);
}

static void test_shorthands(void **state)
{
    assert_true(a64_is_svc(0xd4000001) && a64_is_svc(0xd41fffe1));
    assert_false(a64_is_svc(0xd4000002) || a64_is_svc(0xd4200001));
    assert_true(a64_is_dc_zero(0xd50b7423) && a64_is_dc_zero(0xd50b749f));                  /* dc zva, dc gzva */
    assert_false(a64_is_dc_zero(0xd50b7460) || a64_is_dc_zero(0xd50b7e24));                 /* dc gva, dc civac */
    assert_true(a64_is_store_exclusive(0x88057c20) && a64_is_store_exclusive(0xc8259d06));  /* stxr, stlxp */
    assert_false(a64_is_store_exclusive(0x885f7c20) || a64_is_store_exclusive(0x889ffc20)); /* ldxr, stlr */
    assert_false(a64_is_store_exclusive(0x48207cc4));                                       /* casp */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),       cmocka_unit_test(test_others_are_none), cmocka_unit_test(test_names),
        cmocka_unit_test(test_all_numbers), cmocka_unit_test(test_shorthands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
