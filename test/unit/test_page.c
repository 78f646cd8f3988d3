/* The page of a report: packing, which places and names it has, and what it says of the others. */
#include "profile_fixture.h"

#include <stdlib.h>

#include "base/io/input.h"
#include "base/io/pack.h"
#include "model/place_choice.h"
#include "view/pack/base64.h"
#include "view/pack/columns.h"
#include "view/pack/gzip_member.h"
#include "view/page/page_text.h"
#include "view/page/page_time.h"

static const tl_html_time no_time; /* a page of a profile */

static void test_base64(void **state)
{
    static const char *const expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t n = 0; n < TL_COUNT(expected); n++) { /* the vectors of the RFC */
        tl_pb text = {0};
        tl_base64_put(&text, (const uint8_t *)"foobar", n);
        assert_int_equal(text.n, strlen(expected[n]));
        assert_memory_equal(n ? (const char *)text.data : "", expected[n], text.n);
        tl_pb_fini(&text);
    }
}

/* Longer than what is written at once; the letters come from the definition. */
static void test_long_base64(void **state)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t data[5000];
    tl_pb text = {0};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i >> 3);
    tl_base64_put(&text, data, sizeof data);
    assert_int_equal(text.n, (sizeof data + 2) / 3 * 4);
    for (size_t i = 0; i < sizeof data * 8 / 6; i++) {
        unsigned six = 0;
        for (size_t bit = 6 * i; bit < 6 * i + 6; bit++)
            six = six << 1 | ((unsigned)data[bit / 8] >> (7 - bit % 8) & 1u);
        assert_int_equal(text.data[i], letter[six]);
    }
    assert_int_equal(text.data[text.n - 1], '=');
    tl_pb_fini(&text);
}

static void check_member(const uint8_t *data, size_t n)
{
    tl_pb member = {0};
    tl_input *in;
    tl_error e = {0};
    size_t got = 0;
    uint8_t *back = malloc(n + 1);
    assert_non_null(back);
    assert_int_equal(tl_gzip_member_put(&member, data, n, &e), 0);
    assert_int_equal(member.data[0], 0x1f);
    if (tl_can_pack(TL_CODEC_GZIP)) { /* then it can be read, too */
        assert_int_equal(tl_input_open_lazy_memory(&in, member.data, member.n, "member", &e), 0);
        assert_int_equal(tl_input_size(in), n);
        assert_int_equal(tl_input_read(in, 0, back, n, &got, &e), 0);
        assert_int_equal(got, n);
        assert_memory_equal(back, data, n);
        tl_input_close(in);
    }
    free(back);
    tl_pb_fini(&member);
}

/* What cannot be compressed is stored, as everything is in builds without a library. */
static void test_members_of_gzip(void **state)
{
    enum { MOST = 200000 };
    static const size_t size[] = {0, 1, 100, 65534, 65535, 65536, 131070, 131071, MOST};
    uint8_t *data = malloc(MOST);
    uint64_t random = 1;
    assert_non_null(data);
    for (size_t i = 0; i < MOST; i++)
        data[i] = (uint8_t)((random = random * 6364136223846793005u + 1442695040888963407u) >> 56);
    for (size_t i = 0; i < TL_COUNT(size); i++)
        check_member(data, size[i]);
    memset(data, 'x', MOST);
    check_member(data, MOST);
    free(data);
}

/* ---- choice of places ---- */

static tl_place_choice choose(const tl_place_tree *t, uint32_t places, bool with_timeless)
{
    const tl_choice_limit limit = {.places = places, .depth = UINT32_MAX, .with_timeless = with_timeless};
    tl_place_choice c;
    assert_int_equal(tl_place_choose(&c, t, &limit, NULL), 0);
    return c;
}

/* Others of each chosen place, against sums over all places that look for their nearest chosen caller one by one. */
static void check_others(const tl_place_tree *t, uint32_t places)
{
    const tl_profile *p = t->profile;
    tl_place_choice c = choose(t, places, true);
    uint32_t *keeper = calloc(p->nplace, sizeof *keeper);
    bool *chosen = calloc(p->nplace, sizeof *chosen);
    tl_others *others = calloc(p->nplace, sizeof *others), *expected = calloc(p->nplace, sizeof *expected);
    assert_true(keeper && chosen && others && expected);
    tl_place_others(&c, t, keeper, others, NULL);
    chosen[0] = true;
    for (size_t i = 0; i < c.n; i++)
        chosen[c.list[i].place] = true;
    for (uint32_t i = 1; i < p->nplace; i++) {
        uint32_t at = i;
        while (!chosen[at])
            at = p->place[at].parent;
        assert_int_equal(keeper[i], at);
        assert_true(!chosen[i] || chosen[p->place[i].parent]); /* a tree */
        if (chosen[i])
            continue;
        assert_true(c.n == 0 || t->weight[i] <= c.narrowest);
        expected[at].places++;
        expected[at].calls += p->stat[i].calls;
        expected[at].self += p->stat[i].self;
        expected[at].width += p->place[i].parent == at ? t->weight[i] : 0;
    }
    assert_memory_equal(others, expected, p->nplace * sizeof *others);
    free(keeper);
    free(chosen);
    free(others);
    free(expected);
    tl_place_choice_fini(&c);
}

static void test_others_are_exact(void **state)
{
    enum { PLACES = 3000, FUNCTIONS = 40 };
    profiled f;
    tl_place_tree t;
    uint32_t function[FUNCTIONS];
    uint64_t random = 7;
    profiled_init(&f, 1000000000);
    for (int64_t i = 0; i < FUNCTIONS; i++)
        function[i] = add_function(&f, i, NULL, NULL, 0);
    for (int i = 0; i < PLACES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t parent = (uint32_t)(random >> 33) % f.p->nplace;
        const uint64_t self = (random >> 40) % 50;
        add_call(&f, parent, function[random >> 59], self, self); /* totals need not fit: widths do */
    }
    assert_int_equal(tl_place_tree_init(&t, f.p, NULL), 0);
    for (uint32_t places = 0; places < f.p->nplace + 100; places = places * 3 / 2 + 1)
        check_others(&t, places);
    tl_place_tree_fini(&t);
    profiled_fini(&f);
}

static void test_places_without_width(void **state)
{
    profiled f;
    tl_place_tree t;
    profiled_init(&f, 0);
    add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), 0, 0);
    add_call(&f, 0, add_function(&f, 2, "wide", NULL, 0), 9, 9);
    assert_int_equal(tl_place_tree_init(&t, f.p, NULL), 0);
    tl_place_choice with = choose(&t, 10, true), without = choose(&t, 10, false);
    assert_int_equal(with.n, 2);
    assert_int_equal(with.places, 1);
    assert_int_equal(with.left_out, 0);
    assert_int_equal(without.n, 1);
    assert_int_equal(without.timeless, 1);
    tl_place_choice_fini(&with);
    tl_place_choice_fini(&without);
    tl_place_tree_fini(&t);
    profiled_fini(&f);
}

/* ---- names ---- */

static void check_text(const char *given, const char *expected)
{
    profiled f;
    tl_html_names names;
    profiled_init(&f, 0);
    const uint32_t function = add_function(&f, 1, given, NULL, 0);
    assert_true(tl_html_names_init(&names, f.p, &no_time, TL_HTML_TEXTS_MAX));
    assert_int_equal(tl_html_function(&names, function), 0);
    assert_int_equal(names.columns.column[7].n, strlen(expected));
    assert_memory_equal(names.columns.column[7].data, expected, strlen(expected));
    tl_html_names_fini(&names);
    profiled_fini(&f);
}

static void test_texts_are_utf8(void **state)
{
    check_text("plain", "plain");
    check_text("\xff\xc3\xa9\xe2\x82", "\xc3\xbf\xc3\xa9\xc3\xa2\xc2\x82");
}

/* At the limit a name is whole; beyond it has a head, a tail and its length, cut between characters. */
static void test_long_texts_are_cut(void **state)
{
    char name[4096], expected[4096];
    memset(name, 'a', sizeof name);
    name[TL_HTML_TEXT_MAX] = 0;
    check_text(name, name);
    name[TL_HTML_TEXT_MAX] = 'a';
    name[TL_HTML_TEXT_MAX + 1] = 0;
    snprintf(expected, sizeof expected, "%.700s\xe2\x80\xa6%.250s [1025 bytes]", name, name);
    check_text(name, expected);
    for (size_t i = 0; i < 3999; i += 3)
        memcpy(name + i, "\xe2\x82\xac", 4);
    snprintf(expected, sizeof expected, "%.699s\xe2\x80\xa6%.249s [3999 bytes]", name, name);
    check_text(name, expected);
}

static void test_texts_have_a_limit(void **state)
{
    profiled f;
    tl_html_names names;
    profiled_init(&f, 0);
    const uint32_t a = add_function(&f, 1, "twelve bytes", "file", 1), b = add_function(&f, 2, "four", "file", 2),
                   c = add_function(&f, 3, "thirteen char", "other", 3);
    assert_true(tl_html_names_init(&names, f.p, &no_time, 12 + 4 + 4 + 5));
    assert_int_equal(tl_html_function(&names, a), 0);
    assert_int_equal(tl_html_function(&names, b), 1);
    assert_int_equal(tl_html_function(&names, c), 2);
    assert_int_equal(tl_html_function(&names, a), 0);
    assert_int_equal(names.texts, 4); /* "file" is there once */
    assert_int_equal(names.texts_out, 1);
    assert_int_equal(names.room, 0);
    assert_int_equal(names.columns.column[0].data[2], 0);
    tl_html_names_fini(&names);
    profiled_fini(&f);
}

/* ---- the page ---- */

/* The whole page of a profile, NUL-terminated; free(). */
static char *page_of(const profiled *f, const char *title)
{
    const tl_profile_table table = {.profile = f->p};
    static const tl_html_inputs inputs;
    static const tl_catalog damage;
    const tl_html_page page = {.table = &table,
                               .inputs = &inputs,
                               .damage = &damage,
                               .title = title,
                               .facts = "test",
                               .limit = TL_HTML_SIZE_USUAL};
    tl_output *out;
    tl_error e = {0};
    size_t n;
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
    assert_int_equal(tl_html_page_put(&page, out, &e), 0);
    char *text = take_bytes(out, &n);
    tl_output_close(out);
    return text;
}

static void test_text_cannot_break_out(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_call(&f, 0, add_function(&f, 1, "</script><bad id=\"x\">&'\x01\xff\xe2\x80\xae", "<i>", 3), 10, 10);
    char *text = page_of(&f, "</title><bad>\"\x1b");
    assert_contains(text, "<title>&lt;/title&gt;&lt;bad&gt;&quot;?</title>");
    assert_contains(text, "<td>&lt;/script&gt;&lt;bad id=&quot;x&quot;&gt;&amp;&#39;?\?\?</td>");
    assert_contains(text, "\"title\":\"\\u003c/title\\u003e\\u003cbad\\u003e\\\"\\u001b\"");
    assert_lacks(text, "<bad");
    assert_lacks(text, "<i>");
    free(text);
    profiled_fini(&f);
}

/* A browser's numbers are exact up to 2^53 - 1. */
static void test_large_numbers_are_texts(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), (UINT64_C(1) << 53) - 1, (UINT64_C(1) << 53) - 1);
    char *text = page_of(&f, "x");
    assert_contains(text, "\"self\":9007199254740991,");
    free(text);
    add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), 1, 1);
    text = page_of(&f, "x");
    assert_contains(text, "\"self\":\"9007199254740992\",\"total\":\"9007199254740992\"");
    free(text);
    add_call(&f, 0, add_function(&f, 2, "more", NULL, 0), UINT64_MAX, UINT64_MAX);
    text = page_of(&f, "x");
    assert_contains(text, "\"self\":\"18446744073709551615\"");
    free(text);
    profiled_fini(&f);
}

static void test_a_profile_without_anything(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    char *text = page_of(&f, "");
    assert_contains(text, "data-section=\"tree\" data-n=\"1\"");
    assert_lacks(text, "data-section=\"hist\"");
    free(text);
    profiled_fini(&f);
}

static void test_a_million_levels(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_chain(&f, 1000000);
    char *text = page_of(&f, "deep");
    assert_contains(text, "data-section=\"tree\" data-n=\"100002\""); /* with the whole, and others */
    assert_contains(text,
                    "{\"section\":\"tree\",\"n\":900000,\"self\":900000,\"text\":\"narrow places of the tree, but for "
                    "sums (none is wider than 900 us)\"}");
    free(text);
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_long_base64),
        cmocka_unit_test(test_members_of_gzip),
        cmocka_unit_test(test_others_are_exact),
        cmocka_unit_test(test_places_without_width),
        cmocka_unit_test(test_texts_are_utf8),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_texts_have_a_limit),
        cmocka_unit_test(test_text_cannot_break_out),
        cmocka_unit_test(test_large_numbers_are_texts),
        cmocka_unit_test(test_a_profile_without_anything),
        cmocka_unit_test(test_a_million_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
