/* Tests of the field classes of CTF 2 that contain others: alignment, ranges, locations, aliases and limits. */
#include "base/compiler.h"
#include "format/ctf/plan/ctf_plan.h"
#include "json_schema.h"

static void test_structures(void **state)
{
    const ctf_type *t = payload_of("{'name':'a','field-class':" U8 "},{'name':'_b','field-class':" U32 "}");
    assert_int_equal(t->kind, CTF_STRUCT);
    assert_int_equal(t->nmember, 2);
    assert_string_equal(t->member[0].name, "a");
    assert_string_equal(t->member[1].name, "_b"); /* only CTF 1.8 drops the underscore */
    assert_string_equal(t->member[1].raw, "_b");
    assert_int_equal(t->member[1].type->bits, 32);
    assert_null(t->member[0].range);
    assert_int_equal(t->align, 32);

    assert_int_equal(type_of("{'type':'structure'}")->nmember, 0);
    assert_int_equal(type_of("{'type':'structure'}")->align, 1);
    t = type_of("{'type':'structure','minimum-alignment':16,'member-classes':[]}");
    assert_int_equal(t->align, 16);
    assert_int_equal(ctf_type_alignment(t), 16);

    type_fails("{'type':'structure','member-classes':{}}", TL_EDAMAGED, "\"member-classes\": expected an array");
    type_fails("{'type':'structure','member-classes':[1]}", TL_EDAMAGED,
               "expected an object with the property \"name\", found an integer");
    type_fails("{'type':'structure','member-classes':[{'field-class':" U8 "}]}", TL_EDAMAGED, "the property \"name\"");
    type_fails("{'type':'structure','member-classes':[{'name':'a'}]}", TL_EDAMAGED, "the property \"field-class\"");
    type_fails("{'type':'structure','member-classes':[{'name':1,'field-class':" U8 "}]}", TL_EDAMAGED,
               "\"name\": expected a string, found an integer");
    type_fails("{'type':'structure','minimum-alignment':12}", TL_EDAMAGED, "expected a power of two, found 12");
    payload_fails("{'name':'a','field-class':" U8 "},{'name':'b','field-class':" U8 "},{'name':'a','field-class':" U8
                  "}",
                  TL_EDAMAGED, "a second member is named \"a\"");
    /* The same name in another structure, inside and after, is another field. */
    payload_of("{'name':'a','field-class':{'type':'structure','member-classes':[{'name':'a','field-class':" U8
               "},{'name':'b','field-class':" U8 "}]}},{'name':'b','field-class':" U8 "}");
    payload_fails("{'name':'a','field-class':" U8
                  "},{'name':'b','field-class':{'type':'structure','member-classes':[{'name':'a','field-class':" U8
                  "}]}},{'name':'a','field-class':" U8 "}",
                  TL_EDAMAGED, "a second member is named \"a\"");
}

static void test_arrays(void **state)
{
    const ctf_type *t = type_of("{'type':'static-length-array','length':3,'element-field-class':" U32 "}");
    assert_int_equal(t->kind, CTF_ARRAY);
    assert_false(t->dynamic);
    assert_int_equal(t->length, 3);
    assert_int_equal(t->nmember, 1);
    assert_int_equal(t->member[0].type->bits, 32);
    assert_int_equal(t->align, 32);
    t = type_of("{'type':'dynamic-length-array','length-field-location':{'path':['n']},'minimum-alignment':64,"
                "'element-field-class':" U8 "}");
    assert_true(t->dynamic);
    assert_int_equal(t->align, 64);
    assert_int_equal(t->location->n, 1);
    type_fails("{'type':'static-length-array','element-field-class':" U8 "}", TL_EDAMAGED, "the property \"length\"");
    type_fails("{'type':'static-length-array','length':1}", TL_EDAMAGED, "the property \"element-field-class\"");
    type_fails("{'type':'dynamic-length-array','element-field-class':" U8 "}", TL_EDAMAGED,
               "the property \"length-field-location\"");
}

#define SELECTOR "'selector-field-location':{'path':['s']}"

static void test_options(void **state)
{
    const ctf_type *t = type_of("{'type':'optional','field-class':" U32 "," SELECTOR "}");
    assert_int_equal(t->kind, CTF_OPTIONAL);
    assert_int_equal(t->align, 1);
    assert_int_equal(t->nmember, 1);
    assert_null(t->member[0].name);
    assert_int_equal(t->member[0].nrange, 0);
    assert_null(t->member[0].range);
    t = type_of("{'type':'optional','field-class':" U8 "," SELECTOR
                ",'selector-field-ranges':[[-9223372036854775808,-1],[4,4]]}");
    assert_int_equal(t->member[0].nrange, 2);
    assert_true((int64_t)t->member[0].range[0].low == INT64_MIN && (int64_t)t->member[0].range[0].high == -1);
    assert_true(t->member[0].range[1].low == 4 && t->member[0].range[1].high == 4);

    t = type_of("{'type':'variant'," SELECTOR ",'options':[{'field-class':" U32 ",'selector-field-ranges':[[0,1]]},"
                "{'name':'b','field-class':" U8 ",'selector-field-ranges':[[5,5],[2,18446744073709551615]]}]}");
    assert_int_equal(t->kind, CTF_VARIANT);
    assert_int_equal(t->align, 1); /* it demands nothing of its container */
    assert_int_equal(ctf_type_alignment(t), 1);
    assert_int_equal(t->nmember, 2);
    assert_null(t->member[0].name);
    assert_null(t->member[0].raw);
    assert_string_equal(t->member[1].name, "b");
    assert_int_equal(t->member[1].nrange, 2);
    assert_true(t->member[1].range[1].low == 2 && t->member[1].range[1].high == UINT64_MAX);
}

static void test_bad_options(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"{'type':'optional','field-class':" U8 "}", "the property \"selector-field-location\""},
        {"{'type':'optional'," SELECTOR "}", "the property \"field-class\""},
        {"{'type':'optional','field-class':" U8 "," SELECTOR ",'selector-field-ranges':[]}", "at least one range"},
        {"{'type':'optional','field-class':" U8 "," SELECTOR ",'selector-field-ranges':1}", "at least one range"},
        {"{'type':'variant'," SELECTOR "}", "the property \"options\""},
        {"{'type':'variant'," SELECTOR ",'options':[]}", "a variant without options"},
        {"{'type':'variant','options':[]}", "the property \"selector-field-location\""},
        {"{'type':'variant'," SELECTOR ",'options':[{'field-class':" U8 "}]}",
         "the property \"selector-field-ranges\""},
        {"{'type':'variant'," SELECTOR ",'options':[{'selector-field-ranges':[[0,1]]}]}",
         "the property \"field-class\""},
        {"{'type':'variant'," SELECTOR ",'options':[{'field-class':" U8 ",'selector-field-ranges':[[1,0]]}]}",
         "a range whose end lies before its begin"},
        /* No selector has both. */
        {"{'type':'variant'," SELECTOR ",'options':[{'field-class':" U8 ",'selector-field-ranges':[[-1,0]]},"
         "{'field-class':" U8 ",'selector-field-ranges':[[1,9223372036854775808]]}]}",
         "ranges of negative integers and of integers above"},
        {"{'type':'variant'," SELECTOR ",'options':[{'name':'a','field-class':" U8 ",'selector-field-ranges':[[1,1]]},"
         "{'name':'a','field-class':" U8 ",'selector-field-ranges':[[2,2]]}]}",
         "a second member is named \"a\""},
    };
    for (size_t i = 0; i < TL_COUNT(bad); i++)
        type_fails(bad[i].text, TL_EDAMAGED, bad[i].message);
}

static void test_alignment(void **state)
{
    /* Structures and arrays hand it on; variants and optionals do not. */
    const ctf_type *t =
        payload_of("{'name':'a','field-class':{'type':'static-length-array','length':0,'element-field-class':"
                   "{'type':'structure','member-classes':[{'name':'x','field-class':" U32 "}]}}},"
                   "{'name':'b','field-class':{'type':'optional','field-class':{'type':'structure','minimum-alignment':"
                   "256}," SELECTOR "}},{'name':'c','field-class':{'type':'null-terminated-string'}}");
    assert_int_equal(t->align, 32);
    assert_int_equal(t->member[0].type->align, 32);
    assert_int_equal(t->member[1].type->align, 1);
    assert_int_equal(t->member[1].type->member[0].type->align, 256);
}

/* A location as text: "3:a/^/b". */
static const char *location_text(const char *location)
{
    static char text[300], member[400];
    snprintf(member, sizeof member, "{'type':'dynamic-length-blob','length-field-location':%s}", location);
    const ctf_location *l = type_of(member)->location;
    int n = snprintf(text, sizeof text, "%d:", (int)l->origin);
    for (uint32_t i = 0; i < l->n; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", i ? "/" : "", l->path[i] ? l->path[i] : "^");
    return text;
}

static void test_locations(void **state)
{
    assert_int_equal(CTF_FROM_HERE, 6);
    assert_string_equal(location_text("{'path':['a']}"), "6:a");
    assert_string_equal(location_text("{'path':[null,null,'a','b']}"), "6:^/^/a/b");
    assert_string_equal(location_text("{'origin':'packet-header','path':['a']}"), "0:a");
    assert_string_equal(location_text("{'origin':'packet-context','path':['a']}"), "1:a");
    assert_string_equal(location_text("{'origin':'event-record-header','path':['a','b c']}"), "2:a/b c");
    assert_string_equal(location_text("{'origin':'event-record-common-context','path':['a']}"), "3:a");
    assert_string_equal(location_text("{'origin':'event-record-specific-context','path':['a']}"), "4:a");
    assert_string_equal(location_text("{'origin':'event-record-payload','path':['a']}"), "5:a");
    /* null removes the name before it, which need not exist. */
    assert_string_equal(location_text("{'path':['yes',null,'no',null,null,'x','len']}"), "6:^/x/len");
    assert_string_equal(location_text("{'path':['a','b',null,null,null,'c']}"), "6:^/c");
    assert_string_equal(location_text("{'origin':'event-record-payload','path':['a',null,'a','b']}"), "5:a/b");
    /* Drafts before 2.0. */
    assert_string_equal(location_text("['event-record-header','id']"), "2:id");

    static const struct {
        const char *text, *message;
    } bad[] = {{"1", "expected an object with the property \"path\", found an integer"},
               {"{}", "the property \"path\""},
               {"{'path':'a'}", "\"path\": expected an array, found a string"},
               {"{'path':[]}", "a path that ends with a name"},
               {"{'path':[null]}", "a path that ends with a name"},
               {"{'path':['a',null]}", "a path that ends with a name"},
               {"{'path':['a',1]}", "a location: expected a string or null, found an integer"},
               {"{'path':['a\\u0000']}", "a string with a NUL character"},
               {"{'origin':'payload','path':['a']}", "found payload"},
               {"{'origin':null,'path':['a']}", "found null"},
               {"{'origin':'packet-header','path':[null,'a']}", "null leads out of its origin"},
               {"{'origin':'packet-header','path':['a',null,null,'a']}", "null leads out of its origin"},
               {"[]", "expected an origin and a path"},
               {"['event-record-header']", "expected an origin and a path"},
               {"['len','a']", "found len"}};
    char text[300];
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        snprintf(text, sizeof text, "{'type':'dynamic-length-blob','length-field-location':%s}", bad[i].text);
        type_fails(text, TL_EDAMAGED, bad[i].message);
    }
}

/* An array with a length at this path (or any location), after these members; and the error when it is compiled. */
static void location_fails(const char *members, const char *path, const char *message)
{
    char text[2000];
    snprintf(text, sizeof text,
             "%s{'name':'array','field-class':{'type':'dynamic-length-array','element-field-class':" U8
             ",'length-field-location':{'path':%s}}}",
             members, path);
    payload_of(text);
    tl_arena arena = {0};
    ctf_class_list list = {.arena = &arena};
    ctf_plans *plans = NULL;
    tl_error e = {0};
    assert_int_equal(ctf_plans_new(&plans, &schema, &list, &e), TL_EDAMAGED);
    if (!strstr(e.message, message))
        fail_msg("%s: %s; expected %s", path, e.message, message);
    assert_true(e.offset != TL_NO_OFFSET);
    free(list.cls);
    tl_arena_fini(&arena);
}

static void test_locations_that_lead_nowhere(void **state)
{
    char path[300], message[300];
#define MEMBER(name, type) "{'name':'" name "','field-class':" type "},"
#define STRUCT(members)    "{'type':'structure','member-classes':[" members "]}"
    location_fails("", "['n']", "there is no field \"n\" before the one that refers to it");
    location_fails(MEMBER("s", STRUCT("{'name':'m','field-class':" U8 "}")), "['s','n']", "no field \"s.n\" before");
    location_fails(MEMBER("s", STRUCT("{'name':'m','field-class':" U8 "}")), "['s','m','k']", "\"s.m.k\"");
    location_fails(MEMBER("a", "{'type':'static-length-array','length':2,'element-field-class':" STRUCT(
                                   "{'name':'n','field-class':" U8 "}") "}"),
                   "['a','n']", "\"a.n\" lies in an array that has ended; expected a field that can be reached");
    location_fails(MEMBER("t", "{'type':'null-terminated-string'}"), "['t']",
                   "\"t\" is a string; a length or selector must be an integer");
    location_fails(MEMBER("s", STRUCT("{'name':'m','field-class':" U8 "}")), "['s']", "\"s\" is a struct;");
    /* Only the begin of a long one is shown: 99 bytes. */
    for (int n = 90; n < 110; n++) {
        char name[120];
        memset(name, 'x', (size_t)n);
        name[n] = '\0';
        snprintf(path, sizeof path, "['%s','y']", name);
        snprintf(message, sizeof message, "\"%.99s%s\" before", name, n > 95 ? "" : ".y");
        location_fails("", path, message);
    }
}

#define ALIAS(name, type) "@{'type':'field-class-alias','name':'" name "','field-class':" type "}\n"

static void test_aliases(void **state)
{
    const ctf_schema *s = schema_of(PREAMBLE ALIAS("u8", U8) ALIAS("again", "'u8'") STREAM
                                    "@{'type':'event-record-class','payload-field-class':{'type':'structure',"
                                    "'member-classes':[{'name':'a','field-class':'u8'},"
                                    "{'name':'b','field-class':'again'}]}}");
    const ctf_type *t = s->stream[0]->event[0]->payload;
    assert_ptr_equal(t->member[0].type, t->member[1].type);
    assert_int_equal(t->member[0].type->bits, 8);
    schema_fails(PREAMBLE ALIAS("a", "'b'") ALIAS("b", U8), TL_EDAMAGED,
                 "no field class alias before this one is named \"b\"");
    schema_fails(PREAMBLE ALIAS("a", "{'type':'static-length-array','length':1,'element-field-class':'a'}"),
                 TL_EDAMAGED, "no field class alias before this one is named \"a\"");
    schema_fails(PREAMBLE ALIAS("a", U8) ALIAS("a", U8), TL_EDAMAGED, "a second alias named \"a\"");
    schema_fails(PREAMBLE "@{'type':'field-class-alias','field-class':" U8 "}", TL_EDAMAGED, "the property \"name\"");
    schema_fails(PREAMBLE "@{'type':'field-class-alias','name':'a'}", TL_EDAMAGED, "the property \"field-class\"");
    schema_fails(PREAMBLE ALIAS("a", U8) ALIAS("b", "'a\\u0000'"), TL_EDAMAGED, "no field class alias");
    /* An alias can be a whole scope, and must then be a structure. */
    s = schema_of(
        PREAMBLE ALIAS("h", "{'type':'structure'}") "@{'type':'trace-class','packet-header-field-class':'h'}");
    assert_int_equal(s->packet_header->kind, CTF_STRUCT);
    schema_fails(PREAMBLE ALIAS("h", U8) "@{'type':'trace-class','packet-header-field-class':'h'}", TL_EDAMAGED,
                 "\"packet-header-field-class\": expected a structure");
}

/* ---- limits ---- */

static char long_text[4 << 20];

static void test_depth(void **state)
{
    for (unsigned deep = 0; deep <= 1; deep++) {
        /* CTF_DEPTH_MAX with the payload itself, and one more. */
        char *at = long_text;
        at += sprintf(at, PREAMBLE STREAM "@{'type':'event-record-class','payload-field-class':{'type':'structure',"
                                          "'member-classes':[{'name':'x','field-class':");
        const unsigned arrays = CTF_DEPTH_MAX - 2 + deep;
        for (unsigned i = 0; i < arrays; i++)
            at += sprintf(at, "{'type':'static-length-array','length':1,'element-field-class':");
        at += sprintf(at, "{'type':'null-terminated-string'}");
        for (unsigned i = 0; i < arrays; i++)
            *at++ = '}';
        sprintf(at, "}]}}");
        if (deep)
            schema_fails(long_text, TL_EUNSUPPORTED, "more than 64 field classes in each other");
        else
            schema_of(long_text);
    }
    /* Aliases hide the depth from the text. */
    char *at = long_text;
    at += sprintf(at, PREAMBLE ALIAS("a0", U8));
    for (unsigned i = 1; i < CTF_DEPTH_MAX; i++)
        at += sprintf(at,
                      "@{'type':'field-class-alias','name':'a%u','field-class':{'type':'static-length-array',"
                      "'length':1,'element-field-class':'a%u'}}\n",
                      i, i - 1);
    schema_of(long_text);
    sprintf(at,
            "@{'type':'field-class-alias','name':'b','field-class':{'type':'structure','member-classes':"
            "[{'name':'x','field-class':'a%u'}]}}",
            CTF_DEPTH_MAX - 1);
    schema_fails(long_text, TL_EUNSUPPORTED, "more than 64 field classes in each other");
    /* More arrays than any JSON reader follows. */
    memset(long_text, '[', 1 << 20);
    strcpy(long_text + (1 << 20), "]");
    memcpy(long_text, "@", 1);
    schema_fails(long_text, TL_EUNSUPPORTED, "more than 512 arrays and objects in each other");
}

/* Aliases that use the one before twice: few bytes, 2^30 fields. */
static void test_doubling(void **state)
{
    char *at = long_text;
    at += sprintf(at, PREAMBLE ALIAS("a0", U8));
    for (unsigned i = 1; i <= 30; i++)
        at += sprintf(at,
                      "@{'type':'field-class-alias','name':'a%u','field-class':{'type':'structure',"
                      "'member-classes':[{'name':'x','field-class':'a%u'},{'name':'y','field-class':'a%u'}]}}\n",
                      i, i - 1, i - 1);
    schema_fails(long_text, TL_EUNSUPPORTED, "more than 1048576 fields, with all aliases written out");
    /* The same over many events, none of which is too large. */
    at = long_text;
    at += sprintf(at, PREAMBLE STREAM ALIAS("a0", U8));
    for (unsigned i = 1; i <= 16; i++)
        at += sprintf(at,
                      "@{'type':'field-class-alias','name':'a%u','field-class':{'type':'structure',"
                      "'member-classes':[{'name':'x','field-class':'a%u'},{'name':'y','field-class':'a%u'}]}}\n",
                      i, i - 1, i - 1);
    for (unsigned i = 0; i < 20; i++)
        at += sprintf(at, "@{'type':'event-record-class','id':%u,'payload-field-class':'a16'}\n", i);
    schema_fails(long_text, TL_EUNSUPPORTED, "more than 1048576 fields, with all aliases written out");
}

static void test_members(void **state)
{
    for (unsigned more = 0; more <= 1; more++) {
        char *at = long_text;
        at += sprintf(at, PREAMBLE ALIAS("u", U8) ALIAS("s", "{'type':'structure','member-classes':[{'name':'m',"
                                                             "'field-class':'u'}"));
        at -= 2; /* inside the list, which ALIAS() has not closed */
        for (unsigned i = 1; i < CTF_MEMBERS_MAX + more; i++)
            at += sprintf(at, ",{'name':'m%u','field-class':'u'}", i);
        sprintf(at, "]}}\n");
        char expected[80];
        snprintf(expected, sizeof expected, "%u members; expected at most %u", CTF_MEMBERS_MAX + 1, CTF_MEMBERS_MAX);
        if (more)
            schema_fails(long_text, TL_EUNSUPPORTED, expected);
        else
            schema_of(long_text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_structures, schema_clean),
        cmocka_unit_test_teardown(test_arrays, schema_clean),
        cmocka_unit_test_teardown(test_options, schema_clean),
        cmocka_unit_test_teardown(test_bad_options, schema_clean),
        cmocka_unit_test_teardown(test_alignment, schema_clean),
        cmocka_unit_test_teardown(test_locations, schema_clean),
        cmocka_unit_test_teardown(test_locations_that_lead_nowhere, schema_clean),
        cmocka_unit_test_teardown(test_aliases, schema_clean),
        cmocka_unit_test_teardown(test_depth, schema_clean),
        cmocka_unit_test_teardown(test_doubling, schema_clean),
        cmocka_unit_test_teardown(test_members, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
