/* The text style of babeltrace2: babeltrace2 2.0.4 printed the expected text for the same values, except for the
 * differences that babeltrace_text.c lists. */
#include "babeltrace_fixture.h"

#include <math.h>

static void test_scopes(void **state)
{
    fixture f;
    rich_init(&f);
    start(&f);
    assert_true(f.format->event_writer->wants.packets && f.format->event_writer->ordered);
    rich_open_event(&f, 1);
    rich_other_event(&f, 2);
    rich_packed_event(&f, 3);
    fixture_event(&f, RICH_EMPTY, 0, -1, 4, 0, NULL, 0);
    fixture_event(&f, RICH_BARE, 0, -1, 5, 0, NULL, 0);
    fixture_expect(
        &f, FIRST "open: { pid = -1 }, { pid = 7, ip = 0xBEEF }, { mode = ( \"READ\", \"B \\\"\\?\" : container = 2 ), "
                  "level = ( \"neg\", \"all\" : container = 0775 ), bits = ( \"A\", \"B\" : container = 0x5 ), "
                  "either = { 5 }, list = [ [0] = 0x1, [1] = 0xAB ], real = 0.1 }\n"
                  "[00:00:00.000000002] (+0.000000001) open: { }, { }, { mode = ( <unknown> : container = 100 ), "
                  "level = ( <unknown> : container = 0600 ), bits = ( \"C\" : container = 0x8000000000000000 ), "
                  "maybe = \"\\?\\e\", either = { { x = 0xFF, y = true } }, list = [ ], real = 3 }\n"
                  "[00:00:00.000000003] (+0.000000001) packed: { cpu_id = 2 }, { pid = 9 }, { text = \"x\" }\n"
                  "[00:00:00.000000004] (+0.000000001) empty: { }, { }\n"
                  "[00:00:00.000000005] (+0.000000001) bare: \n");
}

static void test_environment(void **state)
{
    static const struct {
        const char *host, *proc;
        int64_t vpid; /* 0: none */
        const char *text;
    } c[] = {
        {"h", NULL, 0, "h bare: \n"},      {NULL, "p", 0, "p bare: \n"},       {NULL, NULL, 3, "(3) bare: \n"},
        {"h", "p", 0, "h:p bare: \n"},     {"h", NULL, -3, "h:(-3) bare: \n"}, {NULL, "p", 3, "p:(3) bare: \n"},
        {"h", "p", 3, "h:p:(3) bare: \n"}, {"", NULL, 0, " bare: \n"},         {"a\x1b", "", 1, "a\\x1b::(1) bare: \n"},
    };
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        fixture f;
        char text[80];
        rich_init(&f);
        tl_trace_add_property(&f.trace, "domain", "ust", 0, NULL);
        if (c[i].vpid)
            tl_trace_add_property(&f.trace, "vpid", NULL, c[i].vpid, NULL);
        if (c[i].proc)
            tl_trace_add_property(&f.trace, "procname", c[i].proc, 0, NULL);
        if (c[i].host)
            tl_trace_add_property(&f.trace, "hostname", c[i].host, 0, NULL);
        start(&f);
        add_bare(&f, 1);
        snprintf(text, sizeof text, "%s%s", FIRST, c[i].text);
        fixture_expect(&f, text);
    }
    /* A track of a part of the trace with other properties. */
    static const tl_property own[] = {{"hostname", "mine", 0}};
    fixture f;
    rich_init(&f);
    tl_trace_add_property(&f.trace, "hostname", "all", 0, NULL);
    f.trace.track[1].property = own;
    f.trace.track[1].nproperty = 1;
    start(&f);
    add_bare(&f, 1);
    fixture_event(&f, RICH_BARE, 1, -1, 1, 0, NULL, 0);
    fixture_expect(&f, FIRST "all bare: \n[00:00:00.000000001] (+0.000000000) mine bare: \n");
}

/* One value as the only field of a class. */
static void expect_shown(const tl_field *field, const tl_value *v, uint32_t n, const char *text)
{
    fixture f;
    rich_init(&f);
    f.trace.cls[RICH_BARE].field = field;
    f.trace.cls[RICH_BARE].nfield = 1;
    start(&f);
    fixture_event(&f, RICH_BARE, 0, -1, 1, 0, v, n);
    fixture_finish(&f);
    const char *begin = FIRST "bare: { f = ", *end = " }\n";
    assert_true(f.size > strlen(begin) + strlen(end));
    assert_memory_equal(f.bytes, begin, strlen(begin));
    assert_string_equal((char *)f.bytes + f.size - strlen(end), end);
    f.bytes[f.size - strlen(end)] = 0;
    assert_string_equal((char *)f.bytes + strlen(begin), text);
    fixture_fini(&f);
}

static void test_integers(void **state)
{
    static const struct {
        uint8_t bits, base;
        int64_t value;
        const char *text;
    } s[] = {
        {8, 2, -1, "0b11111111"},
        {8, 2, 5, "0b00000101"},
        {13, 2, -4096, "0b1000000000000"},
        {8, 8, -1, "0777"},
        {8, 8, -128, "0600"},
        {8, 8, 0, "00"},
        {8, 8, 5, "05"},
        {13, 8, -1, "077777"},
        {31, 8, -1, "077777777777"},
        {33, 8, -1, "077777777777"},
        {62, 8, -1, "0777777777777777777777"},
        {64, 8, -1, "01777777777777777777777"},
        {0, 8, INT64_MIN, "01000000000000000000000"},
        {1, 16, -1, "0xF"},
        {5, 16, -1, "0xFF"},
        {8, 16, -128, "0x80"},
        {13, 16, -1, "0xFFFF"},
        {17, 16, -1, "0xFFFFF"},
        {41, 16, -1, "0xFFFFFFFFFFF"},
        {64, 16, -1, "0xFFFFFFFFFFFFFFFF"},
        {32, 16, 0, "0x0"},
        {32, 10, -5, "-5"},
        {0, 0, INT64_MIN, "-9223372036854775808"},
    };
    for (size_t i = 0; i < TL_COUNT(s); i++) {
        const tl_field field = {.name = "f", .type = TL_I64, .bits = s[i].bits, .base = s[i].base};
        const tl_value v = {.type = TL_I64, .as.i = s[i].value};
        expect_shown(&field, &v, 1, s[i].text);
    }
    static const struct {
        uint8_t bits, base;
        uint64_t value;
        const char *text;
    } u[] = {
        {13, 2, 8191, "0b1111111111111"},
        {8, 8, 255, "0377"},
        {64, 8, UINT64_MAX, "01777777777777777777777"},
        {13, 16, 8191, "0x1FFF"},
        {0, 16, UINT64_MAX, "0xFFFFFFFFFFFFFFFF"},
        {0, 10, UINT64_MAX, "18446744073709551615"},
        {64, 2, 5, "0b0000000000000000000000000000000000000000000000000000000000000101"},
    };
    for (size_t i = 0; i < TL_COUNT(u); i++) {
        const tl_field field = {.name = "f", .type = TL_U64, .bits = u[i].bits, .base = u[i].base};
        const tl_value v = {.type = TL_U64, .as.u = u[i].value};
        expect_shown(&field, &v, 1, u[i].text);
    }
}

static void test_reals(void **state)
{
    static const struct {
        double value;
        const char *text;
    } c[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {0.1, "0.1"},
        {1.0 / 3, "0.333333"},
        {1e5, "100000"},
        {123456, "123456"},
        {1234567, "1.23457e+06"},
        {1e15, "1e+15"},
        {1e-4, "0.0001"},
        {1e-5, "1e-05"},
        {1e300, "1e+300"},
        {5e-324, "4.94066e-324"},
        {999999.5, "1e+06"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {-999999, "-999999"},
    };
    const tl_field field = {.name = "f", .type = TL_F64};
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        const tl_value v = {.type = TL_F64, .as.f = c[i].value};
        expect_shown(&field, &v, 1, c[i].text);
    }
}

static void test_strings(void **state)
{
    static const struct {
        const char *value, *text;
    } c[] = {
        {"", "\"\""},
        {"plain text of more than 8 bytes", "\"plain text of more than 8 bytes\""},
        {"a\"b\\c'd\n\t\r\x01\x1b"
         "1?",
         "\"a\\\"b\\\\c\\'d\\n\\t\\r\\x01\\e1\\?\""},
        {"\a\b\v\f\x7f\x1f", "\"\\a\\b\\v\\f\\x7f\\x1f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82 caf\xc3\xa9 \xc3\xa9",
         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82 caf\xc3\xa9 \xc3\xa9\""},
        {"\x80\xff\x9b 12345678", "\"\x80\xff\x9b 12345678\""}, /* not UTF-8: stays */
        {"\xc2\x9b"
         "2J\xc2\xa0\xc2",
         "\"\\xc2\\x9b"
         "2J\xc2\xa0\xc2\""}, /* a C1 control, and what looks like one */
        {"a\xe2\x80\xae"
         "b\xe2\x81\xa9\xe2\x80\xb0\xe2\x80",
         "\"a\\xe2\\x80\\xae"
         "b\\xe2\\x81\\xa9\xe2\x80\xb0\xe2\x80\""}, /* what reverses text, and what does not */
        {"12345678?", "\"12345678\\?\""},
        {"1234567?89012345'", "\"1234567\\?89012345\\'\""},
    };
    const tl_field field = {.name = "f", .type = TL_STRING};
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        const tl_value v = {.type = TL_STRING, .n = (uint32_t)strlen(c[i].value), .as.p = c[i].value};
        expect_shown(&field, &v, 1, c[i].text);
    }
    const tl_value nul = {.type = TL_STRING, .n = 3, .as.p = "a\0b"};
    expect_shown(&field, &nul, 1, "\"a\\x00b\"");
}

/* However long, and whatever is at the end of a piece. */
static void test_long_strings(void **state)
{
    enum { MOST = 70000 };
    const tl_field field = {.name = "f", .type = TL_STRING};
    char *text = malloc(MOST), *expected = malloc(2 * MOST + 3);
    assert_true(text && expected);
    for (size_t shift = 0; shift < 9; shift++)
        for (size_t n = shift < 1 ? MOST : 5000; n > 4000; n = n / 2 + 1) {
            char *p = expected;
            *p++ = '"';
            for (size_t i = 0; i < n; i++) {
                text[i] = i % 9 == shift ? '?' : 'x';
                if (text[i] == '?')
                    *p++ = '\\';
                *p++ = text[i];
            }
            memcpy(p, "\"", 2);
            const tl_value v = {.type = TL_STRING, .n = (uint32_t)n, .as.p = text};
            expect_shown(&field, &v, 1, expected);
        }
    free(text);
    free(expected);
}

static void test_compounds(void **state)
{
    static const tl_field inner[] = {{.name = "", .type = TL_STRUCT}};
    static const tl_field field[] = {{.name = "f", .type = TL_LIST, .member = inner, .nmember = 1}};
    static const tl_field members[] = {{.name = "z", .type = TL_STRUCT, .member = inner, .nmember = 1}};
    static const tl_field structure = {.name = "f", .type = TL_STRUCT, .member = members, .nmember = 1};
    const tl_value empty = {.type = TL_STRUCT}, structs[] = {{.type = TL_LIST, .n = 2}, empty, empty},
                   nested[] = {{.type = TL_STRUCT, .n = 1}, empty},
                   lists[] = {{.type = TL_LIST, .n = 2},
                              {.type = TL_LIST, .n = 1},
                              {.type = TL_U64, .as.u = 1},
                              {.type = TL_LIST, .n = 1},
                              {.type = TL_BOOL}},
                   bytes = {.type = TL_BYTES, .n = 2, .as.p = "\x0a\xff"}, nothing = {.type = TL_NULL},
                   hex = {.type = TL_HEX, .as.u = 0xabc}, lying[] = {{.type = TL_LIST, .n = UINT32_MAX}, hex},
                   cut = {.type = TL_VARIANT, .n = 1}, absent[] = {{.type = TL_VARIANT, .n = 1}, {.type = TL_ABSENT}};
    expect_shown(field, structs, 3, "[ [0] = { }, [1] = { } ]");
    expect_shown(&structure, nested, 2, "{ z = { } }");
    expect_shown(&(tl_field){.name = "f"}, &empty, 1, "{ }");
    expect_shown(&(tl_field){.name = "f"}, lists, 5, "[ [0] = [ [0] = 1 ], [1] = [ [0] = false ] ]");
    expect_shown(field, &bytes, 1, "[ [0] = 0xA, [1] = 0xFF ]");
    expect_shown(field, &nothing, 1, "null");
    expect_shown(field, &hex, 1, "0xABC");
    expect_shown(field, lying, 2, "[ [0] = 0xABC ]");
    expect_shown(field, &cut, 1, "{ }");
    expect_shown(field, absent, 2, "{ <none> }");
}

/* Values of the clock are left out, whatever contains them, and so is a scope without others. */
static void test_values_of_the_clock(void **state)
{
    enum { CLOCK = TL_FIELD_CLOCK, STREAM = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM };
    static const tl_field list = {.name = "", .type = TL_U64, .flags = CLOCK},
                          field[] = {{.name = "s", .type = TL_U64, .flags = CLOCK, .context = STREAM},
                                     {.name = "l", .type = TL_LIST, .member = &list, .nmember = 1, .flags = CLOCK},
                                     {.name = "v", .type = TL_U64},
                                     {.name = "t", .type = TL_U64, .flags = CLOCK}};
    static const tl_value v[] = {{.type = TL_U64, .as.u = 9}, {.type = TL_LIST, .n = 2},   {.type = TL_U64, .as.u = 8},
                                 {.type = TL_U64, .as.u = 7}, {.type = TL_U64, .as.u = 6}, {.type = TL_U64, .as.u = 5}};
    fixture f;
    rich_init(&f);
    tl_class *const cls[] = {&f.trace.cls[RICH_BARE], &f.trace.cls[RICH_EMPTY]};
    for (unsigned i = 0; i < 2; i++) {
        cls[i]->field = field;
        cls[i]->nfield = i ? 1 : 4;
        cls[i]->ncontext = 1;
        cls[i]->scopes = 0;
    }
    start(&f);
    fixture_event(&f, RICH_BARE, 0, -1, 1, 0, v, 6);
    fixture_event(&f, RICH_EMPTY, 0, -1, 2, 0, v, 1);
    fixture_expect(&f, FIRST "bare: { v = 6 }\n[00:00:00.000000002] (+0.000000001) empty: \n");
}

/* Deeper than the writer follows: later values must still be read at their places. */
static void test_too_deep(void **state)
{
    enum { DEPTH = 100 };
    for (tl_type type = TL_LIST; type <= TL_VARIANT; type++) {
        fixture f;
        tl_value v[DEPTH + 3];
        rich_init(&f);
        start(&f);
        uint32_t n = rich_deep(v, DEPTH, type);
        v[n++] = (tl_value){.type = TL_I64, .as.i = 9};
        v[n] = (tl_value){.type = TL_STRING, .n = 1, .as.p = "x"};
        fixture_event(&f, RICH_PACKET, 0, -1, 1, 0, v, n + 1);
        add_bare(&f, 2);
        fixture_finish(&f);
        assert_contains(f.bytes, type == TL_LIST ? "[ [0] = ... ]" : type == TL_STRUCT ? "[ [0] = ... ]" : "{ ... }");
        assert_lacks(f.bytes, "42");
        assert_contains(f.bytes, "}, { pid = 9 }, { text = \"x\" }\n[00:00:00.000000002]");
        fixture_fini(&f);
    }
}

static void test_names(void **state)
{
    enum { NAME = 100000 };
    fixture f;
    rich_init(&f);
    char *name = malloc(NAME + 1);
    assert_non_null(name);
    memset(name, 'n', NAME);
    name[NAME] = 0;
    const tl_field field[] = {{.name = name, .type = TL_U64}, {.name = "a\nb", .type = TL_U64}};
    f.trace.cls[RICH_BARE].name = name;
    f.trace.cls[RICH_BARE].field = field;
    f.trace.cls[RICH_BARE].nfield = 2;
    f.trace.cls[RICH_EMPTY].name = "x\x1b[2J";
    start(&f);
    const tl_value v[] = {{.type = TL_U64, .as.u = 1}, {.type = TL_U64, .as.u = 2}};
    fixture_event(&f, RICH_BARE, 0, -1, 1, 0, v, 2);
    fixture_event(&f, RICH_EMPTY, 0, -1, 1, 0, NULL, 0);
    fixture_finish(&f);
    const char *text = (char *)f.bytes;
    assert_int_equal(f.size, strlen(FIRST ": {  = 1, a\\x0ab = 2 }\n") + 2 * NAME +
                                 strlen("[00:00:00.000000001] (+0.000000000) x\\x1b[2J: { }, { }\n"));
    assert_contains(text, "n = 1, a\\x0ab = 2 }\n");
    assert_contains(text, "x\\x1b[2J: { }, { }\n");
    free(name);
    fixture_fini(&f);
}

/* Keys without a field come first in the payload. */
static void test_keys(void **state)
{
    fixture f;
    rich_init(&f);
    start(&f);
    fixture_event(&f, RICH_CALL, 0, -1, 1, 1, NULL, 0);
    fixture_event(&f, RICH_CALL, 0, -1, 1, 77, NULL, 0);
    rich_entry_event(&f, 1, 1);
    assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[RICH_FRAMING]), TL_ACCEPT_IGNORE);
    assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[RICH_OPEN]), TL_ACCEPT_KEEP);
    fixture_expect(&f, FIRST "call: { function = \"main\", id = 1 }\n"
                             "[00:00:00.000000001] (+0.000000000) call: { id = 77 }\n"
                             "[00:00:00.000000001] (+0.000000000) func_entry: { addr = 0x1 }\n");
    fixture_init(&f);
    start(&f);
    tl_value opcode = {.type = TL_HEX, .as.u = 0x1f};
    fixture_event(&f, INSN, 0, -1, 1, 0x40ab, &opcode, 1);
    fixture_expect(&f, FIRST "insn: { pc = 0x40AB, opcode = 0x1F }\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_the_clock),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_long_strings),
        cmocka_unit_test(test_compounds),
        cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
