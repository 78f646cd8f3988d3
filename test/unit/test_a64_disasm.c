/* Text of instructions through LLVM: the built-in text never differs, and LLVM's is tidied. Skipped if no LLVM is
 * installed or built in. */
#include "base/compiler.h"
#include "check.h"
#include "isa/a64_disasm.h"

static uint64_t seed = 88172645463325252u;

static uint32_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

static a64_disasm *open_llvm(void)
{
    a64_disasm *d = NULL;
    assert_int_equal(a64_disasm_new(&d, false, NULL), 0);
    if (strcmp(a64_disasm_engine(d), "built in") == 0) {
        a64_disasm_free(d);
        skip_because("no LLVM: nothing to compare with");
    }
    return d;
}

/* Any built-in text must equal LLVM's. Returns whether there is one. */
static bool compare(a64_disasm *d, uint32_t op, bool has_pc)
{
    char own[A64_TEXT_MAX], llvm[A64_TEXT_MAX], message[2 * A64_TEXT_MAX + 64];
    const uint64_t pc = 0x7fff12345678;
    a64_text(op, has_pc, pc, own);
    if (strncmp(own, ".inst", 5) == 0)
        return false;
    const size_t n = a64_disasm_text(d, op, has_pc, pc, llvm);
    assert_int_equal(n, strlen(llvm));
    if (strcmp(own, llvm) != 0) {
        snprintf(message, sizeof message, "%08x: built in \"%s\", LLVM \"%s\"", (unsigned)op, own, llvm);
        fail_msg("%s", message);
    }
    return true;
}

/* Random words. */
static void test_random(void **state)
{
    a64_disasm *d = open_llvm();
    uint32_t claimed = 0;
    for (uint32_t i = 0; i < 50000; i++)
        claimed += compare(d, any(), i & 1);
    a64_disasm_free(d);
    assert_true(claimed > 10000);
}

/* Words of the groups known to the built-in text, whose fields are often all zeros or all ones. */
static void test_edges(void **state)
{
    static const uint8_t groups[] = {4, 5, 6, 8, 9, 10, 11, 12, 13, 14};
    a64_disasm *d = open_llvm();
    uint32_t claimed = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t op = any();
        for (unsigned k = 0; k < 32; k += 5) {
            const uint32_t how = any() & 3;
            op = how == 0 ? op & ~(31u << k) : how == 1 ? op | 31u << k : op;
        }
        claimed += compare(d, (op & ~(15u << 25)) | (uint32_t)groups[i % TL_COUNT(groups)] << 25, i & 1);
    }
    a64_disasm_free(d);
    assert_true(claimed > 25000);
}

/* Every system instruction, with x0 and without a register. */
static void test_system(void **state)
{
    a64_disasm *d = open_llvm();
    uint32_t claimed = 0;
    for (uint32_t i = 0; i < 1u << 17; i++)
        for (uint32_t rt = 0; rt < 32; rt += 31)
            claimed += compare(d, 0xd5000000u | i << 5 | rt, false);
    a64_disasm_free(d);
    assert_true(claimed > 150);
}

/* Exceptions and branches to registers: few of many words are one. */
static void test_exceptions(void **state)
{
    a64_disasm *d = open_llvm();
    uint32_t claimed = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        claimed += compare(d, 0xd4000000u | (any() & any() & 0xffffff), false);
        claimed += compare(d, 0xd6000000u | (any() & 0x1fe0ffff) | 0x1f0000, false);
    }
    a64_disasm_free(d);
    assert_true(claimed > 1000);
}

/* Beyond the built-in text. */
static void test_more_than_built_in(void **state)
{
    a64_disasm *d = open_llvm();
    char text[A64_TEXT_MAX];
    a64_disasm_text(d, 0x1e652928, true, 0x1000, text);
    assert_string_equal(text, "fadd d8, d9, d5");
    a64_disasm_text(d, 0x04e900e7, true, 0x1000, text);
    assert_string_equal(text, "add z7.d, z7.d, z9.d");
    a64_disasm_text(d, 0xb8a9227f, true, 0x1000, text); /* newer versions add a remark */
    assert_string_equal(text, "ldeora w9, wzr, [x19]");
    a64_disasm_text(d, 0x1c000040, true, 0x400000, text);
    assert_string_equal(text, "ldr s0, 0x400008");
    a64_disasm_text(d, 0xffffffff, true, 0x1000, text);
    assert_int_equal(strncmp(text, ".inst 0xffffffff // ", 20), 0);
    a64_disasm_free(d);
}

/* Handles are independent. */
static void test_two_handles(void **state)
{
    a64_disasm *a = open_llvm(), *b = NULL, *plain = NULL;
    char x[A64_TEXT_MAX], y[A64_TEXT_MAX];
    assert_int_equal(a64_disasm_new(&b, false, NULL), 0);
    assert_int_equal(a64_disasm_new(&plain, true, NULL), 0);
    assert_string_equal(a64_disasm_engine(plain), "built in");
    a64_disasm_text(a, 0x1e652928, true, 0x1000, x);
    a64_disasm_text(b, 0x1e652928, true, 0x1000, y);
    assert_string_equal(x, y);
    a64_disasm_free(a);
    a64_disasm_text(b, 0x1e652928, true, 0x1000, y);
    assert_string_equal(x, y);
    a64_disasm_text(plain, 0x1e652928, true, 0x1000, y);
    assert_string_equal(y, ".inst 0x1e652928 // simd");
    a64_disasm_free(b);
    a64_disasm_free(plain);
    a64_disasm_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_edges),
        cmocka_unit_test(test_system),      cmocka_unit_test(test_exceptions),
        cmocka_unit_test(test_two_handles), cmocka_unit_test(test_more_than_built_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
