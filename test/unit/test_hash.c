/* Tests of base/hash.h. */
#include <sys/wait.h>
#include <unistd.h>

#include "../hostile/old_collisions.h"
#include "base/hash.h"
#include "check.h"

static void test_empty_table(void **state)
{
    tl_hash h = {0};
    assert_int_equal(tl_hash_get(&h, 0), TL_HASH_NONE);
    assert_int_equal(tl_hash_get(&h, 17), TL_HASH_NONE);
    tl_hash_fini(&h);
    tl_hash_fini(&h);
}

static void test_many_keys(void **state)
{
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
    /* Padding is not content. */
    assert_false(tl_hash_bytes("\0", 1) == tl_hash_bytes("\0\0", 2));
    assert_false(tl_hash_bytes("\0", 1) == tl_hash_bytes("", 0));
}

static void test_equal_strings_have_equal_pointers(void **state)
{
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

/* Bytes 0 become c0 80, other text stays. */
static void test_text_with_zeros(void **state)
{
    tl_strings t = {0};
    const char *plain = tl_strings_get_text(&t, "plain", 5);
    assert_ptr_equal(plain, tl_strings_get(&t, "plain", 5));
    assert_string_equal(tl_strings_get_text(&t, "a\0\0b", 4), "a\xc0\x80\xc0\x80"
                                                              "b");
    assert_string_equal(tl_strings_get_text(&t, "\0", 1), "\xc0\x80");
    assert_string_equal(tl_strings_get_text(&t, NULL, 0), "");
    tl_strings_fini(&t);
}

/* SipHash-1-3 with the key 0 of the bytes 0, 1, 2, ...; the values are CPython's (PYTHONHASHSEED=0, hash(bytes)). */
static void test_siphash(void **state)
{
    static const struct {
        size_t n;
        uint64_t hash;
    } expected[] = {{1, 0x68a914128e01e473u}, {7, 0x2f098ab0c751325au},  {8, 0xead411e67ebe2eeau},
                    {9, 0x75927f9d95124362u}, {15, 0xf30eb725bb91c9eau}, {16, 0x8972188433a5c5b7u},
                    {63, 0x385d3e39e5f37359u}};
    uint8_t data[64];
    for (uint8_t i = 0; i < sizeof data; i++)
        data[i] = i;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        tl_hasher h = tl_hasher_stable();
        tl_hasher_bytes(&h, data, expected[i].n);
        assert_int_equal(tl_hasher_end(h), expected[i].hash);
    }
}

/* Texts added one after the other do not run together; NULL differs from all of them. */
static void test_hash_of_several_texts(void **state)
{
    static const char *const text[][2] = {{"", ""}, {NULL, ""}, {"", NULL}, {"ab", "c"}, {"a", "bc"}, {"abc", ""}};
    uint64_t hash[6];
    for (int i = 0; i < 6; i++) {
        tl_hasher h = tl_hasher_begin();
        tl_hasher_text(&h, text[i][0]);
        tl_hasher_text(&h, text[i][1]);
        hash[i] = tl_hasher_end(h);
        for (int k = 0; k < i; k++)
            assert_true(hash[i] != hash[k]);
    }
}

/* In two children without a key so far: each is a run. */
static uint64_t hash_of_run[2];

static uint64_t hash_in_child(void)
{
    int end[2];
    uint64_t hash = 0;
    if (pipe(end) < 0)
        return 0;
    const pid_t child = fork();
    if (child == 0) {
        hash = tl_hash_bytes("name", 4);
        _exit(write(end[1], &hash, sizeof hash) != sizeof hash);
    }
    close(end[1]);
    if (child < 0 || read(end[0], &hash, sizeof hash) != sizeof hash)
        hash = 0;
    close(end[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return hash;
}

/* Each run has another key, and files have a fixed one. */
static void test_key_of_the_run(void **state)
{
    assert_true(hash_of_run[0] != 0 && hash_of_run[1] != 0);
    assert_true(hash_of_run[0] != hash_of_run[1]);
    tl_hasher stable = tl_hasher_stable();
    tl_hasher_bytes(&stable, "name", 4);
    assert_true(tl_hash_bytes("name", 4) != tl_hasher_end(stable));
    int one, other;
    assert_true(tl_hash_seed(&one) != tl_hash_seed(&other));
    assert_true(tl_hash_odd[0] & tl_hash_odd[1] & tl_hash_odd[2] & 1);
    assert_true(tl_hash_odd[0] != tl_hash_odd[1] && tl_hash_odd[1] != tl_hash_odd[2]);
}

/* How many slots all keys of a table are from their places. */
static uint64_t distance(const tl_hash *h)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= h->mask; i++)
        if (h->slot[i].value != TL_HASH_NONE)
            sum += (i - tl_hash_place(h->slot[i].key, h->seed)) & h->mask;
    return sum;
}

/* Every third bit of a number, from a place on. */
static uint64_t bits_apart(uint64_t number, unsigned from)
{
    uint64_t key = 0;
    for (unsigned i = 0; number; i++, number >>= 1)
        key |= (number & 1) << ((from + 3 * i) & 63);
    return key;
}

/* Families of keys: sequences in some bits, keys that one product turns into sequences, and keys that collided in the
 * hash before. In a half-full table, chance leaves a key 0.5 slots from its place on average. */
static void test_chosen_keys_do_not_meet(void **state)
{
    enum { KEYS = 1 << 16, FAMILIES = 64 + 64 + 3 };
    for (unsigned family = 0; family < FAMILIES; family++) {
        tl_hash h = {0};
        for (uint64_t i = 0; i < KEYS; i++) {
            const uint64_t mixed = i << 48 | (i >> 16) * 0x9e3779b9u;
            const uint64_t key = family < 64     ? i << family | (family ? i >> (64 - family) : 0)
                                 : family < 128  ? bits_apart(i, family - 64)
                                 : family == 128 ? mixed ^ mixed >> 32
                                 : family == 129 ? i * 0xf1de83e19937733du << 32
                                                 : i * 4096 + 0x7f0000000000u;
            assert_true(tl_hash_put(&h, key, 1));
        }
        assert_int_equal(h.n, KEYS);
        assert_in_range(distance(&h), 0, 2 * KEYS);
        tl_hash_fini(&h);
    }
}

/* Names that had one hash now share slots only by chance: 51,600 of 65,536 in twice as many. */
static void test_chosen_names_do_not_meet(void **state)
{
    enum { SLOTS = 2 * OLD_NAMES };
    char(*name)[OLD_NAME_BYTES + 1] = malloc(OLD_NAMES * sizeof *name);
    bool *used = calloc(SLOTS, sizeof *used);
    tl_strings t = {0};
    uint32_t places = 0;
    assert_true(name && used);
    old_collisions(name, OLD_NAMES);
    for (uint32_t i = 0; i < OLD_NAMES; i++) {
        assert_int_equal(old_hash(name[i], OLD_NAME_BYTES), old_hash(name[0], OLD_NAME_BYTES));
        bool *place = &used[tl_hash_bytes(name[i], OLD_NAME_BYTES) % SLOTS];
        places += !*place;
        *place = true;
        assert_non_null(tl_strings_get(&t, name[i], OLD_NAME_BYTES));
    }
    assert_int_equal(t.n, OLD_NAMES); /* they differ */
    assert_in_range(places, 50000, 53000);
    tl_strings_fini(&t);
    free(used);
    free(name);
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
        cmocka_unit_test(test_chosen_names_do_not_meet),
        cmocka_unit_test(test_siphash),
        cmocka_unit_test(test_hash_of_several_texts),
        cmocka_unit_test(test_key_of_the_run),
    };
    for (int i = 0; i < 2; i++)
        hash_of_run[i] = hash_in_child();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
