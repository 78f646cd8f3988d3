/* Tests of the field classes of CTF 2: what each becomes, and its errors. */
#include "base/compiler.h"
#include "json_schema.h"

#define ORDER "'byte-order':'little-endian'"

static void test_integers(void **state)
{
    static const struct {
        const char *text;
        ctf_kind kind;
        uint32_t bits, align;
        ctf_order order;
        bool is_signed, reversed;
        uint8_t base;
    } cases[] = {
        {"{'type':'fixed-length-unsigned-integer','length':17," ORDER "}", CTF_INT, 17, 1, CTF_LE, false, false, 0},
        {"{'type':'fixed-length-signed-integer','length':64,'byte-order':'big-endian','alignment':32,"
         "'preferred-display-base':16}",
         CTF_INT, 64, 32, CTF_BE, true, false, 16},
        {"{'type':'fixed-length-bit-array','length':9," ORDER "}", CTF_INT, 9, 1, CTF_LE, false, false, 16},
        {"{'type':'fixed-length-bit-array','length':9," ORDER ",'preferred-display-base':2}", CTF_INT, 9, 1, CTF_LE,
         false, false, 2},
        {"{'type':'fixed-length-boolean','length':1," ORDER ",'alignment':8}", CTF_BOOL, 1, 8, CTF_LE, false, false, 0},
        {"{'type':'fixed-length-bit-map','length':8," ORDER ",'flags':{}}", CTF_BITMAP, 8, 1, CTF_LE, false, false, 0},
        {"{'type':'fixed-length-floating-point-number','length':32,'byte-order':'big-endian'}", CTF_FLOAT, 32, 1,
         CTF_BE, false, false, 0},
        {"{'type':'fixed-length-floating-point-number','length':64," ORDER "}", CTF_FLOAT, 64, 1, CTF_LE, false, false,
         0},
        {"{'type':'variable-length-unsigned-integer','preferred-display-base':8}", CTF_VARINT, 64, 8, CTF_LE, false,
         false, 8},
        {"{'type':'variable-length-signed-integer'}", CTF_VARINT, 64, 8, CTF_LE, true, false, 0},
        /* The natural order of bits, given explicitly, and the other one. */
        {"{'type':'fixed-length-bit-array','length':8," ORDER ",'bit-order':'first-to-last'}", CTF_INT, 8, 1, CTF_LE,
         false, false, 16},
        {"{'type':'fixed-length-bit-array','length':8," ORDER ",'bit-order':'last-to-first'}", CTF_INT, 8, 1, CTF_LE,
         false, true, 16},
        {"{'type':'fixed-length-bit-array','length':8,'byte-order':'big-endian','bit-order':'first-to-last'}", CTF_INT,
         8, 1, CTF_BE, false, true, 16},
        {"{'type':'fixed-length-bit-array','length':8,'byte-order':'big-endian','bit-order':'last-to-first'}", CTF_INT,
         8, 1, CTF_BE, false, false, 16},
        /* Drafts before 2.0. */
        {"{'type':'fixed-length-signed-enumeration','length':3," ORDER ",'mappings':{'a':[[-1,1]]}}", CTF_INT, 3, 1,
         CTF_LE, true, false, 0},
        {"{'type':'variable-length-unsigned-enumeration','mappings':{'a':[[1,1]]}}", CTF_VARINT, 64, 8, CTF_LE, false,
         false, 0},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const ctf_type *t = type_of(cases[i].text);
        assert_int_equal(t->kind, cases[i].kind);
        assert_int_equal(t->bits, cases[i].bits);
        assert_int_equal(t->align, cases[i].align);
        assert_int_equal(t->order, cases[i].order);
        assert_int_equal(t->is_signed, cases[i].is_signed);
        assert_int_equal(t->reversed, cases[i].reversed);
        assert_int_equal(t->base, cases[i].base);
        assert_int_equal(t->roles, 0);
        assert_int_equal(t->nmember, 0);
    }
}

static void test_bad_integers(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *message;
    } cases[] = {
        {"7", TL_EDAMAGED, "expected a field class: an object or the name of an alias, found an integer"},
        {"{}", TL_EDAMAGED, "expected an object with the property \"type\", found one without it"},
        {"{'type':1}", TL_EDAMAGED, "\"type\": expected a string, found an integer"},
        {"{'type':'integer'}", TL_EUNSUPPORTED, "no field class of the type \"integer\" is known"},
        {"{'type':'fixed-length-unsigned-integer'," ORDER "}", TL_EDAMAGED, "the property \"length\""},
        {"{'type':'fixed-length-unsigned-integer','length':8}", TL_EDAMAGED, "the property \"byte-order\""},
        {"{'type':'fixed-length-unsigned-integer','length':0," ORDER "}", TL_EDAMAGED,
         "\"length\": expected an integer of 1 or more, found 0"},
        {"{'type':'fixed-length-unsigned-integer','length':8.0," ORDER "}", TL_EDAMAGED, "found another number"},
        {"{'type':'fixed-length-unsigned-integer','length':-8," ORDER "}", TL_EDAMAGED, "found a negative integer"},
        {"{'type':'fixed-length-unsigned-integer','length':65," ORDER "}", TL_EUNSUPPORTED, "a number of 65 bits"},
        {"{'type':'fixed-length-boolean','length':18446744073709551615," ORDER "}", TL_EUNSUPPORTED, "bits"},
        {"{'type':'fixed-length-floating-point-number','length':16," ORDER "}", TL_EUNSUPPORTED,
         "a floating-point number of 16 bits"},
        {"{'type':'fixed-length-unsigned-integer','length':8,'byte-order':'middle-endian'}", TL_EDAMAGED,
         "\"byte-order\": expected \"little-endian\" or \"big-endian\", found middle-endian"},
        {"{'type':'fixed-length-unsigned-integer','length':8," ORDER ",'bit-order':0}", TL_EDAMAGED,
         "\"bit-order\": expected"},
        {"{'type':'fixed-length-unsigned-integer','length':8," ORDER ",'alignment':3}", TL_EDAMAGED,
         "\"alignment\": expected a power of two, found 3"},
        {"{'type':'fixed-length-unsigned-integer','length':8," ORDER ",'alignment':0}", TL_EDAMAGED,
         "\"alignment\": expected an integer from 1 to"},
        {"{'type':'fixed-length-unsigned-integer','length':8," ORDER ",'alignment':1048576}", TL_EDAMAGED,
         "\"alignment\": expected an integer from 1 to"},
        {"{'type':'fixed-length-unsigned-integer','length':8," ORDER ",'preferred-display-base':7}", TL_EDAMAGED,
         "expected 2, 8, 10 or 16, found 7"},
        {"{'type':'fixed-length-unsigned-integer','length':8," ORDER ",'mappings':[]}", TL_EDAMAGED,
         "\"mappings\": expected an object, found an array"},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++)
        type_fails(cases[i].text, cases[i].code, cases[i].message);
}

static void test_roles(void **state)
{
    static const struct {
        const char *name;
        uint32_t role;
    } cases[] = {{"packet-magic-number", CTF_ROLE_MAGIC},
                 {"data-stream-class-id", CTF_ROLE_STREAM_CLASS},
                 {"data-stream-id", CTF_ROLE_STREAM},
                 {"packet-total-length", CTF_ROLE_PACKET_SIZE},
                 {"packet-content-length", CTF_ROLE_CONTENT_SIZE},
                 {"packet-sequence-number", CTF_ROLE_SEQUENCE},
                 {"discarded-event-record-counter-snapshot", CTF_ROLE_DISCARDED},
                 {"default-clock-timestamp", CTF_ROLE_TIMESTAMP},
                 {"packet-end-default-clock-timestamp", CTF_ROLE_PACKET_END},
                 {"event-record-class-id", CTF_ROLE_EVENT_CLASS},
                 {"a role of later", 0}};
    char text[300];
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        snprintf(text, sizeof text, "{'type':'fixed-length-unsigned-integer','length':32," ORDER ",'roles':['%s']}",
                 cases[i].name);
        assert_int_equal(type_of(text)->roles, cases[i].role);
        snprintf(text, sizeof text, "{'type':'variable-length-unsigned-integer','roles':['%s','data-stream-id']}",
                 cases[i].name);
        assert_int_equal(type_of(text)->roles, cases[i].role | CTF_ROLE_STREAM);
    }
    assert_int_equal(type_of("{'type':'static-length-blob','length':16,'roles':['metadata-stream-uuid']}")->roles,
                     CTF_ROLE_UUID);
    assert_int_equal(type_of("{'type':'static-length-blob','length':16,'roles':['trace-class-uuid']}")->roles,
                     CTF_ROLE_UUID);
    type_fails("{'type':'static-length-blob','length':15,'roles':['metadata-stream-uuid']}", TL_EDAMAGED,
               "the role \"metadata-stream-uuid\" is for a static-length blob of 16 bytes");
    type_fails("{'type':'static-length-blob','length':16,'roles':['data-stream-id']}", TL_EDAMAGED,
               "the role \"data-stream-id\" is for an unsigned integer");
    type_fails("{'type':'variable-length-signed-integer','roles':['default-clock-timestamp']}", TL_EDAMAGED,
               "is for an unsigned integer");
    type_fails("{'type':'variable-length-unsigned-integer','roles':[1]}", TL_EDAMAGED,
               "\"roles\": expected a string, found an integer");
    type_fails("{'type':'variable-length-unsigned-integer','roles':'data-stream-id'}", TL_EDAMAGED,
               "\"roles\": expected an array");
}

static void test_mappings(void **state)
{
    const ctf_type *t = type_of("{'type':'fixed-length-unsigned-integer','length':64," ORDER
                                ",'mappings':{'one':[[1,1]],'':[[5,7],[0,18446744073709551615]]}}");
    assert_int_equal(t->nmapping, 3);
    assert_string_equal(t->mapping[0].label, "one");
    assert_true(t->mapping[0].low == 1 && t->mapping[0].high == 1);
    assert_string_equal(t->mapping[2].label, "");
    assert_true(t->mapping[1].low == 5 && t->mapping[1].high == 7);
    assert_true(t->mapping[2].low == 0 && t->mapping[2].high == UINT64_MAX);

    t = type_of("{'type':'variable-length-signed-integer','mappings':{'a':[[-9223372036854775808,-2],[-1,3]]}}");
    assert_int_equal(t->nmapping, 2);
    assert_true((int64_t)t->mapping[0].low == INT64_MIN && (int64_t)t->mapping[0].high == -2);
    assert_true((int64_t)t->mapping[1].low == -1 && (int64_t)t->mapping[1].high == 3);

    /* Bits that a map lacks are cut off. */
    t = type_of("{'type':'fixed-length-bit-map','length':8," ORDER
                ",'flags':{'a':[[0,0]],'b':[[8,9]],'c':[[6,18446744073709551615],[7,7]]}}");
    assert_int_equal(t->nmapping, 3);
    assert_string_equal(t->mapping[1].label, "c");
    assert_true(t->mapping[1].low == 6 && t->mapping[1].high == 7);

    static const struct {
        const char *mappings, *message;
    } bad[] = {{"{'a':[]}", "\"a\": expected an array of at least one range"},
               {"{'a':1}", "\"a\": expected an array of at least one range"},
               {"{'a':[1]}", "a range: expected an array of two integers"},
               {"{'a':[[1]]}", "a range: expected an array of two integers"},
               {"{'a':[[1,2,3]]}", "a range: expected an array of two integers"},
               {"{'a':[['1',2]]}", "a range: expected an integer of 64 bits, found a string"},
               {"{'a':[[0,18446744073709551616]]}", "expected an integer of 64 bits, found another number"},
               {"{'a':[[2,1]]}", "a range whose end lies before its begin"},
               {"{'a':[[2,-1]]}", "a range whose end lies before its begin"},
               {"{'a':[[-1,2]]}", "a negative range of an unsigned integer"}};
    char text[300];
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        snprintf(text, sizeof text, "{'type':'fixed-length-unsigned-integer','length':8," ORDER ",'mappings':%s}",
                 bad[i].mappings);
        type_fails(text, TL_EDAMAGED, bad[i].message);
    }
    type_fails("{'type':'variable-length-signed-integer','mappings':{'a':[[0,9223372036854775808]]}}", TL_EDAMAGED,
               "a range above 9223372036854775807 of a signed integer");
    type_fails("{'type':'variable-length-signed-integer','mappings':{'a':[[-1,-2]]}}", TL_EDAMAGED,
               "a range whose end lies before its begin");
    type_fails("{'type':'variable-length-signed-integer','mappings':{'a\\u0000b':[[1,2]]}}", TL_EDAMAGED,
               "a string with a NUL character");
}

static void test_strings(void **state)
{
    static const struct {
        const char *text;
        ctf_kind kind;
        ctf_encoding encoding;
        bool dynamic;
        uint64_t length;
    } cases[] = {
        {"{'type':'null-terminated-string'}", CTF_STRING, CTF_UTF8, false, 0},
        {"{'type':'null-terminated-string','encoding':'utf-8'}", CTF_STRING, CTF_UTF8, false, 0},
        {"{'type':'null-terminated-string','encoding':'utf-16le'}", CTF_STRING, CTF_UTF16LE, false, 0},
        {"{'type':'null-terminated-string','encoding':'utf-16be'}", CTF_STRING, CTF_UTF16BE, false, 0},
        {"{'type':'static-length-string','length':7,'encoding':'utf-32le'}", CTF_TEXT, CTF_UTF32LE, false, 7},
        {"{'type':'dynamic-length-string','length-field-location':{'path':['n']},'encoding':'utf-32be'}", CTF_TEXT,
         CTF_UTF32BE, true, 0},
        {"{'type':'static-length-blob','length':18446744073709551615,'media-type':'image/png'}", CTF_BLOB, CTF_NO_TEXT,
         false, UINT64_MAX},
        {"{'type':'static-length-blob','length':0}", CTF_BLOB, CTF_NO_TEXT, false, 0},
        {"{'type':'dynamic-length-blob','length-field-location':{'path':['n']}}", CTF_BLOB, CTF_NO_TEXT, true, 0},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const ctf_type *t = type_of(cases[i].text);
        assert_int_equal(t->kind, cases[i].kind);
        assert_int_equal(t->encoding, cases[i].encoding);
        assert_int_equal(t->dynamic, cases[i].dynamic);
        assert_true(t->length == cases[i].length);
        assert_int_equal(t->align, 8);
        assert_int_equal(t->location != NULL, cases[i].dynamic);
    }
    type_fails("{'type':'null-terminated-string','encoding':'latin-1'}", TL_EUNSUPPORTED,
               "\"encoding\": expected utf-8, utf-16le, utf-16be, utf-32le or utf-32be, found latin-1");
    type_fails("{'type':'static-length-string'}", TL_EDAMAGED, "the property \"length\"");
    type_fails("{'type':'static-length-blob','length':-1}", TL_EDAMAGED,
               "\"length\": expected an integer of 0 or more");
    type_fails("{'type':'dynamic-length-string'}", TL_EDAMAGED, "the property \"length-field-location\"");
}

/* Unknown properties are ignored, whatever they are. */
static void test_unknown_properties(void **state)
{
    const ctf_type *t = type_of("{'x':{'y':[1,2,{}]},'type':'fixed-length-unsigned-integer','length':8," ORDER
                                ",'attributes':{'my.org':{'unit':'m'}},'z':1e999,'extensions':{'my.org':{'e':1}}}");
    assert_int_equal(t->kind, CTF_INT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_integers, schema_clean),
        cmocka_unit_test_teardown(test_bad_integers, schema_clean),
        cmocka_unit_test_teardown(test_roles, schema_clean),
        cmocka_unit_test_teardown(test_mappings, schema_clean),
        cmocka_unit_test_teardown(test_strings, schema_clean),
        cmocka_unit_test_teardown(test_unknown_properties, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
