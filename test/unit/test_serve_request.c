/* What `serve` is asked for: paths, keys, values, limits. */
#include "check.h"

#include "view/serve/guard.h"
#include "view/serve/request.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static char uri[TL_SERVE_URI_MAX + 64];

static int parse(tl_serve_request *r, const char *rest, tl_error *e)
{
    *e = (tl_error){0};
    snprintf(uri, sizeof uri, "/%s/%s", TOKEN, rest);
    return tl_serve_request_parse(r, uri, TOKEN, e);
}

static void test_values_are_decoded(void **state)
{
    tl_serve_request r;
    tl_error e;
    assert_int_equal(parse(&r, "q/table?by=fu%6Ec&t=%2B1us..2us&sort=p99&top=5&slot=a-b&seq=18446744073709551615", &e),
                     0);
    assert_int_equal(r.what, TL_SERVE_TABLE);
    assert_string_equal(r.by, "func");
    assert_string_equal(r.time, "+1us..2us");
    assert_string_equal(r.sort, "p99");
    assert_string_equal(r.top, "5");
    assert_string_equal(r.slot, "a-b");
    assert_true(r.seq == UINT64_MAX && r.rows == TL_SERVE_ROWS_USUAL && !r.fresh && !r.sql);
    assert_int_equal(parse(&r, "q/sql?sql=SELECT%09%27%C3%A9%27%0D%0A&n=7", &e), 0);
    assert_string_equal(r.sql, "SELECT\t'\xc3\xa9'\r\n");
    assert_int_equal(r.rows, 7);
    assert_int_equal(parse(&r, "q/profile?fresh=1", &e), 0);
    assert_true(r.fresh && !r.time);
}

static void test_limits(void **state)
{
    tl_serve_request r;
    tl_error e;
    char rest[TL_SERVE_URI_MAX];
    const size_t before = TL_SERVE_TOKEN + 2 + strlen("q/sql?sql=");
    memset(rest, 'a', sizeof rest);
    memcpy(rest, "q/sql?sql=", strlen("q/sql?sql="));
    rest[TL_SERVE_URI_MAX - before + strlen("q/sql?sql=")] = '\0';
    assert_int_equal(parse(&r, rest, &e), 0);
    rest[strlen(rest)] = 'a';
    rest[TL_SERVE_URI_MAX - before + strlen("q/sql?sql=") + 1] = '\0';
    assert_int_equal(parse(&r, rest, &e), TL_ELIMIT);
    assert_int_equal(parse(&r, "q/calls?n=10000", &e), 0);
    assert_int_equal(r.rows, 10000);
    assert_int_equal(parse(&r, "q/calls?n=10001", &e), TL_ESYNTAX);
    snprintf(rest, sizeof rest, "q/meta?slot=%064d", 0);
    assert_int_equal(parse(&r, rest, &e), 0);
    snprintf(rest, sizeof rest, "q/meta?slot=%065d", 0);
    assert_int_equal(parse(&r, rest, &e), TL_ESYNTAX);
}

static void test_mistakes_have_places(void **state)
{
    static const struct {
        const char *rest;
        unsigned at; /* behind the token */
    } wrong[] = {{"q/table?by=a&by=b", 13}, {"q/table?by=%zz", 11}, {"q/table?x=1", 8},
                 {"q/table?by=a+b", 12},    {"q/table?by=%0a", 11}, {"q/table?", 8}};
    tl_serve_request r;
    tl_error e;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(parse(&r, wrong[i].rest, &e), TL_ESYNTAX);
        assert_int_equal(e.offset, TL_SERVE_TOKEN + 2 + wrong[i].at);
    }
}

static void test_only_this_machine_is_a_host(void **state)
{
    static const char *const good[] = {"127.0.0.1", "localhost", "[::1]", "localhost:1", "[::1]:65535"};
    static const char *const bad[] = {"",     "localhost.", "localhost:",      "localhost:x",     "xlocalhost",
                                      "[::1", "[::1]x",     "127.0.0.1:80:80", "localhost:123456"};
    const char *why = NULL;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(tl_serve_guard(&(tl_serve_headers){.method = "GET", .host = good[i], .hosts = 1}, &why), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tl_serve_guard(&(tl_serve_headers){.method = "GET", .host = bad[i], .hosts = 1}, &why), 421);
    assert_int_equal(tl_serve_guard(&(tl_serve_headers){.method = "GET", .host = "localhost", .hosts = 2}, &why), 421);
    assert_int_equal(tl_serve_guard(&(tl_serve_headers){.method = "GET"}, &why), 421);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_are_decoded), cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_mistakes_have_places),
                                       cmocka_unit_test(test_only_this_machine_is_a_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
