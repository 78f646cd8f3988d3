/* Tests of traceloom/error.h. */
#include <errno.h>

#include "check.h"
#include "traceloom/error.h"

static void test_fail_fills_everything(void **state)
{
    tl_error e;
    memset(&e, 0xaa, sizeof e);
    assert_int_equal(tl_fail(&e, TL_EDAMAGED, 18944, "unknown kind %d, expected %s", 12, "0 to 9"), TL_EDAMAGED);
    assert_int_equal(e.code, TL_EDAMAGED);
    assert_int_equal(e.sys_errno, 0);
    assert_int_equal(e.offset, 18944);
    assert_string_equal(e.message, "unknown kind 12, expected 0 to 9");
}

static void test_no_error_wanted(void **state)
{
    assert_int_equal(tl_fail(NULL, TL_EFORMAT, 0, "x"), TL_EFORMAT);
    assert_int_equal(tl_fail_errno(NULL, ENOENT, "x"), TL_EIO);
    assert_int_equal(tl_fail_errno(NULL, ENOMEM, "x"), TL_ENOMEM);
    assert_int_equal(tl_error_context(NULL, "x"), TL_EINVAL);
}

static void test_errno(void **state)
{
    tl_error e;
    assert_int_equal(tl_fail_errno(&e, ENOENT, "%s", "a.xray"), TL_EIO);
    assert_int_equal(e.code, TL_EIO);
    assert_int_equal(e.sys_errno, ENOENT);
    assert_true(e.offset == TL_NO_OFFSET);
    assert_string_equal(e.message, "a.xray: No such file or directory");
    assert_int_equal(tl_fail_errno(&e, ENOMEM, "%s", "a.xray"), TL_ENOMEM);
    assert_int_equal(e.code, TL_ENOMEM);
}

static void test_context_goes_in_front(void **state)
{
    tl_error e;
    tl_fail(&e, TL_EDAMAGED, 7, "unknown kind %d", 12);
    assert_int_equal(tl_error_context(&e, "buffer %d", 17), TL_EDAMAGED);
    assert_int_equal(tl_error_context(&e, "%s", "fdr"), TL_EDAMAGED);
    assert_string_equal(e.message, "fdr: buffer 17: unknown kind 12");
    assert_int_equal(e.offset, 7);
}

static void test_arguments_may_be_the_message_itself(void **state)
{
    tl_error e;
    tl_fail(&e, TL_EIO, 0, "inner");
    tl_fail(&e, TL_EFORMAT, 0, "outer (%s)", e.message);
    assert_string_equal(e.message, "outer (inner)");
    tl_error_context(&e, "again %s", e.message);
    assert_string_equal(e.message, "again outer (inner): outer (inner)");
}

static void test_long_messages_are_cut(void **state)
{
    tl_error e;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tl_fail(&e, TL_EIO, 0, "%s", text);
    assert_int_equal(strlen(e.message), sizeof e.message - 1);
    /* The cut never splits a character of several bytes. */
    for (size_t i = 0; i < 4; i++) {
        size_t at = sizeof e.message - 1 - i;
        memset(text, 'x', sizeof text - 1);
        memcpy(text + at, "\xf0\x9f\x90\x9b", 4);
        tl_fail(&e, TL_EIO, 0, "%s", text);
        assert_int_equal(strlen(e.message), at);
    }
}

/* However long the context, the reason stays; however long the reason, the place stays. */
static void test_context_and_reason_both_stay(void **state)
{
    tl_error e;
    char path[1000];
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    tl_fail_errno(&e, ENOSPC, "%s", path);
    assert_contains(e.message, "ppp...: No space left on device");
    assert_true(strlen(e.message) < sizeof e.message);

    tl_fail(&e, TL_EDAMAGED, 0, "%s", path);
    tl_error_context(&e, "%s", "dir/a.xray");
    assert_memory_equal(e.message, "dir/a.xray: ppp", 15);
    assert_true(strlen(e.message) < sizeof e.message);
}

static void test_control_characters_are_replaced(void **state)
{
    tl_error e;
    tl_fail(&e, TL_EFORMAT, 0, "name \"%s\"", "a\nb\x1b[31mc\x7f");
    assert_string_equal(e.message, "name \"a?b?[31mc?\"");
    tl_error_context(&e, "%s", "x\ry");
    assert_string_equal(e.message, "x?y: name \"a?b?[31mc?\"");
    /* Text beyond ASCII stays. */
    tl_fail(&e, TL_EFORMAT, 0, "%s", "gr\xc3\xbc\xc3\x9f");
    assert_string_equal(e.message, "gr\xc3\xbc\xc3\x9f");
}

static void test_every_code_has_a_name(void **state)
{
    assert_string_equal(tl_code_name(TL_EDAMAGED), "damaged");
    assert_string_equal(tl_code_name(TL_ENOMEM), "out of memory");
    for (int a = TL_ENOMATCH; a <= TL_OK; a++)
        for (int b = TL_ENOMATCH; b < a; b++)
            assert_string_not_equal(tl_code_name(a), tl_code_name(b));
    assert_non_null(tl_code_name(-1000));
    assert_non_null(tl_code_name(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_fills_everything),
        cmocka_unit_test(test_no_error_wanted),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_context_goes_in_front),
        cmocka_unit_test(test_arguments_may_be_the_message_itself),
        cmocka_unit_test(test_long_messages_are_cut),
        cmocka_unit_test(test_context_and_reason_both_stay),
        cmocka_unit_test(test_control_characters_are_replaced),
        cmocka_unit_test(test_every_code_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
