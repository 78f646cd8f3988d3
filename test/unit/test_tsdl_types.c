/* Tests of TSDL's types: numbers, enumerations, strings, structs, arrays, bit-fields, and names of types. */
#include "tsdl_schema.h"

static void expect_payload(const char *members, const char *expected)
{
    assert_string_equal(payload_of(members), expected);
}

static void test_integers(void **state)
{
    expect_payload("integer { size = 8; } a;", "{a:u8}@8");
    expect_payload("integer { size = 64; signed = true; } a;", "{a:i64}@8");
    expect_payload("integer { size = 5; signed = TRUE; } a; integer { size = 5; signed = 1; } b;", "{a:i5 b:i5}");
    expect_payload("integer { size = 5; signed = false; } a; integer { size = 5; signed = FALSE; } b;", "{a:u5 b:u5}");
    expect_payload("integer { size = 32; align = 1; } a;", "{a:u32@1}");
    expect_payload("integer { size = 3; align = 16; } a;", "{a:u3@16}@16");
    expect_payload("integer { size = 8; unknown = x; other := string; align = 8; } a;", "{a:u8}@8");
    expect_payload("integer { size = 8; byte_order = be; } a; integer { size = 8; byte_order = network; } b;"
                   "integer { size = 8; byte_order = \"le\"; } c; integer { size = 8; byte_order = native; } d;",
                   "{a:u8be b:u8be c:u8 d:u8}@8");
    expect_payload("integer { size = 8; base = x; } a; integer { size = 8; base = 2; } b; integer { size = 8; base = "
                   "octal; } c; integer { size = 8; base = \"d\"; } d;",
                   "{a:u8base16 b:u8base2 c:u8base8 d:u8base10}@8");
    expect_payload("integer { size = 8; encoding = ascii; } a; integer { size = 8; encoding = none; } b;",
                   "{a:u8text b:u8}@8");
}

static void test_broken_integers(void **state)
{
    payload_fails("|integer { } a;", "an integer without a size");
    payload_fails("integer { size = |0; } a;", "an integer of 0 bits: 1 to 64 are possible");
    payload_fails("integer { size = |65; } a;", "an integer of 65 bits: 1 to 64 are possible");
    payload_fails("integer { size = |-8; } a;", "expected a number from 0 to 18446744073709551615, found -8");
    payload_fails("integer { size = |x; } a;", "expected a number, found a name");
    payload_fails("integer { size = 8; |size = 8; } a;", "'size' is given twice");
    payload_fails("integer { |size := string; } a;", "'size' takes a value, not a type");
    payload_fails("integer { size = 8; align = |0; } a;",
                  "an alignment of 0 bits: it must be a power of two up to 524288");
    payload_fails("integer { size = 8; align = |24; } a;",
                  "an alignment of 24 bits: it must be a power of two up to 524288");
    payload_fails("integer { size = 8; align = |1048576; } a;",
                  "an alignment of 1048576 bits: it must be a power of two up to 524288");
    payload_fails("integer { size = 8; signed = |maybe; } a;", "expected 'true' or 'false', found 'maybe'");
    payload_fails("integer { size = 8; byte_order = |middle; } a;",
                  "expected 'native', 'network', 'be' or 'le', found 'middle'");
    payload_fails("integer { size = 8; base = |7; } a;", "base 7: only 2, 8, 10 and 16 are known");
    payload_fails("integer { size = 8; base = |y; } a;", "'y' is not a number base");
    payload_fails("integer { size = 8; encoding = |latin1; } a;", "expected 'none', 'UTF8' or 'ASCII', found 'latin1'");
    payload_fails("integer { size = 8; map = |clock.x; } a;", "expected 'clock.NAME.value'");
    payload_fails("integer { size = 8; map = |clock.x.value; } a;", "no clock is named 'x'");
    payload_fails("integer { size |} a;", "expected '=' or ':=', found '}'");
    payload_fails("integer { size = 8 |} a;", "expected ';', found '}'");
}

static void test_real_numbers_and_strings(void **state)
{
    expect_payload("floating_point { exp_dig = 8; mant_dig = 24; } a; floating_point { exp_dig = 11; mant_dig = 53; "
                   "align = 64; byte_order = be; } b;",
                   "{a:f32 b:f64be@64}@64");
    payload_fails("|floating_point { exp_dig = 5; mant_dig = 11; } a;",
                  "a floating-point number with exp_dig 5 and mant_dig 11: only 8 and 24, 11 and 53 are possible");
    expect_payload("string a; string { encoding = ASCII; } b; string {} c;", "{a:string b:string c:string}@8");
    payload_fails("string { encoding = |x; } b;", "expected 'none', 'UTF8' or 'ASCII', found 'x'");
}

static void test_enumerations(void **state)
{
    expect_payload("enum : u8 { ZERO, TEN = 10, ELEVEN, \"some text\" = 20 ... 30, int, last = 0x40 } e;",
                   "{e:u8<ZERO=0,TEN=10,ELEVEN=11,some text=20..30,int=31,last=64>}@8");
    expect_payload("enum : i8 { a = -5 ... -3, b, c = +7, } e;", "{e:i8<a=-5..-3,b=-2,c=7>}@8");
    expect_payload("enum : i8 { a = -1, b, a = 9 ... 9 } e;", "{e:i8<a=-1,b=0,a=9>}@8");
    expect_payload("enum : u8 { minus = -1, c = 'x' } e;", "{e:u8<minus=255,c=120>}@8");
    expect_payload("enum : integer { size = 64; } { max = 18446744073709551615 } e;",
                   "{e:u64<max=18446744073709551615>}@8");
    expect_payload("enum : integer { size = 64; signed = 1; base = hex; } { a = -9223372036854775808, z = "
                   "0x7fffffffffffffff } e;",
                   "{e:i64base16<a=-9223372036854775808,z=9223372036854775807>}@8");
    expect_payload("typealias i32 := int; enum { a, b } e; enum named : u8 { x } f; enum named g;",
                   "{e:i32<a=0,b=1> f:u8<x=0> g:u8<x=0>}@8");
    expect_payload("typedef enum : u8 { a } first; enum : first { b } e;", "{e:u8<b=0>}@8");
    expect_payload("enum : u8 { } e;", "{e:u8<>}@8");
}

static void test_broken_enumerations(void **state)
{
    payload_fails("|enum { a } e;", "an enumeration without a type, and there is no type 'int'");
    payload_fails("|enum named e;", "no type is named 'enum named'");
    payload_fails("typedef string s; enum : |s { a } e;", "an enumeration of a type that is not an integer");
    payload_fails("enum : |nothing { a } e;", "no type is named 'nothing'");
    payload_fails("enum : u8 |e;", "expected '{', found 'e'");
    payload_fails("enum |;", "expected '{', ':' or a name, found ';'");
    payload_fails("enum : u8 { |a = 3 ... 2 } e;", "the range of 'a' ends before it begins");
    payload_fails("enum : i8 { |a = 3 ... -2 } e;", "the range of 'a' ends before it begins");
    payload_fails("enum : i8 { a = |9223372036854775808 } e;", "a signed number of more than 64 bits");
    payload_fails("enum : u8 { a = 18446744073709551615, |b } e;", "no value is left for 'b'");
    payload_fails("enum : i8 { a = 9223372036854775807, |b } e;", "no value is left for 'b'");
    payload_fails("enum : u8 { a = |x } e;", "expected a number, found a name");
    payload_fails("enum : u8 { a |b } e;", "expected ',' or '}', found 'b'");
    payload_fails("enum : u8 { |5 } e;", "expected '}' or a label, found '5'");
    payload_fails("enum x : u8 { a }; |enum x : u8 { b };", "'x' is declared twice");
}

static void test_structs(void **state)
{
    expect_payload("", "{}");
    expect_payload("struct {} e; struct {} align(64) f;", "{e:{} f:{}@64}@64");
    expect_payload("struct { u8 a; } align(4) s; struct { u8 a; } align(32) t;", "{s:{a:u8}@8 t:{a:u8}@32}@32");
    expect_payload("struct s { u8 a; }; struct s x, y[2]; struct s align(16) z;",
                   "{x:{a:u8}@8 y:[2]{a:u8}@8 z:{a:u8}@16}@16");
    expect_payload("struct s { u8 a; } x; struct s y;", "{x:{a:u8}@8 y:{a:u8}@8}@8");
    /* A variant demands no alignment from its container. */
    expect_payload("enum : integer { size = 1; } { a } t; variant <t> { integer { size = 64; align = 64; } a; } v;",
                   "{t:u1<a=0> v:<t>{a=0:u64@64}}");
    expect_payload("u8 a, b[2], c[3][4];", "{a:u8 b:[2]u8 c:[3][4]u8}@8");
    payload_fails("|struct s x;", "no type is named 'struct s'");
    payload_fails("|struct s align(8) x;", "no structure is named 's'");
    payload_fails("struct s { |struct s x; } y;", "no type is named 'struct s'");
    payload_fails("u8 a; u8 |a;", "'a' is declared twice");
    payload_fails("struct s {}; |struct s {} x;", "'s' is declared twice");
    payload_fails("u8 |;", "expected a name, found ';'");
    payload_fails("|5;", "expected a type, found '5'");
    payload_fails("|event x;", "expected a type, found 'event'");
    payload_fails("struct {} align(|3) x;", "an alignment of 3 bits: it must be a power of two up to 524288");
    payload_fails("u8 a |u8 b;", "expected ';', found 'u8'");
    schema_fails(TRACE TYPES "struct s { u8 a;|", "expected '}', found the end of the text");
}

static void test_names_are_shown_without_underscore(void **state)
{
    expect_payload("u8 _a; u8 __b; u8 ___c; u8 _; u8 d;", "{a(_a):u8 _b(__b):u8 __c(___c):u8 _:u8 d:u8}@8");
    /* but no two fields get the same name */
    expect_payload("u8 a; u8 _a;", "{a:u8 _a:u8}@8");
    expect_payload("u8 _a; u8 a;", "{_a:u8 a:u8}@8");
    expect_payload("u8 __a; u8 _a; u8 a;", "{__a:u8 _a:u8 a:u8}@8");
    expect_payload("u8 __a; u8 _a;", "{_a(__a):u8 a(_a):u8}@8");
    expect_payload("u8 _a; struct { u8 a; } b;", "{a(_a):u8 b:{a:u8}@8}@8");
}

static void test_arrays(void **state)
{
    expect_payload("u8 a[0]; u8 b[4294967296]; u8 c[0xffffffffffffffff];",
                   "{a:[0]u8 b:[4294967296]u8 c:[18446744073709551615]u8}@8");
    expect_payload("u8 a[1][2][3]; u8 (b); u8 (c[4])[5]; u8 ((d)[6])[7];",
                   "{a:[1][2][3]u8 b:u8 c:[4][5]u8 d:[6][7]u8}@8");
    expect_payload("typedef u8 row[3], cell; row m[2]; cell n;", "{m:[2][3]u8 n:u8}@8");
    expect_payload("integer { size = 8; align = 32; } a[0]; struct { u8 x; } align(64) b[2];",
                   "{a:[0]u8@32 b:[2]{x:u8}@64}@64");
    expect_payload("u8 n; u8 a[n]; u8 b[n][2][n];", "{n:u8 a:[n]u8 b:[n][2][n]u8}@8");
    payload_fails("u8 a[|];", "expected a value, found ']'");
    payload_fails("u8 a[|-1];", "expected a number from 0 to 18446744073709551615, found -1");
    payload_fails("u8 a[|\"x\"];", "expected a number, found a string");
    payload_fails("u8 a[3|;", "expected ']', found ';'");
    payload_fails("u8 (|*a)[3];", "a pointer in parentheses");
    payload_fails("u8 (a[3]|;", "expected ')', found ';'");
}

static void test_text(void **state)
{
    expect_payload("c a[5]; c b[0]; u8 n; c t[n]; c g[2][3];", "{a:text[5] b:text[0] n:u8 t:text[n] g:[2]text[3]}@8");
    /* Only adjacent whole bytes are text. */
    expect_payload("integer { size = 8; align = 16; encoding = UTF8; } a[5];", "{a:[5]u8@16text}@16");
    expect_payload("integer { size = 8; align = 1; encoding = UTF8; } a[5];", "{a:[5]u8@1text}");
    expect_payload("integer { size = 16; encoding = UTF8; } a[5];", "{a:[5]u16text}@8");
    expect_payload("enum : c { x } a[5]; c b;", "{a:[5]u8text<x=0> b:u8text}@8");
}

static void test_bit_fields(void **state)
{
    expect_payload("u16 a:12; u16 b:5, c:3;", "{a:u12/16 b:u5/16 c:u3/16}@16");
    expect_payload("u16 a:16, b:(1);", "{a:u16@1/16 b:u1/16}@16");
    expect_payload("i32 :4; u8 x:1; u8 :0;", "{:0:i4/32 x:u1/8 :2:{}@8}@32");
    expect_payload("enum : u8 { a, b } e:2;", "{e:u2/8<a=0,b=1>}@8");
    expect_payload("typealias u32 := unsigned int; unsigned int :4; unsigned int x:5;", "{:0:u4/32 x:u5/32}@32");
    payload_fails("string |s:3;", "a bit-field of a type that is not an integer");
    payload_fails("u8 |s[2]:3;", "a bit-field of a type that is not an integer");
    payload_fails("u8 |s:9;", "a bit-field of 9 bits in a type of 8");
    payload_fails("u8 s:|0;", "a bit-field of 0 bits with a name");
    payload_fails("u8 s:|65;", "expected a number from 0 to 64, found 65");
    payload_fails("integer { size = 24; } |s:3;", "a bit-field in units of 24 bits, which is not a power of two");
}

static void test_names_of_types(void **state)
{
    expect_payload("typealias u8 := unsigned long int; const unsigned long const int a; unsigned long int const b[2];",
                   "{a:u8 b:[2]u8}@8");
    expect_payload("typealias u8 := void *; typealias u16 := void **; typealias u32 := const struct page * const *;"
                   "void *a, **b, *c[2]; struct page **d; const void * const e;",
                   "{a:u8 b:u16 c:[2]u8 d:u32 e:u8}@8");
    expect_payload("typealias u8 [16] := uuid; uuid x; typealias u16 y := z; z w;", "{x:[16]u8 w:u16}@8");
    expect_payload("typealias u8 := struct s; struct s x; typedef u16 int; int y; typedef int long; long z;",
                   "{x:u8 y:u16 z:u16}@8");
    payload_fails("|void a;", "no type is named 'void'");
    payload_fails("|u8 *a;", "no type is named 'u8 *'");
    payload_fails("|struct {} *a;", "a pointer to a type without a name");
    payload_fails("typealias u8 := t; typealias u16 := |t;", "'t' is declared twice");
    payload_fails("typealias u8 := |string;", "expected the name of a type, found 'string'");
    payload_fails("typealias u8 |= x;", "expected ':=', found '='");
    payload_fails("typealias u8 := struct |;", "expected a name, found ';'");
    payload_fails("typedef u8 a; typedef u8 |a;", "'a' is declared twice");
    payload_fails("typedef u8 |;", "expected a name, found ';'");
    payload_fails("u8 ********|*a;", "more than 8 pointers");
}

/* Keywords, and names of types, may name fields. */
static void test_fields_named_like_anything(void **state)
{
    expect_payload("u8 u8; u16 env; u8 const; struct {} align; enum : u8 { x } int; string string; u8 event[2];",
                   "{u8:u8 env:u16 const:u8 align:{} int:u8<x=0> string:string event:[2]u8}@8");
}

static void test_scopes_of_types(void **state)
{
    expect_payload("typedef u8 t; struct { typedef u16 t; t a; struct { t b; } c; } d; t e;",
                   "{d:{a:u16 c:{b:u16}@8}@8 e:u8}@8");
    expect_payload("struct s { struct in { u8 x; } i; struct in j; } k;", "{k:{i:{x:u8}@8 j:{x:u8}@8}@8}@8");
    payload_fails("struct { typedef u16 t; } d; |t e;", "no type is named 't'");
    payload_fails("struct { struct in { u8 x; } i; } d; |struct in e;", "no type is named 'struct in'");
    assert_string_equal(
        dump(schema_of(TRACE "event { typealias integer { size = 9; } := nine; name = e;"
                             "struct s { nine x; }; enum f : nine { a }; fields := struct { struct s a; "
                             "enum f b; }; };")
                 ->stream[0]
                 ->event[0]
                 ->payload),
        "{a:{x:u9} b:u9<a=0>}");
    schema_fails(TRACE "stream { typealias integer { size = 9; } := nine; }; event { fields := struct { |nine x; }; };",
                 "no type is named 'nine'");
}

static void test_limits(void **state)
{
    static char text[1 << 13];
    size_t n = 0;
    /* Types in types: the innermost is number 64. */
    for (unsigned depth = 62; depth <= 63; depth++) {
        n = 0;
        for (unsigned i = 0; i < depth; i++)
            n += (size_t)sprintf(text + n, "struct { ");
        n += (size_t)sprintf(text + n, "u8 x; ");
        for (unsigned i = 0; i < depth; i++)
            n += (size_t)sprintf(text + n, "} s; ");
        tl_error e = {0};
        static char whole[1 << 16];
        snprintf(whole, sizeof whole, TRACE TYPES "event { fields := struct { %s }; };", text);
        assert_int_equal(schema_parse_bytes(whole, strlen(whole), &e), depth == 62 ? 0 : TL_EDAMAGED);
    }
    n = (size_t)sprintf(text, "u8 ");
    for (unsigned i = 0; i < 70; i++)
        n += (size_t)sprintf(text + n, i == 64 ? "|(" : "(");
    payload_fails(text, "more than 64 parentheses");
    n = 0;
    for (unsigned i = 0; i < 100; i++)
        n += (size_t)sprintf(text + n, i == 64 ? "|enum : " : "enum : ");
    payload_fails(text, "types in types, more than 64 levels");
    n = 0;
    for (unsigned i = 0; i < 100; i++)
        n += (size_t)sprintf(text + n, i == 65 ? "|struct { " : "struct { ");
    payload_fails(text, "braces in braces, more than 64 levels");
    payload_fails("typealias u8 := int int int int int int int int; int int int int int int int int |int a;",
                  "the name of a type with more than 8 words");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_integers, schema_clean),
        cmocka_unit_test_teardown(test_broken_integers, schema_clean),
        cmocka_unit_test_teardown(test_real_numbers_and_strings, schema_clean),
        cmocka_unit_test_teardown(test_enumerations, schema_clean),
        cmocka_unit_test_teardown(test_broken_enumerations, schema_clean),
        cmocka_unit_test_teardown(test_structs, schema_clean),
        cmocka_unit_test_teardown(test_names_are_shown_without_underscore, schema_clean),
        cmocka_unit_test_teardown(test_arrays, schema_clean),
        cmocka_unit_test_teardown(test_text, schema_clean),
        cmocka_unit_test_teardown(test_bit_fields, schema_clean),
        cmocka_unit_test_teardown(test_names_of_types, schema_clean),
        cmocka_unit_test_teardown(test_fields_named_like_anything, schema_clean),
        cmocka_unit_test_teardown(test_scopes_of_types, schema_clean),
        cmocka_unit_test_teardown(test_limits, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
