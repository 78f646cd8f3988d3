/* Tests of the CTF 2 front end: fragments, their order, and the resulting schema. */
#include "base/compiler.h"
#include "format/ctf/metadata/json_build.h"
#include "json_schema.h"

#define CLOCK "@{'type':'clock-class','id':'c','frequency':1000}\n"

static void test_least(void **state)
{
    const ctf_schema *s = schema_of(PREAMBLE);
    assert_int_equal(s->dialect, CTF_2);
    assert_int_equal(s->major, 2);
    assert_int_equal(s->minor, 0);
    assert_int_equal(s->order, CTF_LE);
    assert_false(s->has_uuid);
    assert_null(s->packet_header);
    assert_int_equal(s->nclock + s->nstream + s->nproperty, 0);
    /* Streams and events have ids of 0 by default, and need no trace class. */
    s = schema_of(PREAMBLE STREAM "@{'type':'event-record-class'}");
    assert_int_equal(s->nstream, 1);
    assert_int_equal(s->stream[0]->id, 0);
    assert_null(s->stream[0]->clock);
    assert_null(s->stream[0]->packet_context);
    assert_int_equal(s->stream[0]->nevent, 1);
    assert_int_equal(s->stream[0]->event[0]->id, 0);
    assert_string_equal(s->stream[0]->event[0]->name, "event 0");
    assert_null(s->stream[0]->event[0]->payload);
    assert_null(s->stream[0]->event[0]->level);
}

/* The format of a sequence: adjacent separators, any white space, no line feed at the end. */
static void test_sequence(void **state)
{
    assert_int_equal(schema_of("@@ \n@{'type':'preamble',\r\n\t'version':2}@@{'type':'data-stream-class'} @")->nstream,
                     1);
    schema_fails("", TL_EDAMAGED, "line 1, column 1: expected a record separator");
    schema_fails("{'type':'preamble','version':2}", TL_EDAMAGED, "line 1, column 1: expected a record separator");
    schema_fails("@", TL_EDAMAGED, "metadata without fragments");
    schema_fails("@ @\n@", TL_EDAMAGED, "metadata without fragments");
    schema_fails("@{'type':'preamble','version':2}\n{'type':'data-stream-class'}", TL_EDAMAGED,
                 "line 2, column 1: expected nothing after the value, found '{'");
    schema_fails(PREAMBLE "@{'type':'data-stream-class',}", TL_EDAMAGED,
                 "line 2, column 30: expected the name of a member in quotes, found '}'");
    schema_fails(PREAMBLE "@{'type':'data-stream-class','id':1,'id':1}", TL_EDAMAGED,
                 "line 2, column 37: the object has a second member \"id\"");
    schema_fails(PREAMBLE "@{'type':'data-str", TL_EDAMAGED,
                 "line 2, column 10: the string that begins here does not end");
    schema_fails(PREAMBLE "@[]", TL_EDAMAGED, "line 2, column 2: expected an object with the property \"type\"");
    schema_fails(PREAMBLE "@{'type':[]}", TL_EDAMAGED, "\"type\": expected a string, found an array");
    schema_fails(PREAMBLE "@{'type':'data stream'}", TL_EUNSUPPORTED,
                 "no fragment of the type \"data stream\" is known");
}

static void test_preamble(void **state)
{
    const ctf_schema *s =
        schema_of("@{'type':'preamble','version':2,'uuid':[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255],'extensions':{},"
                  "'attributes':{'a':{'b':null}},'what':1}");
    static const uint8_t uuid[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};
    assert_true(s->has_uuid);
    assert_memory_equal(s->uuid, uuid, 16);
    schema_of("@{'type':'preamble','version':2,'extensions':{'my.org':{}}}");
    schema_fails("@{'type':'preamble'}", TL_EDAMAGED, "the property \"version\"");
    schema_fails("@{'type':'preamble','version':3}", TL_EUNSUPPORTED, "\"version\": expected 2");
    schema_fails("@{'type':'preamble','version':'2'}", TL_EUNSUPPORTED, "\"version\": expected 2");
    schema_fails("@{'type':'preamble','version':2,'uuid':[1]}", TL_EDAMAGED, "\"uuid\": expected 16 integers, found 1");
    schema_fails("@{'type':'preamble','version':2,'uuid':[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,256]}", TL_EDAMAGED,
                 "\"uuid\": expected an integer from 0 to 255, found 256");
    schema_fails("@{'type':'preamble','version':2,'uuid':'0-1'}", TL_EDAMAGED, "\"uuid\": expected an array");
    schema_fails("@{'type':'preamble','version':2,'extensions':{'a.org':{},'my.org':{'piano':{'keys':88}}}}",
                 TL_EUNSUPPORTED, "the trace needs the extension \"piano\" of \"my.org\", which is not known");
    schema_fails("@{'type':'preamble','version':2,'extensions':{'a.org':true}}", TL_EDAMAGED,
                 "\"extensions\": expected an object for each namespace, found a boolean");
    schema_fails("@{'type':'preamble','version':2,'extensions':['a']}", TL_EDAMAGED,
                 "\"extensions\": expected an object");
}

static void test_order(void **state)
{
    schema_fails(STREAM PREAMBLE, TL_EDAMAGED,
                 "expected the preamble as the first fragment, found \"data-stream-class\"");
    schema_fails(PREAMBLE STREAM PREAMBLE, TL_EDAMAGED, "line 3, column 10: a second preamble");
    schema_fails(PREAMBLE "@{'type':'trace-class'}\n@{'type':'trace-class'}", TL_EDAMAGED,
                 "a second trace-class fragment");
    schema_fails(PREAMBLE STREAM "@{'type':'trace-class'}", TL_EDAMAGED,
                 "a trace-class fragment after a data-stream-class fragment");
    schema_fails(PREAMBLE "@{'type':'event-record-class'}" STREAM, TL_EDAMAGED,
                 "no data stream class before this one has the id 0");
    schema_fails(PREAMBLE STREAM "@{'type':'event-record-class','data-stream-class-id':1}", TL_EDAMAGED,
                 "no data stream class before this one has the id 1");
    schema_fails(PREAMBLE "@{'type':'data-stream-class','default-clock-class-id':'c'}" CLOCK, TL_EDAMAGED,
                 "no clock class before this one has the id \"c\"");
    /* The trace class may come after clocks. */
    schema_of(PREAMBLE CLOCK "@{'type':'trace-class'}" STREAM);
}

static void test_trace(void **state)
{
    const ctf_schema *s = schema_of(
        PREAMBLE "@{'type':'trace-class','namespace':'n','name':'my trace','uid':'u','environment':{'host':'a\\nb',"
                 "'pid':42,'least':-9223372036854775808,'most':18446744073709551615,'':''},"
                 "'packet-header-field-class':{'type':'structure','member-classes':[{'name':'m','field-class':" U32
                 "}]}}");
    assert_string_equal(s->name, "my trace");
    assert_int_equal(s->packet_header->nmember, 1);
    assert_int_equal(s->nproperty, 5);
    assert_string_equal(s->property[0].name, "host");
    assert_string_equal(s->property[0].text, "a\nb");
    assert_string_equal(s->property[1].name, "pid");
    assert_null(s->property[1].text);
    assert_int_equal(s->property[1].number, 42);
    assert_null(s->property[2].text);
    assert_true(s->property[2].number == INT64_MIN);
    assert_string_equal(s->property[3].text, "18446744073709551615");
    assert_string_equal(s->property[4].name, "");
    assert_string_equal(s->property[4].text, "");
    assert_null(schema_of(PREAMBLE "@{'type':'trace-class','name':''}")->name);
    schema_fails(PREAMBLE "@{'type':'trace-class','environment':{'a':1.5}}", TL_EDAMAGED,
                 "\"environment\": expected an integer or a string, found another number");
    schema_fails(PREAMBLE "@{'type':'trace-class','environment':[]}", TL_EDAMAGED,
                 "\"environment\": expected an object");
    schema_fails(PREAMBLE "@{'type':'trace-class','name':5}", TL_EDAMAGED, "\"name\": expected a string");
}

static const ctf_clock *clock_of(const char *properties)
{
    static char text[1024];
    snprintf(text, sizeof text, PREAMBLE "@{'type':'clock-class',%s}", properties);
    return schema_of(text)->clock[0];
}

static void test_clocks(void **state)
{
    const ctf_clock *c = clock_of("'id':'c','frequency':1");
    assert_string_equal(c->id, "c");
    assert_null(c->name);
    assert_null(c->description);
    assert_null(c->uuid);
    assert_true(c->hz == 1 && c->offset == 0 && c->offset_s == 0 && c->precision == 0);
    assert_false(c->is_unix);
    c = clock_of("'id':'c','name':'n','description':'d','frequency':18446744073709551615,'origin':'unix-epoch',"
                 "'offset-from-origin':{'seconds':-5,'cycles':9223372036854775807},'precision':7,'accuracy':8,"
                 "'uid':'01234567-89ab-cdef-0123-456789ABCDEF','namespace':'x'");
    assert_string_equal(c->name, "n");
    assert_string_equal(c->description, "d");
    assert_true(c->hz == UINT64_MAX && c->offset_s == -5 && c->offset == INT64_MAX && c->precision == 7);
    assert_true(c->is_unix);
    assert_string_equal(c->uuid, "01234567-89ab-cdef-0123-456789ABCDEF");
    assert_false(clock_of("'id':'c','frequency':1,'origin':{'name':'a','uid':'b'}")->is_unix);
    /* Clocks are the same if namespace, name and uid are. */
    assert_string_equal(clock_of("'id':'c','frequency':1,'name':'n','uid':'7'")->uuid, "/n/7");
    assert_string_equal(clock_of("'id':'c','frequency':1,'name':'n','uid':'7','namespace':'s'")->uuid, "s/n/7");
    assert_null(clock_of("'id':'c','frequency':1,'uid':'7'")->uuid);

    static const struct {
        const char *properties, *message;
    } bad[] = {
        {"'frequency':1", "the property \"id\""},
        {"'id':1,'frequency':1", "\"id\": expected a string"},
        {"'id':'c'", "the property \"frequency\""},
        {"'id':'c','frequency':0", "\"frequency\": expected an integer of 1 or more, found 0"},
        {"'id':'c','frequency':10,'offset-from-origin':{'cycles':10}", "expected an integer from 0 to 9, found 10"},
        {"'id':'c','frequency':10,'offset-from-origin':{'cycles':-1}", "found a negative integer"},
        {"'id':'c','frequency':10,'offset-from-origin':{'seconds':9223372036854775808}", "too large"},
        {"'id':'c','frequency':10,'offset-from-origin':{'seconds':'1'}", "found a string"},
        {"'id':'c','frequency':10,'offset-from-origin':5", "\"offset-from-origin\": expected an object"},
        {"'id':'c','frequency':10,'origin':'1970'", "\"origin\": expected \"unix-epoch\" or an object"},
        {"'id':'c','frequency':10,'origin':1970", "\"origin\": expected \"unix-epoch\" or an object"}};
    char text[500];
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        snprintf(text, sizeof text, PREAMBLE "@{'type':'clock-class',%s}", bad[i].properties);
        schema_fails(text, TL_EDAMAGED, bad[i].message);
    }
    schema_fails(PREAMBLE CLOCK CLOCK, TL_EDAMAGED, "a second clock class with the id \"c\"");
}

static void test_streams(void **state)
{
    const ctf_schema *s = schema_of(
        PREAMBLE CLOCK "@{'type':'clock-class','id':'d','frequency':5}"
                       "@{'type':'data-stream-class','id':18446744073709551615,'name':'s','default-clock-class-id':'d'}"
                       "@{'type':'event-record-class','data-stream-class-id':18446744073709551615,'id':3,'name':'a'}"
                       "@{'type':'data-stream-class','id':7,'name':''}"
                       "@{'type':'event-record-class','data-stream-class-id':7,'id':3}"
                       "@{'type':'event-record-class','data-stream-class-id':18446744073709551615,"
                       "'id':18446744073709551615,'name':'b','namespace':'n','uid':'u'}");
    assert_int_equal(s->nclock, 2);
    assert_int_equal(s->nstream, 2);
    assert_true(s->stream[0]->id == UINT64_MAX);
    assert_string_equal(s->stream[0]->name, "s");
    assert_ptr_equal(s->stream[0]->clock, s->clock[1]);
    assert_int_equal(s->stream[0]->nevent, 2);
    assert_string_equal(s->stream[0]->event[0]->name, "a");
    assert_string_equal(s->stream[0]->event[1]->name, "b");
    assert_true(s->stream[0]->event[1]->id == UINT64_MAX);
    assert_null(s->stream[1]->name);
    assert_null(s->stream[1]->clock);
    assert_string_equal(s->stream[1]->event[0]->name, "event 3");
    schema_fails(PREAMBLE STREAM STREAM, TL_EDAMAGED, "a second data stream class with the id 0");
    schema_fails(PREAMBLE STREAM "@{'type':'event-record-class','id':4}@{'type':'event-record-class','id':4}",
                 TL_EDAMAGED, "a second event record class with the id 4");
    schema_fails(PREAMBLE "@{'type':'data-stream-class','id':-1}", TL_EDAMAGED,
                 "\"id\": expected an integer of 0 or more");
    schema_fails(PREAMBLE STREAM "@{'type':'event-record-class','id':'4'}", TL_EDAMAGED, "\"id\": expected an integer");
    schema_fails(PREAMBLE STREAM "@{'type':'event-record-class','data-stream-class-id':null}", TL_EDAMAGED,
                 "found null");
}

#define SCOPE(name, member)                                                                                            \
    "'" name "':{'type':'structure','member-classes':[{'name':'" member "','field-class':" U8 "}]}"

static void test_scopes(void **state)
{
    const ctf_schema *s = schema_of(
        PREAMBLE
        "@{'type':'trace-class'," SCOPE("packet-header-field-class", "a") "}@{'type':'data-stream-class'," SCOPE(
            "packet-context-field-class",
            "b") "," SCOPE("event-record-header-field-class",
                           "c") "," SCOPE("event-record-common-context-field-class",
                                          "d") "}@{'type':'event-record-class'," SCOPE("specific-context-field-class",
                                                                                       "e") "," SCOPE("payload-field-"
                                                                                                      "class",
                                                                                                      "f") "}");
    assert_string_equal(s->packet_header->member[0].name, "a");
    assert_string_equal(s->stream[0]->packet_context->member[0].name, "b");
    assert_string_equal(s->stream[0]->event_header->member[0].name, "c");
    assert_string_equal(s->stream[0]->event_context->member[0].name, "d");
    assert_string_equal(s->stream[0]->event[0]->context->member[0].name, "e");
    assert_string_equal(s->stream[0]->event[0]->payload->member[0].name, "f");
    schema_fails(PREAMBLE STREAM "@{'type':'event-record-class','payload-field-class':" U8 "}", TL_EDAMAGED,
                 "\"payload-field-class\": expected a structure");
}

/* cpu_id has a role only in a packet context; an alias that is used there and elsewhere stays as it is. */
static void test_cpu(void **state)
{
    const ctf_schema *s = schema_of(
        PREAMBLE "@{'type':'field-class-alias','name':'u','field-class':" U8 "}"
                 "@{'type':'field-class-alias','name':'s','field-class':{'type':'structure','minimum-alignment':16,"
                 "'member-classes':[{'name':'x','field-class':'u'},{'name':'cpu_id','field-class':'u'}]}}"
                 "@{'type':'data-stream-class','packet-context-field-class':'s','event-record-header-field-class':'s'}"
                 "@{'type':'data-stream-class','id':1,'packet-context-field-class':'s'}");
    for (unsigned i = 0; i < 2; i++) {
        const ctf_type *context = s->stream[i]->packet_context;
        assert_int_equal(context->nmember, 2);
        assert_int_equal(context->align, 16);
        assert_int_equal(context->member[0].type->roles, 0);
        assert_int_equal(context->member[1].type->roles, CTF_ROLE_CPU);
        assert_string_equal(context->member[1].name, "cpu_id");
    }
    assert_int_equal(s->stream[0]->event_header->member[1].type->roles, 0);
    s = schema_of(PREAMBLE
                  "@{'type':'data-stream-class','packet-context-field-class':{'type':'structure','member-classes':"
                  "[{'name':'cpu_id','field-class':{'type':'null-terminated-string'}}]}}");
    assert_int_equal(s->stream[0]->packet_context->member[0].type->roles, 0);
}

static const ctf_event_class *event_with(const char *attributes)
{
    static char text[500];
    snprintf(text, sizeof text, PREAMBLE STREAM "@{'type':'event-record-class',%s}", attributes);
    return schema_of(text)->stream[0]->event[0];
}

static void test_levels(void **state)
{
    static const struct {
        const char *attributes, *level;
        int32_t value;
        const char *uri;
    } cases[] = {
        {"'attributes':{'lttng.org,2009':{'log-level':'debug:line','emf-uri':'a:b'}}", "TRACE_DEBUG_LINE", 13, "a:b"},
        {"'attributes':{'babeltrace.org,2020':{'log-level':'emergency'}}", "TRACE_EMERG", 0, NULL},
        {"'attributes':{'babeltrace.org,2020':{'log-level':'info'},'lttng.org,2009':{'log-level':'debug'}}",
         "TRACE_DEBUG", 14, NULL},
        {"'user-attributes':{'lttng.org,2009':{'log-level':'warning'}}", "TRACE_WARNING", 4, NULL},
        {"'attributes':{'lttng.org,2009':{'log-level':6}}", "TRACE_INFO", 6, NULL},
        {"'attributes':{'lttng.org,2009':{'log-level':4711}}", "4711", 4711, NULL},
        /* Odd values are ignored. */
        {"'attributes':{'lttng.org,2009':{'log-level':'loud','emf-uri':7}}", NULL, 0, NULL},
        {"'attributes':{'lttng.org,2009':{'log-level':4294967296,'emf-uri':'a\\u0000'}}", NULL, 0, NULL},
        {"'attributes':{'lttng.org,2009':{'log-level':-1}}", NULL, 0, NULL},
        {"'attributes':{'lttng.org,2009':['log-level']}", NULL, 0, NULL},
        {"'attributes':{'another.org':{'log-level':'debug'}}", NULL, 0, NULL},
        {"'attributes':17", NULL, 0, NULL},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const ctf_event_class *c = event_with(cases[i].attributes);
        assert_int_equal(c->level != NULL, cases[i].level != NULL);
        if (c->level)
            assert_string_equal(c->level, cases[i].level);
        assert_int_equal(c->level_value, cases[i].value);
        assert_int_equal(c->uri != NULL, cases[i].uri != NULL);
        if (c->uri)
            assert_string_equal(c->uri, cases[i].uri);
    }
}

/* The release candidates of 2.0, as tracers wrote them. */
static void test_drafts(void **state)
{
    const ctf_schema *s = schema_of(
        PREAMBLE "@{'type':'trace-class','uuid':[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}"
                 "@{'type':'clock-class','name':'monotonic','frequency':1000,'offset':{'seconds':12,'cycles':5},"
                 "'uuid':[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,171]}"
                 "@{'type':'data-stream-class','default-clock-class-name':'monotonic'}");
    assert_true(s->has_uuid);
    assert_int_equal(s->uuid[15], 16);
    assert_ptr_equal(s->stream[0]->clock, s->clock[0]);
    assert_string_equal(s->clock[0]->id, "monotonic");
    assert_string_equal(s->clock[0]->name, "monotonic");
    assert_string_equal(s->clock[0]->uuid, "01020304-0506-0708-090a-0b0c0d0e0fab");
    assert_int_equal(s->clock[0]->offset_s, 12);
    assert_int_equal(s->clock[0]->offset, 5);
    assert_true(s->clock[0]->is_unix);
    assert_false(clock_of("'name':'a','frequency':1,'origin-is-unix-epoch':false,'offset':{}")->is_unix);
    assert_true(clock_of("'name':'a','frequency':1,'origin-is-unix-epoch':true")->is_unix);
    schema_fails(PREAMBLE "@{'type':'data-stream-class','default-clock-class-name':'x'}", TL_EDAMAGED,
                 "no clock class before this one has the id \"x\"");
}

static void test_byte_order(void **state)
{
#define BIG                                                                                                            \
    "@{'type':'field-class-alias','name':'%u','field-class':{'type':'fixed-length-unsigned-integer','length':%u,'"     \
    "byte-order':'big-endian'}}"
#define LITTLE                                                                                                         \
    "@{'type':'field-class-alias','name':'%u','field-class':{'type':'fixed-length-unsigned-integer','length':%u,'"     \
    "byte-order':'little-endian'}}"
    char text[2000];
    snprintf(text, sizeof text, PREAMBLE BIG LITTLE BIG, 1, 16, 2, 32, 3, 64);
    assert_int_equal(schema_of(text)->order, CTF_BE);
    snprintf(text, sizeof text, PREAMBLE BIG LITTLE BIG, 1, 16, 2, 32, 3, 8); /* a byte has no order */
    assert_int_equal(schema_of(text)->order, CTF_LE);
}

/* As many classes as there may be, and one more. */
static void test_many(void **state)
{
    static const char *const kinds[] = {"data-stream-class", "event-record-class"};
    char *text = malloc((CTF_CLASSES_MAX + 3) * 50);
    assert_non_null(text);
    for (unsigned kind = 0; kind < TL_COUNT(kinds); kind++) {
        char *at = text + sprintf(text, PREAMBLE "%s", kind == 1 ? STREAM : "");
        for (unsigned i = 0; i < CTF_CLASSES_MAX; i++)
            at += sprintf(at, "@{'type':'%s','id':%u}\n", kinds[kind], i);
        const ctf_schema *s = schema_of(text);
        assert_int_equal(kind == 0 ? s->nstream : s->stream[0]->nevent, CTF_CLASSES_MAX);
        sprintf(at, "@{'type':'%s','id':%u}\n", kinds[kind], CTF_CLASSES_MAX);
        schema_fails(text, TL_EUNSUPPORTED, "more than 65536");
    }
    free(text);
}

/* Values of one fragment, few bytes each. */
static void test_many_values(void **state)
{
    const size_t n = CTF_JSON_VALUES_MAX;
    char *text = malloc(sizeof PREAMBLE + 2 * n + 4), *at = text;
    assert_non_null(text);
    at += sprintf(at, PREAMBLE "@[");
    for (size_t i = 0; i < n; i++, at += 2)
        memcpy(at, "0,", 2);
    memcpy(at - 1, "]", 2);
    schema_fails(text, TL_ENOMEM, "more values than one JSON text may have here");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_least, schema_clean),
        cmocka_unit_test_teardown(test_sequence, schema_clean),
        cmocka_unit_test_teardown(test_preamble, schema_clean),
        cmocka_unit_test_teardown(test_order, schema_clean),
        cmocka_unit_test_teardown(test_trace, schema_clean),
        cmocka_unit_test_teardown(test_clocks, schema_clean),
        cmocka_unit_test_teardown(test_streams, schema_clean),
        cmocka_unit_test_teardown(test_scopes, schema_clean),
        cmocka_unit_test_teardown(test_cpu, schema_clean),
        cmocka_unit_test_teardown(test_levels, schema_clean),
        cmocka_unit_test_teardown(test_drafts, schema_clean),
        cmocka_unit_test_teardown(test_byte_order, schema_clean),
        cmocka_unit_test_teardown(test_many, schema_clean),
        cmocka_unit_test_teardown(test_many_values, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
