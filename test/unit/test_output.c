/* Tests of base/io/output.h: the output, and what remains after failures. */
#include "output_check.h"

static void test_file_appears_when_complete(void **state)
{
    tl_output *o = open_plain("a.txt", false);
    tl_output_puts(o, "hello, ");
    tl_output_write(o, "world\n", 6);
    assert_int_equal(tl_output_bytes(o), 13);
    assert_int_equal(access("a.txt", F_OK), -1);
    assert_true(scratch_files(0) <= 1); /* at most a temporary one; none where files can be unnamed */
    assert_int_equal(tl_output_finish(o, NULL), 0);
    check_content("a.txt", "hello, world\n", 13);
    assert_int_equal(scratch_files(0), 1);
    tl_output_close(o);
    check_content("a.txt", "hello, world\n", 13);
}

static void test_empty_file(void **state)
{
    check_finish(open_plain("empty", false));
    check_content("empty", "", 0);
}

static void test_mode_is_that_of_open(void **state)
{
    struct stat st;
    mode_t before = umask(027);
    check_finish(open_plain("new", false));
    umask(before);
    assert_int_equal(stat("new", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    /* A replaced file keeps its mode. */
    assert_int_equal(chmod("new", 0604), 0);
    check_finish(open_plain("new", true));
    assert_int_equal(stat("new", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
}

static void test_without_finish_nothing_stays(void **state)
{
    tl_output *o = open_plain("a.txt", false);
    tl_output_puts(o, "x");
    tl_output_close(o);
    assert_int_equal(scratch_files(0), 0);
    tl_output_close(NULL);
}

static void test_existing_file_is_not_overwritten(void **state)
{
    tl_output *o = NULL;
    tl_error e;
    scratch_write("a.txt", "old", 3);
    assert_int_equal(tl_output_open(&o, "a.txt", false, TL_PLAIN, 0, &e), TL_EEXIST);
    assert_int_equal(e.code, TL_EEXIST);
    assert_string_equal(e.message, "a.txt: the file exists");
    assert_null(o);
    assert_int_equal(scratch_files(0), 1);
    check_content("a.txt", "old", 3);
}

static void test_overwriting_replaces_at_the_end(void **state)
{
    scratch_write("a.txt", "old", 3);
    tl_output *o = open_plain("a.txt", true);
    tl_output_puts(o, "new content");
    check_content("a.txt", "old", 3);
    tl_output_close(o); /* given up: the old one stays */
    check_content("a.txt", "old", 3);
    o = open_plain("a.txt", true);
    tl_output_puts(o, "new content");
    check_finish(o);
    check_content("a.txt", "new content", 11);
    assert_int_equal(scratch_files(0), 1);
}

static void test_file_that_appears_meanwhile_is_kept(void **state)
{
    tl_error e;
    tl_output *o = open_plain("a.txt", false);
    tl_output_puts(o, "mine");
    scratch_write("a.txt", "theirs", 6);
    assert_int_equal(tl_output_finish(o, &e), TL_EEXIST);
    assert_int_equal(tl_output_finish(o, NULL), TL_EEXIST);
    tl_output_close(o);
    check_content("a.txt", "theirs", 6);
    assert_int_equal(scratch_files(0), 1);
}

static void test_symbolic_links_stay(void **state)
{
    struct stat st;
    tl_output *o = NULL;
    scratch_write("target", "old", 3);
    assert_int_equal(symlink("target", "link"), 0);
    o = open_plain("link", true);
    tl_output_puts(o, "new");
    check_finish(o);
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    check_content("target", "new", 3);
    /* A dangling link is a name that is taken. */
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(tl_output_open(&o, "dangling", false, TL_PLAIN, 0, NULL), TL_EEXIST);
}

static void test_paths_that_cannot_be(void **state)
{
    tl_output *o = NULL;
    tl_error e;
    assert_int_equal(tl_output_open(&o, "no/such/directory/a", false, TL_PLAIN, 0, &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOENT);
    assert_contains(e.message, "no/such/directory/a: ");
    assert_int_equal(tl_output_open(&o, ".", true, TL_PLAIN, 0, &e), TL_EIO);
    assert_int_equal(e.sys_errno, EISDIR);
    assert_int_equal(tl_output_open(&o, "", false, TL_PLAIN, 0, &e), TL_EINVAL);
    assert_int_equal(tl_output_open(&o, "a", false, TL_PLAIN, 0, NULL), 0);
    tl_output_close(o);
    assert_int_equal(scratch_files(0), 0);
}

static void test_a_device_is_written_in_place(void **state)
{
    struct stat st;
    tl_output *o = open_plain("/dev/null", false);
    assert_false(tl_output_can_patch(o));
    tl_output_puts(o, "gone");
    check_finish(o);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void *read_fifo(void *arg)
{
    size_t n;
    char *data = scratch_read("fifo", &n);
    *(size_t *)arg = n;
    return data;
}

static void test_a_fifo_is_written_in_place(void **state)
{
    enum { N = 3000000 };
    pthread_t reader;
    size_t n = 0;
    void *got;
    char *data = pattern(N);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_fifo, &n), 0);
    tl_output *o = open_plain("fifo", false);
    tl_output_write(o, data, N);
    check_finish(o);
    pthread_join(reader, &got);
    assert_int_equal(n, N);
    assert_memory_equal(got, data, N);
    free(got);
    free(data);
}

static void test_full_device(void **state)
{
    tl_error e;
    char *data = pattern(1000000);
    tl_output *o = open_plain("/dev/full", false);
    tl_output_puts(o, "small");
    assert_int_equal(tl_output_finish(o, &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOSPC);
    assert_string_equal(e.message, "/dev/full: No space left on device");
    tl_output_close(o);

    /* The first failure is kept, later writes do nothing, and the room stays valid. */
    o = open_plain("/dev/full", false);
    for (int i = 0; i < 3; i++)
        tl_output_write(o, data, 1000000);
    for (int i = 0; i < 20; i++) {
        char *p = tl_output_reserve(o, TL_OUTPUT_ROOM);
        memset(p, 'x', TL_OUTPUT_ROOM);
        tl_output_commit(o, p + TL_OUTPUT_ROOM);
    }
    assert_int_equal(tl_output_finish(o, &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOSPC);
    tl_output_close(o);
    free(data);
}

/* A file that cannot grow: after the failure the temporary one is gone, and the target never existed. */
static void test_file_size_limit(void **state)
{
    tl_error e;
    struct rlimit before, limit;
    char *data = pattern(1000000);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 500000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    tl_output *o = open_plain("a", false);
    tl_output_write(o, data, 1000000);
    int r = tl_output_finish(o, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(r, TL_EIO);
    assert_int_equal(e.sys_errno, EFBIG);
    assert_int_equal(scratch_files(0), 0);
    tl_output_close(o);
    free(data);
}

/* All ways of writing, in all sizes, against one array. */
static void test_mixed_writes(void **state)
{
    enum { N = 4000000 };
    char *data = pattern(N);
    for (int memory = 0; memory < 2; memory++) {
        tl_output *o;
        if (memory)
            assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
        else
            o = open_plain("mixed", true);
        size_t at = 0, step = 1;
        while (at < N) {
            step = step * 7 % 524287;
            size_t n = step < N - at ? step : N - at;
            if (step % 3 == 0 && n <= TL_OUTPUT_ROOM) {
                char *p = tl_output_reserve(o, TL_OUTPUT_ROOM);
                memcpy(p, data + at, n);
                tl_output_commit(o, p + n);
            } else {
                tl_output_write(o, data + at, n);
            }
            at += n;
            assert_int_equal(tl_output_bytes(o), at);
        }
        tl_output_write(o, NULL, 0);
        assert_int_equal(tl_output_finish(o, NULL), 0);
        if (memory) {
            size_t n;
            char *got = tl_output_take_memory(o, &n);
            assert_int_equal(n, N);
            assert_memory_equal(got, data, N);
            free(got);
        } else {
            check_content("mixed", data, N);
        }
        tl_output_close(o);
    }
    free(data);
}

static void test_printf(void **state)
{
    tl_output *o;
    size_t n;
    assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
    tl_output_printf(o, "%d %s ", 42, "text");
    tl_output_printf(o, "%s", "");
    /* Around the room, and far beyond. */
    tl_output_printf(o, "%*d", (int)TL_OUTPUT_ROOM - 1, 1);
    tl_output_printf(o, "%*d", (int)TL_OUTPUT_ROOM, 2);
    tl_output_printf(o, "%*d!", 1000000, 3);
    assert_int_equal(tl_output_finish(o, NULL), 0);
    char *got = tl_output_take_memory(o, &n);
    assert_int_equal(n, 8 + 2 * TL_OUTPUT_ROOM - 1 + 1000001);
    assert_memory_equal(got, "42 text  ", 9);
    assert_int_equal(got[8 + TL_OUTPUT_ROOM - 2], '1');
    assert_int_equal(got[8 + 2 * TL_OUTPUT_ROOM - 2], '2');
    assert_memory_equal(got + n - 3, " 3!", 3);
    free(got);
    tl_output_close(o);
}

static void test_patch(void **state)
{
    enum { N = 1000000 };
    char *data = pattern(N);
    for (int memory = 0; memory < 2; memory++) {
        tl_output *o;
        tl_error e;
        if (memory)
            assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
        else
            o = open_plain("patched", true);
        assert_true(tl_output_can_patch(o));
        for (size_t at = 0; at < N; at += 1000)
            tl_output_write(o, data + at, 1000);
        /* At the beginning, across written and buffered bytes, and at the end. */
        for (size_t at = 0; at + 200000 <= N; at += 100000) {
            memset(data + at, (int)('A' + at / 100000), 150000);
            assert_int_equal(tl_output_patch(o, at, data + at, 150000, &e), 0);
        }
        data[N - 1] = '!';
        assert_int_equal(tl_output_patch(o, N - 1, "!", 1, &e), 0);
        assert_int_equal(tl_output_patch(o, N, "", 0, &e), 0);
        /* Bytes not yet written cannot be overwritten. */
        assert_int_equal(tl_output_patch(o, N, "x", 1, &e), TL_EINVAL);
        assert_int_equal(tl_output_patch(o, UINT64_MAX, "x", 1, &e), TL_EINVAL);
        assert_int_equal(tl_output_bytes(o), N);
        /* Writing continues at the end. */
        tl_output_puts(o, "end");
        assert_int_equal(tl_output_finish(o, NULL), 0);
        size_t n;
        char *got = memory ? tl_output_take_memory(o, &n) : scratch_read("patched", &n);
        assert_int_equal(n, N + 3);
        assert_memory_equal(got, data, N);
        assert_memory_equal(got + N, "end", 3);
        free(got);
        tl_output_close(o);
    }
    free(data);
}

static void test_take_memory(void **state)
{
    tl_output *o;
    size_t n = 77;
    assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
    tl_output_puts(o, "never taken");
    assert_int_equal(tl_output_finish(o, NULL), 0);
    tl_output_close(o);

    assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
    assert_null(tl_output_take_memory(o, &n)); /* not before finish */
    assert_int_equal(n, 77);
    assert_int_equal(tl_output_finish(o, NULL), 0);
    void *nothing = tl_output_take_memory(o, &n);
    assert_non_null(nothing);
    assert_int_equal(n, 0);
    free(nothing);
    tl_output_close(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_file_appears_when_complete, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_empty_file, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_mode_is_that_of_open, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_without_finish_nothing_stays, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_existing_file_is_not_overwritten, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_overwriting_replaces_at_the_end, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_file_that_appears_meanwhile_is_kept, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_symbolic_links_stay, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_paths_that_cannot_be, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_device_is_written_in_place, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_fifo_is_written_in_place, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_full_device, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_file_size_limit, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_mixed_writes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_printf, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_patch, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_take_memory, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
