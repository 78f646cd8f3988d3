/* Tests of the memory that a stream needs before its begin. */
#include "insn_fixture.h"

#include "format/xtrace/xtrace_touch.h"

typedef struct needs {
    char text[512];
    size_t n;
    int fail;
} needs;

static int note(void *arg, uint64_t address, const uint8_t *data, size_t n, tl_error *e)
{
    needs *s = arg;
    if (s->fail)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "as asked");
    s->n += (size_t)snprintf(s->text + s->n, sizeof s->text - s->n, "%llx:%.*s ", (unsigned long long)address, (int)n,
                             (const char *)data);
    return 0;
}

static void load(xtrace_touch *t, uint64_t address, const char *data)
{
    assert_int_equal(xtrace_touch_load(t, address, (const uint8_t *)data, strlen(data), NULL), 0);
}

static void store(xtrace_touch *t, uint64_t address, size_t n)
{
    assert_int_equal(xtrace_touch_store(t, address, n, NULL), 0);
}

static void insn(xtrace_touch *t)
{
    assert_int_equal(xtrace_touch_insn(t, false, 0, NOP, NULL), 0);
}

static void start(xtrace_touch *t, needs *s)
{
    memset(s, 0, sizeof *s);
    assert_int_equal(xtrace_touch_init(t, note, s, NULL), 0);
}

static void test_bytes_are_needed_once(void **state)
{
    xtrace_touch t;
    needs s;
    start(&t, &s);
    load(&t, 0x1000, "abcd");
    load(&t, 0x1000, "abcd");
    load(&t, 0x0ffe, "xyABCDuv");
    load(&t, 0x1000, "other"); /* changed by another: it was seen anyway */
    assert_string_equal(s.text, "1000:abcd ffe:xy 1004:uv ");
    xtrace_touch_fini(&t);
}

static void test_what_was_stored_is_not_needed(void **state)
{
    xtrace_touch t;
    needs s;
    start(&t, &s);
    store(&t, 0x1002, 2);
    load(&t, 0x1002, "c"); /* of the same instruction: loads come first */
    insn(&t);
    load(&t, 0x1000, "abcdef");
    assert_string_equal(s.text, "1002:c 1000:ab 1004:ef ");
    for (uint64_t i = 0; i < 20; i++) /* more than an instruction should have */
        store(&t, 0x2000 + 2 * i, 1);
    insn(&t);
    s.n = 0;
    load(&t, 0x2024, "abcd");
    assert_string_equal(s.text, "2025:b 2027:d ");
    store(&t, 0x10000, 32768);
    insn(&t);
    s.n = 0;
    s.text[0] = '\0';
    load(&t, 0x10000, "a");
    load(&t, 0x17fff, "ab");
    assert_string_equal(s.text, "18000:b ");
    xtrace_touch_fini(&t);
}

static void test_a_store_that_did_not_happen(void **state)
{
    xtrace_touch t;
    needs s;
    start(&t, &s);
    store(&t, 0x1000, 4);
    xtrace_touch_failed(&t);
    insn(&t);
    load(&t, 0x1000, "abcd");
    assert_string_equal(s.text, "1000:abcd ");
    xtrace_touch_fini(&t);
}

static void test_code_is_needed(void **state)
{
    xtrace_touch t;
    needs s;
    start(&t, &s);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(xtrace_touch_insn(&t, true, 0x400000, 0x64636261, NULL), 0);
        assert_int_equal(xtrace_touch_insn(&t, true, 0x400000 + 4 * XTRACE_TOUCH_FETCHES, 0x68676665, NULL), 0);
        assert_int_equal(xtrace_touch_insn(&t, false, 0, 0x6c6b6a69, NULL), 0);
    }
    assert_string_equal(s.text, "400000:abcd 401000:efgh ");
    xtrace_touch_fini(&t);
}

static void test_addresses_wrap(void **state)
{
    xtrace_touch t;
    needs s;
    start(&t, &s);
    store(&t, UINT64_MAX, 2);
    insn(&t);
    load(&t, UINT64_MAX - 1, "abcd");
    assert_string_equal(s.text, "fffffffffffffffe:a 1:d ");
    xtrace_touch_fini(&t);
}

static void test_failure_of_the_caller(void **state)
{
    xtrace_touch t;
    needs s;
    tl_error e;
    start(&t, &s);
    s.fail = 1;
    assert_int_equal(xtrace_touch_load(&t, 0x1000, (const uint8_t *)"a", 1, &e), TL_ENOMEM);
    assert_int_equal(xtrace_touch_insn(&t, true, 0x1000, NOP, &e), TL_ENOMEM);
    xtrace_touch_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_needed_once),
        cmocka_unit_test(test_what_was_stored_is_not_needed),
        cmocka_unit_test(test_a_store_that_did_not_happen),
        cmocka_unit_test(test_code_is_needed),
        cmocka_unit_test(test_addresses_wrap),
        cmocka_unit_test(test_failure_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
