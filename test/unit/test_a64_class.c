/* Tests of isa/a64.h and isa/a64_block.h: a few encodings of each class, branch targets, where blocks begin. */
#include "check.h"
#include "isa/a64_block.h"

static void test_one_of_each_class(void **state)
{
    static const struct {
        uint32_t op;
        a64_class cls;
        const char *name;
    } cases[] = {
        {0x910043e0, A64_INT, "int"},                            /* add x0, sp, #16 */
        {0xf9400420, A64_LOAD, "load"},                          /* ldr x0, [x1, #8] */
        {0xfc010cc5, A64_STORE, "store"},                        /* str d5, [x6, #16]! */
        {0x14000004, A64_JUMP, "branch.jump"},                   /* b #16 */
        {0x97ffffff, A64_CALL, "branch.call"},                   /* bl #-4 */
        {0x54000041, A64_COND, "branch.cond"},                   /* b.ne #8 */
        {0xd61f0200, A64_INDIRECT, "branch.indirect"},           /* br x16 */
        {0xd63f0220, A64_INDIRECT_CALL, "branch.indirect_call"}, /* blr x17 */
        {0xd65f03c0, A64_RETURN, "branch.return"},               /* ret */
        {0xd4000001, A64_EXCEPTION, "exception"},                /* svc #0 */
        {0xd53bd040, A64_SYSTEM, "system"},                      /* mrs x0, TPIDR_EL0 */
        {0x1e622820, A64_SIMD, "simd"},                          /* fadd d0, d1, d2 */
        {0xb8e10062, A64_ATOMIC, "atomic"},                      /* ldaddal w1, w2, [x3] */
        {0xf8a17800, A64_PREFETCH, "prefetch"},                  /* prfm pldl1keep, [x0, x1, lsl #3] */
        {0x04800440, A64_SVE, "sve"},                            /* add z0.s, p1/m, z0.s, z2.s */
        {0x80844461, A64_SME, "sme"},                            /* fmopa za1.s, p1/m, p2/m, z3.s, z4.s */
        {0x00000007, A64_OTHER, "other"},                        /* udf #7 */
    };
    _Static_assert(TL_COUNT(cases) == A64_CLASSES, "one of each");
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        assert_int_equal(a64_class_of(cases[i].op), cases[i].cls);
        assert_string_equal(a64_class_name(cases[i].cls), cases[i].name);
        assert_int_equal(cases[i].cls, i);
    }
}

/* Those whose encodings lie among another class. */
static void test_neighbours(void **state)
{
    static const struct {
        uint32_t op;
        a64_class cls;
    } cases[] = {
        {0xb400005f, A64_COND},      /* cbz xzr, #8 */
        {0x372fff03, A64_COND},      /* tbnz w3, #5, #-32 */
        {0x54000010, A64_COND},      /* bc.eq #0 */
        {0xd71f083f, A64_INDIRECT},  /* braa x1, sp */
        {0xd65f0bff, A64_RETURN},    /* retaa */
        {0x5500001f, A64_RETURN},    /* retaasppc #0 */
        {0xd69f03e0, A64_EXCEPTION}, /* eret */
        {0xd6bf03e0, A64_EXCEPTION}, /* drps */
        {0xd5031001, A64_SYSTEM},    /* wfet x1 */
        {0x58002000, A64_LOAD},      /* ldr x0, #1024 */
        {0xd8000000, A64_PREFETCH},  /* prfm pldl1keep, #0 */
        {0xf8a04820, A64_PREFETCH},  /* prfm pldl1keep, [x1, w0, uxtw] */
        {0xf9800020, A64_PREFETCH},  /* prfm pldl1keep, [x1] */
        {0x3c800000, A64_STORE},     /* stur q0, [x0] */
        {0x3cc00000, A64_LOAD},      /* ldur q0, [x0] */
        {0x885f7c20, A64_LOAD},      /* ldxr w0, [x1] */
        {0xc8259d06, A64_STORE},     /* stlxp w5, x6, x7, [x8] */
        {0xc8e0fc41, A64_ATOMIC},    /* casal x0, x1, [x2] */
        {0x48627cc4, A64_ATOMIC},    /* caspa x2, x3, x4, x5, [x6] */
        {0xf8bfc020, A64_LOAD},      /* ldapr x0, [x1] */
        {0xf87ffc20, A64_LOAD},      /* ldraa x0, [x1, #-8]! */
        {0xf83fd080, A64_LOAD},      /* ld64b x0, [x4] */
        {0xf822b080, A64_STORE},     /* st64bv x2, x0, [x4] */
        {0xd920281f, A64_STORE},     /* stg sp, [x0, #32] */
        {0xd9600020, A64_LOAD},      /* ldg x0, [x1] */
        {0x19010440, A64_ATOMIC},    /* cpyfp [x0]!, [x1]!, x2! */
        {0x19211040, A64_ATOMIC},    /* ldclrp x0, x1, [x2] */
        {0x99020861, A64_STORE},     /* stilp w1, w2, [x3, #-8]! */
        {0x4cdf2800, A64_LOAD},      /* ld1 { v0.4s - v3.4s }, [x0], #64 */
        {0xc5634440, A64_SVE},       /* ld1w { z0.d }, p1/z, [x2, z3.d, sxtw #2] */
        {0xa1024420, A64_SME},       /* ld1w { z0.s, z8.s }, pn9/z, [x1, x2, lsl #2] */
        {0xce020c20, A64_SIMD},      /* eor3 v0.16b, v1.16b, v2.16b, v3.16b */
        {0x02000000, A64_OTHER},     /* not allocated */
        {0xffffffff, A64_SIMD},      /* not allocated, among SIMD */
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++)
        assert_int_equal(a64_class_of(cases[i].op), cases[i].cls);
    assert_string_equal(a64_class_name((a64_class)A64_CLASSES), "other");
}

static void test_predicates(void **state)
{
    unsigned branches = 0, ends = 0, calls = 0;
    for (unsigned c = 0; c < A64_CLASSES; c++) {
        branches += a64_is_branch((a64_class)c);
        ends += a64_ends_block((a64_class)c);
        calls += a64_is_call((a64_class)c);
    }
    assert_int_equal(branches, 6);
    assert_int_equal(ends, 7);
    assert_int_equal(calls, 2);
    assert_true(a64_ends_block(A64_EXCEPTION) && !a64_is_branch(A64_EXCEPTION));
    assert_true(a64_is_branch(A64_JUMP) && a64_is_branch(A64_RETURN) && !a64_is_branch(A64_STORE));
}

static void test_targets(void **state)
{
    static const struct {
        uint64_t pc;
        uint32_t op;
        uint64_t target;
    } cases[] = {
        {0x1000, 0x14000004, 0x1010},             /* b #16 */
        {0x1000, 0x16000000, 0xfffffffff8001000}, /* b #-134217728 */
        {0x1000, 0x15ffffff, 0x8000ffc},          /* b #134217724 */
        {0, 0x97ffffff, 0xfffffffffffffffc},      /* bl #-4 */
        {0xfffffffffffffffc, 0x54000041, 4},      /* b.ne #8 */
        {0x1000, 0x54800000, 0xfffffffffff01000}, /* b.eq #-1048576 */
        {0x1000, 0xb400005f, 0x1008},             /* cbz xzr, #8 */
        {0x1000, 0x35ffffe1, 0xffc},              /* cbnz w1, #-4 */
        {0x1000, 0x372fff03, 0xfe0},              /* tbnz w3, #5, #-32 */
        {0x10000, 0xb6040000, 0x8000},            /* tbz x0, #32, #-32768 */
        {0x1000, 0x5400ffff, 0x2ffc},             /* bc.nv #8188 */
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        uint64_t target = 1;
        assert_true(a64_direct_target(cases[i].pc, cases[i].op, &target));
        assert_true(target == cases[i].target);
    }
    static const uint32_t others[] = {0xd61f0200, 0xd65f03c0, 0x5500001f, 0x910043e0,
                                      0x58002000, 0x10000000, 0xd4000001};
    for (size_t i = 0; i < TL_COUNT(others); i++) {
        uint64_t target = 77;
        assert_false(a64_direct_target(0x1000, others[i], &target));
        assert_int_equal(target, 77);
    }
}

/* Each step is an instruction; `begins`: the rules see a new block. */
static void test_where_blocks_begin(void **state)
{
    static const struct {
        bool has_pc;
        uint64_t pc;
        unsigned level;
        a64_class cls;
        bool begins;
    } steps[] = {
        {true, 0x1000, 0, A64_INT, true}, /* the first */
        {true, 0x1004, 0, A64_COND, false},
        {true, 0x1008, 0, A64_LOAD, true}, /* not taken, but after a branch */
        {true, 0x100c, 0, A64_SYSTEM, false},
        {true, 0x1014, 0, A64_INT, true}, /* the PC jumps */
        {true, 0x1018, 1, A64_INT, true}, /* the level changes */
        {true, 0x101c, 1, A64_EXCEPTION, false},
        {true, 0x1020, 1, A64_INT, true}, /* after an exception instruction */
        {false, 0, 1, A64_INT, true},     /* the PC becomes unknown */
        {false, 0, 1, A64_INT, false},
        {false, 0, 1, A64_RETURN, false},
        {false, 0, 1, A64_INT, true},
        {true, 4, 1, A64_INT, true}, /* known: even if it seems to be the next */
        {true, 8, 1, A64_INT, false},
        {true, 8, 1, A64_INT, true}, /* the same again */
        {true, 0xfffffffffffffffc, 3, A64_INT, true},
        {true, 0, 3, A64_INT, false}, /* modulo 2^64 */
    };
    a64_cutter cutter = {0};
    for (size_t i = 0; i < TL_COUNT(steps); i++)
        assert_int_equal(a64_cutter_step(&cutter, steps[i].has_pc, steps[i].pc, steps[i].level, steps[i].cls),
                         steps[i].begins);
    cutter = (a64_cutter){0};
    assert_true(a64_cutter_step(&cutter, false, 0, 0, A64_INT));
    assert_false(a64_cutter_step(&cutter, false, 0, 0, A64_INT));
}

/* As an assembler writes them, for X3. */
static void test_caches(void **state)
{
    static const struct {
        uint32_t op;
        a64_cache cache;
    } of[] = {{0xd50b7423, A64_CACHE_CLEARS}, {0xd50b7483, A64_CACHE_CLEARS}, /* DC ZVA, GZVA */
              {0xd50b7523, A64_CACHE_INSNS},                                  /* IC IVAU */
              {0xd5087623, A64_CACHE_DATA},   {0xd50b7a23, A64_CACHE_DATA},   /* DC IVAC, CVAC */
              {0xd50b7b23, A64_CACHE_DATA},   {0xd50b7c23, A64_CACHE_DATA},   /* CVAU, CVAP */
              {0xd50b7d23, A64_CACHE_DATA},   {0xd50b7e23, A64_CACHE_DATA},   /* CVADP, CIVAC */
              {0xd5087643, A64_NO_CACHE},     {0xd508751f, A64_NO_CACHE},     /* DC ISW, IC IALLU */
              {0xd50b7463, A64_NO_CACHE},     {0xd53b0023, A64_NO_CACHE}};    /* DC GVA, MRS CTR_EL0 */
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        assert_int_equal(a64_cache_of(of[i].op), of[i].cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_each_class),  cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_predicates),         cmocka_unit_test(test_targets),
        cmocka_unit_test(test_where_blocks_begin), cmocka_unit_test(test_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
