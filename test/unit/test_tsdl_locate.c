/* Tests of TSDL's types where they are used: places of lengths and tags, options, roles, clocks. */
#include "tsdl_schema.h"

static void expect_payload(const char *members, const char *expected)
{
    assert_string_equal(payload_of(members), expected);
}

/* Metadata with a struct in each scope; the header of packets, ... as given, or empty. */
static const ctf_schema *scopes(const char *clocks, const char *header, const char *packet, const char *event,
                                const char *stream, const char *context, const char *payload)
{
    static char text[1 << 14];
    size_t n = (size_t)snprintf(text, sizeof text,
                                TYPES "%s trace { major = 1; minor = 8; byte_order = le; packet.header := struct { %s "
                                      "}; }; stream { ",
                                clocks, header);
    const char *const members[] = {packet, event, stream};
    static const char *const names[] = {"packet.context", "event.header", "event.context"};
    for (int i = 0; i < 3; i++)
        if (members[i])
            n += (size_t)snprintf(text + n, sizeof text - n, "%s := struct { %s }; ", names[i], members[i]);
    n += (size_t)snprintf(text + n, sizeof text - n, "}; event { name = e; ");
    if (context)
        n += (size_t)snprintf(text + n, sizeof text - n, "context := struct { %s }; ", context);
    snprintf(text + n, sizeof text - n, "fields := struct { %s }; };", payload);
    return schema_of(text);
}

#define TAG(name) "enum : u8 { A, B } " name "; "
#define BODY      "{ string A; u8 B; } v; "
#define CHOICE    "{A=0:string B=1:u8}"
#define ENUM      "u8<A=0,B=1>"

static void test_absolute_paths(void **state)
{
    const ctf_schema *s =
        scopes("", TAG("ht"), TAG("pt") "variant <trace.packet.header.ht>" BODY,
               TAG("et") "variant <stream.packet.context.pt>" BODY, TAG("st") "variant <stream.event.header.et>" BODY,
               TAG("ct") "variant <stream.event.context.st>" BODY,
               TAG("ft") "variant <event.context.ct>" BODY
                         "u8 a[trace.packet.header.ht]; variant <event.fields.ft> { u8 B; } w;");
    const ctf_stream_class *c = s->stream[0];
    assert_string_equal(dump(s->packet_header), "{ht:" ENUM "}@8");
    assert_string_equal(dump(c->packet_context), "{pt:" ENUM " v:<header.ht>" CHOICE "}@8");
    assert_string_equal(dump(c->event_header), "{et:" ENUM " v:<packet.pt>" CHOICE "}@8");
    assert_string_equal(dump(c->event_context), "{st:" ENUM " v:<event.et>" CHOICE "}@8");
    assert_string_equal(dump(c->event[0]->context), "{ct:" ENUM " v:<stream.st>" CHOICE "}@8");
    assert_string_equal(dump(c->event[0]->payload),
                        "{ft:" ENUM " v:<context.ct>" CHOICE " a:[header.ht]u8 w:<payload.ft>{B=1:u8}}@8");
}

static void test_relative_paths(void **state)
{
    expect_payload("u8 n; struct { u8 a[n]; struct { u8 n; u8 b[n]; } in; u8 c[n]; } s;",
                   "{n:u8 s:{a:[n]u8 in:{n:u8 b:[n]u8}@8 c:[n]u8}@8}@8");
    expect_payload("struct { struct { u8 n; } b; } a; u8 x[a.b.n];", "{a:{b:{n:u8}@8}@8 x:[a.b.n]u8}@8");
    /* Earlier scopes are searched, too, the nearest first. */
    const ctf_schema *s = scopes("", "u8 n;", "u8 m;", "u8 n; u16 k;", NULL, "u8 x[k]; u8 y[m];", "u8 z[n];");
    assert_string_equal(dump(s->stream[0]->event[0]->context), "{x:[k]u8 y:[m]u8}@8");
    assert_string_equal(dump(s->stream[0]->event[0]->payload), "{z:[n]u8}@8");
}

static void test_spellings(void **state)
{
    /* With one '_' more or less; the exact name wins, and an inner struct before that. */
    expect_payload("u8 _n; u8 a[_n]; u8 b[n];", "{n(_n):u8 a:[_n]u8 b:[_n]u8}@8");
    expect_payload("u8 n; u8 a[_n];", "{n:u8 a:[n]u8}@8");
    expect_payload("u8 _n; u16 n; u8 a[_n]; u8 b[n];", "{_n:u8 n:u16 a:[_n]u8 b:[n]u8}@8");
    expect_payload("u8 n; struct { u8 _n; u8 a[n]; } s;", "{n:u8 s:{n(_n):u8 a:[_n]u8}@8}@8");
    expect_payload("struct { u8 _n; } _s; u8 a[s.n]; u8 b[_s._n];", "{s(_s):{n(_n):u8}@8 a:[_s._n]u8 b:[_s._n]u8}@8");
    payload_fails("u8 n; u8 a[|__n];", "'__n' is not a field that stands before this one");
}

static void test_paths_through_variants(void **state)
{
    /* With or without the name of the option; a location has none. */
    expect_payload(
        TAG("t") "variant <t> { struct { u8 n; } A; struct { string s; u16 n; } B; } v; u8 a[v.n]; u8 b[v.A.n];",
        "{t:" ENUM " v:<t>{A=0:{n:u8}@8 B=1:{s:string n:u16}@8} a:[v.n]u8 b:[v.n]u8}@8");
    expect_payload(
        TAG("t") "variant <t> { struct { " TAG("k") "} A; struct { " TAG("k") "} B; } v; variant <v.k> { u8 A; } w;",
        "{t:" ENUM " v:<t>{A=0:{k:" ENUM "}@8 B=1:{k:" ENUM "}@8} w:<v.k>{A=0:u8}}@8");
    payload_fails(TAG("t") "variant <t> { struct { " TAG("k") "} A; struct { enum : u8 { B, A } k; } B; } v; "
                                                              "variant <|v.k> { u8 A; } w;",
                  "the tag 'v.k' of a variant is one of several enumerations that differ");
}

/* A type refers to the field visible at its declaration. */
static void test_declared_types_see_their_scope(void **state)
{
    expect_payload(TAG("x") "typedef variant <x> { string A; u8 B; } ex;"
                            "struct { enum : u8 { X, Y } x; ex v; } a[10]; ex w;",
                   "{x:" ENUM " a:[10]{x:u8<X=0,Y=1> v:<./^.x>" CHOICE "}@8 w:<x>" CHOICE "}@8");
    expect_payload("u8 n; typedef u16 seq[n]; struct { u8 n; struct { seq s; } in; } a;",
                   "{n:u8 a:{n:u8 in:{s:[./^.^.n]u16}@8}@8}@8");
    /* If none was visible at its declaration, it refers to the one at its use. */
    assert_string_equal(
        dump(schema_of(TRACE TYPES
                       "typedef u16 seq[n]; variant v { u8 A; }; struct s { u8 k; u8 a[k]; };"
                       "event { fields := struct { u8 n; seq s; " TAG("t") "variant v <t> v; struct s q; }; };")
                 ->stream[0]
                 ->event[0]
                 ->payload),
        "{n:u8 s:[n]u16 t:" ENUM " v:<t>{A=0:u8} q:{k:u8 a:[k]u8}@8}@8");
}

static void test_lost_paths(void **state)
{
    payload_fails("u8 a[|n]; u8 n;", "'n' is not a field that stands before this one");
    payload_fails("struct { u8 n; } s; u8 a[|n];", "'n' is not a field that stands before this one");
    payload_fails("struct { u8 n; } s; u8 a[|s.m];", "'s.m' is not a field");
    payload_fails("u8 s; u8 a[|s.m];", "'s.m' is not a field");
    payload_fails("u8 a[|stream.event.header.n];", "'n' is not a field of a scope that stands before this one");
    payload_fails("u8 n; u8 a[|event.fields.m];", "'m' is not a field of its scope");
    payload_fails("struct { u8 h; } len; u8 x[|len];", "the length 'len' is not an unsigned integer");
    payload_fails("i8 len; u8 x[|len];", "the length 'len' is not an unsigned integer");
    payload_fails("string len; u8 x[|len];", "the length 'len' is not an unsigned integer");
    payload_fails("u8 t; variant <|t> { u8 A; } v;", "the tag 't' of a variant is not an enumeration");
    payload_fails("struct { u8 h; } t; variant <|t> { u8 A; } v;", "the tag 't' of a variant is not an enumeration");
    payload_fails("variant <|t> { u8 A; } v;", "'t' is not a field that stands before this one");
    payload_fails("variant <|env.t> { u8 A; } v;", "the tag of a variant is not a field");
    payload_fails("variant <|5> { u8 A; } v;", "expected the name of a field, found a number");
    payload_fails("variant { u8 A; } |v;", "a variant without a tag");
    payload_fails("variant { u8 A; } v|[2];", "a variant without a tag");
    payload_fails("|variant v <t> x;", "no variant is named 'v'");
    schema_fails(TRACE TYPES "stream { event.header := struct { u8 x[|event.fields.n]; }; };"
                             "event { fields := struct { u8 n; }; };",
                 "'n' is not a field of a scope that stands before this one");
    static char text[1000];
    size_t n = (size_t)sprintf(text, "u8 x[a");
    for (int i = 1; i < 70; i++)
        n += (size_t)sprintf(text + n, i == 64 ? ".|a" : ".a");
    payload_fails(text, "a path of more than 64 names");
}

static void test_options(void **state)
{
    expect_payload("enum : u8 { A = 1 ... 5, B = 18, A = 9 ... 17, C } t; variant <t> { u8 A; u8 C; u8 D; } v;",
                   "{t:u8<A=1..5,B=18,A=9..17,C=18> v:<t>{A=1..5,9..17:u8 C=18:u8 D:u8}}@8");
    expect_payload("enum : i8 { A = -2 ... -1, B } t; variant <t> { u8 B; u8 A; } v;",
                   "{t:i8<A=-2..-1,B=0> v:<t>{B=0:u8 A=-2..-1:u8}}@8");
    expect_payload("enum : u8 { A, _A, __A, _C, D } t; variant <t> { u8 A; u8 _A; u8 __A; u8 C; u8 _D; } v;",
                   "{t:u8<A=0,_A=1,__A=2,_C=3,D=4> v:<t>{A=0:u8 _A=1:u8 __A=2:u8 C=3:u8 D(_D)=4:u8}}@8");
    /* Another spelling is tried only if the label is not another option's. */
    expect_payload("enum : u8 { A } t; variant <t> { u8 _A; u8 A; } v;", "{t:u8<A=0> v:<t>{_A:u8 A=0:u8}}@8");
    expect_payload("enum : u8 { \"int\", struct } t; variant <t> { u8 int; u8 struct; } v;",
                   "{t:u8<int=0,struct=1> v:<t>{int=0:u8 struct=1:u8}}@8");
    payload_fails(TAG("t") "variant <t> { u8 A; u8 |A; } v;", "'A' is declared twice");
    /* The same variant with different tags. */
    expect_payload(
        "variant v { u8 A; u8 B; }; enum : u8 { B, A } t; enum : u8 { A } u; variant v <t> x; variant v <u> y;",
        "{t:u8<B=0,A=1> u:u8<A=0> x:<t>{A=1:u8 B=0:u8} y:<u>{A=0:u8 B:u8}}@8");
}

static void test_lengths_from_the_environment(void **state)
{
    static const char *const text =
        TRACE TYPES "event { fields := struct { u8 a[env.n]; c t[env.n]; u8 b[2][env.z]; }; };"
                    "env { n = 1; n = 5; z = 0; };";
    assert_string_equal(dump(schema_of(text)->stream[0]->event[0]->payload), "{a:[5]u8 t:text[5] b:[2][0]u8}@8");
    payload_fails("u8 a[|env.n];", "the environment has no entry 'n'");
    payload_fails("u8 a[|env.n.m];", "the environment has no entry 'n'");
    schema_fails(TRACE TYPES "env { n = \"x\"; }; event { fields := struct { u8 a[|env.n]; }; };",
                 "the environment's entry 'n' is not a length");
    schema_fails(TRACE TYPES "env { n = -1; }; event { fields := struct { u8 a[|env.n]; }; };",
                 "the environment's entry 'n' is not a length");
}

#define CLOCK(name)                                                                                                    \
    "clock { name = " #name "; }; typealias integer { size = 32; map = clock." #name ".value; } := t" #name ";"

static void test_roles(void **state)
{
    const ctf_schema *s = scopes(
        CLOCK(k), "u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; struct { u8 stream_id; } s;",
        "tk timestamp_begin; tk timestamp_end; u64 content_size; u64 packet_size; u64 packet_seq_num; u64 "
        "events_discarded; u32 cpu_id; tk other; tk other_end; u8 x; u32 magic;",
        "enum : u16 { a = 0 ... 65534, b = 65535 } id; variant <id> { struct { tk timestamp; } a; struct { u32 id; tk "
        "ts; } b; } v; u8 ids[2]; struct { u32 id; } arr[2];",
        "u8 id; tk timestamp;", "u8 cpu_id;", "u8 id; u64 timestamp; u64 packet_size;");
    const ctf_stream_class *c = s->stream[0];
    assert_string_equal(dump(s->packet_header), "{magic:u32#magic uuid:blob[16]#uuid stream_id:u32#class "
                                                "stream_instance_id:u64#stream s:{stream_id:u8#class}@8}@8");
    assert_string_equal(dump(c->packet_context),
                        "{timestamp_begin:u32#time timestamp_end:u32#end content_size:u64#content packet_size:u64#size "
                        "packet_seq_num:u64#sequence events_discarded:u64#discarded cpu_id:u32#cpu other:u32#time "
                        "other_end:u32#end x:u8 magic:u32}@8");
    assert_string_equal(dump(c->event_header),
                        "{id:u16<a=0..65534,b=65535>#event v:<id>{a=0..65534:{timestamp:u32#time}@8 "
                        "b=65535:{id:u32#event ts:u32#time}@8} ids:[2]u8 arr:[2]{id:u32}@8}@8");
    assert_string_equal(dump(c->event_context), "{id:u8 timestamp:u32#time}@8"); /* by its clock, not by its name */
    assert_string_equal(dump(c->event[0]->payload), "{id:u8 timestamp:u64 packet_size:u64}@8");
    assert_ptr_equal(c->clock, s->clock[0]);
}

/* Only integers have roles, and only 16 bytes are a UUID. */
static void test_no_roles(void **state)
{
    const ctf_schema *s =
        scopes("", "string magic; string uuid[16]; string stream_id; u8 stream_instance_id[2];",
               "string content_size; struct {} packet_size;", "string id; string timestamp;", NULL, NULL, "");
    assert_string_equal(dump(s->packet_header),
                        "{magic:string uuid:[16]string stream_id:string stream_instance_id:[2]u8}@8");
    assert_string_equal(dump(s->stream[0]->packet_context), "{content_size:string packet_size:{}}@8");
    assert_string_equal(dump(s->stream[0]->event_header), "{id:string timestamp:string}@8");
    assert_null(s->stream[0]->clock);
    s = scopes("", "u64 magic; u8 uuid[15]; struct { c uuid[16]; } a; struct { u16 uuid[16]; } b; u8 n;",
               "u8 uuid[16];", NULL, NULL, NULL, "");
    assert_string_equal(dump(s->packet_header),
                        "{magic:u64 uuid:[15]u8 a:{uuid:blob[16]#uuid}@8 b:{uuid:[16]u16}@8 n:u8}@8");
    assert_string_equal(dump(s->stream[0]->packet_context), "{uuid:[16]u8}@8");
}

static void expect_clock(const char *clocks, const char *packet, const char *event, const char *id,
                         const char *packet_is, const char *event_is)
{
    const ctf_schema *s = scopes(clocks, "", packet, event, NULL, NULL, "");
    const ctf_stream_class *c = s->stream[0];
    assert_string_equal(c->clock ? c->clock->id : "none", id);
    assert_string_equal(dump(c->packet_context), packet_is);
    assert_string_equal(dump(c->event_header), event_is);
}

static void test_clock_of_a_stream(void **state)
{
    /* Unmapped fields use the only clock, or one that is made. */
    expect_clock(CLOCK(k), "u32 timestamp_begin; u32 timestamp_end;", "u32 timestamp;", "k",
                 "{timestamp_begin:u32#time timestamp_end:u32#end}@8", "{timestamp:u32#time}@8");
    expect_clock("", "u32 timestamp_begin;", "u32 id;", "default", "{timestamp_begin:u32#time}@8", "{id:u32#event}@8");
    assert_int_equal(schema.nclock, 1);
    assert_int_equal(schema.clock[0]->hz, 1000000000);
    assert_false(schema.clock[0]->is_unix);
    expect_clock("", "u32 x;", "u32 timestamp;", "default", "{x:u32}@8", "{timestamp:u32#time}@8");
    expect_clock("", "u32 x;", "u32 time;", "none", "{x:u32}@8", "{time:u32}@8");
    expect_clock(CLOCK(k) CLOCK(m), "u32 timestamp_begin;", "u32 timestamp;", "none", "{timestamp_begin:u32}@8",
                 "{timestamp:u32}@8");
    /* Of several clocks the event's timestamp decides, or the packet's; other clocks do not count. */
    expect_clock(CLOCK(k) CLOCK(m), "tk timestamp_begin;", "tk x; tm timestamp; u32 id;", "m",
                 "{timestamp_begin:u32}@8", "{x:u32 timestamp:u32#time id:u32#event}@8");
    expect_clock(CLOCK(k) CLOCK(m), "tm x; tk timestamp_begin; u8 timestamp_end;", "u8 timestamp;", "k",
                 "{x:u32 timestamp_begin:u32#time timestamp_end:u8#end}@8", "{timestamp:u8#time}@8");
    expect_clock(CLOCK(k) CLOCK(m), "tk a; tm b;", "u8 x;", "k", "{a:u32#time b:u32}@8", "{x:u8}@8");
}

/* The same struct in two streams, and one in two scopes. */
static void test_shared_structs(void **state)
{
    const ctf_schema *s =
        schema_of(TRACE TYPES CLOCK(k)
                      CLOCK(m) "struct p { tk a; tm b; u32 id; }; "
                               "stream { id = 1; packet.context := struct p; event.header := struct { tk x; }; "
                               "event.context := struct p; };"
                               "stream { id = 2; packet.context := struct p; event.header := struct { tm x; }; };"
                               "stream { id = 3; packet.context := struct p; event.header := struct { tm x; }; };");
    assert_string_equal(dump(s->stream[0]->packet_context), "{a:u32#time b:u32 id:u32}@8");
    assert_string_equal(dump(s->stream[0]->event_context), "{a:u32#time b:u32 id:u32}@8");
    assert_string_equal(dump(s->stream[1]->packet_context), "{a:u32 b:u32#time id:u32}@8");
    assert_ptr_equal(s->stream[1]->packet_context, s->stream[2]->packet_context);
}

static void test_byte_order_may_come_later(void **state)
{
    const ctf_schema *s = schema_of(
        TYPES "typealias integer { size = 8; byte_order = le; } := l; enum e : u8 { a }; typedef u16 arr[2];"
              "typealias floating_point { exp_dig = 8; mant_dig = 24; } := f;"
              "event { fields := struct { u8 a; l b; enum e c; arr d; f e; u16 g:3; struct { u8 x; } align(32) h; }; };"
              "trace { major = 1; minor = 8; byte_order = be; };");
    assert_int_equal(s->order, CTF_BE);
    assert_string_equal(dump(s->stream[0]->event[0]->payload),
                        "{a:u8be b:u8 c:u8be<a=0> d:[2]u16be e:f32be g:u3be/16 h:{x:u8be}@32}@32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_absolute_paths, schema_clean),
        cmocka_unit_test_teardown(test_relative_paths, schema_clean),
        cmocka_unit_test_teardown(test_spellings, schema_clean),
        cmocka_unit_test_teardown(test_paths_through_variants, schema_clean),
        cmocka_unit_test_teardown(test_declared_types_see_their_scope, schema_clean),
        cmocka_unit_test_teardown(test_lost_paths, schema_clean),
        cmocka_unit_test_teardown(test_options, schema_clean),
        cmocka_unit_test_teardown(test_lengths_from_the_environment, schema_clean),
        cmocka_unit_test_teardown(test_roles, schema_clean),
        cmocka_unit_test_teardown(test_no_roles, schema_clean),
        cmocka_unit_test_teardown(test_clock_of_a_stream, schema_clean),
        cmocka_unit_test_teardown(test_shared_structs, schema_clean),
        cmocka_unit_test_teardown(test_byte_order_may_come_later, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
