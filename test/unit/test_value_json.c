/* Values as JSON text: cases that the writers' tests do not reach. */
#include <float.h>
#include <math.h>

#include "check.h"
#include "model/value_json.h"

static void test_doubles(void **state)
{
    static const double number[] = {0.0, -0.0, 1.0, 0.1, 1e15, 1e16, 123456789.125, DBL_MAX, DBL_MIN, 5e-324, 1.0 / 3};
    static const char *const text[] = {"0.0",           "-0.0", "1.0", "0.1", "1e+15", "1e+16",
                                       "123456789.125", NULL,   NULL,  NULL,  NULL};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        char buffer[40];
        char *end = tl_put_double(buffer, number[i]);
        assert_in_range(end - buffer, 1, 32);
        *end = 0;
        assert_true(strtod(buffer, NULL) == number[i]);
        assert_non_null(strpbrk(buffer, ".e"));
        if (text[i])
            assert_string_equal(buffer, text[i]);
    }
}

/* Long text is escaped in pieces: no character may be cut at their ends. */
static void test_long_strings(void **state)
{
    static const char *const character[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
    for (size_t k = 0; k < 4; k++)
        for (size_t shift = 0; shift < 4; shift++) {
            char text[4096];
            size_t n = 0, size = strlen(character[k]);
            while (n < shift)
                text[n++] = 'x';
            while (n + size < sizeof text) {
                memcpy(text + n, character[k], size);
                n += size;
            }
            tl_pb out = {0};
            uint64_t bad = 0;
            tl_string_json(&out, text, n, &bad);
            assert_int_equal(bad, 0);
            assert_int_equal(out.n, n + 2);
            assert_memory_equal(out.data + 1, text, n);
            tl_pb_fini(&out);
        }
}

static void test_bad_bytes_are_counted_once(void **state)
{
    char text[3000];
    memset(text, '\x80', sizeof text);
    tl_pb out = {0};
    uint64_t bad = 0;
    tl_string_json(&out, text, sizeof text, &bad);
    assert_int_equal(bad, sizeof text);
    assert_int_equal(out.n, 6 * sizeof text + 2);
    tl_pb_fini(&out);
}

#define PADDING "                                " /* TL_TEXT_PADDING */

/* One value, as a field without a name. */
static void put_value(tl_pb *out, tl_fields *fields, const tl_value *v, const tl_value *end, const tl_field_text *f)
{
    tl_field_text field = f ? *f : (tl_field_text){0};
    tl_text_writer tw;
    bool any = false;
    field.lead = "," PADDING;
    field.nlead = 1;
    assert_true(tl_text_open_buffer(&tw, out));
    assert_ptr_equal(tl_fields_json(&tw, fields, &field, 1, v, end, &any), end);
    tl_text_close(&tw);
}

/* Room for a number is made after a name of any length: also if that ends just before the end of a buffer. */
static void test_long_names(void **state)
{
    enum { LONGEST = 2 * TL_TEXT_ROOM, DIGITS = 20 };
    const tl_value v = {.type = TL_U64, .as.u = UINT64_MAX};
    char *name = malloc(LONGEST + 1 + TL_TEXT_PADDING);
    assert_non_null(name);
    memset(name, 'x', LONGEST + 1 + TL_TEXT_PADDING);
    for (uint32_t n = LONGEST - DIGITS; n <= LONGEST; n++) {
        const tl_field_text field = {.lead = name, .nlead = n + 1};
        tl_pb out = {0};
        tl_fields fields = {0};
        tl_text_writer tw;
        bool any = false;
        assert_true(tl_text_open_buffer(&tw, &out));
        assert_ptr_equal(tl_fields_json(&tw, &fields, &field, 1, &v, &v + 1, &any), &v + 1);
        tl_text_close(&tw);
        assert_int_equal(out.n, n + DIGITS);
        assert_memory_equal(out.data + n, "18446744073709551615", DIGITS);
        tl_pb_fini(&out);
    }
    free(name);
}

/* A list whose length exceeds the tape ends with it. */
static void test_lying_lists(void **state)
{
    tl_value v[] = {
        {.type = TL_LIST, .n = UINT32_MAX}, {.type = TL_LIST, .n = UINT32_MAX}, {.type = TL_U64, .as.u = 7}};
    tl_pb out = {0};
    tl_fields fields = {0};
    put_value(&out, &fields, v, v + 3, NULL);
    assert_int_equal(out.n, 5);
    assert_memory_equal(out.data, "[[7]]", 5);
    assert_ptr_equal(tl_value_skip(v, v + 3), v + 3);
    assert_ptr_equal(tl_value_skip(v + 2, v + 3), v + 3);
    tl_pb_fini(&out);
}

static void test_keys(void **state)
{
    static const tl_class none, function = {.key = TL_KEY_FUNCTION}, address = {.key = TL_KEY_ADDRESS},
                                stack = {.key = TL_KEY_STACK},
                                field = {.key = TL_KEY_PC, .flags = TL_CLASS_KEY_IS_FIELD};
    assert_null(tl_key_name(&none));
    assert_null(tl_key_name(&function));
    assert_null(tl_key_name(&field));
    for (int key = TL_KEY_WEIGHT; key <= TL_KEY_PAIR; key++) /* for analyses only */
        assert_null(tl_key_name(&(tl_class){.key = (tl_key)key}));
    tl_pb out = {0};
    tl_text_writer tw;
    assert_true(tl_text_open_buffer(&tw, &out));
    tl_key_json(&tw, &address, UINT64_MAX);
    tl_key_json(&tw, &stack, 12);
    tl_text_close(&tw);
    static const char expected[] = "\"addr\":\"0xffffffffffffffff\"\"stack\":12";
    assert_int_equal(out.n, sizeof expected - 1);
    assert_memory_equal(out.data, expected, out.n);
    tl_pb_fini(&out);
}

static void check_json(const tl_value *v, const tl_value *end, const tl_field_text *f, const char *expected)
{
    tl_pb out = {0};
    tl_fields fields = {0};
    put_value(&out, &fields, v, end, f);
    assert_int_equal(out.n, strlen(expected));
    assert_memory_equal(out.data, expected, out.n);
    assert_false(fields.failed);
    tl_fields_fini(&fields);
    tl_pb_fini(&out);
}

/* A stack is one slot. Its field gives its members their names; without it they have default ones. */
static void test_stacks(void **state)
{
    const tl_frame outer = {.function = 3, .name = "a", .depth = 1, .flags = TL_FRAME_FUNCTION},
                   inner = {.caller = &outer, .ip = 16, .depth = 2, .flags = TL_FRAME_IP};
    const tl_value v[] = {{.type = TL_LIST, .n = 3},
                          {.type = TL_STACK, .n = 2, .as.p = &inner},
                          {.type = TL_STACK},
                          {.type = TL_U64, .as.u = 7}};
    check_json(v, v + 4, NULL,
               "[[{\"function\":\"a\",\"id\":\"0x3\",\"ip\":null},{\"function\":null,\"id\":null,\"ip\":\"0x10\"}],"
               "[],7]");
    const tl_field_text member[] = {{.lead = ",\"f\":" PADDING, .nlead = 5},
                                    {.lead = ",\"n\":" PADDING, .nlead = 5},
                                    {.lead = ",\"at\":" PADDING, .nlead = 6}};
    const tl_field_text field = {.member = member, .nmember = 3};
    check_json(v + 1, v + 2, &field,
               "[{\"f\":\"a\",\"n\":\"0x3\",\"at\":null},{\"f\":null,\"n\":null,\"at\":\"0x10\"}]");
    assert_ptr_equal(tl_value_skip(v, v + 4), v + 4);
    assert_ptr_equal(tl_value_skip(v + 1, v + 4), v + 2);
}

static void count_spills(void *arg, tl_text_writer *tw)
{
    uint32_t *n = arg;
    ++*n;
    assert_non_null(tw->p);
}

/* Collected text may be passed on after each frame. */
static void test_spill(void **state)
{
    const tl_frame outer = {.depth = 1}, inner = {.caller = &outer, .depth = 2};
    const tl_value v = {.type = TL_STACK, .n = 2, .as.p = &inner};
    tl_pb out = {0};
    uint32_t spilt = 0;
    tl_fields fields = {.spill = count_spills, .spill_arg = &spilt};
    put_value(&out, &fields, &v, &v + 1, NULL);
    assert_int_equal(spilt, 2);
    tl_fields_fini(&fields);
    tl_pb_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_long_strings),
        cmocka_unit_test(test_bad_bytes_are_counted_once),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_lying_lists),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_spill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
