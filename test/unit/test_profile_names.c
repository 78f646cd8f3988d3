/* Demangling the functions of a profile written with linkage names. */
#include "check.h"
#include "random_profile.h"

#include "op/symbols/demangle.h"
#include "op/symbols/profile_names.h"

static uint32_t add(tl_profile *p, int64_t id, const char *module, const char *name, const char *linkage_name)
{
    const tl_function f = {.id = id, .module = module, .name = name, .linkage_name = linkage_name};
    const uint32_t index = tl_profile_add_function(p, &f);
    assert_true(tl_profile_child(p, 0, index) != TL_HASH_NONE);
    return index;
}

static bool can_demangle(void)
{
    char *name = tl_demangle("_Z1fi");
    free(name);
    return name != NULL;
}

static void test_linkage_names_become_readable(void **state)
{
    if (!can_demangle())
        skip_because("this build has no demangler");
    tl_profile *p = fixture_new();
    static const struct {
        const char *name, *linkage_name, *expected;
    } cases[] = {
        {"_Z1fi", "_Z1fi", "f(int)"},  {"_ZN3net6Reader4readEv", "_ZN3net6Reader4readEv", "net::Reader::read()"},
        {"main", "main", "main"},      {"_start", "_start", "_start"},
        {"g(int)", "_Z1gi", "g(int)"}, {"_Z1hi", NULL, "_Z1hi"}, /* not marked as a linkage name */
        {"_Z1hi", "_Z1gi", "_Z1hi"},   {NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(add(p, (int64_t)i, "aa11", cases[i].name, cases[i].linkage_name), i);
    assert_int_equal(tl_profile_demangle(p, NULL), 0);
    for (uint32_t i = 0; i < p->nfunction; i++) {
        if (cases[i].expected)
            assert_string_equal(p->function[i].name, cases[i].expected);
        else
            assert_null(p->function[i].name);
        /* and is found under its new name */
        assert_int_equal(tl_profile_add_function(p, &p->function[i]), i);
    }
    tl_profile_free(p);
}

/* One function of a file under both names: they would become the same, which profiles forbid. */
static void test_functions_do_not_become_the_same(void **state)
{
    if (!can_demangle())
        skip_because("this build has no demangler");
    tl_profile *p = fixture_new();
    const uint32_t a = add(p, 1, "aa11", "_Z1fi", "_Z1fi"), b = add(p, 1, "aa11", "f(int)", "_Z1fi");
    const uint32_t other_module = add(p, 1, "bb22", "_Z1fi", "_Z1fi"), other_id = add(p, 2, "aa11", "_Z1fi", "_Z1fi");
    const uint32_t none = add(p, 1, NULL, "_Z1fi", "_Z1fi");
    assert_int_equal(tl_profile_demangle(p, NULL), 0);
    assert_string_equal(p->function[a].name, "_Z1fi");
    assert_string_equal(p->function[b].name, "f(int)");
    assert_string_equal(p->function[other_module].name, "f(int)");
    assert_string_equal(p->function[other_id].name, "f(int)");
    assert_string_equal(p->function[none].name, "f(int)");
    size_t n;
    free(fixture_save(p, &n));
    tl_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linkage_names_become_readable),
        cmocka_unit_test(test_functions_do_not_become_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
