/* Gates: their texts, with the places of mistakes, and when they fail. */
#include "compare_fixture.h"

#include "analysis/compare/gate_text.h"

static void check(const char *text, double amount, tl_amount_kind kind, bool above)
{
    tl_arena arena = {0};
    tl_gate_text t;
    tl_error e = {0};
    must(tl_gate_parse(&t, &arena, text, &e), &e);
    assert_int_equal(t.n, 1);
    assert_true(fabs(t.term[0].amount - amount) < 1e-9 * fabs(amount) + 1e-12);
    assert_int_equal(t.term[0].kind, kind);
    assert_int_equal(t.term[0].above, above);
    tl_arena_fini(&arena);
}

static void test_amounts(void **state)
{
    check("p99(f) > +5%", 0.05, TL_AMOUNT_CHANGE, true);
    check("calls(f)<-12.5%", -0.125, TL_AMOUNT_CHANGE, false);
    check("p99(f) > 4us", 4000, TL_AMOUNT_LIMIT, true);
    check("total(f) > +1.5 ms", 1.5e6, TL_AMOUNT_DIFFERENCE, true);
    check("self(f) < 2min", 120e9, TL_AMOUNT_LIMIT, false);
    check("calls(f) > 1000", 1000, TL_AMOUNT_LIMIT, true);
    check("calls(f) > +10", 10, TL_AMOUNT_DIFFERENCE, true);
    check("share(f) > 10%", 0.1, TL_AMOUNT_LIMIT, true);
    check("share(f) > +10%", 0.1, TL_AMOUNT_CHANGE, true);
    check("  p50 ( f ) > +0% ", 0, TL_AMOUNT_CHANGE, true);
    check("p99.99(f) > +5%", 0.05, TL_AMOUNT_CHANGE, true);
    check("self(f) > 7", 7, TL_AMOUNT_LIMIT, true); /* of profiles in instructions */
}

static void test_targets(void **state)
{
    static const struct {
        const char *text, *target;
        bool is_path, is_all;
    } cases[] = {{"p50(*)>+5%", "*", false, true},
                 {"p50(render_*)>+5%", "render_*", false, false},
                 {"p50(a::operator()(int))>+5%", "a::operator()(int)", false, false},
                 {"p50(path:main;*;draw)>+5%", "main;*;draw", true, false},
                 {"p50(path:*)>+5%", "*", true, false},
                 {"p50( a b )>+5%", "a b", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_arena arena = {0};
        tl_gate_text t;
        tl_error e = {0};
        must(tl_gate_parse(&t, &arena, cases[i].text, &e), &e);
        assert_string_equal(t.term[0].target, cases[i].target);
        assert_int_equal(t.term[0].is_path, cases[i].is_path);
        assert_int_equal(t.term[0].is_all, cases[i].is_all);
        tl_arena_fini(&arena);
    }
}

static void test_or(void **state)
{
    tl_arena arena = {0};
    tl_gate_text t;
    tl_error e = {0};
    must(tl_gate_parse(&t, &arena, "p50(f) > +5% or calls(g) > 10 or p99(h) > 1s", &e), &e);
    assert_int_equal(t.n, 3);
    assert_string_equal(t.term[1].target, "g");
    assert_int_equal(t.term[2].metric.ppm, 990000);
    tl_arena_fini(&arena);
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *text;
        unsigned at;
        const char *piece;
    } cases[] = {{"", 0, "expected calls"},
                 {"p(f) > +5%", 0, "expected calls"},
                 {"p0(f) > +5%", 0, "expected calls"},
                 {"p100(f) > +5%", 0, "expected calls"},
                 {"p99.(f) > +5%", 0, "expected calls"},
                 {"p99.99999(f) > +5%", 0, "expected calls"},
                 {"speed(f) > +5%", 0, "expected calls"},
                 {"p99 f > +5%", 4, "expected '('"},
                 {"p99() > +5%", 4, "the name of a function"},
                 {"p99(path:) > +5%", 4, "the name of a function"},
                 {"p99(f > +5%", 11, "expected ')'"},
                 {"p99(f) = +5%", 7, "expected > or <"},
                 {"p99(f) >", 8, "expected a number"},
                 {"p99(f) > +x", 10, "expected a number"},
                 {"p99(f) > +5.", 12, "expected a number"},
                 {"p99(f) > 5%", 10, "a change has a sign"},
                 {"p99(f) > 5days", 10, "expected %, ns"},
                 {"calls(f) > 5ms", 12, "expected %, or nothing"},
                 {"share(f) > 5", 12, "expected % after a share"},
                 {"p99(f) > +5% and", 13, "\"or\""},
                 {"p99(f) > +5% or", 13, "\"or\""},
                 {"p99(f) > +5% or ", 16, "expected calls"},
                 {"p99(f) > +1234567890123456%", 25, "15 digits"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_arena arena = {0};
        tl_gate_text t;
        tl_error e = {0};
        assert_int_equal(tl_gate_parse(&t, &arena, cases[i].text, &e), TL_ESYNTAX);
        if (e.offset != cases[i].at || !strstr(e.message, cases[i].piece))
            fail_msg("%s: at %u: %s", cases[i].text, (unsigned)e.offset, e.message);
        tl_arena_fini(&arena);
    }
}

static void test_limits(void **state)
{
    static char text[TL_GATE_TEXT_MAX + 2];
    tl_arena arena = {0};
    tl_gate_text t;
    tl_error e = {0};
    size_t n = 0;
    for (unsigned i = 0; i <= TL_GATE_TERMS_MAX; i++) {
        if (i > 0)
            n += (size_t)sprintf(text + n, " or ");
        n += (size_t)sprintf(text + n, "calls(f)>1");
        const int status = tl_gate_parse(&t, &arena, text, &e);
        assert_int_equal(status, i < TL_GATE_TERMS_MAX ? 0 : TL_ESYNTAX);
    }
    assert_contains(e.message, "64 parts");
    memset(text, ' ', sizeof text);
    memcpy(text, "calls(f)>1", 10);
    text[TL_GATE_TEXT_MAX] = 0;
    must(tl_gate_parse(&t, &arena, text, &e), &e);
    text[TL_GATE_TEXT_MAX] = ' ';
    text[TL_GATE_TEXT_MAX + 1] = 0;
    assert_int_equal(tl_gate_parse(&t, &arena, text, &e), TL_ESYNTAX);
    tl_arena_fini(&arena);
}

/* f takes 1000 ns in BASE and 1100 in NEW, give or take 1 %; g the same in both; h is new. */
static void two_sides(side *base, side *newer, size_t runs)
{
    for (size_t i = 0; i < runs; i++) {
        tl_profile *p = add_run(base), *q = add_run(newer);
        add_calls(p, "main;f", 10, 1000 + i);
        add_calls(q, "main;f", 10, 1100 + i);
        add_calls(p, "main;g", 10, 2000 + i);
        add_calls(q, "main;g", 10, 2000 + (i * 7) % 10);
        add_calls(q, "main;h", 10, 500);
    }
}

static tl_gate_status status_of(tl_compare *c, const char *text, tl_gate_when when)
{
    const tl_gate *g = NULL;
    tl_error e = {0};
    must(tl_compare_gate(c, text, when, &g, &e), &e);
    assert_string_equal(g->text, text);
    assert_true(g->n > 0 && g->item[0].status == g->status);
    return g->status;
}

static void test_verdicts(void **state)
{
    static const struct {
        const char *text;
        tl_gate_status interval, estimate, unclear;
    } cases[] = {{"p50(f) > +5%", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(f) > +10%", TL_GATE_NOT_SHOWN, TL_GATE_PASSED, TL_GATE_FAILED},
                 {"p50(f) > +9.8%", TL_GATE_NOT_SHOWN, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(f) > +20%", TL_GATE_PASSED, TL_GATE_PASSED, TL_GATE_PASSED},
                 {"p50(f) > +50ns", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(f) > +200ns", TL_GATE_PASSED, TL_GATE_PASSED, TL_GATE_PASSED},
                 {"p50(f) > 1us", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(f) > 2us", TL_GATE_PASSED, TL_GATE_PASSED, TL_GATE_PASSED},
                 {"p50(f) < 2us", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(g) < -5%", TL_GATE_PASSED, TL_GATE_PASSED, TL_GATE_PASSED},
                 {"calls(f) > +0%", TL_GATE_PASSED, TL_GATE_PASSED, TL_GATE_PASSED},
                 {"calls(f) > 9", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"calls(h) > 10", TL_GATE_PASSED, TL_GATE_PASSED, TL_GATE_PASSED},
                 {"share(f) > 20%", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(*) > +5%", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(path:main;f) > +5%", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(path:f) > +5%", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED},
                 {"p50(g) > +5% or p50(f) > +5%", TL_GATE_FAILED, TL_GATE_FAILED, TL_GATE_FAILED}};
    side base = {.n = 0}, newer = {.n = 0};
    two_sides(&base, &newer, 10);
    tl_compare *c = compared_with(&base, &newer, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (status_of(c, cases[i].text, TL_GATE_INTERVAL) != cases[i].interval ||
            status_of(c, cases[i].text, TL_GATE_ESTIMATE) != cases[i].estimate ||
            status_of(c, cases[i].text, TL_GATE_UNCLEAR) != cases[i].unclear)
            fail_msg("%s: %d %d %d", cases[i].text, status_of(c, cases[i].text, TL_GATE_INTERVAL),
                     status_of(c, cases[i].text, TL_GATE_ESTIMATE), status_of(c, cases[i].text, TL_GATE_UNCLEAR));
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static void test_no_match(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *piece;
    } cases[] = {{"p50(nobody) > +5%", TL_ENOMATCH, "matches no function"},
                 {"p50(g) > +5% or p50(nobody) > +5%", TL_ENOMATCH, "matches no function"},
                 {"p50(h) > +5%", TL_ENOMATCH, "new or gone"},
                 {"p50(path:f;main) > +5%", TL_ENOMATCH, "matches no function"},
                 {"p50(path:x;main;f) > +5%", TL_ENOMATCH, "matches no function"},
                 {"p50(f) > 5", TL_ESYNTAX, "with its unit"}};
    side base = {.n = 0}, newer = {.n = 0};
    two_sides(&base, &newer, 5);
    tl_compare *c = compared_with(&base, &newer, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tl_gate *g = NULL;
        tl_error e = {0};
        assert_int_equal(tl_compare_gate(c, cases[i].text, TL_GATE_INTERVAL, &g, &e), cases[i].code);
        assert_contains(e.message, cases[i].piece);
        assert_null(g);
    }
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static void test_one_run(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    two_sides(&base, &newer, 3);
    const tl_gate *g = NULL;
    tl_error e = {0};
    tl_compare *c = compared_with(&base, &newer, NULL);
    assert_int_equal(tl_compare_gate(c, "p50(f) > +5%", TL_GATE_INTERVAL, &g, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "--one-run");
    tl_compare_free(c);
    c = compared_with(&base, &newer, &(tl_compare_options){.one_run = true});
    assert_int_equal(status_of(c, "p50(f) > +5%", TL_GATE_INTERVAL), TL_GATE_FAILED);
    assert_int_equal(status_of(c, "p50(f) > +15%", TL_GATE_INTERVAL), TL_GATE_PASSED);
    assert_int_equal(status_of(c, "p50(f) > 1us", TL_GATE_INTERVAL), TL_GATE_FAILED);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

/* Many functions at once: what may be chance among so many is no failure. */
static void test_many_functions(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (size_t i = 0; i < 5; i++) {
        tl_profile *p = add_run(&base), *q = add_run(&newer);
        for (unsigned f = 0; f < 30; f++) {
            char name[16];
            snprintf(name, sizeof name, "f%u", f);
            add_calls(p, name, 10, 1000 + i);
            add_calls(q, name, 10, (f == 7 ? 1200 : 1000) + i);
        }
    }
    tl_compare *c = compared_with(&base, &newer, NULL);
    assert_int_equal(status_of(c, "p50(f7) > +5%", TL_GATE_INTERVAL), TL_GATE_FAILED);
    assert_int_equal(status_of(c, "p50(*) > +5%", TL_GATE_INTERVAL), TL_GATE_NOT_SHOWN); /* 30 * 0.008 */
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

/* Exactly the limit is within it, whatever a double makes of 10 %. */
static void test_exactly(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (size_t i = 0; i < 5; i++) {
        add_calls(add_run(&base), "f", 8000, 10);
        add_calls(add_run(&newer), "f", 8800, 10);
    }
    tl_compare *c = compared_with(&base, &newer, NULL);
    assert_int_equal(status_of(c, "calls(f) > +10%", TL_GATE_INTERVAL), TL_GATE_PASSED);
    assert_int_equal(status_of(c, "calls(f) > +10%", TL_GATE_ESTIMATE), TL_GATE_PASSED);
    assert_int_equal(status_of(c, "calls(f) > +9.99%", TL_GATE_INTERVAL), TL_GATE_FAILED);
    assert_int_equal(status_of(c, "calls(f) > 8800", TL_GATE_INTERVAL), TL_GATE_PASSED);
    assert_int_equal(status_of(c, "calls(f) > +799", TL_GATE_INTERVAL), TL_GATE_FAILED);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static void test_from_nothing(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (size_t i = 0; i < 5; i++) {
        add_calls(add_run(&base), "f", 10, 0);
        add_calls(add_run(&newer), "f", 10, 100);
    }
    tl_compare *c = compared_with(&base, &newer, NULL);
    assert_int_equal(status_of(c, "p50(f) > +500%", TL_GATE_INTERVAL), TL_GATE_FAILED);
    assert_int_equal(status_of(c, "p50(f) < -5%", TL_GATE_INTERVAL), TL_GATE_PASSED);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amounts),      cmocka_unit_test(test_targets), cmocka_unit_test(test_or),
        cmocka_unit_test(test_mistakes),     cmocka_unit_test(test_limits),  cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_no_match),     cmocka_unit_test(test_one_run), cmocka_unit_test(test_many_functions),
        cmocka_unit_test(test_from_nothing), cmocka_unit_test(test_exactly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
