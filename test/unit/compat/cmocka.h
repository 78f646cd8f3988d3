/* A stand-in for cmocka on hosts that have none (foreign ones under qemu, MemorySanitizer): the part our tests use.
 *
 * Same names and same output as cmocka; no mocks. A failed assertion leaves the case by longjmp. */
#ifndef TL_COMPAT_CMOCKA_H
#define TL_COMPAT_CMOCKA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*compat_fixture)(void **state);
struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    compat_fixture setup_func, teardown_func;
    void *initial_state;
};

#define cmocka_unit_test(f)                                                                                            \
    {                                                                                                                  \
#f, f, NULL, NULL, NULL                                                                                        \
    }
#define cmocka_unit_test_setup(f, setup)                                                                               \
    {                                                                                                                  \
#f, f, setup, NULL, NULL                                                                                       \
    }
#define cmocka_unit_test_teardown(f, teardown)                                                                         \
    {                                                                                                                  \
#f, f, NULL, teardown, NULL                                                                                    \
    }
#define cmocka_unit_test_setup_teardown(f, setup, down)                                                                \
    {                                                                                                                  \
#f, f, setup, down, NULL                                                                                       \
    }
#define cmocka_unit_test_prestate(f, state)                                                                            \
    {                                                                                                                  \
#f, f, NULL, NULL, state                                                                                       \
    }

enum { COMPAT_FAILED = 1, COMPAT_SKIPPED = 2 };

/* One definition for all files of a program. */
__attribute__((weak)) const char *compat_filter;
__attribute__((weak)) jmp_buf compat_out;

__attribute__((unused)) static void cmocka_set_test_filter(const char *pattern)
{
    compat_filter = pattern;
}

__attribute__((unused, noreturn, format(printf, 3, 4))) static void compat_fail(const char *file, int line,
                                                                                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "[  ERROR   ] --- ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n[   LINE   ] --- %s:%d: error: Failure!\n", file, line);
    va_end(arguments);
    longjmp(compat_out, COMPAT_FAILED);
}

#define compat_check(good, ...)                                                                                        \
    do {                                                                                                               \
        if (!(good))                                                                                                   \
            compat_fail(__FILE__, __LINE__, __VA_ARGS__);                                                              \
    } while (0)

#define fail()        compat_fail(__FILE__, __LINE__, "fail()")
#define fail_msg(...) compat_fail(__FILE__, __LINE__, __VA_ARGS__)
#define skip()        longjmp(compat_out, COMPAT_SKIPPED)

#define print_message(...) printf(__VA_ARGS__)
#define print_error(...)   fprintf(stderr, __VA_ARGS__)

#define assert_true(c)     compat_check(c, "%s", #c)
#define assert_false(c)    compat_check(!(c), "!(%s)", #c)
#define assert_null(p)     compat_check((p) == NULL, "%s is not NULL", #p)
#define assert_non_null(p) compat_check((p) != NULL, "%s is NULL", #p)
#define assert_ptr_equal(a, b)                                                                                         \
    compat_check((const void *)(a) == (const void *)(b), "%p != %p", (const void *)(a), (const void *)(b))
#define assert_ptr_not_equal(a, b)                                                                                     \
    compat_check((const void *)(a) != (const void *)(b), "%p == %p", (const void *)(a), (const void *)(b))

/* As in cmocka, integers are compared as the largest unsigned type. */
#define compat_compare(a, relation, b)                                                                                 \
    do {                                                                                                               \
        const uintmax_t compat_left = (uintmax_t)(a), compat_right = (uintmax_t)(b);                                   \
        compat_check(compat_left relation compat_right, "0x%jx, 0x%jx: not " #relation " (%s, %s)", compat_left,       \
                     compat_right, #a, #b);                                                                            \
    } while (0)
#define assert_int_equal(a, b)     compat_compare(a, ==, b)
#define assert_int_not_equal(a, b) compat_compare(a, !=, b)
#define assert_uint_equal(a, b)    compat_compare(a, ==, b)
#define assert_in_range(v, low, high)                                                                                  \
    do {                                                                                                               \
        compat_compare(v, >=, low);                                                                                    \
        compat_compare(v, <=, high);                                                                                   \
    } while (0)
#define assert_not_in_range(v, low, high)                                                                              \
    compat_check((uintmax_t)(v) < (uintmax_t)(low) || (uintmax_t)(v) > (uintmax_t)(high), "%s in range", #v)
#define assert_return_code(code, error) compat_check((code) >= 0, "%s < 0, errno %d", #code, (int)(error))

#define assert_string_equal(a, b)                                                                                      \
    do {                                                                                                               \
        const char *compat_a = (a), *compat_b = (b);                                                                   \
        compat_check(strcmp(compat_a, compat_b) == 0, "\"%s\" != \"%s\"", compat_a, compat_b);                         \
    } while (0)
#define assert_string_not_equal(a, b)       compat_check(strcmp(a, b) != 0, "%s equals %s", #a, #b)
#define assert_memory_equal(a, b, size)     compat_check(memcmp(a, b, size) == 0, "%s differs from %s", #a, #b)
#define assert_memory_not_equal(a, b, size) compat_check(memcmp(a, b, size) != 0, "%s equals %s", #a, #b)
#define assert_float_equal(a, b, within)                                                                               \
    compat_check((a) - (b) <= (within) && (b) - (a) <= (within), "%s differs from %s", #a, #b)
#define assert_double_equal(a, b, within) assert_float_equal(a, b, within)

/* The result of a case, or of one of its fixtures: 0, COMPAT_FAILED or COMPAT_SKIPPED. */
__attribute__((unused)) static int compat_run_case(const struct CMUnitTest *test, void **state)
{
    void *own = test->initial_state != NULL ? test->initial_state : *state;
    if (test->setup_func != NULL && test->setup_func(&own) != 0)
        return COMPAT_FAILED;
    const int result = setjmp(compat_out);
    if (result == 0)
        test->test_func(&own);
    if (test->teardown_func != NULL && test->teardown_func(&own) != 0)
        return COMPAT_FAILED;
    return result;
}

__attribute__((unused)) static int compat_run_group(const struct CMUnitTest *test, size_t count, compat_fixture setup,
                                                    compat_fixture teardown)
{
    int run = 0, failed = 0;
    void *state = NULL;
    for (size_t i = 0; i < count; i++)
        run += compat_filter == NULL || strcmp(compat_filter, test[i].name) == 0;
    printf("[==========] Running %d test(s).\n", run);
    if (setup != NULL && setup(&state) != 0)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (compat_filter != NULL && strcmp(compat_filter, test[i].name) != 0)
            continue;
        printf("[ RUN      ] %s\n", test[i].name);
        fflush(stdout);
        const int result = compat_run_case(&test[i], &state);
        failed += result == COMPAT_FAILED;
        printf("%s %s\n",
               result == COMPAT_FAILED ? "[  FAILED  ]" : (result == COMPAT_SKIPPED ? "[  SKIPPED ]" : "[       OK ]"),
               test[i].name);
    }
    if (teardown != NULL && teardown(&state) != 0)
        failed++;
    printf("[==========] %d test(s) run, %d failed.\n", run, failed);
    return failed;
}

#define cmocka_run_group_tests(tests, setup, teardown)                                                                 \
    compat_run_group(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                                      \
    compat_run_group(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

#endif
