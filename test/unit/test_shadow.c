/* Tests of base/shadow.h: against a model that keeps every byte of a few pages, at both ends of memory, and when memory
 * runs out. This file includes the implementation, so that its allocations can fail. */
#include "check.h"

static unsigned allocations_left = UINT32_MAX;

static void *test_shadow_calloc(size_t n, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    return calloc(n, size);
}

static void *test_shadow_realloc(void *old, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    return realloc(old, size);
}

#define calloc  test_shadow_calloc
#define realloc test_shadow_realloc
#include "base/grow.c"
#include "base/shadow.c"
#undef calloc
#undef realloc

static tl_shadow *fresh(void)
{
    tl_shadow *s = NULL;
    assert_int_equal(tl_shadow_new(&s, NULL), 0);
    return s;
}

static void test_empty(void **state)
{
    tl_shadow *s = fresh();
    uint8_t byte = 7;
    assert_int_equal(tl_shadow_get(s, 0, &byte, 1), 0);
    assert_int_equal(byte, 7);
    assert_int_equal(tl_shadow_differs(s, UINT64_MAX, "abc", 3), 3);
    assert_false(tl_shadow_knows_any(s, 0, SIZE_MAX));
    assert_null(tl_shadow_next_page(s, 0));
    assert_int_equal(tl_shadow_pages(s), 0);
    tl_shadow_forget(s, 5, SIZE_MAX);
    tl_shadow_clear(s);
    assert_int_equal(tl_shadow_set(s, 5, "", 0, NULL), 0);
    assert_int_equal(tl_shadow_pages(s), 0);
    tl_shadow_free(s);
    tl_shadow_free(NULL);
}

static void test_set_fill_get(void **state)
{
    tl_shadow *s = fresh();
    char text[16] = {0};
    assert_int_equal(tl_shadow_set(s, 4094, "abcd", 4, NULL), 0); /* over the end of a page */
    assert_int_equal(tl_shadow_fill(s, 4092, "12345678", 8, NULL), 0);
    assert_int_equal(tl_shadow_get(s, 4092, text, 16), 8);
    assert_memory_equal(text, "12abcd78", 8);
    assert_int_equal(tl_shadow_differs(s, 4092, "12abcd78zz", 10), 10);
    assert_int_equal(tl_shadow_differs(s, 4092, "12abcX78zz", 10), 5);
    assert_int_equal(tl_shadow_differs(s, 4090, "zz12abcX78zz", 12), 7);
    tl_shadow_forget(s, 4096, 1);
    assert_int_equal(tl_shadow_get(s, 4092, text, 16), 4);
    assert_int_equal(tl_shadow_differs(s, 4092, "12ab?d78", 8), 8);
    assert_int_equal(tl_shadow_get(s, 4096, text, 1), 0);
    assert_true(tl_shadow_knows_any(s, 4096, 2));
    assert_false(tl_shadow_knows_any(s, 4096, 1));
    tl_shadow_free(s);
}

static void test_wraps(void **state)
{
    tl_shadow *s = fresh();
    char text[8] = {0};
    assert_int_equal(tl_shadow_set(s, UINT64_MAX - 3, "abcdefgh", 8, NULL), 0);
    assert_int_equal(tl_shadow_pages(s), 2);
    assert_int_equal(tl_shadow_get(s, 0, text, 8), 4);
    assert_memory_equal(text, "efgh", 4);
    assert_int_equal(tl_shadow_get(s, UINT64_MAX - 3, text, 8), 8);
    assert_memory_equal(text, "abcdefgh", 8);
    assert_int_equal(tl_shadow_differs(s, UINT64_MAX - 3, "abcdefgX", 8), 7);
    const tl_shadow_page *page = tl_shadow_next_page(s, 1);
    assert_non_null(page);
    assert_true(page->address == UINT64_MAX - 4095);
    assert_null(tl_shadow_next_page(s, page->address + 1));
    assert_true(tl_shadow_knows_any(s, 100, SIZE_MAX) == (SIZE_MAX == UINT64_MAX));
    tl_shadow_forget(s, UINT64_MAX, 2);
    assert_int_equal(tl_shadow_get(s, UINT64_MAX - 3, text, 8), 3);
    assert_int_equal(tl_shadow_get(s, 1, text, 8), 3);
    tl_shadow_free(s);
}

/* More than there is: only existing pages are visited, from either side of the range. */
static void test_large_ranges(void **state)
{
    tl_shadow *s = fresh();
    const uint64_t base = (uint64_t)1 << 40;
    uint8_t page[TL_SHADOW_PAGE];
    memset(page, 1, sizeof page);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tl_shadow_set(s, base + i * TL_SHADOW_PAGE, page, sizeof page, NULL), 0);
    assert_true(tl_shadow_knows_any(s, base - 1000000, 1000001));
    assert_false(tl_shadow_knows_any(s, base - 1000000, 1000000));
    assert_true(tl_shadow_knows_any(s, base + 3 * TL_SHADOW_PAGE - 1, 1000000));
    assert_false(tl_shadow_knows_any(s, base + 3 * TL_SHADOW_PAGE, 1000000));
    tl_shadow_forget(s, base + TL_SHADOW_PAGE + 10, 1000000);
    assert_int_equal(tl_shadow_get(s, base + TL_SHADOW_PAGE, page, 100), 10);
    assert_false(tl_shadow_knows_any(s, base + TL_SHADOW_PAGE + 10, 2 * TL_SHADOW_PAGE));
    tl_shadow_forget(s, base - 1000000, 1000010);
    assert_false(tl_shadow_knows_any(s, base, 10));
    assert_true(tl_shadow_knows_any(s, base + 10, 1));
    tl_shadow_free(s);
}

static void test_pages_in_order(void **state)
{
    tl_shadow *s = fresh();
    enum { PAGES = 1000 };
    for (uint64_t i = 0; i < PAGES; i++)
        assert_int_equal(tl_shadow_set(s, (i * 389 % PAGES) * 3 * TL_SHADOW_PAGE + i, "x", 1, NULL), 0);
    assert_int_equal(tl_shadow_pages(s), PAGES);
    tl_shadow_forget(s, 0, TL_SHADOW_PAGE);
    uint64_t expected = 1;
    for (const tl_shadow_page *p = tl_shadow_next_page(s, 0); p; p = tl_shadow_next_page(s, p->address + 1))
        assert_true(p->address == expected++ * 3 * TL_SHADOW_PAGE);
    assert_int_equal(expected, PAGES);
    tl_shadow_free(s);
}

/* Reused memory shows nothing of its former content. */
static void test_clear_uses_pages_again(void **state)
{
    tl_shadow *s = fresh();
    uint8_t data[TL_SHADOW_PAGE];
    for (uint64_t round = 0; round < 50; round++) {
        memset(data, (int)round + 1, sizeof data);
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(tl_shadow_set(s, (round * 7 + i) * TL_SHADOW_PAGE, data, sizeof data, NULL), 0);
        tl_shadow_clear(s);
        assert_null(tl_shadow_next_page(s, 0));
        assert_int_equal(tl_shadow_pages(s), 100);
        assert_int_equal(tl_shadow_set(s, 17, "x", 1, NULL), 0);
        const tl_shadow_page *page = tl_shadow_next_page(s, 0);
        assert_int_equal(page->address, 0);
        for (unsigned i = 0; i < TL_SHADOW_PAGE; i++)
            assert_int_equal(page->data[i], i == 17 ? 'x' : 0);
        for (unsigned i = 0; i < TL_SHADOW_PAGE / 64; i++)
            assert_true(page->known[i] == (i == 0 ? (uint64_t)1 << 17 : 0));
        tl_shadow_clear(s);
    }
    tl_shadow_free(s);
}

/* Three places of two pages each, one of them around address 0; -1: not known. */
enum { PLACES = 3, PLACE = 2 * TL_SHADOW_PAGE };
static const uint64_t place_base[PLACES] = {UINT64_MAX - TL_SHADOW_PAGE + 1, 0x7000, (uint64_t)0xffff << 40};
static int model[PLACES][PLACE];

static void model_check(tl_shadow *s)
{
    for (unsigned place = 0; place < PLACES; place++)
        for (unsigned half = 0; half < 2; half++) {
            const int *bytes = &model[place][half * TL_SHADOW_PAGE];
            const uint64_t address = place_base[place] + half * TL_SHADOW_PAGE;
            bool any = false;
            for (unsigned i = 0; i < TL_SHADOW_PAGE; i++)
                any = any || bytes[i] >= 0;
            const tl_shadow_page *page = tl_shadow_next_page(s, address);
            assert_true((page && page->address == address) == any);
            for (unsigned i = 0; any && i < TL_SHADOW_PAGE; i++) {
                assert_int_equal(page->data[i], bytes[i] < 0 ? 0 : bytes[i]);
                assert_int_equal(page->known[i / 64] >> i % 64 & 1, bytes[i] >= 0);
            }
        }
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void model_step(tl_shadow *s, uint64_t *seed)
{
    const unsigned place = next_random(seed) % PLACES;
    static const unsigned sizes[] = {1, 2, 4, 8, 16, 32, 64, 65, 200, 2048, 5000};
    const unsigned n = sizes[next_random(seed) % TL_COUNT(sizes)], at = next_random(seed) % (PLACE - n + 1);
    const uint64_t address = place_base[place] + at;
    uint8_t data[5000] = {0};
    int *bytes = &model[place][at];
    for (unsigned i = 0; i < n; i++) /* mostly the present bytes, so that they differ late */
        data[i] = bytes[i] < 0 || next_random(seed) % 50 == 0 ? (uint8_t)next_random(seed) : (uint8_t)bytes[i];
    unsigned differs = 0, known = 0;
    while (differs < n && (bytes[differs] < 0 || bytes[differs] == data[differs]))
        differs++;
    while (known < n && bytes[known] >= 0)
        known++;
    bool any = false;
    for (unsigned i = 0; i < n; i++)
        any = any || bytes[i] >= 0;

    const unsigned what = next_random(seed) % 8;
    if (what < 2) {
        assert_int_equal(tl_shadow_set(s, address, data, n, NULL), 0);
        for (unsigned i = 0; i < n; i++)
            bytes[i] = data[i];
    } else if (what == 2) {
        assert_int_equal(tl_shadow_fill(s, address, data, n, NULL), 0);
        for (unsigned i = 0; i < n; i++)
            bytes[i] = bytes[i] < 0 ? data[i] : bytes[i];
    } else if (what == 3) {
        assert_int_equal(tl_shadow_differs(s, address, data, n), differs);
    } else if (what == 4) {
        uint8_t got[5000];
        assert_int_equal(tl_shadow_get(s, address, got, n), known);
        for (unsigned i = 0; i < known; i++)
            assert_int_equal(got[i], bytes[i]);
    } else if (what == 5) {
        assert_int_equal(tl_shadow_knows_any(s, address, n), any);
    } else if (what == 6) {
        tl_shadow_forget(s, address, n);
        for (unsigned i = 0; i < n; i++)
            bytes[i] = -1;
    } else if (next_random(seed) % 200 == 0) {
        tl_shadow_clear(s);
        memset(model, 0xff, sizeof model);
    }
}

static void test_like_a_model(void **state)
{
    tl_shadow *s = fresh();
    uint64_t seed = 20251122;
    memset(model, 0xff, sizeof model);
    for (unsigned step = 0; step < 60000; step++) {
        model_step(s, &seed);
        if (step % 1000 == 0)
            model_check(s);
    }
    model_check(s);
    assert_int_equal(tl_shadow_pages(s), 2 * PLACES);
    tl_shadow_free(s);
}

/* Whichever allocation fails: an error, and known bytes stay known. */
static void test_without_memory(void **state)
{
    bool failed = true;
    for (unsigned limit = 0; failed; limit++) {
        tl_shadow *s = NULL;
        tl_error e = {0};
        allocations_left = limit;
        failed = tl_shadow_new(&s, &e) != 0;
        if (failed) {
            assert_int_equal(e.code, TL_ENOMEM);
            assert_null(s);
        }
        uint64_t pages = 0;
        for (; !failed && pages < 200; pages++) { /* over several sizes of the table */
            failed = (pages % 2 ? tl_shadow_set : tl_shadow_fill)(s, pages << 20, &pages, sizeof pages, &e) != 0;
            if (failed) {
                assert_int_equal(e.code, TL_ENOMEM);
                break;
            }
        }
        allocations_left = UINT32_MAX;
        for (uint64_t i = 0, got; s && i < pages; i++) {
            assert_int_equal(tl_shadow_get(s, i << 20, &got, sizeof got), sizeof got);
            assert_true(got == i);
        }
        if (s)
            assert_int_equal(tl_shadow_set(s, UINT64_MAX, "ab", 2, NULL), 0);
        tl_shadow_free(s);
        assert_true(limit < 1000);
    }
    allocations_left = UINT32_MAX;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),          cmocka_unit_test(test_set_fill_get),
        cmocka_unit_test(test_wraps),          cmocka_unit_test(test_large_ranges),
        cmocka_unit_test(test_pages_in_order), cmocka_unit_test(test_clear_uses_pages_again),
        cmocka_unit_test(test_like_a_model),   cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
