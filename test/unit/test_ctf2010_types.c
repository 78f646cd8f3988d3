/* The metadata language of 2010: what its types, sections and events become. */
#include "make_ctf2010.h"

static const char *const frame = "section { name = s; event { header_type = type1; } }\n";

/* Parses text that must be good. */
static ctf_schema *parse(const char *format, ...)
{
    static char text[1 << 16];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    ctf_schema *s = calloc(1, sizeof *s);
    tl_error e = {0};
    /* Exactly its size, so that the sanitizer sees the first byte read beyond it. */
    const size_t n = strlen(text);
    char *exact = malloc(n + 1);
    memcpy(exact, text, n);
    must(ctf_2010_parse(s, exact, n, &e), &e);
    free(exact);
    return s;
}

static void drop(ctf_schema *s)
{
    tl_arena_fini(&s->arena);
    free(s);
}

/* The payload of an event whose only field is of this type, after these declarations. */
static void check_type(const char *declarations, const char *type, const char *expected)
{
    ctf_schema *s = parse("%s%s event { name = e; id = 0; fields = { { %s, f } }; }", frame, declarations, type);
    const ctf_type *payload = s->stream[0]->event[0]->payload;
    shown text = {0}, wanted = {0};
    show_type(&text, payload);
    show(&wanted, "%s", expected);
    assert_string_equal(text.text, wanted.text);
    drop(s);
}

static void integers(void **state)
{
    check_type("", "uint8_t", "{u8 f}");
    check_type("", "int64_t", "{s64 f}");
    check_type("", "uint", "{u32 f}");
    check_type("", "int", "{s32 f}");
    check_type("", "int5_t", "{s5@1 f}@1");
    check_type("", "uint48_t", "{u48 f}");
    check_type("type t { parent = integer; size = 12; }", "t", "{u12@1 f}@1");
    check_type("type t { parent = integer; size = 16; align = 32; signed = true; }", "t", "{s16@32 f}@32");
    check_type("type t { parent = integer; size = 16; signed = 1; byte_order = network; }", "t", "{s16be f}");
    check_type("type t { parent = integer; size = 16; signed = yes; byte_order = le; }", "t", "{u16le f}");
    check_type("type t { parent = integer; size = 16; byte_order = be; byte_order = native }", "t", "{u16 f}");
    check_type("type t { parent = integer; size = 0x10; align = 020; }", "t", "{u16@16 f}@16");
    check_type("type uint32_t { parent = integer; size = 8; signed = false; align = 32; }", "uint32_t", "{u8@32 f}@32");
}

static void inheritance(void **state)
{
    const char *two = "abstract_type a { parent = integer; size = 16; align = 16; }\n"
                      "type b { parent = a; signed = true; } type c { parent = b; size = 24; }";
    check_type(two, "b", "{s16@16 f}@16");
    check_type(two, "c", "{s24@16 f}@16");
    /* A type that inherits from a predefined integer has its alignment, whatever its own size. */
    check_type("type t { parent = uint16_t; size = 5; }", "t", "{u5 f}");
    check_type("type t { parent = int7_t; size = 8; }", "t", "{s8@1 f}@1");
    check_type("", "type { parent = uint8_t; signed = true; }", "{s8 f}");
    /* A struct that inherits from a struct declared later. */
    check_type("type t { parent = u; align = 64; } type u { parent = struct; fields = { uint8_t x; }; }", "t",
               "{{u8 x}@64 f}@64");
}

static void structs(void **state)
{
    check_type("", "type { parent = struct; }", "{{}@1 f}@1");
    check_type("", "type { parent = struct; fields = { }; align = 16 }", "{{}@16 f}@16");
    check_type("", "type { parent = struct; align = 3; fields = { uint8_t x }; }", "{{u8 x} f}");
    check_type(
        "",
        "type { parent = struct; fields = { { uint8_t, x } { type { parent = integer; size = 32; align = 32 }, y } } }",
        "{{u8 x, u32@32 y}@32 f}@32");
    /* Both ways to write fields, mixed, with separators everywhere. */
    check_type("", "type { parent = struct; .fields = {;, uint8_t x; { string, y; }, ,int3_t z };; }",
               "{{u8 x, str y, s3@1 z} f}");
}

static void bitfields(void **state)
{
    const char *bits = "type bits { parent = gcc_bitfield; unit_size = 16; size = 12; signed = true; }";
    check_type(bits, "bits", "{s12:16@1 f}@16");
    check_type("type bits { parent = gcc_bitfield; unit_size = 16; size = 8; align = 1; }", "bits", "{u8:16@1 f}@16");
    /* The unit counts for the struct around an array, but the array starts where its element does. */
    char text[512];
    snprintf(text, sizeof text, "%s type list { parent = array; length = 3; elem_type = bits; }", bits);
    check_type(text, "list", "{[3 s12:16@1]@1 f}@16");
}

static void lists(void **state)
{
    check_type("", "type { parent = array; length = 3; elem_type = uint16_t; }", "{[3 u16] f}");
    check_type("", "type { parent = array; length = -3; elem_type = int5_t; }", "{[0 s5@1]@1 f}@1");
    check_type("", "type { parent = array; length = 0xffffffffffffffff; elem_type = string; }",
               "{[18446744073709551615 str] f}");
    const char *wide = "type w { parent = integer; size = 64; align = 64; }";
    check_type(wide, "type { parent = sequence; length_type = uint8_t; elem_type = w; }", "{[u8: u64@64] f}@64");
    check_type(wide, "type { parent = sequence; length_type = w; elem_type = uint3_t; }", "{[u64@64: u3@1]@64 f}@64");
    check_type(
        "", "type { parent = array; length = 2; elem_type = type { parent = array; length = 1; elem_type = string } }",
        "{[2 [1 str]] f}");
}

static void enumerations(void **state)
{
    check_type("",
               "type { .parent = enum; size = 8; .map = { { 1 , one }, {2, \"the two\"}; { {3, 5}, \"a\\\"b\" }, }; }",
               "{u8{1-1=one,2-2=the two,3-5=a\"b} f}");
    check_type("", "type { parent = enum; size = 3; }", "{u3{}@1 f}@1");
    /* Ranges without any value of the integer are left out. */
    check_type("", "type { parent = enum; size = 8; map = { {{-5, 3}, a} {{-5, -1}, b} {{7, 6}, c} {9, d} } }",
               "{u8{0-3=a,9-9=d} f}");
    check_type("",
               "type { parent = enum; size = 8; signed = true; map = { {{-5, 3}, a} {0xffffffffffffffff, b} "
               "{{1, 0xffffffffffffffff}, 7} } }",
               "{s8{-5-3=a,1-9223372036854775807=7} f}");
    /* Only enumerations have labels. */
    check_type("", "type { parent = integer; size = 8; map = { {1, one} } }", "{u8 f}");
}

static void floats_and_strings(void **state)
{
    check_type("", "type { parent = floating_point; }", "{f32 f}");
    check_type("", "type { parent = floating_point; exp_dig = 11; mant_dig = 53; align = 64; byte_order = be; }",
               "{f64be@64 f}@64");
    check_type("type s { parent = string; encoding = ASCII; align = 32; }", "s", "{str f}");
    check_type("type string5 { parent = string; encoding = UTF8; }", "string5", "{str f}");
}

/* Names and labels are UTF-8, in any encoding of the text; a NUL in one is a space, between words white space. */
static void names(void **state)
{
    const char text[] = "section { name = \"net.rx\"; event { header_type\0= type2; } }\0"
                        "event { name = \"caf\xc3\xa9 \xe9\\\\\0x\\\ny\"; id = 0x7; section = \"net\\.rx\"; }\0\0"
                        "event { name = 12; id = -1; section = \"net.rx\" }";
    ctf_schema s = {0};
    tl_error e;
    must(ctf_2010_parse(&s, text, sizeof text - 1, &e), &e);
    assert_string_equal(s.stream[0]->name, "net.rx");
    assert_int_equal(s.stream[0]->nevent, 2);
    assert_string_equal(s.stream[0]->event[0]->name, "caf\xc3\xa9 \xc3\xa9\\ x\\\ny");
    assert_int_equal(s.stream[0]->event[0]->id, 7);
    assert_string_equal(s.stream[0]->event[1]->name, "12");
    assert_true(s.stream[0]->event[1]->id == UINT64_MAX);
    tl_arena_fini(&s.arena);
}

/* Blocks may come in any order, and sections keep theirs. */
static void schema(void **state)
{
    ctf_schema *s = parse("event { id = 3; section = b; name = late; fields = t; }\n"
                          "section { name = a; event { header_type = type1; context { event_size = false; } } };\n"
                          "// a comment\nevent { name = e0 section = a id = 1 }\n/* another * / one */\n"
                          "section { name = b; unknown = { 1, 2 }; event { header_type = type2 } }\n"
                          "event { name = e1; id = 1; section = b; fields = type { parent = t; }; }\n"
                          "abstract_type integer { size = value; }\n"
                          "type t { parent = struct; fields = { uint8_t x; }; }\n"
                          "trace { major = 0; minor = 9; uuid = \"?\"; }\n");
    assert_int_equal(s->dialect, CTF_2010);
    assert_int_equal(s->major, 0);
    assert_int_equal(s->minor, 9);
    assert_false(s->has_uuid);
    assert_null(s->packet_header);
    assert_int_equal(s->nstream, 2);
    const ctf_stream_class *a = s->stream[0], *b = s->stream[1];
    assert_string_equal(a->name, "a");
    assert_string_equal(b->name, "b");
    assert_int_equal(b->id, 1);
    assert_null(a->event_context);
    assert_null(a->packet_context);
    assert_int_equal(a->nevent, 1);
    assert_int_equal(b->nevent, 2);
    assert_string_equal(b->event[0]->name, "late");
    assert_int_equal(b->event[0]->id, 3);
    assert_string_equal(b->event[1]->name, "e1");
    assert_int_equal(a->event[0]->payload->nmember, 0);
    assert_int_equal(b->event[1]->payload->nmember, 1);
    assert_ptr_equal(a->clock, s->clock[0]);
    assert_int_equal(s->nclock, 1);
    assert_string_equal(a->clock->id, "default");
    assert_null(a->clock->name);
    assert_int_equal(a->clock->hz, 1000000000);
    assert_false(a->clock->is_unix);
    drop(s);
    s = parse("%s", "");
    assert_int_equal(s->nstream, 0);
    assert_int_equal(s->major, 1);
    assert_int_equal(s->minor, 1);
    drop(s);
}

static void clocks(void **state)
{
    ctf_schema *s =
        parse("%sclock { name = mono; freq = 1000; offset_s = -5; offset = 7; precision = 3; absolute = TRUE; "
              "description = \"of the board\"; uuid = \"u\"; }",
              frame);
    const ctf_clock *c = s->stream[0]->clock;
    assert_string_equal(c->name, "mono");
    assert_string_equal(c->description, "of the board");
    assert_string_equal(c->uuid, "u");
    assert_int_equal(c->hz, 1000);
    assert_int_equal(c->offset_s, -5);
    assert_int_equal(c->offset, 7);
    assert_int_equal(c->precision, 3);
    assert_true(c->is_unix);
    drop(s);
    s = parse("clock { freq = 0; name = { 1 }; offset = fast; absolute = no; }%s", frame);
    assert_int_equal(s->stream[0]->clock->hz, 1000000000); /* nonsense is ignored */
    assert_null(s->stream[0]->clock->name);
    drop(s);
}

static void check_header(const char *declarations, const char *header, const char *expected)
{
    ctf_schema *s = parse("%s section { name = s; event { header_type = %s; } }", declarations, header);
    shown text = {0};
    show_type(&text, s->stream[0]->event_header);
    assert_string_equal(text.text, expected);
    drop(s);
}

static void headers(void **state)
{
    const char *natural32 = "type uint32_t { parent = integer; size = 32; align = 32; }"
                            "type uint64_t { parent = integer; size = 64; align = 32; }";
    const char *natural64 = "type uint32_t { parent = integer; size = 32; align = 32; }"
                            "type uint64_t { parent = integer; size = 64; align = 64; }";
    check_header("", "type1",
                 "{u5@1#400 id, u27@1#100 timestamp, <id.31-31:{u32#400 id, u64#100 timestamp}, "
                 "0-30:{}@1>@1 ext}");
    check_header("", "type2",
                 "{u32#100 timestamp, u16#400 id, <id.65535-65535:{u64#100 timestamp, u32#400 id}, "
                 "0-65534:{}@1>@1 ext}");
    check_header(natural32, "type1",
                 "{u5@1#400 id, u27@1#100 timestamp, <id.31-31:{u32#400 id, u64#100 timestamp}, "
                 "0-30:{}@1>@1 ext, <id.31-31:{}@32, 0-30:{}@1>@1 end}@32");
    check_header(natural64, "type1",
                 "{u5@1#400 id, u27@1#100 timestamp, <id.31-31:{u32#400 id, u64#100 timestamp}, "
                 "0-30:{}@1>@1 ext, <id.31-31:{}@64, 0-30:{}@1>@1 end}@32");
    check_header(natural64, "type2",
                 "{u32#100 timestamp, u16#400 id, "
                 "<id.65535-65535:{u64#100 timestamp, u32#400 id}@64, 0-65534:{}@1>@1 ext, "
                 "<id.65535-65535:{}@32, 0-65534:{}@1>@1 end}@32");
    /* Less than a byte is a byte, and the name decides. */
    check_header("type uint32_t { parent = integer; size = 7; }", "type1",
                 "{u5@1#400 id, u27@1#100 timestamp, <id.31-31:{u32#400 id, u64#100 timestamp}, 0-30:{}@1>@1 ext}");
}

static void check_context(const char *declarations, const char *context, const char *expected)
{
    ctf_schema *s = parse("%s section { name = s; event { header_type = type1; %s } }"
                          "event { name = e; id = 0; fields = c; }",
                          declarations, context);
    shown text = {0};
    show_type(&text, s->stream[0]->event_context);
    assert_string_equal(text.text, expected);
    /* Only the context has the role. */
    const ctf_type *payload = s->stream[0]->event[0]->payload;
    for (uint32_t i = 0; i < payload->nmember; i++)
        assert_int_equal(payload->member[i].type->roles, 0);
    drop(s);
}

static void contexts(void **state)
{
    const char *c = "type c { parent = struct; fields = { { uint, pid }, { uint16_t, payload_size } }; }";
    check_context(c, "context { event_size = true; }", "{u16#1000 payload_size}");
    check_context(c, "context = c;", "{u32 pid, u16#1000 payload_size}");
    check_context(c, "context_type = c; context { event_size = false; }", "{u32 pid, u16#1000 payload_size}");
    check_context(c, "context { event_size = false; event_size = true; }", "{u16#1000 payload_size}");
    check_context("type c { parent = struct; fields = { { int5_t, payload_size } }; }", "context = c;",
                  "{s5@1#1000 payload_size}@1");
    /* Not a number: no size. */
    check_context("type c { parent = struct; fields = { { type { parent = enum; size = 8 }, payload_size } }; }",
                  "context = c;", "{u8{} payload_size}");
    check_context("type c { parent = struct; fields = { { string, payload_size } }; }", "context = c;",
                  "{str payload_size}");
    check_context("type uint16_t { parent = integer; size = 16; align = 16; } type c { parent = struct; }",
                  "context { event_size = true; }", "{u16@16#1000 payload_size}@16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(inheritance),
        cmocka_unit_test(structs),
        cmocka_unit_test(bitfields),
        cmocka_unit_test(lists),
        cmocka_unit_test(enumerations),
        cmocka_unit_test(floats_and_strings),
        cmocka_unit_test(names),
        cmocka_unit_test(schema),
        cmocka_unit_test(clocks),
        cmocka_unit_test(headers),
        cmocka_unit_test(contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
