/* Tests of src/view: one fixed answer, shown in every way. The expected text was written by hand, from the rules of CSV
 * (RFC 4180), JSON (RFC 8259) and CommonMark. */
#include "answer_fixture.h"
#include "check.h"

#define HOSTILE "a,\"b\"|c\n<i>*d_`\033[2J\xff\xc3\xa9\\"

typedef struct thing {
    const char *name;
    uint64_t id;
    bool has_id;
    int64_t signed_;
    tl_sum sum;
    double real, share;
    uint64_t bytes, is_odd, first, n;
} thing;

static void get_growth(const tl_at *at, tl_cell *out)
{
    const thing *t = at->row;
    tl_cell_growth(out, t->sum, (tl_sum){1, 0});
}

static void get_odd(const tl_at *at, tl_cell *out)
{
    const thing *t = at->row;
    tl_cell_u64(out, t->is_odd);
}

static void get_parts(const tl_at *at, tl_cell *out)
{
    const thing *t = at->row;
    tl_cell_rows(out, t->first, t->n);
}

static void get_texts(const tl_at *at, tl_cell *out)
{
    static const char *const text[] = {"x", "\"y\",\n"};
    tl_cell_texts(at, out, text, 2);
}

static const tl_column columns[] = {
    {TL_COL("id", NULL, INTEGER, HEX, "id"), TL_AT(U64, thing, id), TL_ONLY_IF(thing, has_id)},
    {TL_COL("name", "a | name", TEXT, NONE, "name"), "old_name", TL_AT(TEXT, thing, name), .role = TL_ROLE_NAME},
    {TL_COL("difference", "diff", INTEGER, NONE, "signed"), TL_AT(I64, thing, signed_)},
    {TL_COL("sizes.sum", "sum", INTEGER, BYTES, "sum"), TL_AT(SUM, thing, sum)},
    {TL_COL("sizes.growth", "growth", INTEGER, BYTES, "growth"), .get = get_growth, .flags = TL_SIGNED},
    {TL_COL("real", "real", REAL, NONE, "real"), TL_AT(REAL, thing, real), .decimals = 2},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(REAL, thing, share), .flags = TL_WITH_BAR},
    {TL_COL("is_odd", NULL, INTEGER, BOOL, "odd"), .get = get_odd},
    {TL_COL("parts", NULL, TEXT, JSON, "parts"), .get = get_parts},
    {TL_COL("texts", NULL, TEXT, JSON, "texts"), .get = get_texts},
    {TL_COL("last", NULL, INTEGER, COUNT, "there or not"), TL_AT(U64, thing, bytes), TL_ONLY_IF(thing, has_id),
     .flags = TL_LEFT_OUT},
};
static const tl_column facts[] = {
    {TL_COL("all.n", NULL, INTEGER, COUNT, "n"), "all.count", TL_AT(U64, thing, n)},
    {TL_COL("none", NULL, INTEGER, COUNT, "null"), TL_AT(U64, thing, n), TL_ONLY_IF(thing, has_id)},
};
static const tl_column part_columns[] = {
    {TL_COL("bytes", NULL, INTEGER, BYTES, "bytes"), "size", TL_AT(U64, thing, bytes)},
    {TL_COL("name", NULL, TEXT, NONE, "name"), TL_AT(TEXT, thing, name)},
};

static const thing things[] = {
    {HOSTILE, UINT64_MAX, true, INT64_MIN, {UINT64_MAX, UINT64_MAX}, 0.1, 0.5, 7, 1, 0, 2},
    {NULL, 5, false, -3, {0, 1}, 1e300, 0, 0, 0, 0, 0},
};

static void head(const tl_answer *a, const tl_prose *p)
{
    tl_say_subject(a, p);
    tl_say_count(p, 2, "thing", "things");
    tl_output_puts(p->out, "\n");
}

static void before(const tl_part *part, const tl_prose *p)
{
    (void)part;
    tl_say_styled(p, TL_FAINT, "a|b\033");
    tl_output_puts(p->out, "\n  c\n");
}

/* The answer, for programs or for people, shown in a way; free(). */
static char *shown(const tl_view *view, bool verbatim)
{
    const tl_ask ask = {.for_programs = view->for_programs, .width = 100};
    tl_answer a = {.unit = "ns", .is_ns = true, .subject = HOSTILE, .head = head};
    TL_ADD_FACTS(&a, &ask, facts, &things[1]);
    tl_part *p = TL_ADD_ROWS(&a, &ask, "deep.things", columns, things, NULL, 2);
    p->list = TL_ADD_LIST(&a, part_columns, things);
    p->left_out = 1200;
    p->of = "things";
    p = tl_answer_add_rows(&a, &ask, "empty", part_columns, TL_COUNT(part_columns), things, sizeof *things, NULL, 0);
    if (!view->for_programs)
        p->ncolumn = 0;
    p->before = before;
    p->verbatim = verbatim;
    char *text = answer_shown(&a, &ask, view);
    tl_answer_fini(&a);
    return text;
}

static void check(const tl_view *view, bool verbatim, const char *expected)
{
    char *text = shown(view, verbatim);
    assert_string_equal(text, expected);
    free(text);
}

/* 2^128 - 1, and that less 2^64. */
#define ALL_BITS     "340282366920938463463374607431768211455"
#define GROWTH       "340282366920938463444927863358058659839"
#define JSON_HOSTILE "\"a,\\\"b\\\"|c\\n<i>*d_`\\u001b[2J\\u00ff\xc3\xa9\\\\\""
#define JSON_TEXTS   "[\"x\",\"\\\"y\\\",\\n\"]"

static void csv(void **state)
{
    check(&tl_view_csv, false,
          "id,name,difference,sizes.sum,sizes.growth,real,is_odd,parts,texts,last\r\n"
          "0xffffffffffffffff,\"a,\"\"b\"\"|c\n<i>*d_`\033[2J\xc3\xbf\xc3\xa9\\\",-9223372036854775808," ALL_BITS
          "," GROWTH ",0.10000000000000001,1,\"[{\"\"bytes\"\":7,\"\"name\"\":\"\"a,\\\"\"b\\\"\"|c\\n<i>*d_`\\u001b[2J"
          "\\u00ff\xc3\xa9\\\\\"\"},{\"\"bytes\"\":0,\"\"name\"\":null}]\",\"[\"\"x\"\",\"\"\\\"\"y\\\"\",\\n\"\"]\","
          "7\r\n"
          ",,-3,1,-18446744073709551615,1.0000000000000001e+300,0,[],\"[\"\"x\"\",\"\"\\\"\"y\\\"\",\\n\"\"]\",\r\n");
}

static void jsonl(void **state)
{
    check(
        &tl_view_jsonl, false,
        "{\"id\":\"0xffffffffffffffff\",\"name\":" JSON_HOSTILE
        ",\"difference\":-9223372036854775808,\"sizes\":{\"sum\":" ALL_BITS ",\"growth\":" GROWTH
        "},\"real\":0.10000000000000001,\"is_odd\":true,\"parts\":[{\"bytes\":7,"
        "\"name\":" JSON_HOSTILE "},{\"bytes\":0,\"name\":null}],\"texts\":" JSON_TEXTS ",\"last\":7}\n"
        "{\"id\":null,\"name\":null,\"difference\":-3,\"sizes\":{\"sum\":1,\"growth\":-18446744073709551615},\"real\":"
        "1.0000000000000001e+300,\"is_odd\":false,\"parts\":[],\"texts\":" JSON_TEXTS ",\"last\":null}\n");
}

/* Legacy names, nothing where a null is left out, and all parts. */
static void json(void **state)
{
    check(&tl_view_json, false,
          "{\"schema\":1,\"unit\":\"ns\",\"all\":{\"count\":0},\"none\":null,\"deep\":{\"things\":["
          "{\"id\":\"0xffffffffffffffff\",\"old_name\":" JSON_HOSTILE ",\"difference\":-9223372036854775808,\"sizes\":{"
          "\"sum\":" ALL_BITS ",\"growth\":" GROWTH
          "},\"real\":0.10000000000000001,\"is_odd\":true,\"parts\":[{\"size\":"
          "7,\"name\":" JSON_HOSTILE "},{\"size\":0,\"name\":null}],\"texts\":" JSON_TEXTS ",\"last\":7},"
          "{\"id\":null,\"old_name\":null,\"difference\":-3,\"sizes\":{\"sum\":1,\"growth\":-18446744073709551615},"
          "\"real\":1.0000000000000001e+300,\"is_odd\":false,\"parts\":[],\"texts\":" JSON_TEXTS "}]},\"empty\":[]}\n");
}

#define MD_HOSTILE "a,\"b\"\\|c?\\<i\\>\\*d\\_\\`?\\[2J?\xc3\xa9\\\\"
#define MD_TABLES                                                                                                      \
    "| diff | sum | growth | real | share | a \\| name |\n"                                                            \
    "|--:|--:|--:|--:|--:|---|\n"                                                                                      \
    "| -9223372036854775808 | 16.0 EiB | +16.0 EiB | 0.10 | 50.0 % | " MD_HOSTILE " |\n"

/* The name is last, as in the text. */
static void markdown(void **state)
{
    char *text = shown(&tl_view_markdown, false);
    const char *expected = MD_HOSTILE "\n\n2 things\n";
    assert_memory_equal(text, expected, strlen(expected));
    assert_contains(text, "\n\n" MD_TABLES "| -3 | 1 B | -16.0 EiB | ");
    assert_contains(text, " | 0.0 % |  |\n\n... 1,200 more things; --top 0 shows all\n\na\\|b?\n\n  c\n");
    free(text);
}

/* Text laid out in columns is in a fence, and always clean there. */
static void markdown_verbatim(void **state)
{
    char *text = shown(&tl_view_markdown, true);
    assert_contains(text, "\n\n```text\na|b?\n  c\n```\n");
    free(text);
}

static void text_is_clean(void **state)
{
    char *text = shown(&tl_view_table, false);
    const char *expected = "a,\"b\"|c?<i>*d_`?[2J?\xc3\xa9\\\n2 things\n\n";
    assert_memory_equal(text, expected, strlen(expected));
    assert_null(strchr(text, '\033'));
    assert_contains(text, "... 1,200 more things; --top 0 shows all\n\na|b?\n  c\n");
    free(text);
}

static void found_by_name_and_suffix(void **state)
{
    size_t n;
    const tl_view *const *all = tl_views(&n);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++) {
        char path[32];
        snprintf(path, sizeof path, "x.y%s", all[i]->suffix);
        assert_ptr_equal(tl_view_find(all[i]->name), all[i]);
        assert_ptr_equal(tl_view_of_path(path), all[i]);
        assert_null(tl_view_of_path(all[i]->suffix)); /* a name without anything in front of it */
    }
    assert_null(tl_view_find("tsv"));
    assert_null(tl_view_of_path("x.tsv"));
}

/* No relation at all: an empty file, or an object. */
static void nothing(void **state)
{
    const tl_ask ask = {.for_programs = true, .width = 100};
    const struct {
        const tl_view *view;
        const char *text;
    } expected[] = {{&tl_view_csv, ""},
                    {&tl_view_jsonl, ""},
                    {&tl_view_json, "{\"schema\":1}\n"},
                    {&tl_view_markdown, ""},
                    {&tl_view_table, ""}};
    for (size_t i = 0; i < TL_COUNT(expected); i++) {
        tl_answer a = {0};
        char *text = answer_shown(&a, &ask, expected[i].view);
        assert_string_equal(text, expected[i].text);
        free(text);
        tl_answer_fini(&a);
    }
}

/* An incomplete answer is an error, never a shorter table. */
static void failure_is_told(void **state)
{
    size_t n;
    const tl_view *const *all = tl_views(&n);
    const tl_ask ask = {.for_programs = true, .width = 100};
    const tl_terminal terminal = {.width = 100};
    for (size_t i = 0; i < n; i++) {
        tl_answer a = {.failed = true};
        tl_output *out = NULL;
        tl_error e = {0};
        assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
        assert_int_equal(all[i]->show(&(tl_showing){&a, &ask, &terminal, out}, &e), TL_ENOMEM);
        tl_output_close(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),
        cmocka_unit_test(jsonl),
        cmocka_unit_test(json),
        cmocka_unit_test(markdown),
        cmocka_unit_test(markdown_verbatim),
        cmocka_unit_test(text_is_clean),
        cmocka_unit_test(found_by_name_and_suffix),
        cmocka_unit_test(nothing),
        cmocka_unit_test(failure_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
