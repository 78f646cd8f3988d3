/* Which library makes the text of instructions: TRACELOOM_LLVM. A process decides once, so each case stands alone; run
 * in one process they expect the same. */
#include "check.h"
#include "isa/a64_disasm.h"

static void expect_built_in(const char *variable)
{
    a64_disasm *d = NULL;
    char text[A64_TEXT_MAX];
    assert_int_equal(setenv("TRACELOOM_LLVM", variable, 1), 0);
    assert_int_equal(a64_disasm_new(&d, false, NULL), 0);
    assert_string_equal(a64_disasm_engine(d), "built in");
    a64_disasm_text(d, 0x14000004, true, 0x400000, text);
    assert_string_equal(text, "b 0x400010");
    a64_disasm_text(d, 0x1e652928, true, 0x400000, text);
    assert_string_equal(text, ".inst 0x1e652928 // simd");
    a64_disasm_free(d);
}

static void test_off(void **state)
{
    expect_built_in("off");
}

static void test_no_such_library(void **state)
{
    expect_built_in("./no-such-library.so");
}

/* It exists, but is no disassembler. */
static void test_another_library(void **state)
{
    expect_built_in("libm.so.6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_no_such_library),
        cmocka_unit_test(test_another_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
