/* Tests of traceloom/sink.h for formats that are folders of files: allowed places. */
#include <errno.h>
#include <sys/stat.h>

#include "ctf_write_fixture.h"
#include "traceloom/sink.h"

static int open_sink(tl_sink **s, const tl_trace *t, const char *path, const char *to, bool overwrite, tl_error *e)
{
    const tl_write_options options = {.to = to, .overwrite = overwrite};
    return tl_sink_open(s, path, t, &options, e);
}

static void test_where_a_folder_cannot_go(void **state)
{
    static const struct {
        const char *path, *to, *message;
        tl_code code;
    } cases[] = {
        {"-", "ctf", "format ctf is a folder of files: it cannot go to standard output; name it with -o",
         TL_EUNSUPPORTED},
        {"out.gz", "ctf", "out.gz: format ctf is a folder of files: it is not compressed", TL_EUNSUPPORTED},
        {"out.ctf.zst", NULL, "out.ctf.zst: format ctf is a folder of files: it is not compressed", TL_EUNSUPPORTED},
        {"file", "ctf", "file: exists and is not a folder", TL_EEXIST},
    };
    fixture f;
    fixture_init(&f);
    scratch_write("file", "x", 1);
    for (size_t i = 0; i < TL_COUNT(cases); i++)
        for (int overwrite = 0; overwrite < 2; overwrite++) {
            tl_sink *s = NULL;
            tl_error e;
            assert_int_equal(open_sink(&s, &f.trace, cases[i].path, cases[i].to, overwrite, &e), cases[i].code);
            assert_string_equal(e.message, cases[i].message);
            assert_null(s);
        }
    assert_int_equal(scratch_files(0), 1);
    fixture_fini(&f);
}

/* A suffix names the format; the folder appears when it is complete, and replaces another only on request. */
static void test_a_folder_appears_whole(void **state)
{
    fixture f;
    tl_sink *s;
    tl_error e;
    size_t n;
    fixture_init(&f);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(open_sink(&s, &f.trace, "out.ctf", NULL, round > 0, &e), 0);
        f.batch.n = f.batch.nval = 0;
        fixture_call(&f, ENTER, 0, 100, 1);
        assert_int_equal(tl_sink_write(s, &f.batch, 0, 1, &e), 0);
        assert_int_equal(scratch_files(0), round ? 2 : 1);
        if (round < 2) /* the third is given up */
            assert_int_equal(tl_sink_finish(s, &e), 0);
        tl_sink_close(s);
        assert_int_equal(scratch_files(0), 1);
        char *stream = scratch_read("out.ctf/thread_7", &n);
        assert_non_null(stream);
        free(stream);
    }
    assert_int_equal(open_sink(&s, &f.trace, "out.ctf", NULL, false, &e), TL_EEXIST);
    assert_string_equal(e.message, "out.ctf: the folder exists");
    f.batch.n = 0;
    fixture_fini(&f);
    remove_files("out.ctf/index");
    remove_files("out.ctf");
}

static void test_a_folder_that_cannot_be_written(void **state)
{
    fixture f;
    tl_sink *s = NULL;
    tl_error e;
    fixture_init(&f);
    assert_int_equal(open_sink(&s, &f.trace, "no/such/out.ctf", NULL, false, &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOENT);
    const tl_write_options options = {.version = "7"};
    assert_int_equal(tl_sink_open(&s, "out.ctf", &f.trace, &options, &e), TL_EINVAL);
    assert_null(s);
    assert_int_equal(scratch_files(0), 0);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_where_a_folder_cannot_go, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_folder_appears_whole, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_folder_that_cannot_be_written, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
