/* Tests of op/symbols/dwarf_lines.h: lines in this program itself. */
#include "check.h"
#include "op/symbols/dwarf_lines.h"
#include "own_symbol.h"

enum { PLACES = 8, STOPPED = -7 };

int landmark(int n);
enum { LANDMARK = __LINE__ + 1 };
__attribute__((noinline, used)) int landmark(int n)
{
    for (int i = 0; i < n; i++)
        n += i ^ n;
    return n;
}
enum { LANDMARK_END = __LINE__ };

typedef struct found {
    unsigned seen; /* one bit for each place */
} found;

static int take(void *arg, size_t i, const char *file, uint32_t line)
{
    found *f = arg;
    assert_true(i < PLACES && !(f->seen >> i & 1));
    assert_string_equal(strrchr(file, '/'), "/test_dwarf_lines.c");
    assert_in_range(line, LANDMARK, LANDMARK_END);
    if (i == 0)
        assert_int_equal(line, LANDMARK);
    f->seen |= 1u << i;
    return 0;
}

/* Its begin, and places inside its code, which only the line table has. */
static void make_places(uint64_t place[static PLACES])
{
    const uint64_t begin = address_of("landmark");
    for (unsigned i = 0; i < PLACES; i++)
        place[i] = begin + i;
}

static void need_libdw(void)
{
#ifndef TL_HAVE_LIBDW
    skip_because("this build has no libdw");
#endif
}

static void of_a_function_and_within(void **state)
{
    uint64_t place[PLACES];
    found f = {0};
    need_libdw();
    make_places(place);
    assert_int_equal(tl_dwarf_lines("/proc/self/exe", place, PLACES, take, &f), 0);
    assert_int_equal(f.seen, (1u << PLACES) - 1);
}

/* Stops at the first place, which may be that of any function. */
static int stop(void *arg, size_t i, const char *file, uint32_t line)
{
    (void)i, (void)file, (void)line;
    ++*(unsigned *)arg;
    return STOPPED;
}

static void whoever_asked_may_stop(void **state)
{
    uint64_t place[PLACES];
    need_libdw();
    make_places(place);
    for (size_t from = 0; from < 2; from++) { /* from the function; from the line table */
        unsigned calls = 0;
        assert_int_equal(tl_dwarf_lines("/proc/self/exe", place + from, PLACES - 1, stop, &calls), STOPPED);
        assert_int_equal(calls, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_function_and_within),
        cmocka_unit_test(whoever_asked_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
