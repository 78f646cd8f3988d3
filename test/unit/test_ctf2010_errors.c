/* The metadata language of 2010: every mistake is found, at its place. */
#include "make_ctf2010.h"

#include "format/ctf/metadata/ctf2010_types.h"

/* Text with a '|' before the wrong word, and part of the message. */
typedef struct mistake {
    const char *text, *message;
} mistake;

static void check(const mistake *m, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *bar = strchr(m[i].text, '|');
        const size_t at = (size_t)(bar - m[i].text), n = strlen(m[i].text) - 1;
        char *text = malloc(n + 1);
        memcpy(text, m[i].text, at);
        memcpy(text + at, bar + 1, n - at);
        ctf_schema s = {0};
        tl_error e = {0};
        const int r = ctf_2010_parse(&s, text, n, &e);
        if (r != TL_EDAMAGED || e.code != TL_EDAMAGED || e.offset != at || !strstr(e.message, m[i].message))
            fail_msg("%s\n: %d, offset %" PRIu64 ", expected %zu: %s", m[i].text, r, e.offset, at, e.message);
        tl_arena_fini(&s.arena);
        free(text);
    }
}

#define CHECK(list) check(list, sizeof(list) / sizeof *(list))

static void words(void **state)
{
    static const mistake list[] = {
        {"trace { major = |@; }", "line 1, column 17: unexpected character '@'"},
        {"trace { }\n  |$", "line 2, column 3: unexpected character '$'"},
        {"a |- b", "unexpected character '-'"},
        {"a |\x01", "unexpected character 0x01"},
        {"a |\xc3\xa9", "unexpected character 0xc3"},
        {"a |\"abc", "a string that does not end"},
        {"a |\"abc\\\"", "a string that does not end"},
        {"a |\"abc\\", "a string that does not end"},
        {"a |/* * /", "a comment that does not end"},
        {"a |/", "unexpected character '/'"},
        /* What is no word is found before all mistakes in front of it. */
        {"} } type type { |@@", "unexpected character '@'"},
    };
    CHECK(list);
}

static void syntax(void **state)
{
    static const mistake list[] = {
        {"|}", "expected a block such as trace"},
        {"|trace", "expected a block"},
        {"|5 { }", "expected a block"},
        {"|\"trace\" { }", "expected a block"},
        {"type t |= 5", "expected '{', found '='"},
        {"type t|", "expected '{', but the metadata ends"},
        {"trace { major = 1; |", "expected the name of an attribute or '}', but the metadata ends"},
        {"trace { |5 = 1; }", "expected the name of an attribute"},
        {"trace { . |. a = 1; }", "expected the name of an attribute"},
        {"trace { major |1; }", "expected '=', found '1'"},
        {"trace { major = |; }", "expected a value, found ';'"},
        {"trace { major = |... }", "expected a value, found '...'"},
        {"trace { a = { 1, |= } }", "expected a value, found '='"},
        {"trace { a = { 1, |", "expected a value, but the metadata ends"},
        {"trace { a = type |5 }", "expected the name of an attribute or '}', found '5'"},
        {"|aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeee", "found 'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd'..."},
    };
    CHECK(list);
}

static void blocks(void **state)
{
    static const mistake list[] = {
        {"|stream { }", "unknown block stream"},
        {"|type { }", "a type without a name"},
        {"|trace { major = 1; minor = 8; }", "version 1.8 is not of this language"},
        {"|trace { major = 2; minor = 0; }", "version 2.0"},
        {"trace { major = |one; }", "expected a number"},
        {"trace { minor = |{ } }", "expected a number"},
        {"trace { minor = |-1; }", "expected a version"},
        {"trace { minor = |08; }", "octal"},
        {"trace { minor = |18446744073709551616; }", "at most 64 bits"},
        {"trace { minor = |-9223372036854775809; }", "at most 64 bits"},
        {"clock { offset = |99999999999999999999; }", "at most 64 bits"},
        {"|section { event { header_type = type1; } }", "a section without a name"},
        {"|section { name = s; }", "a section without a header_type"},
        {"section { name = |{ s } }", "expected a name or a string"},
        {"section { name = s; event = |{ } }", "expected the block"},
        {"section { name = s; event { header_type = |type3; } }", "unknown header type"},
        {"section { name = s; event { header_type = type1; context = |5; } }", "expected a type"},
        {"section { name = s; event { context_type |{ } } }", "expected a type"},
        {"|section { name = s; event { header_type = type1; context = uint8_t; } }", "the context must be a struct"},
        {"section { name = s; event { header_type = type1; } } |section { name = \"s\"; event { header_type = type2; } "
         "}",
         "section s is defined twice"},
        {"abstract_type uint16_t { parent = integer; } |section { name = s; event { context { event_size = true; } } }",
         "type uint16_t is abstract"},
    };
    CHECK(list);
}

#define S "section { name = s; event { header_type = type1; } }\n"

static void events(void **state)
{
    static const mistake list[] = {
        {S "|event { name = e; }", "an event needs a name and an id"},
        {S "|event { id = 1; }", "an event needs a name and an id"},
        {"|event { name = e; id = 1; }", "an event without a section"},
        {S "section { name = t; event { header_type = type1; } } |event { name = e; id = 1; }",
         "an event without a section"},
        {S "event { name = e; id = 1; section = |t; }", "no section t"},
        {S "event { name = e; id = |x; }", "expected a number"},
        {S "event { name = e; id = 1; } event { name = f; id = |0x1; }", "event id 0x1 is used twice"},
        {S "event { name = |{ }; id = 1; }", "expected a name or a string"},
        {S "|event { name = e; id = 1; fields = uint8_t; }", "the fields of an event must be a struct"},
        {S "event { name = e; id = 1; fields = |7; }", "expected a type"},
        {S "event { name = e; id = 1; fields |{ } }", "expected a type"},
        {S "event { name = e; id = 1; fields = |{ uint8_t }; }", "a field without a name"},
        {S "event { name = e; id = 1; fields = { |{ uint8_t } }; }", "expected a field as { type, name }"},
        {S "event { name = e; id = 1; fields = { |{ uint8_t, a, b } }; }", "expected a field as { type, name }"},
        {S "event { name = e; id = 1; fields = { uint8_t |{ a } }; }", "expected the name of a field"},
        {S "event { name = e; id = 1; fields = { uint8_t a; uint8_t |a; }; }", "field a is there twice"},
        {S "event { name = e; id = 1; fields = { |5 a; }; }", "expected a type"},
        {S "event { name = e; id = 1; fields = { |net a; }; }", "unknown type net"},
        {S "event { name = e; id = 1; section = net.rx|; }", "expected '=', found ';'"},
    };
    CHECK(list);
}

static void names(void **state)
{
    static const mistake list[] = {
        {"type t { parent = integer; size = 8; } type |t { parent = integer; size = 8; }", "type t is defined twice"},
        {"type |integer { parent = enum; }", "type integer is defined twice"},
        {"type |t { size = 8; }", "a type without a parent"},
        {"type t { parent = |type { parent = integer; }; }", "expected the name of a type"},
        {"type t { parent = |intager; size = 8; }", "unknown type intager"},
        {"type t { parent = |\"integer\"; size = 8; }", "unknown type \"integer\""},
        {"type t { parent = |uint65_t; }", "unknown type uint65_t"},
        {"type t { parent = |uint08_t; }", "unknown type uint08_t"},
        {"type t { parent = |int_t; }", "unknown type int_t"},
        {"type t { parent = |uint0_t; }", "unknown type uint0_t"},
        {"type t { parent = |t; }", "type t is its own parent"},
        {"type t { parent = u; } type u { parent = |t; }", "type t is its own parent"},
        {"type t { parent = u; } abstract_type u { parent = v; } type v { parent = |u; }", "type u is its own parent"},
        {"type t { parent = |u; } abstract_type u { size = 8; }", "a type without a parent"},
        {"abstract_type |u { size = 8; }", "a type without a parent"},
        {"abstract_type u { parent = |x; }", "unknown type x"},
        {"abstract_type u { parent = integer; size = 8; } type t { parent = array; length = 1; elem_type = |u; }",
         "type u is abstract"},
        {"type t { parent = array; length = 1; elem_type = |t; }", "type t contains itself"},
        {"type t { parent = struct; fields = { { u, x } }; } type u { parent = struct; fields = { { |t, x } }; }",
         "type t contains itself"},
        {"abstract_type |uint32_t { size = 32; }", "a type without a parent"},
    };
    CHECK(list);
}

static void kinds(void **state)
{
    static const mistake list[] = {
        {"type |t { parent = integer; }", "the size of an integer must be 1 to 64 bits"},
        {"type |t { parent = integer; size = 0; }", "1 to 64 bits"},
        {"type |t { parent = integer; size = 65; }", "1 to 64 bits"},
        {"type |t { parent = enum; size = -8; }", "1 to 64 bits"},
        {"type |t { parent = integer; size = 0xffffffffffffffff; }", "1 to 64 bits"},
        {"type t { parent = integer; size = |big; }", "expected a number"},
        {"type t { parent = integer; size |{ } }", "expected a number"},
        {"type |t { parent = integer; size = 8; align = 0; }", "an alignment must be a power of two"},
        {"type |t { parent = integer; size = 8; align = 12; }", "an alignment must be a power of two"},
        {"type |t { parent = integer; size = 8; align = -8; }", "an alignment must be a power of two"},
        {"type |t { parent = integer; size = 8; align = 1048576; }", "at most 524288 bits"},
        {"type |t { parent = integer; size = 8; align = 0x8000000000000000; }", "at most 524288 bits"},
        {"type |t { parent = struct; align = 0; }", "an alignment must be a power of two"},
        {"type |t { parent = struct; align = 24; fields = { uint8_t x }; }", "an alignment must be a power of two"},
        {"type t { parent = integer; size = 8; byte_order = |middle; }", "expected a byte order"},
        {"type t { parent = integer; size = 8; byte_order = |{ be }; }", "expected a byte order"},
        {"type t { parent = integer; size = 8; signed = |{ true }; }", "expected true or false"},
        {"type |t { parent = gcc_bitfield; size = 8; }", "unit_size of a bit-field"},
        {"type |t { parent = gcc_bitfield; size = 12; unit_size = 8; }", "at least its size of 12 bits"},
        {"type |t { parent = gcc_bitfield; size = 12; unit_size = 24; }", "power of two"},
        {"type |t { parent = gcc_bitfield; size = 12; unit_size = 1048576; }", "power of two"},
        {"type |t { parent = floating_point; mant_dig = 10; }", "32 or 64 bits"},
        {"type |t { parent = floating_point; exp_dig = 0xffffffffffffffff; }", "32 or 64 bits"},
        {"type |t { parent = floating_point; exp_dig = -8; mant_dig = 40; }", "32 or 64 bits"},
        {"type |t { parent = floating_point; exp_dig = 40; mant_dig = -8; }", "32 or 64 bits"},
        {"type |t { parent = floating_point; exp_dig = 65; mant_dig = -1; }", "32 or 64 bits"},
        {"type |t { parent = array; elem_type = uint8_t; }", "an array needs length and elem_type"},
        {"type |t { parent = array; length = 1; }", "an array needs length and elem_type"},
        {"type |t { parent = sequence; elem_type = uint8_t; }", "a sequence needs length_type and elem_type"},
        {"type |t { parent = sequence; length_type = uint8_t; }", "a sequence needs length_type and elem_type"},
        {"type |t { parent = sequence; length_type = string; elem_type = uint8_t; }",
         "the length of a sequence must be an integer"},
        {"type t { parent = enum; size = 8; } type |u { parent = sequence; length_type = t; elem_type = t; }",
         "the length of a sequence must be an integer"},
        {"type t { parent = enum; size = 8; map = |5; }", "expected a map in braces"},
        {"type t { parent = enum; size = 8; map = { |5 }; }", "expected a mapping as { value, label }"},
        {"type t { parent = enum; size = 8; map = { |{ 5 } }; }", "expected a mapping as { value, label }"},
        {"type t { parent = enum; size = 8; map = { { |a, b } }; }", "expected a number"},
        {"type t { parent = enum; size = 8; map = { { |{ }, b } }; }", "expected a range as { low, high }"},
        {"type t { parent = enum; size = 8; map = { { { 1, |x }, b } }; }", "expected a number"},
        {"type t { parent = enum; size = 8; map = { { 1, |{ b } } }; }", "expected a name or a string"},
        {"type t { parent = struct; fields = |5; }", "expected fields in braces"},
        /* Attributes without meaning for a kind must still be correct. */
        {"type t { parent = string; elem_type = |x; }", "unknown type x"},
        /* An error in an inline type is placed at its begin, one in an inherited attribute where it is. */
        {"type t { parent = array; length = 1; elem_type = |type { parent = integer; }; }", "1 to 64 bits"},
        {"abstract_type a { parent = integer; size = |x; } type t { parent = a; }", "expected a number"},
    };
    CHECK(list);
}

/* --- limits --- */

typedef struct long_text {
    char *p;
    size_t n, capacity;
} long_text;

__attribute__((format(printf, 2, 3))) static void add(long_text *t, const char *format, ...)
{
    va_list ap;
    if (t->capacity - t->n < 256) {
        t->capacity = 2 * t->capacity + 4096;
        t->p = realloc(t->p, t->capacity);
        assert_non_null(t->p);
    }
    va_start(ap, format);
    t->n += (size_t)vsnprintf(t->p + t->n, t->capacity - t->n, format, ap);
    va_end(ap);
}

/* Parses and frees; the message must contain this, or there must be none. */
static void expect(long_text *t, const char *message)
{
    ctf_schema s = {0};
    tl_error e = {0};
    const int r = ctf_2010_parse(&s, t->p, t->n, &e);
    if (message ? r == 0 || !strstr(e.message, message) : r != 0)
        fail_msg("expected %s, got %d: %s", message ? message : "success", r, e.message);
    tl_arena_fini(&s.arena);
    free(t->p);
    *t = (long_text){0};
}

static void nesting(void **state)
{
    for (int deep = 0; deep < 2; deep++) {
        long_text t = {0};
        const int n = (int)CTF2010_NESTING_MAX - 1 + deep; /* and those of the block */
        add(&t, "trace { a = ");
        for (int i = 0; i < n; i++)
            add(&t, "{");
        for (int i = 0; i < n; i++)
            add(&t, "}");
        add(&t, " }");
        expect(&t, deep ? "nested more than 256 deep" : NULL);
    }
}

static void depth(void **state)
{
    for (int deep = 0; deep < 2; deep++)
        for (int backwards = 0; backwards < 2; backwards++) {
            long_text t = {0};
            const int n = (int)CTF_DEPTH_MAX - 1 + deep; /* structs around a number */
            for (int i = 0; i < n; i++) {
                const int k = backwards ? n - 1 - i : i;
                if (k == 0)
                    add(&t, "type t0 { parent = array; length = 1; elem_type = uint8_t; }\n");
                else
                    add(&t, "type t%d { parent = struct; fields = { t%d x; }; }\n", k, k - 1);
            }
            expect(&t, deep ? "types in types more than 64 deep" : NULL);
        }
}

static void parents(void **state)
{
    for (int deep = 0; deep < 2; deep++) {
        long_text t = {0};
        add(&t, "type t0 { parent = integer; size = 8; }\n");
        for (int i = 1; i <= (int)CTF2010_PARENTS_MAX + deep; i++)
            add(&t, "type t%d { parent = t%d; }\n", i, i - 1);
        expect(&t, deep ? "more than 64 parents" : NULL);
    }
}

/* A small text that describes a huge tree. */
static void explosion(void **state)
{
    long_text t = {0};
    add(&t, "type t0 { parent = struct; fields = { uint8_t a; uint8_t b; }; }\n");
    for (int i = 1; i < 40; i++)
        add(&t, "type t%d { parent = struct; fields = { t%d a; t%d b; }; }\n", i, i - 1, i - 1);
    expect(&t, "holds more than 65536 others");
    add(&t, "type t0 { parent = struct; fields = { uint8_t a; uint8_t b; }; }\n");
    for (int i = 1; i < 13; i++)
        add(&t, "type t%d { parent = struct; fields = { t%d a; t%d b; }; }\n", i, i - 1, i - 1);
    add(&t, S);
    for (int i = 0; i < 100; i++)
        add(&t, "event { name = e; id = %d; fields = t12; }\n", i);
    expect(&t, "fields in all events together");
}

static void members(void **state)
{
    for (unsigned more = 0; more < 2; more++)
        for (int form = 0; form < 2; form++) {
            long_text t = {0};
            add(&t, "type t { parent = struct; fields = {");
            for (unsigned i = 0; i < CTF_MEMBERS_MAX + more; i++)
                add(&t, form ? "{uint8_t,x%u}" : "uint8_t x%u;", i);
            add(&t, "}; }");
            expect(&t, more ? "fields in one struct" : NULL);
        }
}

/* Each type makes inherited parts again: their sum is bounded. */
static void inherited_work(void **state)
{
    long_text t = {0};
    add(&t, "type t { parent = enum; size = 16; map = {");
    for (int i = 0; i < 20000; i++)
        add(&t, "{%d,label_%d}", i, i);
    add(&t, "}; }\n");
    for (int i = 0; i < 1000; i++)
        add(&t, "type t%d { parent = t; }\n", i);
    expect(&t, "types of more than 134217728 bytes");
}

static void words_limit(void **state)
{
    long_text t = {0};
    add(&t, "trace { a = {");
    const size_t n = t.n + 2 * (size_t)CTF2010_NODES_MAX;
    t.p = realloc(t.p, n);
    assert_non_null(t.p);
    for (; t.n < n; t.n += 2)
        memcpy(t.p + t.n, "1 ", 2);
    expect(&t, "more than 2097152 words");
    ctf_schema s = {0};
    tl_error e;
    assert_int_equal(ctf_2010_parse(&s, "", (size_t)CTF_METADATA_MAX + 1, &e), TL_ENOMEM);
    tl_arena_fini(&s.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),       cmocka_unit_test(syntax),  cmocka_unit_test(blocks),
        cmocka_unit_test(events),      cmocka_unit_test(names),   cmocka_unit_test(kinds),
        cmocka_unit_test(nesting),     cmocka_unit_test(depth),   cmocka_unit_test(parents),
        cmocka_unit_test(explosion),   cmocka_unit_test(members), cmocka_unit_test(inherited_work),
        cmocka_unit_test(words_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
