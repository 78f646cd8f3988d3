/* The .tlp format: counts of patched objects come back, stay if profiles with the same ones are merged or regrouped,
 * and go if they differ. */
#include "random_profile.h"

#include "base/crc32.h"
#include "base/endian.h"
#include "format/tlp/tlp_layout.h"
#include "model/patched.h"

static const tl_patched objects[] = {{"/usr/bin/lua5.4", 727, 725, 3, "it shares a fragment with another function (2)"},
                                     {NULL, 1000, 1000, 0, NULL}};

static tl_profile *make(uint32_t n)
{
    tl_profile *p = fixture_new();
    fixture_call(p, fixture_place(p, 0, "a"), 100, 100, true);
    assert_int_equal(tl_profile_set_patched(p, objects, n, NULL), 0);
    return p;
}

static void check(const tl_profile *p, uint32_t n)
{
    assert_int_equal(p->npatched, n);
    for (uint32_t i = 0; i < n; i++) {
        const tl_patched *o = &p->patched[i];
        assert_true(!o->path == !objects[i].path && (!o->path || strcmp(o->path, objects[i].path) == 0));
        assert_true(!o->why == !objects[i].why && (!o->why || strcmp(o->why, objects[i].why) == 0));
        assert_true(o->functions == objects[i].functions && o->patched == objects[i].patched);
        assert_int_equal(o->late, objects[i].late);
    }
}

static void test_comes_back(void **state)
{
    size_t n;
    tl_profile *p = make(2);
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(bytes[TLP_OFFSET_VERSION], 2);
    assert_int_equal(bytes[TLP_OFFSET_FLAGS], TLP_HISTOGRAM | TLP_PATCHED);
    tl_profile *back = fixture_must_load(bytes, n);
    check(back, 2);
    assert_saved_as(back, bytes, n);
    free(bytes);
    tl_profile_free(back);
    tl_profile_free(p);
}

static void test_merged(void **state)
{
    tl_profile *p = make(2), *same = make(2), *other = make(1);
    assert_int_equal(tl_profile_merge(p, same, NULL), 0);
    check(p, 2);
    assert_int_equal(tl_profile_merge(p, other, NULL), 0);
    check(p, 0);
    tl_profile_free(other);
    tl_profile_free(same);
    tl_profile_free(p);
}

static void test_regrouped(void **state)
{
    tl_profile *p = make(2), *q = NULL;
    assert_int_equal(tl_profile_regroup(&q, p, TL_GROUP_BY_FUNCTION, NULL), 0);
    check(q, 2);
    tl_profile_free(q);
    tl_profile_free(p);
}

static void test_damage(void **state)
{
    size_t n;
    tl_profile *p = make(1), *q = NULL;
    uint8_t *bytes = fixture_save(p, &n);
    size_t at = 0; /* of the number of objects: 1; before its path, 727, 725 and 3 */
    for (size_t i = TLP_OFFSET_BODY; i + 8 <= n; i++)
        at = memcmp(bytes + i + 2, (const uint8_t[5]){0xd7, 5, 0xd5, 5, 3}, 5) == 0 ? i : at;
    assert_int_equal(bytes[at], 1);
    const struct {
        uint8_t count, path;
        const char *rule;
    } bad[] = {
        {0, bytes[at + 1], "tlp.bad-count"}, {1, 99, "tlp.bad-reference"}, {127, bytes[at + 1], "tlp.bad-count"}};
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        tl_error e = {0};
        bytes[at] = bad[i].count;
        bytes[at + 1] = bad[i].path;
        tl_store32(bytes + n - 4, tl_crc32(0, bytes, n - 4), false);
        assert_int_equal(fixture_load(bytes, n, &q, NULL, &e), TL_EDAMAGED);
        assert_contains(e.message, bad[i].rule);
    }
    free(bytes);
    tl_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_comes_back), cmocka_unit_test(test_merged),
                                       cmocka_unit_test(test_regrouped), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
