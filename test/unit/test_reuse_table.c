/* Reuse distances: against a list of lines searched from the front, and by hand. */
#include "analysis/instruction/reuse_table.h"

#include "hand_insns.h"

/* The lines, most recently used first. */
typedef struct plain {
    uint64_t line[8192];
    uint32_t n;
} plain;

static uint64_t plain_touch(plain *p, uint64_t line)
{
    uint32_t i = 0;
    while (i < p->n && p->line[i] != line)
        i++;
    const uint64_t distance = i < p->n ? i : TL_REUSE_COLD;
    if (i == p->n)
        assert_true(p->n++ < 8192);
    memmove(&p->line[1], &p->line[0], i * sizeof p->line[0]);
    p->line[0] = line;
    return distance;
}

/* Different mixtures of near and far, so that lines move between the array in front and the tree, and the tree is
 * rebuilt many times. */
static void agrees_with_a_plain_list(void **state)
{
    static const uint32_t lines[] = {3, 16, 17, 18, 200, 5000};
    plain *p = malloc(sizeof *p);
    assert_non_null(p);
    for (size_t k = 0; k < TL_COUNT(lines); k++) {
        tl_reuse_stack s = {0};
        uint32_t x = (uint32_t)k + 1;
        p->n = 0;
        for (uint32_t i = 0; i < 30000; i++) {
            const uint32_t near = hand_random(&x, 3) ? 1 + lines[k] / 8 : lines[k];
            const uint64_t line = hand_random(&x, near) * UINT64_C(0x100000001);
            assert_int_equal(tl_reuse_touch(&s, line), plain_touch(p, line));
            if (i == 20000) {
                tl_reuse_reset(&s);
                p->n = 0;
            }
        }
        tl_reuse_fini(&s);
    }
    free(p);
}

/* Memory does not grow with time. */
static void places_are_given_out_anew(void **state)
{
    tl_reuse_stack s = {0};
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(tl_reuse_touch(&s, i % 100), i < 100 ? TL_REUSE_COLD : 99);
    assert_int_equal(s.n, 100);
    assert_int_equal(s.places, 1024);
    tl_reuse_fini(&s);
}

static void check_buckets(const tl_reuse *r, const uint64_t *expected, unsigned n)
{
    for (unsigned i = 0; i < TL_REUSE_BUCKETS; i++)
        assert_int_equal(r->bucket[i], i < n ? expected[i] : 0);
}

static void histogram(void **state)
{
    static const hand_line line[] = {
        LOAD(0x1000, 8),      LOAD(0x1038, 8), STORE(0x1020, 1), /* the same line: cold, 0, 0 */
        LOAD(0x103c, 8),                                         /* two lines: 0, cold */
        INSN(0x9000, OP_NOP),                                    /* code is not data */
        LOAD(0x1000, 1),                                         /* 1 */
        LOAD(0x2000, 1),      LOAD(0x3000, 1),                   /* cold, cold */
        LOAD(0x1000, 1),                                         /* 2 */
        LOAD(0x1040, 1),                                         /* 3 */
    };
    static const uint64_t expected[] = {3, 1, 2};
    hand h;
    tl_reuse r;
    hand_init(&h, 3);
    HAND_ADD(&h, line);
    hand_pass(&h, &r, &tl_reuse_table, NULL, 1);
    assert_int_equal(r.accesses, 10);
    assert_int_equal(r.looked, 10);
    assert_int_equal(r.cold, 4);
    assert_int_equal(r.stack.n, 4);
    check_buckets(&r, expected, 3);
    assert_int_equal(tl_reuse_misses(&r, 0), 7); /* a cache of one line hits at distance 0 */
    assert_int_equal(tl_reuse_misses(&r, 1), 6);
    assert_int_equal(tl_reuse_misses(&r, 2), 4);
    assert_int_equal(tl_reuse_misses(&r, 63), 4);
    tl_reuse_table.fini(&r);
    hand_fini(&h);
}

static void line_size_counts(void **state)
{
    static const hand_line line[] = {LOAD(0x1000, 1), LOAD(0x1001, 2), LOAD(0x1004, 8)};
    const tl_reuse_options options = {.line_size = 4};
    static const uint64_t expected[] = {1};
    hand h;
    tl_reuse r;
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    hand_pass(&h, &r, &tl_reuse_table, &options, 1);
    assert_int_equal(r.accesses, 4);
    assert_int_equal(r.cold, 3);
    check_buckets(&r, expected, 1);
    tl_reuse_table.fini(&r);
    hand_fini(&h);
}

/* A line used by two tracks is cold in both, and one line. */
static void tracks_have_nothing_to_do_with_each_other(void **state)
{
    enum { LINES = 3000 };
    static hand_line line[LINES];
    static const hand_line other[] = {LOAD(0x40, 1), LOAD(0x40, 1), LOAD(0x123456789, 1)};
    for (uint32_t i = 0; i < LINES; i++)
        line[i] = (hand_line)LOAD(64 * (i % 30), 1);
    for (unsigned threads = 1; threads <= 3; threads++) {
        hand h;
        tl_reuse r;
        hand_init(&h, 7);
        hand_add(&h, line, LINES);
        hand_add(&h, line, LINES - 1000);
        HAND_ADD(&h, other);
        hand_pass(&h, &r, &tl_reuse_table, NULL, threads);
        assert_int_equal(r.accesses, 2 * LINES - 1000 + 3);
        assert_int_equal(r.cold, 30 + 30 + 2);
        assert_int_equal(r.stack.n, 31);
        assert_int_equal(r.bucket[0], 1);
        assert_int_equal(r.bucket[5], 2 * LINES - 1000 - 60); /* 29 is in 16 .. 31 */
        tl_reuse_table.fini(&r);
        hand_fini(&h);
    }
}

/* Uniform use of n lines: distances are n/2 on average, and half of them are larger. The sample must agree. */
static void sample_is_near_the_whole(void **state)
{
    enum { LINES = 200000, DIFFERENT = 4096 };
    hand_line *line = malloc(LINES * sizeof *line);
    uint32_t x = 77;
    assert_non_null(line);
    for (uint32_t i = 0; i < LINES; i++)
        line[i] = (hand_line)LOAD(UINT64_C(64) * hand_random(&x, DIFFERENT), 8);
    tl_reuse r[2];
    for (unsigned k = 0; k < 2; k++) {
        const tl_reuse_options options = {.sample = k ? 16 : 1};
        hand h;
        hand_init(&h, 0);
        hand_add(&h, line, LINES);
        hand_pass(&h, &r[k], &tl_reuse_table, &options, 1);
        hand_fini(&h);
    }
    assert_int_equal(r[1].accesses, LINES);
    assert_int_equal(r[0].looked, LINES);
    assert_true(r[1].looked > LINES / 16 * 8 / 10 && r[1].looked < LINES / 16 * 12 / 10);
    const uint64_t lines = tl_reuse_scaled(&r[1], r[1].stack.n);
    assert_true(lines > DIFFERENT * 8 / 10 && lines < DIFFERENT * 12 / 10);
    for (unsigned i = 6; i < 12; i++) { /* caches of 64 .. 2048 lines */
        const double whole = (double)tl_reuse_misses(&r[0], i) / (double)r[0].looked;
        const double part = (double)tl_reuse_misses(&r[1], i) / (double)r[1].looked;
        assert_true(whole > 0.4 && part > whole - 0.06 && part < whole + 0.06);
    }
    tl_reuse_table.fini(&r[0]);
    tl_reuse_table.fini(&r[1]);
    free(line);
}

static void ranges_of_buckets(void **state)
{
    uint64_t from, to;
    tl_reuse_range(0, &from, &to);
    assert_true(from == 0 && to == 0);
    tl_reuse_range(1, &from, &to);
    assert_true(from == 1 && to == 1);
    tl_reuse_range(4, &from, &to);
    assert_true(from == 8 && to == 15);
    tl_reuse_range(64, &from, &to);
    assert_true(from == UINT64_C(1) << 63 && to == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_plain_list),
        cmocka_unit_test(places_are_given_out_anew),
        cmocka_unit_test(histogram),
        cmocka_unit_test(line_size_counts),
        cmocka_unit_test(tracks_have_nothing_to_do_with_each_other),
        cmocka_unit_test(sample_is_near_the_whole),
        cmocka_unit_test(ranges_of_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
