/* Tests of base/hash.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/endian.h"
#include "base/hash.h"

static void test_empty_table(void **state)
{
    (void)state;
    tl_hash h = {0};
    assert_int_equal(tl_hash_get(&h, 0), TL_HASH_NONE);
    assert_int_equal(tl_hash_get(&h, 17), TL_HASH_NONE);
    tl_hash_fini(&h);
    tl_hash_fini(&h);
}

static void test_many_keys(void **state)
{
    (void)state;
    enum { N = 100000 };
    static const uint64_t stride[] = {1, 16, 4096, (uint64_t)1 << 32, 0x9e3779b97f4a7c15u};
    for (size_t s = 0; s < sizeof stride / sizeof *stride; s++) {
        tl_hash h = {0};
        for (uint32_t i = 0; i < N; i++)
            assert_true(tl_hash_put(&h, i * stride[s], i));
        assert_int_equal(h.n, N);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(tl_hash_get(&h, i * stride[s]), i);
        assert_int_equal(tl_hash_get(&h, N * stride[s]), TL_HASH_NONE);
        assert_int_equal(tl_hash_get(&h, UINT64_MAX), TL_HASH_NONE);
        tl_hash_fini(&h);
    }
}

static void test_put_replaces(void **state)
{
    (void)state;
    tl_hash h = {0};
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 1000; i++)
            assert_true(tl_hash_put(&h, i, i + round));
    assert_int_equal(h.n, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(tl_hash_get(&h, i), i + 2);
    tl_hash_fini(&h);
}

static void test_extreme_keys_and_values(void **state)
{
    (void)state;
    tl_hash h = {0};
    assert_true(tl_hash_put(&h, 0, 0));
    assert_true(tl_hash_put(&h, UINT64_MAX, TL_HASH_NONE - 1));
    assert_int_equal(tl_hash_get(&h, 0), 0);
    assert_int_equal(tl_hash_get(&h, UINT64_MAX), TL_HASH_NONE - 1);
    assert_int_equal(tl_hash_get(&h, 1), TL_HASH_NONE);
    tl_hash_fini(&h);
    assert_int_equal(tl_hash_get(&h, 0), TL_HASH_NONE);
}

static void test_hash_of_bytes(void **state)
{
    (void)state;
    unsigned char data[65] = {0}, other[66];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7);
    /* Any length, any address; every byte counts. */
    for (size_t n = 0; n < sizeof data; n++) {
        memcpy(other + 1, data, n);
        assert_true(tl_hash_bytes(other + 1, n) == tl_hash_bytes(data, n));
        assert_false(tl_hash_bytes(data, n) == tl_hash_bytes(data, n + 1));
        for (size_t i = 0; i < n; i++) {
            other[1 + i] ^= 1;
            assert_false(tl_hash_bytes(other + 1, n) == tl_hash_bytes(data, n));
            other[1 + i] ^= 1;
        }
    }
    /* Padding is no content. */
    assert_false(tl_hash_bytes("\0", 1) == tl_hash_bytes("\0\0", 2));
    assert_false(tl_hash_bytes("\0", 1) == tl_hash_bytes("", 0));
}

static void test_equal_strings_have_equal_pointers(void **state)
{
    (void)state;
    enum { N = 20000 };
    tl_strings t = {0};
    const char **first = malloc(N * sizeof *first);
    char text[32];
    for (int i = 0; i < N; i++) {
        int n = snprintf(text, sizeof text, "name %d", i);
        first[i] = tl_strings_get(&t, text, (size_t)n);
        assert_non_null(first[i]);
        assert_string_equal(first[i], text);
    }
    for (int i = 0; i < N; i++) {
        int n = snprintf(text, sizeof text, "name %d", i);
        assert_ptr_equal(tl_strings_get(&t, text, (size_t)n), first[i]);
        assert_string_equal(first[i], text);
    }
    assert_int_equal(t.n, N);
    free(first);
    tl_strings_fini(&t);
}

static void test_strings_of_any_bytes(void **state)
{
    (void)state;
    tl_strings t = {0};
    const char *empty = tl_strings_get(&t, "", 0);
    assert_string_equal(empty, "");
    assert_ptr_equal(tl_strings_get(&t, NULL, 0), empty);
    /* Not terminated, and with NUL inside. */
    const char *ab = tl_strings_get(&t, "abXX", 2), *nul = tl_strings_get(&t, "ab\0c", 4);
    assert_string_equal(ab, "ab");
    assert_memory_equal(nul, "ab\0c", 5);
    assert_ptr_not_equal(ab, nul);
    assert_ptr_not_equal(tl_strings_get(&t, "ab\0", 3), ab);
    tl_strings_fini(&t);
    tl_strings_fini(&t);
}

/* Bytes 0 become c0 80, other text is as it was. */
static void test_text_with_zeros(void **state)
{
    (void)state;
    tl_strings t = {0};
    const char *plain = tl_strings_get_text(&t, "plain", 5);
    assert_ptr_equal(plain, tl_strings_get(&t, "plain", 5));
    assert_string_equal(tl_strings_get_text(&t, "a\0\0b", 4), "a\xc0\x80\xc0\x80"
                                                              "b");
    assert_string_equal(tl_strings_get_text(&t, "\0", 1), "\xc0\x80");
    assert_string_equal(tl_strings_get_text(&t, NULL, 0), "");
    tl_strings_fini(&t);
}

/* Keys of which tl_hash_mix() makes the same low bits, whatever they are xor-ed with: a table that only used it would
 * not end. */
static void test_chosen_keys_do_not_meet(void **state)
{
    (void)state;
    enum { HIGH = 16, KEYS = 1 << 21 };
    tl_hash h = {0};
    for (uint64_t i = 0; i < KEYS; i++) {
        const uint64_t mixed = i << (64 - HIGH) | (i >> HIGH) * 0x9e3779b9u, key = mixed ^ mixed >> 32;
        assert_true(tl_hash_put(&h, key, 1));
    }
    assert_int_equal(h.n, KEYS);
    tl_hash_fini(&h);
}

/* Strings that have one number. */
static void test_chosen_strings_do_not_meet(void **state)
{
    (void)state;
    enum { STRINGS = 1 << 20 };
    tl_strings t = {0};
    uint8_t text[16], first[16];
    for (uint64_t i = 0; i < STRINGS; i++) {
        tl_store64(text, i, false);
        tl_store64(text + 8, tl_hash_mix(tl_hash_mix(16 + 0x9e3779b97f4a7c15u) ^ i) * 0x9e3779b97f4a7c15u ^ 0x123456789,
                   false);
        if (i == 0)
            memcpy(first, text, sizeof first);
        assert_int_equal(tl_hash_bytes(text, 16), tl_hash_bytes(first, 16));
        assert_non_null(tl_strings_get(&t, (const char *)text, sizeof text));
    }
    assert_int_equal(t.n, STRINGS);
    tl_strings_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_with_zeros),
        cmocka_unit_test(test_empty_table),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_put_replaces),
        cmocka_unit_test(test_extreme_keys_and_values),
        cmocka_unit_test(test_hash_of_bytes),
        cmocka_unit_test(test_equal_strings_have_equal_pointers),
        cmocka_unit_test(test_strings_of_any_bytes),
        cmocka_unit_test(test_chosen_keys_do_not_meet),
        cmocka_unit_test(test_chosen_strings_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
