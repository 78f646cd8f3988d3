/* Tests of the writer of folders: values in each dialect, as our reader finds them. */
#include "ctf_read_back.h"
#include "stack_fixture.h"

/* Writes one event of a class with these fields and compares the result of reading it. */
static void check(const tl_field *field, uint32_t nfield, uint32_t ncontext, const tl_value *v, uint32_t nv,
                  const char *expected[3])
{
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[2];
        const tl_class classes[] = {
            {.kind = TL_INSTANT, .name = "c", .field = field, .nfield = nfield, .ncontext = ncontext}};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, versions[i]);
        fixture_event(&w, 0, 0, -1, 1000, 0, v, nv);
        fixture_finish(&w);
        assert_int_equal(w.drops.n, 0);
        assert_int_equal(read_back(out, 2), 1);
        if (expected[i])
            assert_string_equal(out[0].text, expected[i]);
        folder_fini(&w);
    }
}

#define CHECK(fields, ncontext, values, ...)                                                                           \
    check(fields, TL_COUNT(fields), ncontext, values, TL_COUNT(values), (const char *[3]){__VA_ARGS__})

static void test_numbers(void **state)
{
    static const tl_mapping labels[] = {{"low", 0, 3}, {"la \"b\"\\\n", 200, 200}, {"low", 7, 7}};
    static const tl_mapping negative[] = {{"below", (uint64_t)-5, (uint64_t)-1}};
    static const tl_field f[] = {
        {.name = "u8", .type = TL_U64, .bits = 8, .mapping = labels, .nmapping = 3},
        {.name = "u64", .type = TL_U64},
        {.name = "u13", .type = TL_U64, .bits = 13, .base = 8},
        {.name = "i5", .type = TL_I64, .bits = 5, .mapping = negative, .nmapping = 1},
        {.name = "i64", .type = TL_I64},
        {.name = "f32", .type = TL_F64, .bits = 32},
        {.name = "f64", .type = TL_F64},
        {.name = "hex", .type = TL_HEX, .bits = 32},
        {.name = "bool", .type = TL_BOOL},
    };
    static const tl_value v[] = {U(200),
                                 U(UINT64_MAX),
                                 U(8191),
                                 I(-16),
                                 I(INT64_MIN),
                                 F(1.5),
                                 F(0.1),
                                 {.type = TL_HEX, .as.u = 0xdeadbeef},
                                 {.type = TL_BOOL, .as.u = 1}};
    CHECK(f, 0, v, "u200 u18446744073709551615 u8191 i-16 i-9223372036854775808 f1.5 f0.1 u3735928559 b1",
          "u200 u18446744073709551615 u8191 i-16 i-9223372036854775808 f1.5 f0.1 u3735928559 u1",
          "u200 u18446744073709551615 u8191 i-16 i-9223372036854775808 f1.5 f0.1 u3735928559 u1");
}

static void test_labels(void **state)
{
    static const tl_mapping labels[] = {{"low", 0, 3}, {"la \"b\"\\\n", 200, 200}, {"low", 7, 7}};
    static const tl_field f[] = {{.name = "e", .type = TL_U64, .bits = 8, .mapping = labels, .nmapping = 3}};
    static const tl_value v[] = {U(200)};
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[1];
        const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c \"q\"\\\t", .field = f, .nfield = 1}};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, versions[i]);
        fixture_event(&w, 0, 0, -1, 1000, 0, v, 1);
        fixture_finish(&w);
        const tl_open_options options = {.want = {.fields = true}};
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", &options, NULL), 0);
        const tl_class *c = NULL;
        for (uint32_t k = 0; k < tl_trace_classes(tl_source_trace(s)); k++)
            if (tl_trace_class(tl_source_trace(s), k)->nfield == 1)
                c = tl_trace_class(tl_source_trace(s), k);
        assert_non_null(c);
        assert_string_equal(c->name, classes[0].name);
        assert_int_equal(c->field[0].nmapping, 3);
        unsigned seen = 0;
        for (uint32_t k = 0; k < 3; k++)
            for (uint32_t m = 0; m < 3; m++)
                if (strcmp(c->field[0].mapping[k].label, labels[m].label) == 0 &&
                    c->field[0].mapping[k].low == labels[m].low && c->field[0].mapping[k].high == labels[m].high)
                    seen |= 1u << m;
        assert_int_equal(seen, 7);
        tl_source_close(s);
        assert_int_equal(read_back(out, 1), 1);
        folder_fini(&w);
    }
}

static void test_text_and_bytes(void **state)
{
    static const tl_field f[] = {
        {.name = "plain", .type = TL_STRING},
        {.name = "len", .type = TL_U64, .bits = 8},
        {.name = "governed", .type = TL_STRING, .governor = 2},
        {.name = "fixed", .type = TL_STRING, .flags = TL_FIELD_FIXED, .length = 4},
        {.name = "data", .type = TL_BYTES},
        {.name = "data_of_len", .type = TL_BYTES, .governor = 2},
        {.name = "fixed_data", .type = TL_BYTES, .flags = TL_FIELD_FIXED, .length = 2},
        {.name = "empty", .type = TL_BYTES},
    };
    static const tl_value v[] = {S("h\xc3\xa9"), U(3), S("ab"), S("wxyz"), Y("\1\2\3"), Y("\4\5\6"), Y("\7\x8"), Y("")};
    CHECK(f, 0, v, "s\"h\xc3\xa9\" u3 s\"ab\" s\"wxyz\" y010203 y040506 y0708 y",
          "s\"h\xc3\xa9\" u3 s\"ab\" s\"wxyz\" [u1 u2 u3 ] [u4 u5 u6 ] [u7 u8 ] []",
          "s\"h\xc3\xa9\" u3 s\"ab\" s\"wxyz\" [u1 u2 u3 ] [u4 u5 u6 ] [u7 u8 ] []");
}

static void test_lists(void **state)
{
    static const tl_field u16[] = {{.name = "", .type = TL_U64, .bits = 16}};
    static const tl_field inner[] = {{.name = "", .type = TL_LIST, .member = u16, .nmember = 1}};
    static const tl_field fixed[] = {
        {.name = "", .type = TL_LIST, .member = u16, .nmember = 1, .flags = TL_FIELD_FIXED, .length = 3}};
    static const tl_field f[] = {
        {.name = "n", .type = TL_U64, .bits = 8},
        {.name = "governed", .type = TL_LIST, .member = u16, .nmember = 1, .governor = 1},
        {.name = "own", .type = TL_LIST, .member = u16, .nmember = 1},
        {.name = "untyped", .type = TL_LIST},
        {.name = "lists", .type = TL_LIST, .member = inner, .nmember = 1},
        {.name = "square", .type = TL_LIST, .member = fixed, .nmember = 1, .flags = TL_FIELD_FIXED, .length = 2},
    };
    static const tl_value v[] = {U(2),    LIST(2), U(1), U(2),    LIST(1), U(3), LIST(2), U(UINT64_MAX), U(5),
                                 LIST(3), LIST(1), U(6), LIST(0), LIST(2), U(7), U(8),    LIST(2),       LIST(3),
                                 U(1),    U(2),    U(3), LIST(3), U(4),    U(5), U(6)};
    static const char same[] =
        "u2 [u1 u2 ] [u3 ] [u18446744073709551615 u5 ] [[u6 ] [] [u7 u8 ] ] [[u1 u2 u3 ] [u4 u5 u6 ] ]";
    CHECK(f, 0, v, same, same, same);
}

static void test_structs(void **state)
{
    static const tl_field u3[] = {{.name = "b", .type = TL_U64, .bits = 3}};
    static const tl_field point[] = {{.name = "x", .type = TL_I64, .bits = 32},
                                     {.name = "data", .type = TL_BYTES},
                                     {.name = "in", .type = TL_STRUCT, .member = u3, .nmember = 1}};
    static const tl_field list[] = {{.name = "", .type = TL_STRUCT, .member = point, .nmember = 3}};
    static const tl_field f[] = {{.name = "one", .type = TL_STRUCT, .member = point, .nmember = 3},
                                 {.name = "none", .type = TL_STRUCT},
                                 {.name = "nothing", .type = TL_NULL},
                                 {.name = "many", .type = TL_LIST, .member = list, .nmember = 1}};
    static const tl_value v[] = {STRUCT(3), I(-1),     Y("\xff"), STRUCT(1), U(5),      STRUCT(0), {.type = TL_NULL},
                                 LIST(2),   STRUCT(3), I(2),      Y(""),     STRUCT(1), U(6),      STRUCT(3),
                                 I(3),      Y("\1\2"), STRUCT(1), U(7)};
    CHECK(f, 0, v, "{i-1 yff {u5 } } {} {} [{i2 y {u6 } } {i3 y0102 {u7 } } ]",
          "{i-1 [u255 ] {u5 } } {} {} [{i2 [] {u6 } } {i3 [u1 u2 ] {u7 } } ]",
          "{i-1 [u255 ] {u5 } } {} {} [{i2 [] {u6 } } {i3 [u1 u2 ] {u7 } } ]");
}

static void test_variants(void **state)
{
    static const tl_mapping tag[] = {{"num", 1, 1}, {"_text", 2, 5}, {"int", 9, 9}};
    static const tl_mapping choose[] = {{NULL, 1, 1}, {NULL, 2, 5}, {NULL, 9, 9}};
    static const tl_field u16[] = {{.name = "", .type = TL_U64, .bits = 16}};
    static const tl_field good[] = {
        {.name = "num", .type = TL_I64, .bits = 8, .mapping = &choose[0], .nmapping = 1},
        {.name = "text", .type = TL_STRING, .mapping = &choose[1], .nmapping = 1},
    };
    static const tl_field other[] = {
        {.name = "int", .type = TL_LIST, .member = u16, .nmember = 1, .mapping = &choose[2], .nmapping = 1},
        {.name = "", .type = TL_STRING, .mapping = &choose[1], .nmapping = 1},
    };
    static const tl_field f[] = {
        {.name = "tag", .type = TL_U64, .bits = 8, .mapping = tag, .nmapping = 3},
        {.name = "good", .type = TL_VARIANT, .member = good, .nmember = 2, .governor = 1},
        {.name = "other", .type = TL_VARIANT, .member = other, .nmember = 2, .governor = 1},
        {.name = "own", .type = TL_VARIANT, .member = other, .nmember = 2},
    };
    static const tl_value v[] = {U(4), VARIANT(1), S("x"), VARIANT(1), S("y"), VARIANT(0), LIST(2), U(1), U(2)};
    CHECK(f, 0, v, "u4 <1 s\"x\" > <1 s\"y\" > <0 [u1 u2 ] >", "u4 <1 s\"x\" > <1 s\"y\" > <0 [u1 u2 ] >",
          "u4 {[] [s\"x\" ] } {[] [s\"y\" ] } {[[u1 u2 ] ] [] }");
}

/* Values that choose an option, unsorted and overlapping; the label has the same ones in another order. */
static void test_variants_of_ranges(void **state)
{
    enum { MINUS_3 = -3, MINUS_9 = -9 };
    static const tl_mapping tag[] = {{"a", 5, 9},   {"b", 35, 50},    {"a", (uint64_t)MINUS_3, 2},
                                     {"b", 30, 40}, {"none", 20, 20}, {"b", (uint64_t)MINUS_9, (uint64_t)MINUS_9}};
    static const tl_mapping a[] = {{NULL, (uint64_t)MINUS_3, 2}, {NULL, 5, 9}};
    static const tl_mapping b[] = {{NULL, 30, 40}, {NULL, 35, 50}, {NULL, (uint64_t)MINUS_9, (uint64_t)MINUS_9}};
    static const tl_field option[] = {
        {.name = "a", .type = TL_STRING, .mapping = a, .nmapping = 2},
        {.name = "b", .type = TL_U64, .bits = 8, .mapping = b, .nmapping = 3},
    };
    static const tl_field f[] = {
        {.name = "tag", .type = TL_I64, .bits = 8, .mapping = tag, .nmapping = 6},
        {.name = "v", .type = TL_VARIANT, .member = option, .nmember = 2, .governor = 1},
    };
    static const int64_t first[] = {-3, 0, 2, 5, 9}, second[] = {-9, 30, 34, 41, 50};
    for (size_t i = 0; i < 5; i++) {
        char same[32], lists[32];
        const tl_value of_a[] = {I(first[i]), VARIANT(0), S("x")}, of_b[] = {I(second[i]), VARIANT(1), U(7)};
        snprintf(same, sizeof same, "i%d <0 s\"x\" >", (int)first[i]);
        snprintf(lists, sizeof lists, "i%d {[s\"x\" ] [] }", (int)first[i]);
        CHECK(f, 0, of_a, same, same, lists);
        snprintf(same, sizeof same, "i%d <1 u7 >", (int)second[i]);
        snprintf(lists, sizeof lists, "i%d {[] [u7 ] }", (int)second[i]);
        CHECK(f, 0, of_b, same, same, lists);
    }
}

/* The class "c" read back. */
static const tl_class *class_c(const tl_source *s, uint32_t nfield)
{
    const tl_trace *t = tl_source_trace(s);
    uint32_t k = 0;
    while (k < tl_trace_classes(t) && strcmp(tl_trace_class(t, k)->name, "c") != 0)
        k++;
    assert_true(k < tl_trace_classes(t));
    assert_int_equal(tl_trace_class(t, k)->nfield, nfield);
    return tl_trace_class(t, k);
}

/* The number of the field read back that selects the option of the second one. */
static unsigned selector_of(const tl_field f[2], const char *version)
{
    static const tl_value v[] = {I(5), VARIANT(0), S("x")};
    fixture w = {0};
    const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 2}};
    fixture_init(&w);
    folder_classes(&w, classes, 1);
    folder_start(&w, version);
    fixture_event(&w, 0, 0, -1, 1000, 0, v, 3);
    fixture_finish(&w);
    tl_source *s;
    assert_int_equal(tl_source_open(&s, "out", NULL, NULL), 0);
    const unsigned governor = class_c(s, 2)->field[1].governor;
    tl_source_close(s);
    folder_fini(&w);
    return governor;
}

/* In 1.8 the source's field selects only if its labels mean the same values; otherwise one of our own does. */
static void test_selector_stays(void **state)
{
    static const tl_mapping a[] = {{NULL, 5, 9}, {NULL, 1, 2}};
    static const tl_field option[] = {{.name = "a", .type = TL_STRING, .mapping = a, .nmapping = 2}};
    static const struct {
        tl_mapping label[4];
        uint32_t n;
        bool stays;
    } c[] = {
        {{{"a", 5, 9}, {"a", 1, 2}}, 2, true},
        {{{"b", 3, 3}, {"a", 1, 2}, {"_b", 4, 4}, {"a", 5, 9}}, 4, true},
        {{{"_a", 1, 2}, {"_a", 5, 9}}, 2, true},
        {{{"_a", 1, 2}, {"_a", 5, 9}, {"a", 20, 20}}, 3, true}, /* the first one counts */
        {{{"a", 5, 9}}, 1, false},
        {{{"a", 5, 9}, {"a", 1, 2}, {"a", 20, 20}}, 3, false},
        {{{"a", 5, 9}, {"a", 1, 3}}, 2, false},
        {{{"a", 5, 8}, {"a", 1, 2}}, 2, false},
        {{{"a", 5, 9}, {"b", 1, 2}}, 2, false},
        {{{"b", 5, 9}, {"b", 1, 2}}, 2, false},
        {{{"a b", 5, 9}, {"a b", 1, 2}}, 2, false},
    };
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        const tl_field f[] = {
            {.name = "tag", .type = TL_I64, .bits = 8, .mapping = c[i].label, .nmapping = c[i].n},
            {.name = "v", .type = TL_VARIANT, .member = option, .nmember = 1, .governor = 1},
        };
        if (selector_of(f, "1.8") != c[i].stays)
            fail_msg("case %zu: the selector %s", i, c[i].stays ? "is another one" : "stays");
        assert_int_equal(selector_of(f, "2"), 1); /* labels do not matter there */
    }
}

static void test_optional_fields(void **state)
{
    static const tl_field u16[] = {{.name = "", .type = TL_U64, .bits = 16}};
    static const tl_field member[] = {{.name = "m", .type = TL_U64, .bits = 16, .flags = TL_FIELD_OPTIONAL},
                                      {.name = "l", .type = TL_BYTES, .flags = TL_FIELD_OPTIONAL}};
    static const tl_field f[] = {
        {.name = "is", .type = TL_BOOL, .bits = 1},
        {.name = "said", .type = TL_U64, .bits = 16, .flags = TL_FIELD_OPTIONAL, .governor = 1},
        {.name = "there", .type = TL_LIST, .member = u16, .nmember = 1, .flags = TL_FIELD_OPTIONAL},
        {.name = "away", .type = TL_STRING, .flags = TL_FIELD_OPTIONAL},
        {.name = "s", .type = TL_STRUCT, .member = member, .nmember = 2},
    };
    static const tl_value v[] = {{.type = TL_BOOL, .as.u = 1}, U(5), LIST(1), U(6), ABSENT, STRUCT(2), ABSENT, Y("\1")};
    CHECK(f, 0, v, "b1 u5 [u6 ] - {- y01 }", "u1 <1 u5 > <1 [u6 ] > <0 {} > {<0 {} > <1 [u1 ] > }",
          "u1 [u5 ] [[u6 ] ] [] {[] [[u1 ] ] }");
}

/* Null is possible in a field marked nullable, and read back as null; in 2010 as a list of 0 or 1 elements. */
static void test_nulls(void **state)
{
    enum { NULLABLE = TL_FIELD_NULLABLE, EVENT = TL_SCOPE_PAYLOAD - TL_SCOPE_EVENT };
    static const tl_field item[] = {{.name = "id", .type = TL_HEX, .flags = NULLABLE},
                                    {.name = "n", .type = TL_U64, .bits = 16}};
    static const tl_field element[] = {{.name = "", .type = TL_STRUCT, .member = item, .nmember = 2}};
    static const tl_field text[] = {{.name = "", .type = TL_STRING, .flags = NULLABLE}};
    static const tl_field f[] = {
        {.name = "thread", .type = TL_HEX, .flags = NULLABLE, .context = EVENT},
        {.name = "len", .type = TL_U64, .bits = 8},
        {.name = "governed", .type = TL_STRING, .flags = NULLABLE, .governor = 2},
        {.name = "reason", .type = TL_STRING, .flags = NULLABLE},
        {.name = "both", .type = TL_I64, .bits = 8, .flags = NULLABLE | TL_FIELD_OPTIONAL},
        {.name = "items", .type = TL_LIST, .member = element, .nmember = 1},
        {.name = "texts", .type = TL_LIST, .member = text, .nmember = 1},
        {.name = "last", .type = TL_U64, .bits = 8},
    };
    static const tl_value known[] = {
        {.type = TL_HEX, .as.u = 0x1f}, U(2), S("ab"), S("induced"), I(-1), LIST(1), STRUCT(2),
        {.type = TL_HEX, .as.u = 5},    U(6), LIST(2), S("x"),       NUL,   U(9)};
    CHECK(f, 1, known, "u31 u2 s\"ab\" s\"induced\" i-1 [{u5 u6 } ] [s\"x\" ~ ] u9",
          "u31 u2 s\"ab\" s\"induced\" <1 i-1 > [{u5 u6 } ] [s\"x\" ~ ] u9",
          "[u31 ] u2 [s\"ab\" ] [s\"induced\" ] [[i-1 ] ] [{[u5 ] u6 } ] [[s\"x\" ] [] ] u9");
    static const tl_value null[] = {NUL, U(2), NUL, NUL, NUL, LIST(1), STRUCT(2), NUL, U(6), LIST(0), U(9)};
    CHECK(f, 1, null, "~ u2 ~ ~ ~ [{~ u6 } ] [] u9", "~ u2 ~ ~ <1 ~ > [{~ u6 } ] [] u9",
          "[] u2 [] [] [[] ] [{[] u6 } ] [] u9");
    static const tl_value absent[] = {NUL, U(2), NUL, NUL, ABSENT, LIST(0), LIST(0), U(9)};
    CHECK(f, 1, absent, "~ u2 ~ ~ - [] [] u9", "~ u2 ~ ~ <0 {} > [] [] u9", "[] u2 [] [] [] [] [] u9");
}

/* A nullable field is read back as such, so that writing it again gives the same. */
static void test_nullable_stays(void **state)
{
    static const tl_field f[] = {{.name = "id", .type = TL_HEX, .flags = TL_FIELD_NULLABLE, .bits = 32},
                                 {.name = "may", .type = TL_HEX, .flags = TL_FIELD_OPTIONAL}};
    static const tl_value v[] = {NUL, ABSENT};
    for (int i = 0; i < 2; i++) {
        fixture w = {0};
        found out[1];
        const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 2}};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, versions[i]);
        fixture_event(&w, 0, 0, -1, 1000, 0, v, 2);
        fixture_finish(&w);
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", NULL, NULL), 0);
        const tl_class *c = class_c(s, 2);
        assert_int_equal(c->field[0].flags, TL_FIELD_NULLABLE);
        assert_int_equal(c->field[0].type, TL_U64);
        assert_int_equal(c->field[0].bits, 32);
        assert_int_equal(c->field[0].governor, 0);
        assert_int_equal(c->field[1].flags & TL_FIELD_NULLABLE, 0);
        tl_source_close(s);
        assert_int_equal(read_back(out, 1), 1);
        folder_fini(&w);
    }
}

/* A stack is a list of structs with nullable members. */
static void test_stacks(void **state)
{
    static const tl_field f[] = {
        {.name = "frames", .type = TL_STACK, .member = stack_members, .nmember = 3},
        {.name = "other", .type = TL_STACK}, /* without member names */
        {.name = "last", .type = TL_U64, .bits = 8},
    };
    const tl_value v[] = {stack_value(&stack_unknown), stack_value(NULL), U(9)};
    static const char same[] = "[{s\"Work:Main \"x\"\" u5 ~ } {~ u31 u32512 } {~ ~ ~ } ] [] u9";
    CHECK(f, 0, v, same, same, "[{[s\"Work:Main \"x\"\" ] [u5 ] [] } {[] [u31 ] [u32512 ] } {[] [] [] } ] [] u9");
    const tl_value swapped[] = {stack_value(NULL), stack_value(&stack_fib), U(9)};
    CHECK(f, 0, swapped, "[] [{s\"Work:Main \"x\"\" u5 ~ } {s\"Fib\" u6 u2748 } ] u9", NULL, NULL);
}

static void test_deep_stacks(void **state)
{
    static const tl_field f[] = {{.name = "frames", .type = TL_STACK, .member = stack_members, .nmember = 3}};
    static const tl_class classes[] = {{.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "c", .field = f, .nfield = 1}};
    tl_frame *frames = stack_deep(STACK_DEEP, "f");
    for (int i = 0; i < 2; i++) {
        fixture w = {0};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, versions[i]);
        for (uint32_t k = 0; k < 3; k++) {
            const tl_value v = stack_value(&frames[k == 1 ? STACK_DEEP - 1 : k]);
            fixture_event(&w, 0, 0, -1, 1000 + k, 10, &v, 1);
        }
        fixture_finish(&w);
        assert_int_equal(w.drops.n, 0);
        const tl_open_options options = {.want = {.fields = true}};
        tl_source *s;
        const tl_batch *b;
        assert_int_equal(tl_source_open(&s, "out", &options, NULL), 0);
        uint32_t n = 0;
        while (tl_source_next(s, &b, NULL) > 0)
            for (uint32_t e = 0; e < b->n; e++, n++) {
                const tl_value *v = b->v + b->val[e];
                assert_int_equal(tl_trace_class(tl_source_trace(s), b->cls[e])->kind, TL_SAMPLE);
                assert_int_equal(tl_trace_class(tl_source_trace(s), b->cls[e])->key, TL_KEY_NONE);
                assert_int_equal(v->n, n == 1 ? STACK_DEEP : n + 1);
                for (uint32_t k = 0; k < b->v[b->val[e]].n; k++) {
                    const tl_value *frame = v + 1 + (size_t)4 * k;
                    assert_int_equal(frame[0].type, TL_STRUCT);
                    assert_int_equal(frame[1].n, 1);
                    assert_int_equal(frame[2].as.u, k);
                    assert_int_equal(frame[3].type, TL_NULL);
                }
            }
        assert_int_equal(n, 3);
        tl_source_close(s);
        folder_fini(&w);
    }
    free(frames);
}

static void test_contexts(void **state)
{
    enum { STREAM = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM, EVENT = TL_SCOPE_PAYLOAD - TL_SCOPE_EVENT };
    static const tl_field u16[] = {{.name = "", .type = TL_U64, .bits = 16}};
    static const tl_field f[] = {
        {.name = "n", .type = TL_U64, .bits = 8, .context = STREAM},
        {.name = "m", .type = TL_U64, .bits = 8, .context = EVENT},
        {.name = "first", .type = TL_LIST, .member = u16, .nmember = 1, .context = EVENT, .governor = 1},
        {.name = "list", .type = TL_LIST, .member = u16, .nmember = 1, .governor = 2},
        {.name = "other", .type = TL_LIST, .member = u16, .nmember = 1, .governor = 1},
    };
    static const tl_value v[] = {U(1), U(2), LIST(1), U(3), LIST(2), U(4), U(5), LIST(1), U(6)};
    static const char same[] = "u1 u2 [u3 ] [u4 u5 ] [u6 ]";
    CHECK(f, 3, v, same, same, same);
}

static void test_names(void **state)
{
    static const char *const names[] = {"int", "_x", "a b", "a.b", "", "same", "same", "\xc3\xa4", "id", "variant"};
    tl_field f[TL_COUNT(names)];
    tl_value v[TL_COUNT(names)];
    for (uint32_t i = 0; i < TL_COUNT(names); i++) {
        f[i] = (tl_field){.name = names[i], .type = TL_U64, .bits = 8};
        v[i] = (tl_value)U(i);
    }
    static const char *const kept[3][TL_COUNT(names)] = {
        {"int", "_x", "a b", "a.b", NULL, "same", NULL, "\xc3\xa4", "id", "variant"},
        {"int", "_x", "a_b", NULL, NULL, "same", NULL, "__", "id", "variant"},
        {"int", "_x", "a b", "a.b", NULL, "same", NULL, "\xc3\xa4", "id", "variant"}};
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[1];
        const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .field = f, .nfield = TL_COUNT(names)}};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, versions[i]);
        fixture_event(&w, 0, 0, -1, 1000, 0, v, TL_COUNT(names));
        fixture_finish(&w);
        const tl_open_options options = {.want = {.fields = true}};
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", &options, NULL), 0);
        const tl_trace *t = tl_source_trace(s);
        for (uint32_t c = 0; c < tl_trace_classes(t); c++) {
            const tl_class *cls = tl_trace_class(t, c);
            for (uint32_t k = 0; strcmp(cls->name, "c") == 0 && k < TL_COUNT(names); k++) {
                if (kept[i][k])
                    assert_string_equal(cls->field[k].name, kept[i][k]);
                for (uint32_t m = 0; m < k; m++)
                    assert_string_not_equal(cls->field[k].name, cls->field[m].name);
            }
        }
        tl_source_close(s);
        assert_int_equal(read_back(out, 1), 1);
        assert_string_equal(out[0].text, "u0 u1 u2 u3 u4 u5 u6 u7 u8 u9");
        folder_fini(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_labels, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_text_and_bytes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_lists, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_structs, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_variants, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_variants_of_ranges, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_selector_stays, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_optional_fields, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_nulls, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_nullable_stays, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_stacks, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_deep_stacks, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_contexts, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_names, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
