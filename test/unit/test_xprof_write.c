/* LLVM's XRay profiles: exact bytes, and reading them back. */
#include "profile_fixture.h"

#include "base/endian.h"
#include "format/xray/xprof_layout.h"
#include "format/xray/xprof_write.h"

static uint64_t at64(const profiled *f, size_t offset)
{
    assert_in_range(offset, 0, f->n - 8);
    return tl_load64(f->text + offset, false);
}

static uint32_t at32(const profiled *f, size_t offset)
{
    assert_in_range(offset, 0, f->n - 4);
    return tl_load32(f->text + offset, false);
}

static void test_exact_bytes(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_example(&f, add_thread(&f, "thread 7", 5, 7));
    write_with(&f, xprof_write);
    assert_int_equal(f.n, XPROF_HEADER_SIZE + XPROF_BLOCK_SIZE + 3 * (4 + 16) + (1 + 2 + 3) * 4);
    assert_int_equal(at64(&f, XPROF_HEADER_MAGIC), XPROF_MAGIC);
    assert_int_equal(at64(&f, XPROF_HEADER_VERSION), XPROF_VERSION);
    assert_int_equal(at64(&f, XPROF_HEADER_TIME), 0);
    assert_int_equal(at64(&f, XPROF_HEADER_PID), 5);
    assert_int_equal(at32(&f, 32 + XPROF_BLOCK_BYTES), f.n - XPROF_HEADER_SIZE);
    assert_int_equal(at32(&f, 32 + XPROF_BLOCK_NUMBER), 0);
    assert_int_equal(at64(&f, 32 + XPROF_BLOCK_THREAD), 7);
    const uint32_t ids[] = {1, 0};
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(at32(&f, 48 + 4 * i), ids[i]);
    assert_int_equal(at64(&f, 56), 1);
    assert_int_equal(at64(&f, 64), 1000); /* including callees */
    const uint32_t inner[] = {2, 1, 0};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(at32(&f, 72 + 4 * i), inner[i]);
    assert_int_equal(at64(&f, 84), 2);
    assert_int_equal(at64(&f, 92), 700);
    assert_int_equal(at32(&f, 100), 3);
    assert_int_equal(at64(&f, f.n - 8), 250);
    assert_int_equal(dropped(&f, "latency histograms"), 3);
    assert_int_equal(dropped(&f, "function names"), 3);
    assert_int_equal(dropped(&f, "the clock's frequency"), 1);
    profiled_fini(&f);
}

static void test_a_block_for_each_thread(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    uint32_t a = add_thread(&f, "x", 5, 8), b = add_thread(&f, "y", 6, -1),
             function = add_function(&f, 9, NULL, NULL, 0);
    add_call(&f, a, function, 3, 3);
    add_call(&f, b, function, 4, 4);
    write_with(&f, xprof_write);
    assert_int_equal(f.n, XPROF_HEADER_SIZE + 2 * (XPROF_BLOCK_SIZE + 8 + 16));
    assert_int_equal(at64(&f, XPROF_HEADER_PID), 0); /* not the same */
    assert_int_equal(at64(&f, 32 + XPROF_BLOCK_THREAD), 8);
    assert_int_equal(at64(&f, 64), 3);
    assert_int_equal(at32(&f, 72 + XPROF_BLOCK_NUMBER), 1);
    assert_true(at64(&f, 72 + XPROF_BLOCK_THREAD) == UINT64_MAX);
    assert_int_equal(at64(&f, 104), 4);
    assert_int_equal(dropped(&f, "the clock's frequency"), 0);
    profiled_fini(&f);
}

static void test_ids_that_do_not_fit(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    uint32_t fine = add_function(&f, INT32_MIN, NULL, NULL, 0), zero = add_function(&f, 0, NULL, NULL, 0),
             large = add_function(&f, INT64_C(1) << 31, NULL, NULL, 0);
    uint32_t place = add_call(&f, 0, fine, 30, 10);
    add_call(&f, add_call(&f, place, zero, 10, 5), fine, 5, 5);
    add_call(&f, 0, large, 7, 7);
    add_call(&f, place, fine, 10, 10);
    write_with(&f, xprof_write);
    assert_int_equal(dropped(&f, "stacks with a function id"), 3);
    assert_int_equal(f.n, XPROF_HEADER_SIZE + XPROF_BLOCK_SIZE + (8 + 16) + (12 + 16));
    assert_int_equal(at32(&f, 48), 0x80000000u);
    assert_int_equal(at64(&f, 64), 20); /* its own, and that written below it */
    profiled_fini(&f);
}

static void test_places_without_numbers_are_no_records(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    uint32_t function = add_function(&f, 9, NULL, NULL, 0);
    add_call(&f, tl_profile_child(f.p, 0, function), function, 3, 3);
    write_with(&f, xprof_write);
    assert_int_equal(f.n, XPROF_HEADER_SIZE + XPROF_BLOCK_SIZE + 12 + 16);
    profiled_fini(&f);
}

static void test_empty(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    write_with(&f, xprof_write);
    assert_int_equal(f.n, XPROF_HEADER_SIZE);
    profiled_fini(&f);
}

static void test_a_million_levels(void **state)
{
    enum { DEPTH = 1000000 };
    profiled f;
    profiled_init(&f, 0);
    f.p->has_histogram = false;
    uint32_t function[] = {add_function(&f, 1, NULL, NULL, 0), add_function(&f, 2, NULL, NULL, 0)}, place = 0;
    for (uint32_t i = 0; i < DEPTH; i++) {
        place = tl_profile_child(f.p, place, function[i & 1]);
        assert_int_not_equal(place, TL_HASH_NONE);
    }
    f.p->stat[place].calls = 2;
    f.p->stat[place].self = 3;
    write_with(&f, xprof_write); /* a single stack of that length fits */
    assert_int_equal(f.n, XPROF_HEADER_SIZE + XPROF_BLOCK_SIZE + 4 * (DEPTH + 1) + 16);
    assert_int_equal(at32(&f, 48), 2);
    assert_int_equal(dropped(&f, TL_DROP_CUT_STACKS), 0);
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_bytes),
        cmocka_unit_test(test_a_block_for_each_thread),
        cmocka_unit_test(test_ids_that_do_not_fit),
        cmocka_unit_test(test_places_without_numbers_are_no_records),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_a_million_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
