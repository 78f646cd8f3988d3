/* Functions of two builds: clones, hashes, renamed, inlined, moved to another file. */
#include "compare_fixture.h"

#include "analysis/compare/name_key.h"

static const tl_compare_options all_rows = {.has_min_share = true};

static void test_keys(void **state)
{
    static const struct {
        const char *name, *no_numbers, *no_clones;
    } cases[] = {
        {"serve", "serve", "serve"},
        {"serve.constprop.0", "serve.constprop", "serve"},
        {"serve.constprop.0.isra.12", "serve.constprop.isra", "serve"},
        {"serve.part.0.cold", "serve.part.cold", "serve"},
        {"serve.cold", "serve.cold", "serve"},
        {"serve.llvm.8812345", "serve.llvm", "serve"},
        {"serve.txt", "serve.txt", "serve.txt"},
        {"serve.v2", "serve.v2", "serve.v2"},
        {".cold", ".cold", ".cold"},
        {"core::fmt::write::h0123456789abcdef", "core::fmt::write", "core::fmt::write"},
        {"core::fmt::write::h0123456789abcdex", "core::fmt::write::h0123456789abcdex",
         "core::fmt::write::h0123456789abcdex"},
        {"run()::{lambda(int)#3}::operator()(int) const", "run()::{lambda(int)#}::operator()(int) const",
         "run()::{lambda(int)#}::operator()(int) const"},
        {"f::$_12::operator()", "f::$_::operator()", "f::$_::operator()"},
        {"sort<int*, std::less<int> >(int*)", "sort<int*, std::less<int> >(int*)", "sort(int*)"},
        {"operator<(a<int> const&)", "operator<(a<int> const&)", "operator<(a const&)"},
        {"p::operator->()", "p::operator->()", "p::operator->()"},
        {"operator<< <char>(int)", "operator<< <char>(int)", "operator<< (int)"},
        {"", "", ""},
        {"a>b", "a>b", "a>b"},
        {"a<b", "a<b", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char key[256];
        assert_int_equal(tl_name_key(key, cases[i].name, TL_KEY_NO_NUMBERS), strlen(cases[i].no_numbers));
        assert_string_equal(key, cases[i].no_numbers);
        assert_int_equal(tl_name_key(key, cases[i].name, TL_KEY_NO_CLONES), strlen(cases[i].no_clones));
        assert_string_equal(key, cases[i].no_clones);
    }
}

/* Any name has a key that is no longer. */
static void test_any_name(void **state)
{
    static const char letters[] = "a.<>#$_0:h-(){}cold";
    uint64_t seed = 3;
    for (int i = 0; i < 20000; i++) {
        char name[64];
        const size_t n = (size_t)(fixture_random(&seed) % 40);
        for (size_t k = 0; k < n; k++)
            name[k] = letters[fixture_random(&seed) % (sizeof letters - 1)];
        name[n] = 0;
        char *key = malloc(n + 1); /* exactly what is needed: a sanitizer sees more */
        assert_non_null(key);
        assert_true(tl_name_key(key, name, TL_KEY_NO_NUMBERS) <= n);
        assert_true(tl_name_key(key, name, TL_KEY_NO_CLONES) <= n);
        free(key);
    }
}

/* Six runs of main, which calls the functions of a list, each with 100 calls of its own time. */
static void add_side(side *s, const char *const *stack, size_t n)
{
    for (int i = 0; i < 6; i++) {
        tl_profile *p = add_run(s);
        for (size_t k = 0; k < n; k++)
            add_calls(p, stack[k], 100 + 10 * k, 1000);
    }
}

static const tl_compare_row *calls_of(const tl_compare *c, const char *name)
{
    const tl_compare_row *r = find_row(c, name, "calls");
    if (!r)
        fail_msg("no row of %s", name);
    return r;
}

static void test_clones(void **state)
{
    static const char *const old[] = {"main;a.constprop.0", "main;b.isra.0", "main;c::h0123456789abcdef",
                                      "main;d<int>(int)",   "main;e",        "main;e.cold"};
    static const char *const now[] = {"main;a.constprop.3", "main;b",      "main;c::hfedcba9876543210",
                                      "main;d<long>(int)",  "main;e.cold", "main;e"};
    side base = {.n = 0}, newer = {.n = 0};
    add_side(&base, old, 6);
    add_side(&newer, now, 6);
    tl_compare *c = compared_with(&base, &newer, &all_rows);
    static const char *const same[] = {"a.constprop.3", "b", "c::hfedcba9876543210", "d<long>(int)"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(calls_of(c, same[i])->was, strchr(old[i], ';') + 1);
        assert_int_equal(calls_of(c, same[i])->verdict, TL_VERDICT_EXACT);
        assert_false(calls_of(c, same[i])->maybe_renamed);
    }
    assert_null(calls_of(c, "e")->was); /* the whole name first */
    assert_null(calls_of(c, "e.cold")->was);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

/* Two clones on one side are not guessed at: they are no pair of one. */
static void test_ambiguous(void **state)
{
    static const char *const old[] = {"main;a.part.0", "main;x;deep"}, *const now[] = {"main;a.cold", "main;a.isra.1"};
    side base = {.n = 0}, newer = {.n = 0};
    add_side(&base, old, 2);
    add_side(&newer, now, 2);
    tl_compare *c = compared_with(&base, &newer, &all_rows);
    assert_int_equal(calls_of(c, "a.isra.1")->verdict, TL_VERDICT_NEW);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static void add_file_function(tl_profile *p, const char *name, const char *file, uint32_t line, uint64_t calls)
{
    const uint32_t f = tl_profile_add_function(p, &(tl_function){.name = name, .file = file, .line = line});
    const uint32_t place = tl_profile_child(p, 0, f);
    for (uint64_t i = 0; i < calls; i++)
        fixture_call(p, place, 1000, 1000, true);
}

static void test_files(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (int i = 0; i < 6; i++) {
        tl_profile *p = add_run(&base), *q = add_run(&newer);
        add_file_function(p, "init", "/build1/a.c", 10, 10);
        add_file_function(p, "init", "/build1/b.c", 20, 20);
        add_file_function(p, "old_name", "/build1/b.c", 99, 30);
        add_file_function(q, "init", "/build2/b.c", 21, 20);
        add_file_function(q, "init", "/build2/a.c", 11, 10);
        add_file_function(q, "new_name", "/build2/b.c", 99, 55);
    }
    tl_compare *c = compared_with(&base, &newer, &all_rows);
    for (size_t i = 0; i < tl_compare_rows(c); i++) {
        const tl_compare_row *r = tl_compare_get_row(c, i);
        if (strcmp(r->function, "init") == 0)
            assert_true(r->verdict == TL_VERDICT_EXACT || r->verdict == TL_VERDICT_SAME);
    }
    assert_string_equal(calls_of(c, "new_name")->was, "old_name"); /* at the same line */
    assert_false(calls_of(c, "new_name")->maybe_renamed);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static void test_renamed(void **state)
{
    static const char *const old[] = {"main;draw", "main;draw;pixels", "main;draw;lines", "main;leaf", "main;other;x"};
    static const char *const now[] = {"main;paint", "main;paint;pixels", "main;paint;lines", "main;tip",
                                      "main;quite;y"};
    side base = {.n = 0}, newer = {.n = 0};
    add_side(&base, old, 4);
    add_side(&newer, now, 4);
    for (int i = 0; i < 6; i++) { /* nothing in common but the caller */
        add_calls((tl_profile *)(uintptr_t)base.run[i].profile, old[4], 500, 1000);
        add_calls((tl_profile *)(uintptr_t)newer.run[i].profile, now[4], 17, 5);
    }
    tl_compare *c = compared_with(&base, &newer, &all_rows);
    assert_string_equal(calls_of(c, "paint")->was, "draw");
    assert_true(calls_of(c, "paint")->maybe_renamed);
    assert_string_equal(calls_of(c, "tip")->was, "leaf");
    assert_int_equal(calls_of(c, "x")->verdict, TL_VERDICT_GONE);
    assert_int_equal(calls_of(c, "y")->verdict, TL_VERDICT_NEW);
    const tl_gate *g;
    tl_error e = {0};
    assert_int_equal(tl_compare_gate(c, "calls(paint) > +5%", TL_GATE_INTERVAL, &g, &e), TL_ENOMATCH);
    assert_contains(e.message, "--map");
    tl_compare_free(c);
    static const char *const map[] = {"draw=paint", "x=y"};
    c = compared_with(&base, &newer, &(tl_compare_options){.has_min_share = true, .nmap = 2, .map = map});
    assert_false(calls_of(c, "paint")->maybe_renamed);
    assert_string_equal(calls_of(c, "y")->was, "x");
    must(tl_compare_gate(c, "calls(paint) > +5%", TL_GATE_INTERVAL, &g, &e), &e);
    assert_int_equal(g->status, TL_GATE_PASSED);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

/* serve calls parse, which calls lex; in NEW parse is a part of serve. */
static void test_inlined(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (int i = 0; i < 6; i++) {
        tl_profile *p = add_run(&base), *q = add_run(&newer);
        for (int k = 0; k < 50; k++) {
            add_outer(p, "main;serve", 1000, 200);
            add_outer(p, "main;serve;parse", 800, 300);
            add_calls(p, "main;serve;parse;lex", 1, 500);
            add_outer(q, "main;serve", 1000, 500);
            add_calls(q, "main;serve;lex", 1, 500);
        }
    }
    tl_compare *c = compared_with(&base, &newer, &(tl_compare_options){.has_min_share = true, .per = TL_PER_RUN});
    assert_string_equal(calls_of(c, "parse")->inlined_into, "serve");
    assert_int_equal(calls_of(c, "parse")->verdict, TL_VERDICT_GONE);
    assert_string_equal(verdict(c, "serve", "self"), "same"); /* with that of parse */
    assert_null(calls_of(c, "lex")->inlined_into);
    tl_compare_free(c);
    c = compared_with(&base, &newer, &(tl_compare_options){.has_min_share = true, .paths = true});
    assert_string_equal(verdict(c, "main;serve;lex", "p50"), "same"); /* one path in both */
    assert_string_equal(verdict(c, "main;serve;lex", "calls"), "exact");
    assert_null(find_row(c, "main;serve;parse;lex", "calls"));
    tl_compare_free(c);
    c = compared_with(&newer, &base, &(tl_compare_options){.has_min_share = true, .per = TL_PER_RUN});
    assert_string_equal(calls_of(c, "parse")->inlined_into, "serve");
    assert_int_equal(calls_of(c, "parse")->verdict, TL_VERDICT_NEW);
    assert_string_equal(verdict(c, "serve", "self"), "same");
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

/* A function that is simply gone explains nothing. */
static void test_not_inlined(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (int i = 0; i < 6; i++) {
        tl_profile *p = add_run(&base), *q = add_run(&newer);
        add_outer(p, "main;serve", 1000, 200);
        add_calls(p, "main;serve;parse", 1, 800);
        add_outer(q, "main;serve", 220, 220);
    }
    tl_compare *c = compared_with(&base, &newer, &all_rows);
    assert_int_equal(calls_of(c, "parse")->verdict, TL_VERDICT_GONE);
    assert_null(calls_of(c, "parse")->inlined_into);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static bool warns(const tl_compare *c, const char *piece)
{
    for (size_t i = 0; i < tl_compare_warnings(c); i++)
        if (strstr(tl_compare_warning(c, i), piece))
            return true;
    return false;
}

static void test_doubts(void **state)
{
    static const char *const old[] = {"main;a;aa", "main;b;bb"}, *const now[] = {"other;q;qq;qqq", "other;r"};
    side base = {.n = 0}, newer = {.n = 0};
    add_side(&base, old, 2);
    add_side(&newer, now, 2);
    for (int i = 0; i < 6; i++) {
        base.run[i].has_utc = newer.run[i].has_utc = true;
        base.run[i].utc_ns = i;
        newer.run[i].utc_ns = 100 + i;
        add_calls((tl_profile *)(uintptr_t)newer.run[i].profile, now[0], 1, (uint64_t)i * 100000);
    }
    ((tl_profile *)(uintptr_t)newer.run[2].profile)->lost_events = 1;
    tl_compare *c = compared_with(&base, &newer, NULL);
    assert_true(warns(c, "different programs"));
    assert_true(warns(c, "all runs of BASE were recorded before"));
    assert_true(warns(c, "only NEW has runs that lost events"));
    assert_true(warns(c, "the runs of NEW became slower"));
    assert_true(warns(c, "the runs of NEW differ"));
    assert_false(warns(c, "fewer than"));
    assert_null(tl_compare_warning(c, tl_compare_warnings(c)));
    tl_compare_free(c);
    c = compared_with(&base, &base, NULL);
    assert_int_equal(tl_compare_warnings(c), 0);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),      cmocka_unit_test(test_any_name),    cmocka_unit_test(test_clones),
        cmocka_unit_test(test_ambiguous), cmocka_unit_test(test_files),       cmocka_unit_test(test_renamed),
        cmocka_unit_test(test_inlined),   cmocka_unit_test(test_not_inlined), cmocka_unit_test(test_doubts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
