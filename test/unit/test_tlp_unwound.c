/* The .tlp format: the number of calls of each place closed by the exit of an outer one comes back, adds up when
 * profiles are merged or lose their trees, and is checked against the number of calls. */
#include "random_profile.h"

#include "base/crc32.h"
#include "base/endian.h"
#include "format/tlp/tlp_layout.h"

/* a calls b twice; b is called once from elsewhere. `outer`: calls of a, `inner`: unwound calls of b below it. */
static tl_profile *make(uint64_t outer, uint64_t inner)
{
    tl_profile *p = fixture_new();
    const uint32_t a = fixture_place(p, 0, "a"), below = fixture_place(p, a, "b"), b = fixture_place(p, 0, "b");
    fixture_call(p, a, 100, 80, true);
    fixture_call(p, below, 10, 10, true);
    fixture_call(p, below, 10, 10, true);
    fixture_call(p, b, 5, 5, true);
    if (outer)
        assert_true(tl_profile_add_unwound(p, a, outer));
    if (inner)
        assert_true(tl_profile_add_unwound(p, below, inner));
    return p;
}

static uint64_t unwound_at(tl_profile *p, const char *stack)
{
    return tl_profile_place_unwound(p, fixture_place(p, 0, stack));
}

static void test_comes_back(void **state)
{
    size_t n;
    tl_profile *p = make(1, 2);
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(bytes[TLP_OFFSET_VERSION], 2);
    assert_int_equal(bytes[TLP_OFFSET_FLAGS], TLP_HISTOGRAM | TLP_UNWOUND);
    tl_profile *back = fixture_must_load(bytes, n);
    assert_int_equal(unwound_at(back, "a"), 1);
    assert_int_equal(unwound_at(back, "ab"), 2);
    assert_int_equal(unwound_at(back, "b"), 0);
    assert_int_equal(tl_profile_unwound(back), 3);
    assert_saved_as(back, bytes, n);
    free(bytes);
    tl_profile_free(back);
    tl_profile_free(p);
}

/* Profiles without any are the same files as before. */
static void test_none(void **state)
{
    size_t n;
    tl_profile *p = make(0, 0);
    assert_true(tl_profile_add_unwound(p, 1, 0));
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(bytes[TLP_OFFSET_VERSION], 1);
    assert_int_equal(bytes[TLP_OFFSET_FLAGS], TLP_HISTOGRAM);
    free(bytes);
    tl_profile_free(p);
}

static void test_added_up(void **state)
{
    size_t n;
    tl_profile *p = make(1, 0), *q = make(1, 2);
    uint8_t *bytes = fixture_save(q, &n);
    tl_profile *back = fixture_must_load(bytes, n);
    assert_int_equal(tl_profile_merge(p, back, NULL), 0);
    assert_int_equal(unwound_at(p, "a"), 2);
    assert_int_equal(unwound_at(p, "ab"), 2);
    assert_int_equal(tl_profile_flatten(back, NULL), 0);
    assert_int_equal(tl_profile_unwound(back), 3);
    for (uint32_t i = 0; i < tl_profile_functions(back); i++)
        assert_int_equal(tl_profile_function_unwound(back, i), *tl_profile_get_function(back, i)->name == 'a' ? 1 : 2);
    free(bytes);
    tl_profile_free(back);
    tl_profile_free(q);
    tl_profile_free(p);
}

static void test_version_1_cannot_hold_it(void **state)
{
    tl_profile *p = make(0, 1);
    tl_output *out = NULL;
    tl_error e = {0};
    const tl_write_options options = {.version = "1"};
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
    const tl_write_context context = {.out = out, .options = &options};
    assert_int_equal(tl_format_tlp.profile_writer->write(&context, p, &e), TL_EUNSUPPORTED);
    tl_output_close(out);
    tl_profile_free(p);
}

static void test_damage(void **state)
{
    size_t n;
    tl_profile *p = make(1, 2), *q = NULL;
    uint8_t *bytes = fixture_save(p, &n);
    size_t at = 0; /* of the column: 1, 2, 0; then means, 0 each, and distances, 0 each, of the three places */
    for (size_t i = TLP_OFFSET_BODY; i + 3 + 6 + TLP_CHECKSUM_BYTES <= n; i++)
        at = memcmp(bytes + i, (const uint8_t[9]){1, 2}, 9) == 0 ? i : at;
    assert_int_equal(at, n - TLP_CHECKSUM_BYTES - 9);
    const struct {
        uint8_t column[3];
        size_t offset;
    } bad[] = {{{2, 2, 0}, at}, {{1, 3, 0}, at + 1}, {{0, 0, 2}, at + 2}, {{0, 0, 0}, at + 3}};
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        tl_error e = {0};
        memcpy(bytes + at, bad[i].column, 3);
        tl_store32(bytes + n - 4, tl_crc32(0, bytes, n - 4), false);
        assert_int_equal(fixture_load(bytes, n, &q, NULL, &e), TL_EDAMAGED);
        assert_contains(e.message, "tlp.bad-unwound");
        assert_int_equal(e.offset, bad[i].offset);
    }
    free(bytes);
    tl_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back), cmocka_unit_test(test_none),
        cmocka_unit_test(test_added_up),   cmocka_unit_test(test_version_1_cannot_hold_it),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
