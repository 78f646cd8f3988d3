/* Which function holds an address: sizes that are known, guessed, overlapping, or wrong. */
#include "op/symbols/code_map.h"

#include "code_fixture.h"
#include "scratch.h"

static tl_code_map *load(const code_symbol *symbol, size_t n)
{
    tl_code_map *m = NULL;
    tl_error e = {0};
    code_write("binary", symbol, n);
    must(tl_code_map_open(&m, "binary", &e), &e);
    return m;
}

/* "name", or "-" and the addresses around it. */
static void expect(const tl_code_map *m, uint64_t pc, const char *name, uint64_t from, uint64_t to)
{
    tl_code_symbol gap = {0};
    const tl_code_symbol *s = tl_code_map_find(m, pc, &gap);
    assert_int_equal(s != NULL, name != NULL);
    if (s)
        assert_string_equal(s->name, name);
    assert_int_equal(s ? s->from : gap.from, from);
    assert_int_equal(s ? s->to : gap.to, to);
    assert_ptr_equal(tl_code_map_find(m, pc, NULL), s);
}

static void test_ranges(void **state)
{
    static const code_symbol symbol[] = {CODE_FUNC("b", 0x1100, 0x10),
                                         CODE_FUNC("a", 0x1000, 0x20),
                                         CODE_FUNC("c", 0x1110, 8),
                                         {"data", 0x1200, 16, STT_OBJECT, STB_GLOBAL},
                                         {"$x", 0x1000, 0, STT_NOTYPE, STB_LOCAL}};
    tl_code_map *m = load(symbol, 5);
    assert_int_equal(tl_code_map_symbols(m), 3);
    assert_string_equal(tl_code_map_symbol(m, 1)->name, "b");
    expect(m, 0, NULL, 0, 0x1000);
    expect(m, 0xfff, NULL, 0, 0x1000);
    expect(m, 0x1000, "a", 0x1000, 0x1020);
    expect(m, 0x101f, "a", 0x1000, 0x1020);
    expect(m, 0x1020, NULL, 0x1020, 0x1100);
    expect(m, 0x110c, "b", 0x1100, 0x1110);
    expect(m, 0x1110, "c", 0x1110, 0x1118);
    expect(m, 0x1200, NULL, 0x1118, UINT64_MAX);
    expect(m, UINT64_MAX, NULL, 0x1118, UINT64_MAX);
    tl_code_map_close(m);
}

static void test_sizes(void **state)
{
    static const code_symbol symbol[] = {
        CODE_FUNC("whole", 0x1000, 0x100),     CODE_FUNC("inner", 0x1040, 0x10), CODE_FUNC("unsized", 0x1800, 0),
        CODE_FUNC("next", 0x1900, 4),          CODE_FUNC("last", 0x2ff0, 0),     CODE_FUNC("nowhere", 0x9000, 0),
        CODE_FUNC("huge", 0xa000, UINT64_MAX),
    };
    tl_code_map *m = load(symbol, sizeof symbol / sizeof *symbol);
    assert_int_equal(tl_code_map_symbols(m), 6);
    expect(m, 0x1000, "whole", 0x1000, 0x1040);
    expect(m, 0x1044, "inner", 0x1040, 0x1050);
    expect(m, 0x1060, NULL, 0x1050, 0x1800); /* it was cut, not split: better no name than a wrong one */
    expect(m, 0x18ff, "unsized", 0x1800, 0x1900);
    expect(m, 0x2ffc, "last", 0x2ff0, 0x3000); /* to the end of its section */
    expect(m, 0x3000, NULL, 0x3000, 0xa000);
    expect(m, 0xa000, "huge", 0xa000, UINT64_MAX);
    tl_code_map_close(m);
}

static void test_aliases(void **state)
{
    static const code_symbol symbol[] = {{"local", 0x1000, 0x40, STT_FUNC, STB_LOCAL},
                                         {"weak", 0x1000, 0x10, STT_FUNC, STB_WEAK},
                                         {"global", 0x1000, 0x20, STT_FUNC, STB_GLOBAL},
                                         {"second", 0x1000, 0x80, STT_GNU_IFUNC, STB_GLOBAL},
                                         {"other", 0x1100, 0x20, STT_FUNC, 10}};
    tl_code_map *m = load(symbol, 5);
    assert_int_equal(tl_code_map_symbols(m), 2);
    expect(m, 0x1070, "global", 0x1000, 0x1080);
    expect(m, 0x1100, "other", 0x1100, 0x1120);
    tl_code_map_close(m);
}

static void test_no_functions(void **state)
{
    tl_code_map *m = load(NULL, 0);
    assert_int_equal(tl_code_map_symbols(m), 0);
    expect(m, 0x1000, NULL, 0, UINT64_MAX);
    tl_code_map_close(m);
    tl_code_map_close(NULL);
    tl_error e = {0};
    m = NULL;
    assert_int_equal(tl_code_map_open(&m, "not there", &e), TL_EIO);
    FILE *f = fopen("text", "wb");
    assert_non_null(f);
    assert_true(fputs("this is not a binary at all, but a text that is long enough to be looked at", f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(tl_code_map_open(&m, "text", &e), TL_EFORMAT);
    assert_null(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ranges, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_sizes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_aliases, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_no_functions, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
