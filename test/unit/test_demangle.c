/* Tests of op/symbols/demangle.h: C++, both Rust schemes, other names, and names made to cost much. */
#include "check.h"
#include "op/symbols/demangle.h"

static void expect(const char *linkage_name, const char *readable)
{
    char *got = tl_demangle(linkage_name);
    if (readable) {
        assert_non_null(got);
        assert_string_equal(got, readable);
    } else {
        assert_null(got);
    }
    free(got);
}

static void need_demangler(void)
{
#ifndef TL_HAVE_DEMANGLE
    skip_because("the build has no demangler");
#endif
}

static void test_cpp(void **state)
{
    need_demangler();
    expect("_Z3foov", "foo()");
    expect("_ZN3foo3barEi", "foo::bar(int)");
    expect("_ZNK3foo3barEPKcRSt6vectorIiSaIiEE",
           "foo::bar(char const*, std::vector<int, std::allocator<int> >&) const");
    expect("_ZN12_GLOBAL__N_13hidEv", "(anonymous namespace)::hid()");
    expect("_ZN3foo3barEi.isra.0", "foo::bar(int) [clone .isra.0]");
    expect("_ZdlPv", "operator delete(void*)");
}

static void test_legacy_rust_loses_its_hash(void **state)
{
    need_demangler();
    expect("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
    /* no hash, hence C++ */
    expect("_ZN4core3fmt5Write9write_fmtE", "core::fmt::Write::write_fmt");
}

static void test_rust_v0(void **state)
{
    need_demangler();
    expect("_RNvCs1234_7mycrate3foo", "mycrate::foo");
    expect("_RINvCs1234_7mycrate3foolE", "mycrate::foo::<i32>");
    expect("_RNvNtCs1234_7mycrate3foou8gdel_5qa", "mycrate::foo::g\u00f6del");
}

static void test_other_names(void **state)
{
    static const char *const names[] = {
        "",      "main",      "foo::bar(int)", "_start", "__libc_start_main", "_Z", "_ZN", "_ZN3foo", "_R",
        "_RNvC", "_Z3foov@@", "Z3foov",        "i"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect(names[i], NULL);
    expect(NULL, NULL);
}

/* A function whose n-th argument is a pair of the argument before: the text doubles with each. */
static void double_cpp(char *name, unsigned n)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    name += sprintf(name, "_Z1f1AIiiE");
    for (unsigned i = 0; i < n; i++)
        name += sprintf(name, "S_IS%c_S%c_E", digits[i], digits[i]);
}

/* The same in Rust: tuples of the one before, through back references. */
static void double_rust(char *name, unsigned n, const char *leaf)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t before = 4; /* place of the first tuple, counted after _R */
    char *p = name + sprintf(name, "_RIC1aT%s%sE", leaf, leaf);
    for (unsigned i = 0; i < n; i++) {
        size_t here = (size_t)(p - name) - 2, number = before - 1;
        char reference[4] = "";
        if (number >= 62)
            sprintf(reference, "%c%c", digits[number / 62], digits[number % 62]);
        else
            sprintf(reference, "%c", digits[number]);
        p += sprintf(p, "TB%s_B%s_E", reference, reference);
        before = here;
    }
    sprintf(p, "E");
}

static void test_exploding_names_stay(void **state)
{
    need_demangler();
    char name[1024];
    double_cpp(name, 3);
    expect(name, "f(A<int, int>, A<A<int, int>, A<int, int> >, A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, "
                 "int> > >, A<A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, int> > >, A<A<A<int, int>, A<int, "
                 "int> >, A<A<int, int>, A<int, int> > > >)");
    double_cpp(name, 10);
    char *readable = tl_demangle(name);
    assert_non_null(readable);
    assert_int_equal(strlen(readable), 34756);
    free(readable);
    double_cpp(name, 11); /* 69,568 bytes */
    expect(name, NULL);
    double_cpp(name, 34); /* some 2^40 */
    expect(name, NULL);
    double_rust(name, 2, "l");
    expect(name, "a::<(i32, i32), ((i32, i32), (i32, i32)), (((i32, i32), (i32, i32)), ((i32, i32), (i32, i32)))>");
    double_rust(name, 40, "l");
    expect(name, NULL);
    double_rust(name, 40, "Cu8gdel_5qa"); /* beyond ASCII */
    expect(name, NULL);
}

static void test_long_names(void **state)
{
    need_demangler();
    enum { N = 100000, LONGEST = 16384 };
    char *name = malloc(N + 16);
    assert_non_null(name);
    /* Within the limit: 400 levels. */
    strcpy(name, "_ZN");
    for (int i = 0; i < 400; i++)
        strcat(name, "1a");
    strcat(name, "Ev");
    char *readable = tl_demangle(name);
    assert_non_null(readable);
    assert_int_equal(strlen(readable), 400 + 399 * 2 + 2);
    free(readable);
    /* The longest allowed name, and one byte longer. */
    for (int more = 0; more < 2; more++) {
        sprintf(name, "_RNvC1a%d", LONGEST - 12 + more);
        memset(name + 12, 'b', LONGEST - 12 + (size_t)more);
        name[LONGEST + more] = 0;
        readable = tl_demangle(name);
        assert_int_equal(readable ? strlen(readable) : 0, more ? 0 : LONGEST - 12 + strlen("a::"));
        free(readable);
    }
    /* Far beyond it, in depth and in length. */
    memset(name, 'P', N);
    memcpy(name, "_Z1f", 4);
    strcpy(name + N, "i");
    expect(name, NULL);
    memset(name, 'N', N);
    memcpy(name, "_RC", 3);
    expect(name, NULL);
    free(name);
}

/* Every prefix and change of valid names: no crash, and no leak under a sanitizer. */
static void test_cut_and_broken_names(void **state)
{
    need_demangler();
    static const char *const sound[] = {
        "_ZNK3foo3barEPKcRSt6vectorIiSaIiEE", "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
        "_RNvNtCs1234_7mycrate3foou8gdel_5qa", "_RINvCs1234_7mycrate3foolE", "_ZZN1AIiE1fIXadL_ZN1BcviEvEEEEvT_EUlvE_"};
    char name[128];
    unsigned read = 0;
    for (size_t i = 0; i < sizeof sound / sizeof sound[0]; i++)
        for (size_t at = 0; at < strlen(sound[i]); at++)
            for (int change = 0; change < 128; change++) {
                strcpy(name, sound[i]);
                name[at] = (char)change; /* 0 cuts it */
                char *readable = tl_demangle(name);
                read += readable != NULL;
                free(readable);
            }
    assert_true(read > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpp),
        cmocka_unit_test(test_legacy_rust_loses_its_hash),
        cmocka_unit_test(test_rust_v0),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_exploding_names_stay),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_cut_and_broken_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
