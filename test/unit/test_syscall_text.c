/* System calls as text: arguments of all kinds, known memory, results, errors. */
#include "analysis/instruction/syscall_text.h"
#include "base/compiler.h"
#include "check.h"

static tl_shadow *memory;

static void set(uint64_t address, const char *text, size_t n)
{
    assert_int_equal(tl_shadow_set(memory, address, text, n, NULL), 0);
}

static int setup(void **state)
{
    assert_int_equal(tl_shadow_new(&memory, NULL), 0);
    set(0x1000, "hello\n", 6);
    set(0x2000, "/etc/passwd", 12);
    set(0x3000, "/unfinished", 11);
    set(0x4000,
        "a\0b\x01"
        "7\x7f\xff\"\\\t",
        10);
    set(0x5000, "0123456789012345678901234567890123456789", 40);
    return 0;
}

static int teardown(void **state)
{
    tl_shadow_free(memory);
    return 0;
}

#define LIST(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

static void check_values(const tl_call_values *c, const char *expected)
{
    char text[TL_CALL_TEXT];
    const size_t n = tl_call_text(text, sizeof text, c, memory);
    assert_string_equal(text, expected);
    assert_int_equal(n, strlen(expected));
}

static void check(const char *expected, uint64_t number, const uint64_t *argument, size_t n)
{
    tl_call_values c = {.number = number, .n = (unsigned)n};
    memcpy(c.argument, argument, n * sizeof *argument);
    check_values(&c, expected);
}

static void bytes_and_strings(void **state)
{
    check("write(1, \"hello\\n\", 6)", 64, LIST(1, 0x1000, 6, 0, 0, 0));
    check("write(1, \"hello\\n\"..., 7)", 64, LIST(1, 0x1000, 7));
    check("write(1, \"hel\", 3)", 64, LIST(1, 0x1000, 3));
    check("write(1, \"\", 0)", 64, LIST(1, 0x1000, 0));
    check("write(1, NULL, 0)", 64, LIST(1, 0, 0));
    check("write(1, 0x9999, 6)", 64, LIST(1, 0x9999, 6));
    check("write(1, \"a\\0b\\0017\\177\\377\\\"\\\\\\t\", 10)", 64, LIST(1, 0x4000, 10));
    check("write(1, \"01234567890123456789012345678901\"..., 40)", 64, LIST(1, 0x5000, 40));
    check("write(1, \"01234567890123456789012345678901\"..., 18446744073709551615)", 64, LIST(1, 0x5000, UINT64_MAX));
    check("read(0, 0x1000, 6)", 63, LIST(0, 0x1000, 6));
    check("chdir(\"/etc/passwd\")", 49, LIST(0x2000));
    check("chdir(\"/unfinished\"...)", 49, LIST(0x3000));
    check("chdir(0x8000)", 49, LIST(0x8000));
    check("chdir(NULL)", 49, LIST(0));
}

static void flags_and_numbers(void **state)
{
    const uint64_t cwd = (uint32_t)-100;
    check("openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY)", 56, LIST(cwd, 0x2000, 0, 0));
    check("openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC)", 56, LIST(cwd, 0x2000, 02000000, 0777));
    check("openat(3, \"/etc/passwd\", O_WRONLY|O_CREAT|O_TRUNC, 0666)", 56, LIST(3, 0x2000, 01101, 0666));
    check("openat(-1, NULL, O_RDWR|O_CREAT|O_SYNC|0x80000000, 0)", 56, LIST(UINT64_MAX, 0, 0x80000000 | 04010102, 0));
    check("openat(AT_FDCWD, NULL, 0x3)", 56, LIST(cwd, 0, 3, 0));
    check("mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)", 222,
          LIST(0, 8192, 3, 0x22, UINT64_MAX, 0));
    check("mmap(0x10000, 1, PROT_NONE, MAP_SHARED|MAP_FIXED, 3, 0x1000)", 222, LIST(0x10000, 1, 0, 0x11, 3, 0x1000));
    check("lseek(3, -1, SEEK_END)", 62, LIST(3, UINT64_MAX, 2));
    check("lseek(3, 5, 0x9)", 62, LIST(3, 5, 9));
    check("faccessat(AT_FDCWD, \"/etc/passwd\", F_OK)", 48, LIST(cwd, 0x2000, 0));
    check("faccessat2(AT_FDCWD, NULL, R_OK|X_OK, AT_EACCESS)", 439, LIST(cwd, 0, 5, 0x200));
    check("unlinkat(AT_FDCWD, \"/etc/passwd\", AT_REMOVEDIR)", 35, LIST(cwd, 0x2000, 0x200));
    check("pipe2(0x7000, O_NONBLOCK|O_CLOEXEC)", 59, LIST(0x7000, 02004000));
    check("pipe2(0x7000, 0)", 59, LIST(0x7000, 0));
    check("clock_gettime(CLOCK_MONOTONIC, 0x7000)", 113, LIST(1, 0x7000));
    check("clock_gettime(0xa, 0x7000)", 113, LIST(10, 0x7000));
    check("kill(-1, SIGKILL)", 129, LIST(UINT64_MAX, 9));
    check("futex(0x7000, FUTEX_WAIT|FUTEX_PRIVATE_FLAG, 2, NULL, NULL, 0)", 98, LIST(0x7000, 0x80, 2, 0, 0, 0));
    check("mkdirat(AT_FDCWD, \"/etc/passwd\", 0755)", 34, LIST(cwd, 0x2000, 0755));
    check("getpid()", 172, LIST(1, 2, 3, 4, 5, 6));
    check("syscall_0x1f4(0x1, 0, 0x3, 0, 0, 0xffffffffffffffff)", 500, LIST(1, 0, 3, 0, 0, UINT64_MAX));
    check("syscall_0xffffffffffffffff(0x1)", UINT64_MAX, LIST(1));
    check("write(1, 0x1000)", 64, LIST(1, 0x1000)); /* cut: the number of bytes is unknown */
}

static void buffers(void **state)
{
    tl_call_values c = {.number = 66, .argument = {1, 0x7000, 2}, .n = 3};
    check_values(&c, "writev(1, 0x7000, 2)");
    c.has_buffers = true;
    c.buffers = 2;
    c.buffer[0] = (tl_call_buffer){0x1000, 6};
    c.buffer[1] = (tl_call_buffer){0x9999, 7};
    check_values(&c, "writev(1, [{iov_base=\"hello\\n\", iov_len=6}, {iov_base=0x9999, iov_len=7}], 2)");
    c.number = 65;
    check_values(&c, "readv(1, [{iov_base=0x1000, iov_len=6}, {iov_base=0x9999, iov_len=7}], 2)");
    c.buffers = 0;
    check_values(&c, "readv(1, [], 2)");
    c.buffers = 1000000;
    char text[TL_CALL_TEXT];
    tl_call_text(text, sizeof text, &c, memory);
    assert_contains(text, "}, ...], 2)");
}

static void room_is_kept(void **state)
{
    const tl_call_values c = {.number = 66,
                              .argument = {1, 0x7000, 2},
                              .n = 3,
                              .has_buffers = true,
                              .buffers = 8,
                              .buffer = {{0x1000, 6}, {0x5000, 40}}};
    char text[400];
    for (size_t size = 16; size < sizeof text; size++) {
        memset(text, 'x', sizeof text);
        const size_t n = tl_call_text(text, size, &c, memory);
        assert_true(n < size && strlen(text) == n);
        assert_int_equal(text[size], 'x');
    }
}

static void check_result(const char *expected, uint64_t number, bool has_result, uint64_t result)
{
    char text[128];
    assert_int_equal(tl_call_result_text(text, sizeof text, number, has_result, result), strlen(expected));
    assert_string_equal(text, expected);
}

static void results(void **state)
{
    check_result("6", 64, true, 6);
    check_result("?", 93, false, 0);
    check_result("-1 ENOENT (No such file or directory)", 56, true, UINT64_C(0) - 2);
    check_result("-1 EHWPOISON (Memory page has hardware error)", 56, true, UINT64_C(0) - 133);
    check_result("-4095", 56, true, UINT64_C(0) - 4095);
    check_result("-4096", 56, true, UINT64_C(0) - 4096); /* no error */
    check_result("0xffff8000", 222, true, 0xffff8000);
    check_result("-1 ENOMEM (Cannot allocate memory)", 222, true, UINT64_C(0) - 12);
    check_result("0", 214, true, 0);
    check_result("5", 9999, true, 5);
}

static void table_of_calls(void **state)
{
    unsigned n = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const tl_linux_call *call = tl_linux_call_of(i);
        if (!call)
            continue;
        n++;
        assert_int_equal(call->number, i);
        assert_true(strlen(call->arguments) <= TL_CALL_ARGUMENTS);
        assert_int_equal(strspn(call->arguments, "dlnxof@sbBvVpqQaOCRPMwcgAF"), strlen(call->arguments));
    }
    assert_int_equal(n, 306);
    assert_string_equal(tl_linux_call_of(0)->name, "io_setup");
    assert_string_equal(tl_linux_call_of(450)->name, "set_mempolicy_home_node");
    assert_null(tl_linux_call_of(244));
    assert_null(tl_linux_call_of(UINT64_MAX));
    assert_null(tl_linux_error_name(0));
    assert_null(tl_linux_error_name(41)); /* unused */
    assert_null(tl_linux_error_name(4095));
    assert_string_equal(tl_linux_error_name(11), "EAGAIN");
    assert_true(tl_linux_is_error(UINT64_MAX) && tl_linux_is_error(UINT64_MAX - 4094));
    assert_false(tl_linux_is_error(UINT64_MAX - 4095));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_and_strings, setup, teardown),
        cmocka_unit_test_setup_teardown(flags_and_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(buffers, setup, teardown),
        cmocka_unit_test_setup_teardown(room_is_kept, setup, teardown),
        cmocka_unit_test(results),
        cmocka_unit_test(table_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
