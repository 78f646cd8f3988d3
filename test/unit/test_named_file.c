/* Tests of op/symbols/named_file.h: which files are opened because a trace names them. */
#include "check.h"
#include "op/symbols/named_file.h"
#include "scratch.h"

static void test_only_regular_files(void **state)
{
    struct stat st;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(tl_named_file("/proc/self/exe", &st), TL_NAMED_GOOD);
    assert_true(st.st_size > 0);
    assert_int_equal(tl_named_file("pipe", &st), TL_NAMED_IRREGULAR);
    assert_int_equal(tl_named_file("/dev/zero", &st), TL_NAMED_IRREGULAR);
    assert_int_equal(tl_named_file(".", &st), TL_NAMED_IRREGULAR);
    assert_int_equal(tl_named_file("missing", &st), TL_NAMED_MISSING);
    assert_int_equal(tl_named_file("-", &st), TL_NAMED_MISSING);
}

static void test_sizes_are_summed(void **state)
{
    struct stat st = {.st_size = 600};
    uint64_t room = 1500;
    assert_true(tl_named_fits(&room, &st));
    assert_true(tl_named_fits(&room, &st));
    assert_false(tl_named_fits(&room, &st));
    assert_int_equal(room, 300);
    st.st_size = 300; /* a smaller one still fits, exactly */
    assert_true(tl_named_fits(&room, &st));
    assert_int_equal(room, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_regular_files, scratch_enter, scratch_leave),
        cmocka_unit_test(test_sizes_are_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
