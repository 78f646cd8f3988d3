/* Too long names of functions: which parts are left out, and in which order. */
#include <locale.h>
#include <string.h>

#include "check.h"
#include "model/name_fit.h"

static const tl_terminal plain = {.width = 80}, unicode = {.unicode = true, .width = 80};

static const char *fit(const tl_terminal *t, const char *name, unsigned width)
{
    static char buf[4096];
    return tl_name_fit(t, buf, sizeof buf, name, width);
}

static void test_parts_go_in_order(void **state)
{
    static const struct {
        const char *name;
        unsigned width;
        const char *fit;
    } cases[] = {
        /* C++: arguments from the inside, parameters, namespaces; the last component stays. */
        {"a::map<int, std::pair<x::y<int>, long> >::find(int const&)", 60, NULL},
        {"a::map<int, std::pair<x::y<int>, long> >::find(int const&)", 56,
         "a::map<int, std::pair<..> >::find(int const&)"},
        {"a::map<int, std::pair<x::y<int>, long> >::find(int const&)", 44, "a::map<..>::find(int const&)"},
        {"a::map<int, std::pair<x::y<int>, long> >::find(int const&)", 27, "a::map<..>::find(..)"},
        {"a::map<int, std::pair<x::y<int>, long> >::find(int const&)", 19, "..::find(..)"},
        {"a::map<int, std::pair<x::y<int>, long> >::find(int const&)", 9, "map::find"},
        {"a::map<int, std::pair<x::y<int>, long> >::find(int const&)", 8, "find"},
        {"a::bb::ccc::dddd::last()", 19, "..::dddd::last()"},
        {"a::bb::ccc::dddd::last()", 22, "..::ccc::dddd::last()"},
        {"void ns::run<int, long>(int, long)", 24, "void ns::run<..>(..)"},
        {"void ns::run<int, long>(int, long)", 16, "..::run<..>(..)"},
        {"ns::f(int, long, char) const", 20, "ns::f(..) const"},
        {"ns::f(int, long, char) [clone .cold]", 28, "ns::f(..) [clone .cold]"},
        /* Signs of operators are not brackets. */
        {"bool ns::operator< <int, long>(A<int, long> const&, B)", 36, "bool ns::operator< <..>(..)"},
        {"ns::X<int, long>::operator()(int, long) const", 34, "ns::X<..>::operator()(..) const"},
        {"ns::X<int, long>::operator[](unsigned long)", 26, "ns::X<..>::operator[](..)"},
        {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&)", 45,
         "std::ostream& std::operator<< <..>(..)"},
        {"ns::X<int, long>::operator->() const", 32, "ns::X<..>::operator->() const"},
        {"ns::X<int, long>::operator<=>(ns::X<int, long> const&)", 30, "ns::X<..>::operator<=>(..)"},
        {"ns::my_operator<int, long, char>()", 24, "ns::my_operator<..>()"},
        {"auto ns::f<int, long>(int, long)->decltype(x)", 30, "..::f<..>(..)->decltype(x)"},
        /* The function around a lambda tells more than the lambda. */
        {"app::main_loop(int, char**)::{lambda(int, int)#1}::operator()(int, int) const", 61,
         "app::main_loop(..)::{lambda(..)#1}::operator()(..) const"},
        {"app::main_loop(int, char**)::{lambda(int, int)#1}::operator()(int, int) const", 55,
         "..::main_loop(..)::{lambda(..)#1}::operator()(..) const"},
        {"(anonymous namespace)::parse(std::string const&, int)", 34, "(anonymous namespace)::parse(..)"},
        {"(anonymous namespace)::parse(std::string const&, int)", 20, "..::parse(..)"},
        /* Rust. */
        {"core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", 40, "core::ptr::drop_in_place::<..>"},
        {"<alloc::vec::Vec<u8, A> as core::ops::Drop>::drop", 48, "<alloc::vec::Vec<..> as core::ops::Drop>::drop"},
        {"<alloc::vec::Vec<u8, A> as core::ops::Drop>::drop", 20, "..::drop"},
        {"shop::cart::total::{{closure}}", 25, "..::total::{{closure}}"},
        /* .NET and Java. */
        {"System.Collections.Generic.List`1[System.String].Add(System.String)", 56,
         "System.Collections.Generic.List`1[..].Add(System.String)"},
        {"System.Collections.Generic.List`1[System.String].Add(System.String)", 46,
         "System.Collections.Generic.List`1[..].Add(..)"},
        {"System.Collections.Generic.List`1[System.String].Add(System.String)", 22, "..List`1[..].Add(..)"},
        {"java.util.concurrent.ThreadPoolExecutor.runWorker", 36, "..ThreadPoolExecutor.runWorker"},
        {"inflate_fast_and_then_some.constprop.0", 20, "inflate_f..nstprop.0"},
        {"libclang-cpp-and-more.so.15", 20, "libclang-..ore.so.15"},
        /* Two names. */
        {"a::one<int, long>(int) -> b::two<int, long>(int)", 40, "a::one<..>(int) -> b::two<..>(int)"},
        {"main -> b::two<int, long>(int)", 26, "main -> b::two<..>(int)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = fit(&plain, cases[i].name, cases[i].width);
        assert_string_equal(got, cases[i].fit ? cases[i].fit : cases[i].name);
    }
}

/* Whatever the name: it fits, and its last bytes or a mark for what is left out are there. */
static void test_any_name_fits(void **state)
{
    static const char *const names[] = {
        "a<b<c<d<e(",
        "a>b>c>d)]}",
        "))))((((",
        "<<<<<<>>>>>>",
        "operator",
        "operator<operator<operator<operator<",
        "f(int]",
        "::::::::::::::",
        "............",
        " -> ",
        "a -> b -> c -> d -> e",
        "->->->->->->",
        "(anonymous namespace)",
        "ns::operator()(((((",
        "x::\xff\xfe\xfd::y<z>",
        "größe::übung<straße>::日本日本日本()",
    };
    for (unsigned w = 1; w < 40; w++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const char *a = fit(&plain, names[i], w);
            assert_true(tl_text_width(a, strlen(a)) <= w);
            const char *b = fit(&unicode, names[i], w);
            assert_true(tl_text_width(b, strlen(b)) <= w);
        }
}

static void test_nesting_and_length_have_a_limit(void **state)
{
    char name[8192];
    memset(name, '<', 100);
    memset(name + 100, '>', 100);
    memcpy(name + 200, "::last", 7);
    assert_string_equal(fit(&plain, name, 10), "<<<<..last"); /* too deep to follow: the middle */
    memset(name, 'x', 5000);
    memcpy(name + 5000, "::last", 7);
    assert_string_equal(fit(&plain, name, 10), "xxxx..last"); /* too long to take apart */
    memcpy(name, "ns::f<", 6);
    memcpy(name + 5000, ">(int)", 7);
    assert_string_equal(fit(&plain, name, 14), "ns::f<..>(int)"); /* but the part left out may be of any length */
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_go_in_order), cmocka_unit_test(test_any_name_fits),
                                       cmocka_unit_test(test_nesting_and_length_have_a_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
