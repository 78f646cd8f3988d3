/* Tests of base/arena.h. */
#include "base/arena.h"
#include "check.h"

static void test_pieces_are_aligned_and_apart(void **state)
{
    tl_arena a = {0};
    unsigned char *piece[500];
    for (size_t i = 0; i < 500; i++) {
        piece[i] = tl_arena_alloc(&a, i);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        memset(piece[i], (int)(i & 0xff), i);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(piece[i][k], i & 0xff);
    tl_arena_fini(&a);
}

static void test_nothing_has_an_address_of_its_own(void **state)
{
    tl_arena a = {0};
    void *first = tl_arena_alloc(&a, 0), *second = tl_arena_alloc(&a, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    tl_arena_fini(&a);
}

static void test_large_pieces(void **state)
{
    tl_arena a = {0};
    char *small = tl_arena_strndup(&a, "small", 5);
    char *large = tl_arena_alloc(&a, 5u << 20);
    assert_non_null(large);
    memset(large, 'x', 5u << 20);
    assert_string_equal(small, "small");
    assert_true(a.total >= 5u << 20);
    tl_arena_fini(&a);
    assert_null(a.chunk);
    assert_int_equal(a.total, 0);
}

static void test_zalloc_zeroes_used_memory(void **state)
{
    tl_arena a = {0};
    memset(tl_arena_alloc(&a, 1000), 0xff, 1000);
    tl_arena_reset(&a);
    unsigned char *p = tl_arena_zalloc(&a, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(p[i], 0);
    tl_arena_fini(&a);
}

static void test_strndup_terminates_and_keeps_nul(void **state)
{
    tl_arena a = {0};
    assert_string_equal(tl_arena_strndup(&a, "abcdef", 3), "abc");
    assert_string_equal(tl_arena_strndup(&a, NULL, 0), "");
    assert_memory_equal(tl_arena_strndup(&a, "a\0b", 3), "a\0b", 4);
    tl_arena_fini(&a);
}

static void test_impossible_sizes_are_refused(void **state)
{
    tl_arena a = {0};
    assert_null(tl_arena_alloc(&a, SIZE_MAX));
    assert_null(tl_arena_alloc(&a, SIZE_MAX - 15));
    assert_null(tl_arena_zalloc(&a, SIZE_MAX / 2 + 1));
    assert_null(tl_arena_strndup(&a, "", SIZE_MAX));
    /* ... and the arena still works. */
    assert_string_equal(tl_arena_strndup(&a, "fine", 4), "fine");
    tl_arena_fini(&a);
}

/* The same load after a reset must fit into the existing memory: one chunk, which stays the same. */
static void test_reset_reaches_a_steady_state(void **state)
{
    tl_arena a = {0};
    struct tl_arena_chunk *chunk = NULL;
    size_t total = 0;
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 3000; i++)
            assert_non_null(tl_arena_alloc(&a, 1500));
        if (round >= 2) {
            assert_ptr_equal(a.chunk, chunk);
            assert_int_equal(a.total, total);
        }
        tl_arena_reset(&a);
        assert_int_equal(a.used, 0);
        chunk = a.chunk;
        total = a.total;
    }
    assert_true(total >= 3000u * 1500u);
    tl_arena_fini(&a);
}

static void test_an_empty_arena_can_be_reset_and_freed(void **state)
{
    tl_arena a = {0};
    tl_arena_reset(&a);
    tl_arena_fini(&a);
    tl_arena_fini(&a);
    assert_non_null(tl_arena_alloc(&a, 1));
    tl_arena_fini(&a);
}

/* It goes with its last holder, which builds that detect leaks and use after free check. */
static void test_what_is_held_stays(void **state)
{
    tl_arena a = {0}, b = {0};
    tl_shared_arena *first = tl_shared_arena_new(), *second = tl_shared_arena_new();
    assert_non_null(first);
    assert_non_null(second);
    char *text = tl_arena_strndup(&first->arena, "first", 5);
    tl_arena_hold(&a, first);
    tl_arena_hold(&b, first);
    tl_shared_arena_release(first);
    assert_string_equal(text, "first");
    tl_arena_reset(&a);
    assert_null(a.held);
    assert_string_equal(text, "first");
    text = tl_arena_strndup(&second->arena, "second", 6);
    tl_arena_hold(&b, second); /* replaces the first, which is freed */
    tl_arena_hold(&b, second);
    tl_shared_arena_release(second);
    assert_string_equal(text, "second");
    assert_int_equal(atomic_load(&second->holders), 1);
    tl_arena_fini(&b);
    tl_shared_arena_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_aligned_and_apart),
        cmocka_unit_test(test_nothing_has_an_address_of_its_own),
        cmocka_unit_test(test_large_pieces),
        cmocka_unit_test(test_zalloc_zeroes_used_memory),
        cmocka_unit_test(test_strndup_terminates_and_keeps_nul),
        cmocka_unit_test(test_impossible_sizes_are_refused),
        cmocka_unit_test(test_reset_reaches_a_steady_state),
        cmocka_unit_test(test_an_empty_arena_can_be_reset_and_freed),
        cmocka_unit_test(test_what_is_held_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
