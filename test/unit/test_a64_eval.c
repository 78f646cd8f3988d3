/* The effects of instructions on known registers; unknown ones stay unknown. */
#include "base/compiler.h"
#include "check.h"
#include "isa/a64_eval.h"

#define PC UINT64_C(0x400120)
#define N  UINT32_C(0x80000000)
#define Z  UINT32_C(0x40000000)
#define C  UINT32_C(0x20000000)

/* x1 = 100, x2 = 7, x3 = -1, sp = 0x8000, C set; all others unknown. */
static a64_state start(void)
{
    a64_state s = {.has_nzcv = true, .nzcv = C};
    a64_know(&s, 1, 100);
    a64_know(&s, 2, 7);
    a64_know(&s, 3, UINT64_MAX);
    a64_know(&s, 31, 0x8000);
    return s;
}

static void computes(void **state)
{
    static const struct {
        uint32_t op;
        uint64_t x0;
    } cases[] = {
        {0x8b020020, 107},                             /* add x0, x1, x2 */
        {0xcb020020, 93},                              /* sub x0, x1, x2 */
        {0x91001020, 104},                             /* add x0, x1, #4 */
        {0x910043e0, 0x8010},                          /* add x0, sp, #16 */
        {0xd2824680, 0x1234},                          /* mov x0, #0x1234 */
        {0x92800000, UINT64_MAX},                      /* mov x0, #-1 */
        {0x9b027c20, 700},                             /* mul x0, x1, x2 */
        {0x9ac20820, 14},                              /* udiv x0, x1, x2 */
        {0x9adf0820, 0},                               /* udiv x0, x1, xzr */
        {0xd37cec20, 1600},                            /* lsl x0, x1, #4 */
        {0x53027c60, 0x3fffffff},                      /* lsr w0, w3, #2 */
        {0x9a820020, 7},                               /* csel x0, x1, x2, eq */
        {0x9a822020, 100},                             /* csel x0, x1, x2, cs */
        {0x92400c20, 4},                               /* and x0, x1, #0xf */
        {0xdac01020, 57},                              /* clz x0, x1 */
        {0xdac01460, 63},                              /* cls x0, x3 */
        {0x10000040, PC + 8},                          /* adr x0, #8 */
        {0x90000020, (PC & ~UINT64_C(4095)) + 0x4000}, /* adrp x0, #0x4000 */
        {0x9bc37c60, UINT64_MAX - 1},                  /* umulh x0, x3, x3 */
        {0x9b437c60, 0},                               /* smulh x0, x3, x3 */
        {0x9a020020, 108},                             /* adc x0, x1, x2 */
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        a64_state s = start();
        a64_eval(&s, PC, cases[i].op, &(a64_seen){0});
        assert_true(s.known & 1);
        if (s.x[0] != cases[i].x0)
            fail_msg("%08x: 0x%llx, expected 0x%llx", (unsigned)cases[i].op, (unsigned long long)s.x[0],
                     (unsigned long long)cases[i].x0);
        assert_int_equal(s.x[1], 100);
    }
}

static void sets_flags(void **state)
{
    static const struct {
        uint32_t op, nzcv;
    } cases[] = {
        {0xeb02003f, C},     /* cmp x1, x2 */
        {0xeb01005f, N},     /* cmp x2, x1 */
        {0xeb01003f, Z | C}, /* cmp x1, x1 */
        {0xab03007f, N | C}, /* cmn x3, x3 */
        {0xea02003f, 0},     /* tst x1, x2: 4 */
        {0xfa420028, N},     /* ccmp x1, x2, #8, eq, which is false: the flags are 8 */
        {0xfa422020, C},     /* ccmp x1, x2, #0, cs */
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        a64_state s = start();
        a64_eval(&s, PC, cases[i].op, &(a64_seen){0});
        assert_true(s.has_nzcv);
        assert_int_equal(s.nzcv, cases[i].nzcv);
    }
}

static void what_does_not_follow_is_unknown(void **state)
{
    static const uint32_t ops[] = {
        0x8b040020, /* add x0, x1, x4: x4 is unknown */
        0xf9400020, /* ldr x0, [x1], without its value */
        0x9e660020, /* fmov x0, d1 */
        0xd53bd040, /* mrs x0, tpidr_el0, without its value */
    };
    for (size_t i = 0; i < TL_COUNT(ops); i++) {
        a64_state s = start();
        a64_know(&s, 0, 5);
        a64_eval(&s, PC, ops[i], &(a64_seen){0});
        assert_false(s.known & 1);
        assert_int_equal(s.x[0], 0);
    }
    a64_state s = start();
    a64_eval(&s, PC, 0xeb04003f, &(a64_seen){0}); /* cmp x1, x4 */
    assert_false(s.has_nzcv);
}

static void loads_say_what_they_loaded(void **state)
{
    static const uint8_t bytes[] = {0xfe, 0xff, 0xff, 0xff, 1, 2, 3, 0x84, 9, 0, 0, 0, 0, 0, 0, 0x80};
    static const struct {
        uint32_t op;
        size_t n;
        uint64_t x0, x5;
    } cases[] = {
        {0xf9400020, 8, UINT64_C(0x84030201fffffffe), 0},                             /* ldr x0, [x1] */
        {0xb9400020, 4, 0xfffffffe, 0},                                               /* ldr w0, [x1] */
        {0xb9800020, 4, UINT64_MAX - 1, 0},                                           /* ldrsw x0, [x1] */
        {0x39400020, 1, 0xfe, 0},                                                     /* ldrb w0, [x1] */
        {0x39c00020, 1, 0xfffffffe, 0},                                               /* ldrsb w0, [x1] */
        {0xa9401420, 16, UINT64_C(0x84030201fffffffe), UINT64_C(0x8000000000000009)}, /* ldp x0, x5, [x1] */
        {0xc85f7c20, 8, UINT64_C(0x84030201fffffffe), 0},                             /* ldxr x0, [x1] */
        {0xf8220020, 8, UINT64_C(0x84030201fffffffe), 0},                             /* ldadd x2, x0, [x1] */
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        a64_state s = start();
        const a64_seen seen = {.has_address = true, .address = 100, .loaded = bytes, .nloaded = cases[i].n};
        a64_eval(&s, PC, cases[i].op, &seen);
        assert_true(s.known & 1);
        assert_int_equal(s.x[0], cases[i].x0);
        if (cases[i].x5)
            assert_int_equal(s.x[5], cases[i].x5);
        s = start(); /* another number of bytes than the instruction's */
        a64_eval(&s, PC, cases[i].op, &(a64_seen){.loaded = bytes, .nloaded = cases[i].n + 1});
        assert_false(s.known & 1);
    }
}

static void addresses_say_what_their_base_is(void **state)
{
    static const struct {
        uint32_t op;
        uint64_t before, after; /* the value of x9 that the access at 0x1000 implies, and its value after it */
    } cases[] = {
        {0xf9400520, 0xff8, 0xff8},   /* ldr x0, [x9, #8] */
        {0xf8408520, 0x1000, 0x1008}, /* ldr x0, [x9], #8 */
        {0xf8408d20, 0xff8, 0x1000},  /* ldr x0, [x9, #8]! */
        {0xa9bf0120, 0x1010, 0x1000}, /* stp x0, x0, [x9, #-16]! */
        {0xf8627920, 0xfc8, 0xfc8},   /* ldr x0, [x9, x2, lsl #3] */
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        a64_state s = start();
        a64_eval(&s, PC, cases[i].op, &(a64_seen){.has_address = true, .address = 0x1000});
        assert_true(s.known >> 9 & 1);
        assert_int_equal(s.x[9], cases[i].after);
        s = start(); /* no access */
        a64_eval(&s, PC, cases[i].op, &(a64_seen){0});
        assert_false(s.known >> 9 & 1);
        s = start(); /* known already */
        a64_know(&s, 9, cases[i].before);
        a64_eval(&s, PC, cases[i].op, &(a64_seen){0});
        assert_int_equal(s.x[9], cases[i].after);
    }
}

static void calls_and_system_registers(void **state)
{
    a64_state s = start();
    a64_eval(&s, PC, 0x94000010, &(a64_seen){0}); /* bl */
    assert_int_equal(s.x[30], PC + 4);
    a64_state lost = start();
    a64_eval(&lost, 0, 0x94000010, &(a64_seen){.no_pc = true});
    a64_eval(&lost, 0, 0x10000040, &(a64_seen){.no_pc = true}); /* adr x0 */
    assert_false(lost.known >> 30 & 1);
    assert_false(lost.known & 1);
    a64_eval(&s, PC, 0xd53bd045, &(a64_seen){.has_value = true, .value = 77}); /* mrs x5, tpidr_el0 */
    assert_int_equal(s.x[5], 77);
    a64_eval(&s, PC, 0xd51b4202, &(a64_seen){.has_value = true, .value = Z}); /* msr nzcv, x2 */
    assert_int_equal(s.nzcv, Z);
    a64_eval(&s, PC, 0xc8067c41, &(a64_seen){.has_value = true, .value = 1}); /* stxr w6, x1, [x2] */
    assert_int_equal(s.x[6], 1);
}

/* Two registers from an even number on; no instruction begins at 31, the last one. */
static void pairs_of_registers(void **state)
{
    static const uint8_t loaded[16] = {1, [8] = 2};
    const a64_seen seen = {.loaded = loaded, .nloaded = sizeof loaded};
    a64_state s = {0};
    a64_eval(&s, PC, 0x48247c00, &seen); /* casp x4, x5, x0, x1, [x0] */
    assert_int_equal(s.known, 3u << 4);
    assert_int_equal(s.x[4], 1);
    assert_int_equal(s.x[5], 2);
    for (uint32_t odd = 1; odd < 32; odd += 2) {
        s = (a64_state){0};
        a64_eval(&s, PC, 0x48207c00 | odd << 16, &seen);
        assert_int_equal(s.known, 0);
    }
}

/* The next instruction reveals earlier registers, also if something else was known. */
static void learns(void **state)
{
    static const struct {
        uint32_t op;
        unsigned n; /* the register, 32: none */
        uint64_t value;
    } cases[] = {
        {0xf9400820, 1, 0x9000 - 16},       /* ldr x0, [x1, #16] */
        {0xf81f0ca0, 5, 0x9000 + 16},       /* str x0, [x5, #-16]! */
        {0xf8410440, 2, 0x9000},            /* ldr x0, [x2], #16 */
        {0xf8627820, 1, 0x9000 - (7 << 3)}, /* ldr x0, [x1, x2, lsl #3] */
        {0xf8677820, 32, 0},                /* ldr x0, [x1, x7, lsl #3]: x7 is not known */
        {0xf8617820, 32, 0},                /* ldr x0, [x1, x1, lsl #3] */
        {0xa9bf07e0, 31, 0x9000 + 16},      /* stp x0, x1, [sp, #-16]! */
        {0xf9800020, 32, 0},                /* prfm pldl1keep, [x1] */
        {0x8b020020, 32, 0},                /* add x0, x1, x2 */
    };
    const uint64_t address = 0x9000, target = 0x400800;
    const a64_state before = start();
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        a64_state s = before, wanted = before;
        a64_learn(&s, cases[i].op, &address, NULL);
        if (cases[i].n < 32)
            a64_know(&wanted, cases[i].n, cases[i].value);
        assert_memory_equal(&s, &wanted, sizeof s);
        a64_learn(&s, cases[i].op, NULL, NULL);
        a64_learn(&s, cases[i].op, NULL, &target);
        assert_memory_equal(&s, &wanted, sizeof s);
    }
    static const struct {
        uint32_t op;
        unsigned n;
    } branches[] = {{0xd61f0020, 1},  {0xd63f0120, 9},  {0xd65f03c0, 30},
                    {0xd61f03e0, 32}, {0xd71f0820, 32}, {0xd69f03e0, 32}};
    for (size_t i = 0; i < TL_COUNT(branches); i++) {
        a64_state s = before, wanted = before;
        a64_learn(&s, branches[i].op, NULL, NULL);
        assert_memory_equal(&s, &wanted, sizeof s);
        a64_learn(&s, branches[i].op, NULL, &target);
        if (branches[i].n < 32)
            a64_know(&wanted, branches[i].n, target);
        assert_memory_equal(&s, &wanted, sizeof s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes),
        cmocka_unit_test(learns),
        cmocka_unit_test(sets_flags),
        cmocka_unit_test(what_does_not_follow_is_unknown),
        cmocka_unit_test(loads_say_what_they_loaded),
        cmocka_unit_test(addresses_say_what_their_base_is),
        cmocka_unit_test(calls_and_system_registers),
        cmocka_unit_test(pairs_of_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
