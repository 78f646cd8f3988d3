/* Tests of the blocks of TSDL: trace, env, clock, stream, event; and of the whole schema. */
#include <time.h>

#include "tsdl_schema.h"

static void test_trace(void **state)
{
    const ctf_schema *s = schema_of("trace { major = 1; minor = 010; byte_order = \"be\"; x = 5; x = y; "
                                    "uuid = \"0F37a32b-1796-408d-b723-bd27b45921c6\"; z.q := string; };;");
    static const uint8_t uuid[] = {0x0f, 0x37, 0xa3, 0x2b, 0x17, 0x96, 0x40, 0x8d,
                                   0xb7, 0x23, 0xbd, 0x27, 0xb4, 0x59, 0x21, 0xc6};
    assert_int_equal(s->dialect, CTF_1_8);
    assert_int_equal(s->major, 1);
    assert_int_equal(s->minor, 8);
    assert_int_equal(s->order, CTF_BE);
    assert_true(s->has_uuid);
    assert_memory_equal(s->uuid, uuid, 16);
    assert_null(s->packet_header);
    assert_int_equal(s->nclock, 0);
    assert_int_equal(s->nproperty, 0);
    /* Events without a stream, and undescribed streams, have the stream class 0. */
    assert_int_equal(s->nstream, 1);
    assert_int_equal(s->stream[0]->id, 0);
    assert_int_equal(s->stream[0]->nevent, 0);
    s = schema_of(TRACE);
    assert_int_equal(s->order, CTF_LE);
    assert_false(s->has_uuid);
}

static void test_broken_trace(void **state)
{
    schema_fails("/* CTF 1.8 */ |", "no 'trace' block");
    schema_fails(TRACE "|trace { };", "a second 'trace' block");
    schema_fails("|trace { minor = 8; byte_order = le; };", "the trace does not say its major version");
    schema_fails("|trace { major = 1; byte_order = le; };", "the trace does not say its minor version");
    schema_fails("|trace { major = 1; minor = 8; };", "the trace does not say its byte order");
    schema_fails("|trace { major = 0; minor = 1; byte_order = le; };",
                 "version 0.1: only 1.8 is known in this language");
    schema_fails("|trace { major = 1; minor = 9; byte_order = le; };",
                 "version 1.9: only 1.8 is known in this language");
    schema_fails("trace { major = |x; };", "expected a number, found a name");
    schema_fails("trace { byte_order = |native; };", "expected 'be' or 'le', found 'native'");
    schema_fails("trace { byte_order = |network; };", "expected 'be' or 'le', found 'network'");
    schema_fails("trace { byte_order = |1; };", "expected a string, found a number");
    schema_fails("trace { uuid = |\"0f37a32b-1796-408d-b723-bd27b45921c\"; };",
                 "'0f37a32b-1796-408d-b723-bd27b45921c' is not a UUID");
    schema_fails("trace { uuid = |\"0f37a32b-1796-408d-b723-bd27b45921c6a\"; };",
                 "'0f37a32b-1796-408d-b723-bd27b45921c6a' is not a UUID");
    schema_fails("trace { |packet.header = 5; };", "'packet.header' takes a structure");
    schema_fails("trace { |packet.header := string; };", "'packet.header' takes a structure");
    schema_fails("trace { major = 1; |major = 1; };", "'major' is given twice");
    schema_fails("trace { major = 1; |5", "expected '}' or the name of an attribute, found '5'");
    schema_fails("trace { |", "expected '}' or the name of an attribute, found the end of the text");
    schema_fails(TRACE "env { } |", "expected ';', found the end of the text");
    schema_fails("trace |;", "expected '{', found ';'");
    schema_fails(TRACE "|unknown { };", "expected a block or a declaration, found 'unknown'");
    schema_fails(TRACE "|};", "expected a block or a declaration, found '}'");
    schema_fails(TRACE "|integer { size = 8; } x;", "expected a block or a declaration, found 'integer'");
    schema_fails(TRACE "struct s { } |x;", "expected ';', found 'x'");
}

static void test_environment(void **state)
{
    const ctf_schema *s = schema_of("env { a = 1; b = \"x\"; typedef string t; };" TRACE
                                    "env { c = word; a = \"new\"; d.e = -5; f = 0xffffffffffffffff; };");
    static const char *const expected[][2] = {
        {"a", "new"}, {"b", "x"}, {"c", "word"}, {"d.e", NULL}, {"f", "18446744073709551615"}};
    assert_int_equal(s->nproperty, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(s->property[i].name, expected[i][0]);
        if (expected[i][1])
            assert_string_equal(s->property[i].text, expected[i][1]);
    }
    assert_null(s->property[3].text);
    assert_int_equal(s->property[3].number, -5);
    schema_fails(TRACE "env { |a := string; };", "'a' takes a value, not a type");
}

static void test_clocks(void **state)
{
    const ctf_schema *s = schema_of(
        TRACE "clock { name = a; };"
              "clock { name = \"b c\"; uuid = \"C19B5AC9-b8e6-4f78-be95-a605d04e34c6\"; description = \"d\"; freq = 3; "
              "precision = 1000; offset_s = -5; offset = 9223372036854775807; absolute = FALSE; unknown = 1; };"
              "clock { name = c; absolute = true; }; clock { name = d; offset_s = 0; offset = 0; absolute = 0; };"
              "clock { name = e; offset = -1; };");
    assert_int_equal(s->nclock, 5);
    const ctf_clock *c = s->clock[0];
    assert_string_equal(c->id, "a");
    assert_null(c->uuid);
    assert_null(c->description);
    assert_int_equal(c->hz, 1000000000);
    assert_true(c->offset_s == 0 && c->offset == 0 && c->precision == 0);
    c = s->clock[1];
    assert_string_equal(c->id, "b c");
    assert_string_equal(c->name, "b c");
    assert_string_equal(c->uuid, "c19b5ac9-b8e6-4f78-be95-a605d04e34c6");
    assert_string_equal(c->description, "d");
    assert_true(c->hz == 3 && c->precision == 1000 && c->offset_s == -5 && c->offset == INT64_MAX);
    /* Only a clock with an offset, or marked so, counts from the epoch. */
    static const bool is_unix[] = {false, true, true, false, true};
    for (int i = 0; i < 5; i++)
        assert_int_equal(s->clock[i]->is_unix, is_unix[i]);
    schema_fails(TRACE "|clock { freq = 1; };", "a clock without a name");
    schema_fails(TRACE "clock { name = a; }; |clock { name = \"a\"; };", "a second clock with the name 'a'");
    schema_fails(TRACE "clock { freq = |0; };", "a clock of 0 Hz");
    schema_fails(TRACE "clock { freq = |-1; };", "expected a number from 0 to 18446744073709551615, found -1");
    schema_fails(TRACE "clock { offset = |9223372036854775808; };", "a signed number of more than 64 bits");
    schema_fails(TRACE "clock { name = |5; };", "expected a string, found a number");
}

static void test_lttng_counts_from_the_epoch(void **state)
{
    static const char *const clocks = "clock { name = monotonic; }; clock { name = other; };";
    static const struct {
        const char *env;
        bool is_unix;
    } cases[] = {{"tracer_name = \"lttng-ust\";", true},
                 {"tracer_name = \"lttng-modules\";", true},
                 {"tracer_name = \"barectf\";", false},
                 {"tracer_name = 5;", false},
                 {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300];
        snprintf(text, sizeof text, TRACE "%s env { %s };", clocks, cases[i].env);
        const ctf_schema *s = schema_of(text);
        assert_int_equal(s->clock[0]->is_unix, cases[i].is_unix);
        assert_false(s->clock[1]->is_unix);
    }
}

static void test_streams_and_events(void **state)
{
    const ctf_schema *s = schema_of(
        "event { id = 7; stream_id = 2; name = \"x:y\"; context := struct { string c; }; fields := struct {}; };"
        "stream { id = 1; };" TRACE "event { id = 3; stream_id = 2; loglevel = 13; model.emf.uri = \"http://z\"; };"
        "event { id = 7; stream_id = 1; name = string; loglevel = 15; custom = 1; };"
        "stream { id = 2; event.context := struct { string s; }; };"
        "event { id = 0xffffffffffffffff; stream_id = 2; loglevel = -3; };"
        "event { id = 8; stream_id = 2; loglevel = \"info\"; };"
        "callsite { name = \"x:y\"; func = f; file = \"a.c\"; line = 39; ip = 0x40096c; };");
    assert_int_equal(s->nstream, 2);
    assert_int_equal(s->stream[0]->id, 1);
    assert_int_equal(s->stream[0]->nevent, 1);
    assert_null(s->stream[0]->event_context);
    assert_null(s->stream[0]->name);
    const ctf_stream_class *c = s->stream[1];
    assert_int_equal(c->id, 2);
    assert_int_equal(c->nevent, 4);
    assert_string_equal(dump(c->event_context), "{s:string}@8");
    assert_int_equal(c->event[0]->id, 7);
    assert_string_equal(c->event[0]->name, "x:y");
    assert_null(c->event[0]->level);
    assert_null(c->event[0]->uri);
    assert_string_equal(dump(c->event[0]->context), "{c:string}@8");
    assert_string_equal(dump(c->event[0]->payload), "{}");
    assert_string_equal(c->event[1]->name, "event 3");
    assert_string_equal(c->event[1]->level, "TRACE_DEBUG_LINE");
    assert_int_equal(c->event[1]->level_value, 13);
    assert_string_equal(c->event[1]->uri, "http://z");
    assert_null(c->event[1]->context);
    assert_null(c->event[1]->payload);
    assert_true(c->event[2]->id == UINT64_MAX);
    assert_string_equal(c->event[2]->name, "event 18446744073709551615");
    assert_string_equal(c->event[2]->level, "-3");
    assert_int_equal(c->event[2]->level_value, -3);
    assert_string_equal(c->event[3]->level, "info");
    assert_string_equal(s->stream[0]->event[0]->name, "string");
    assert_string_equal(s->stream[0]->event[0]->level, "15");
}

static void test_ids_that_are_left_out(void **state)
{
    const ctf_schema *s = schema_of(TRACE "stream { id = 5; }; event { name = a; }; event { id = 1; stream_id = 5; };");
    assert_int_equal(s->stream[0]->nevent, 2);
    assert_int_equal(s->stream[0]->event[0]->id, 0);
    s = schema_of(TRACE "event { id = 4; }; event { stream_id = 0; };");
    assert_int_equal(s->nstream, 1);
    assert_int_equal(s->stream[0]->id, 0);
    assert_int_equal(s->stream[0]->nevent, 2);
    s = schema_of(TRACE "stream { }; stream { id = 1; };");
    assert_int_equal(s->stream[0]->id, 0);
    schema_fails(TRACE "stream { }; |stream { };", "a second stream with the id 0");
    schema_fails(TRACE "stream { id = 3; }; |stream { id = 3; };", "a second stream with the id 3");
    schema_fails(TRACE "stream { }; stream { id = 1; }; |event { };",
                 "an event that does not say its stream, of which there are 2");
    schema_fails(TRACE "stream { }; |event { stream_id = 1; };", "no stream has the id 1");
    schema_fails(TRACE "|event { stream_id = 1; };", "no stream has the id 1");
    schema_fails(TRACE "event { }; |event { };", "a second event with the id 0 in its stream");
    schema_fails(TRACE "event { id = 9; }; event { }; |event { id = 9; };",
                 "a second event with the id 9 in its stream");
    schema_fails(TRACE "event { id = |-1; };", "expected a number from 0 to 18446744073709551615, found -1");
    schema_fails(TRACE "event { |fields := string; };", "'fields' takes a structure");
    schema_fails(TRACE "event { |context = x; };", "'context' takes a structure");
    schema_fails(TRACE "stream { |event.header := string; };", "'event.header' takes a structure");
    schema_fails(TRACE "event { loglevel = |4294967296; };", "a log level of more than 32 bits");
}

/* A text of `n` times `unit`, in which % is the number of the piece, between two others. Belongs to the caller. */
static char *repeated(const char *before, const char *unit, unsigned n, const char *after)
{
    size_t size = strlen(before) + strlen(after) + n * (strlen(unit) + 40) + 1, at = 0;
    char *text = malloc(size);
    assert_non_null(text);
    at += (size_t)sprintf(text + at, "%s", before);
    for (unsigned i = 0; i < n; i++)
        for (const char *c = unit; *c; c++)
            at += (size_t)(*c == '%' ? sprintf(text + at, "%u", i) : sprintf(text + at, "%c", *c));
    sprintf(text + at, "%s", after);
    return text;
}

static void expect_repeated(const char *before, const char *unit, unsigned n, const char *after, const char *message)
{
    tl_error e = {0};
    char *text = repeated(before, unit, n, after);
    int rc = schema_parse_bytes(text, strlen(text), &e);
    if (rc != (message ? TL_EDAMAGED : 0) || (message && !strstr(e.message, message)))
        fail_msg("%s ...: %d: %s; expected %s", unit, rc, e.message, message ? message : "success");
    free(text);
}

static void test_limits(void **state)
{
    static const char *const fields = TRACE TYPES "event { fields := struct { ";
    char text[100];
    snprintf(text, sizeof text, "more than %u fields in one structure", CTF_MEMBERS_MAX);
    expect_repeated(fields, "u8 f%;", CTF_MEMBERS_MAX, "}; };", NULL);
    expect_repeated(fields, "u8 f%;", CTF_MEMBERS_MAX + 1, "}; };", text);
    snprintf(text, sizeof text, "more than %u events", CTF_CLASSES_MAX);
    expect_repeated(TRACE, "event { id = %; };", CTF_CLASSES_MAX, "", NULL);
    expect_repeated(TRACE, "event { id = %; };", CTF_CLASSES_MAX + 1, "", text);
    snprintf(text, sizeof text, "more than %u streams", CTF_CLASSES_MAX);
    expect_repeated(TRACE, "stream { id = %; };", CTF_CLASSES_MAX + 1, "", text);
    expect_repeated(TRACE TYPES "struct s { ", "u8 f%;", 4000, "}; event { fields := struct { struct s a[2]; }; };",
                    NULL);
    /* Types that double their container, and many events that share one. */
    expect_repeated(TRACE "typedef string s0; ", "struct a% { string x; string y; };", 3, "struct b { struct a0 x; };",
                    NULL);
    expect_repeated(TRACE "struct s { string x; }; struct t { struct s a[2]; ", "struct s f%;", 4000,
                    "}; struct u { struct t a; struct t b; struct t c; struct t d; struct t e; struct t f; struct t g; "
                    "struct t h; struct t i; };",
                    "a type with more than 65536 fields in it");
    static char shared[1 << 17];
    size_t n = (size_t)sprintf(shared, TRACE "struct s { ");
    for (unsigned i = 0; i < 4000; i++)
        n += (size_t)sprintf(shared + n, "string f%u;", i);
    sprintf(shared + n, "};");
    expect_repeated(shared, "event { id = %; fields := struct s; };", 100, "", NULL);
    expect_repeated(shared, "event { id = %; fields := struct s; };", 200, "", "more than 524288 fields in all events");
    char *large = calloc(1, CTF_METADATA_MAX + 1);
    tl_error e = {0};
    assert_non_null(large);
    memset(large, ' ', CTF_METADATA_MAX + 1);
    memcpy(large, TRACE, strlen(TRACE));
    assert_int_equal(schema_parse_bytes(large, CTF_METADATA_MAX, &e), 0);
    assert_int_equal(schema_parse_bytes(large, CTF_METADATA_MAX + 1, &e), TL_EDAMAGED);
    free(large);
}

/* Texts that would take hours if any time were quadratic in their contents. */
static void test_large_texts_take_little_time(void **state)
{
    const clock_t begin = clock();
    expect_repeated(TRACE "typedef string t; ", "typedef t t%;", 200000, "", NULL);
    expect_repeated(TRACE TYPES "enum e : u8 { ", "l%,", 500000, "};", NULL);
    expect_repeated(TRACE TYPES "enum e : u8 { ", "l,", 500000, "};", NULL);
    static char variants[1 << 18];
    size_t n = (size_t)sprintf(variants, "} t;");
    for (unsigned i = 0; i < 4000; i++)
        n += (size_t)sprintf(variants + n, "variant <t> { u8 l%u; u8 _l%u; } v%u;", i, i + 9, i);
    sprintf(variants + n, "}; };");
    expect_repeated(TRACE TYPES "event { fields := struct { enum : u32 { ", "l%,", 400000, variants, NULL);
    expect_repeated(TRACE TYPES "event { fields := struct { enum : u32 { ", "l,", 400000,
                    "} t; variant <t> { u8 l; } a; variant <t> { u8 l; } b; }; };",
                    "more than 524288 fields in all events");
    expect_repeated(TRACE TYPES "event { fields := struct { ", "u8 l%; u8 s%[l%];", 2000, "}; };", NULL);
    expect_repeated(TRACE TYPES "struct z { u8 n; }; event { fields := struct { enum : u8 { a } t; variant <t> {",
                    "struct z o%;", 4000,
                    "} v; u8 a[v.n]; u8 b[v.n]; u8 c[v.n]; u8 d[v.n]; u8 e[v.n]; u8 f[v.n]; }; };", NULL);
    expect_repeated(TRACE, "env { a% = \"text %\"; };", 200000, "", NULL);
    expect_repeated(TRACE TYPES "struct s { ", "u8 _%;", 4000, "};", NULL);
    assert_true((clock() - begin) / CLOCKS_PER_SEC < 60); /* a second or two, without sanitizers */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_trace, schema_clean),
        cmocka_unit_test_teardown(test_broken_trace, schema_clean),
        cmocka_unit_test_teardown(test_environment, schema_clean),
        cmocka_unit_test_teardown(test_clocks, schema_clean),
        cmocka_unit_test_teardown(test_lttng_counts_from_the_epoch, schema_clean),
        cmocka_unit_test_teardown(test_streams_and_events, schema_clean),
        cmocka_unit_test_teardown(test_ids_that_are_left_out, schema_clean),
        cmocka_unit_test_teardown(test_limits, schema_clean),
        cmocka_unit_test_teardown(test_large_texts_take_little_time, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
