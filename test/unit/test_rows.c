/* Relations as library users read them: all parts of an answer, options, large numbers, and text that outlives its
 * source. */
#include <traceloom/traceloom.h>

#include "base/compiler.h"
#include "check.h"

static tl_source *open_with(const char *name, const char *exe)
{
    char path[4096], exe_path[4096];
    tl_source *s = NULL;
    tl_error e = {0};
    const char *root = getenv("TL_SOURCE");
    if (!root)
        skip_because("TL_SOURCE names no folder");
    snprintf(path, sizeof path, "%s/test/golden/input/%s", root, name);
    snprintf(exe_path, sizeof exe_path, "%s/test/golden/input/%s", root, exe ? exe : "");
    must(tl_source_open(&s, path, &(tl_open_options){.exe = exe ? exe_path : NULL}, &e), &e);
    return s;
}

static tl_source *open_input(const char *name)
{
    return open_with(name, NULL);
}

static tl_source *open_log(const char *log)
{
    tl_source *s = NULL;
    tl_error e = {0};
    must(tl_source_open_memory(&s, log, strlen(log), "a.log", &(tl_open_options){.from = "tracelog"}, &e), &e);
    return s;
}

static tl_rows *rows_of(const char *table, tl_source *s, const tl_rows_options *o)
{
    tl_rows *r = NULL;
    tl_error e = {0};
    must(tl_rows_open(&r, table, &s, 1, o, &e), &e);
    return r;
}

/* "classes pairs" */
static const char *parts(const tl_rows *r)
{
    static char text[512];
    text[0] = 0;
    for (uint32_t i = 0; i < tl_rows_parts(r); i++)
        strcat(strcat(text, i ? " " : ""), tl_rows_part(r, i));
    assert_null(tl_rows_part(r, tl_rows_parts(r)));
    return text;
}

static uint32_t column(const tl_rows *r, const char *name)
{
    for (uint32_t i = 0; i < tl_rows_columns(r); i++)
        if (strcmp(tl_rows_column(r, i)->name, name) == 0)
            return i;
    fail_msg("no column %s", name);
    return 0;
}

/* Reads all that is left of a part; how many rows, and the length of all text. */
static uint64_t read_all(tl_rows *r, size_t *text)
{
    uint64_t n = 0;
    tl_block b;
    tl_error e = {0};
    int status;
    while ((status = tl_rows_next(r, &b, &e)) > 0) {
        n += b.rows;
        for (uint32_t i = 0; i < tl_rows_columns(r); i++)
            for (uint32_t k = 0; b.column[i].text && k < b.rows; k++)
                *text += b.column[i].is_null[k] ? 0 : strlen(b.column[i].text[k]);
    }
    assert_int_equal(status, 0);
    return n;
}

static void all_parts_of_an_answer(void **state)
{
    tl_source *s = open_input("tracelog-doc.log");
    tl_rows *r = rows_of("heap", s, NULL);
    size_t text = 0;
    tl_error e = {0};
    assert_string_equal(parts(r), "snapshots facts growth.classes");
    assert_int_equal(column(r, "objects"), 1); /* that of docs/tables.md is chosen */
    assert_int_equal(read_all(r, &text), 3);
    must(tl_rows_choose(r, 2, &e), &e);
    assert_int_equal(tl_rows_count(r), 1);
    tl_block b;
    assert_int_equal(tl_rows_next(r, &b, &e), 1);
    assert_string_equal(b.column[column(r, "type_name")].text[0], "System.String");
    must(tl_rows_choose(r, 1, &e), &e);
    assert_int_equal(read_all(r, &text), 1); /* one row of facts */
    must(tl_rows_choose(r, 0, &e), &e);
    assert_int_equal(read_all(r, &text), 3); /* again from its first row */
    assert_int_equal(tl_rows_choose(r, 3, &e), TL_EINVAL);
    assert_string_equal(e.message, "no relation 3: there are 3");
    assert_int_equal(tl_rows_count(r), 3); /* nothing has changed */
    tl_rows_close(r);
    tl_source_close(s);
}

static void options_are_of_relations_that_take_them(void **state)
{
    static const struct {
        const char *table, *message;
        tl_rows_options options;
    } cases[] = {
        {"gc", "gc has no option interval", {.interval = 5}},
        {"mix", "mix has no option cache", {.cache = "l1d=1K"}},
        {"mix", "mix has no option calls", {.calls = true}},
        {"func", "func has no option line-size", {.line_size = 64}},
        {"page", "page has no option sample", {.sample = 16}},
        {"cache", "cache has no option predictor", {.predictor = "ras"}},
        {"reuse", "sample 100: expected a power of two", {.sample = 100}},
        {"branch", "predictor oracle: expected bimodal", {.predictor = "oracle"}},
        {"cache", "cache l9=1: ", {.cache = "l9=1"}},
    };
    tl_source *s = open_input("xtrace-cores");
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        tl_rows *r = NULL;
        tl_error e = {0};
        assert_int_equal(tl_rows_open(&r, cases[i].table, &s, 1, &cases[i].options, &e), TL_EINVAL);
        assert_contains(e.message, cases[i].message);
        assert_null(strstr(e.message, "--"));
        assert_null(r);
    }
    tl_source_close(s);
    s = open_input("xtrace-cores");
    tl_rows *r = rows_of("syscall", s, &(tl_rows_options){.calls = true});
    tl_error e = {0};
    assert_string_equal(parts(r), "syscalls calls");
    must(tl_rows_choose(r, 1, &e), &e);
    assert_true(tl_rows_count(r) > 0);
    column(r, "result");
    tl_rows_close(r);
    tl_source_close(s);
}

/* An id of 64 bits, an amount of 2^64 - 1, and sums beyond 64 bits. */
static void large_numbers(void **state)
{
    tl_source *s = open_log("prf stm 2020-01-01 00:00:00.000\n"
                            "gch alt 1 0x1:1:1\n"
                            "gch alt 2 0xfffffffffffffff0:1:18446744073709551615 0x2:1:18446744073709551615\n");
    tl_rows *r = rows_of("heap", s, NULL);
    tl_block b;
    tl_error e = {0};
    assert_int_equal(tl_rows_next(r, &b, &e), 1);
    assert_int_equal(b.rows, 2);
    const int64_t *bytes = b.column[column(r, "bytes")].i64;
    assert_true(bytes[0] == 1 && bytes[1] == INT64_MAX);
    uint32_t growth = 0;
    while (strcmp(tl_rows_part(r, growth), "growth.classes") != 0)
        growth++;
    must(tl_rows_choose(r, growth, &e), &e);
    bool seen = false;
    assert_int_equal(tl_rows_next(r, &b, &e), 1);
    const tl_block_column *id = &b.column[column(r, "type_id")];
    for (uint32_t i = 0; i < b.rows; i++) {
        seen = seen || id->i64[i] == -16;
        if (id->i64[i] != 1)
            assert_true(b.column[column(r, "bytes")].i64[i] == INT64_MAX);
    }
    assert_true(seen);
    tl_rows_close(r);
    tl_source_close(s);
}

/* What the binary calls the functions, also when the source is closed. */
static void functions_have_names(void **state)
{
    for (unsigned with = 0; with < 2; with++) {
        tl_source *s = open_with("xtrace-user", with ? "xtrace-user.elf" : NULL);
        tl_rows *r = rows_of("block", s, NULL);
        tl_block b;
        tl_error e = {0};
        tl_source_close(s);
        assert_int_equal(tl_rows_next(r, &b, &e), 1);
        const tl_block_column *name = &b.column[column(r, "function_name")], *offset = &b.column[column(r, "offset")];
        assert_true(name->is_null[0] == !with && offset->is_null[0] == !with);
        assert_int_equal(b.column[column(r, "start")].i64[0], 0x401414);
        if (with) {
            assert_string_equal(name->text[0], "fill");
            assert_int_equal(offset->i64[0], 0x14);
        }
        tl_rows_close(r);
    }
}

/* Columns of predictors are called as these; equal ones are told apart. */
static void predictors_have_columns(void **state)
{
    tl_source *s = open_input("xtrace-user");
    tl_rows *r = rows_of("branch", s, &(tl_rows_options){.predictor = "gshare:10:4,ras,ras"});
    column(r, "misses_gshare_10_4");
    column(r, "misses_ras_16");
    column(r, "misses_3");
    for (uint32_t i = 0; i < tl_rows_columns(r); i++)
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(tl_rows_column(r, i)->name, tl_rows_column(r, k)->name);
    tl_rows_close(r);
    tl_source_close(s);
}

/* Every table of every kind of trace, read after its source was closed. */
static void rows_outlive_their_source(void **state)
{
    static const char *const inputs[] = {"fdr-v5-le-plain.xray", "live-done.tlp.live", "ctf-18",
                                         "tracelog-doc.log",     "tracelog-vs.log",    "xtrace-cores"};
    size_t text = 0;
    unsigned opened = 0;
    for (size_t i = 0; i < TL_COUNT(inputs); i++)
        for (size_t k = 0; k < tl_tables(); k++) {
            tl_source *s = open_input(inputs[i]);
            tl_rows *r = NULL;
            tl_error e = {0};
            const int status = tl_rows_open(&r, tl_table_at(k)->name, &s, 1, NULL, &e);
            tl_source_close(s);
            if (status != TL_EUNSUPPORTED)
                must(status, &e);
            for (uint32_t part = 0; r && part < tl_rows_parts(r); part++) {
                must(tl_rows_choose(r, part, &e), &e);
                assert_int_equal(read_all(r, &text), tl_rows_count(r));
            }
            opened += r != NULL;
            assert_true(!r || *tl_rows_unit(r));
            tl_rows_close(r);
        }
    assert_true(opened > 60 && text > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_of_an_answer),  cmocka_unit_test(options_are_of_relations_that_take_them),
        cmocka_unit_test(large_numbers),           cmocka_unit_test(functions_have_names),
        cmocka_unit_test(predictors_have_columns), cmocka_unit_test(rows_outlive_their_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
