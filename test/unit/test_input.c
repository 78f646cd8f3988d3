/* Tests of base/io/input.h: files, pipes and memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "check.h"
#include "input_check.h"
#include "input_inside.h"

static void test_plain_file(void **state)
{
    enum { N = 500000 };
    char *data = pattern(N);
    scratch_write("a.bin", data, N);
    tl_input *in = open_input("a.bin");
    assert_string_equal(tl_input_path(in), "a.bin");
    assert_null(input_compression(in));
    uint64_t offset = 42;
    assert_null(tl_input_damage(in, &offset));
    assert_int_equal(offset, 42);
    check_reads(in, data, N);
    tl_input_close(in);
    tl_input_close(NULL);
    free(data);
}

static void test_small_files(void **state)
{
    for (size_t n = 0; n < 20; n++) {
        char *data = pattern(n);
        scratch_write("small", data, n);
        tl_input *in = open_input("small");
        check_reads(in, data, n);
        tl_input_close(in);
        free(data);
    }
}

static void test_file_that_cannot_be_opened(void **state)
{
    tl_input *in = NULL;
    tl_error e;
    assert_int_equal(tl_input_open(&in, "no.such", &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOENT);
    assert_string_equal(e.message, "no.such: No such file or directory");
    assert_int_equal(tl_input_open(&in, "no.such", NULL), TL_EIO);
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(tl_input_open(&in, "dir", &e), TL_EUNSUPPORTED);
    assert_string_equal(e.message, "dir: is a directory, expected a file");
    assert_null(in);
}

static void test_file_that_shrinks(void **state)
{
    char buf[100];
    size_t got = 0;
    scratch_write("a", "0123456789abcdefghij", 20);
    tl_input *in = open_input("a");
    assert_int_equal(truncate("a", 8), 0);
    tl_error e;
    assert_int_equal(tl_input_read(in, 5, buf, 3, &got, &e), 0);
    assert_memory_equal(buf, "567", 3);
    for (uint64_t from = 5; from <= 12; from += 7) {
        assert_int_equal(tl_input_read(in, from, buf, 10, &got, &e), TL_EIO);
        assert_string_equal(e.message, "the file became shorter while it was read");
        assert_int_equal(e.offset, from < 8 ? 8 : from);
    }
    assert_int_equal(tl_input_read(in, 20, buf, 10, &got, &e), 0); /* nothing was ever there */
    assert_int_equal(got, 0);
    tl_input_close(in);
}

static void test_file_that_grows_keeps_its_size(void **state)
{
    char buf[100];
    size_t got = 0;
    scratch_write("a", "0123456789", 10);
    tl_input *in = open_input("a");
    assert_int_equal(truncate("a", 50), 0);
    assert_int_equal(tl_input_read(in, 5, buf, 100, &got, NULL), 0);
    assert_int_equal(got, 5);
    tl_input_close(in);
}

/* Files of the kernel say that they are empty. */
static void test_file_without_a_size(void **state)
{
    size_t n;
    if (access("/proc/self/status", R_OK) < 0)
        skip_because("the system has no /proc");
    tl_input *in = open_input("/proc/self/status");
    char *text = content(in, &n);
    assert_memory_equal(text, "Name:", 5);
    free(text);
    tl_input_close(in);
}

static void test_memory(void **state)
{
    tl_input *in;
    char *data = pattern(1000);
    assert_int_equal(tl_input_open_memory(&in, data, 1000, "name", NULL), 0);
    assert_string_equal(tl_input_path(in), "name");
    assert_null(input_compression(in));
    check_reads(in, data, 1000);
    tl_input_close(in);
    assert_int_equal(tl_input_open_memory(&in, NULL, 0, "empty", NULL), 0);
    check_reads(in, "", 0);
    tl_input_close(in);
    free(data);
}

static void test_pipe(void **state)
{
    static const size_t size[] = {0, 1, 9, 10, 11, 100000, 5000000};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        char *data = pattern(size[i]);
        tl_input *in = open_pipe(data, size[i]);
        check_reads(in, data, size[i]);
        assert_null(input_compression(in));
        tl_input_close(in);
        free(data);
    }
}

/* Around the limit of bytes kept in memory, and beyond; nothing may be left in $TMPDIR. */
static void test_large_pipe(void **state)
{
    setenv("TMPDIR", ".", 1);
    static const size_t size[] = {TL_INPUT_MEMORY - 1, TL_INPUT_MEMORY, TL_INPUT_MEMORY + 1, TL_INPUT_MEMORY + 7654321};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        char *data = pattern(size[i]);
        tl_input *in = open_pipe(data, size[i]);
        check_reads(in, data, size[i]);
        assert_int_equal(scratch_files(0), 1); /* the fifo */
        tl_input_close(in);
        free(data);
    }
    unsetenv("TMPDIR");
}

static void test_no_room_for_a_large_pipe(void **state)
{
    enum { N = TL_INPUT_MEMORY + 1000000 };
    struct rlimit before, limit;
    char *data = pattern(N);
    tl_input *in = NULL;
    tl_error e;
    feed f;

    setenv("TMPDIR", "./missing", 1);
    feed_start(&f, data, N);
    assert_int_equal(tl_input_open(&in, "fifo", &e), TL_EIO);
    pthread_join(f.thread, NULL);
    assert_int_equal(e.sys_errno, ENOENT);
    assert_string_equal(e.message, "fifo: cannot make a temporary file in ./missing: No such file or directory");

    /* A limit on the size of files fails a write as a full device does. */
    setenv("TMPDIR", ".", 1);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 3000000;
    feed_start(&f, data, N);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int r = tl_input_open(&in, "fifo", &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    pthread_join(f.thread, NULL);
    unsetenv("TMPDIR");
    assert_int_equal(r, TL_EIO);
    assert_int_equal(e.sys_errno, EFBIG);
    assert_contains(e.message, "fifo: cannot keep the content in a temporary file in .: ");
    assert_null(in);
    free(data);
}

static void test_standard_input(void **state)
{
    char buf[4];
    scratch_write("in", "abcdefghij", 10);
    int saved = dup(STDIN_FILENO), fd = open("in", O_RDONLY);
    dup2(fd, STDIN_FILENO);
    /* Another process has read three bytes: they are gone, as they would be from a pipe. */
    bool taken = read(STDIN_FILENO, buf, 3) == 3;
    tl_input *in = NULL;
    int r = tl_input_open(&in, "-", NULL);
    bool still_open = fcntl(STDIN_FILENO, F_GETFL) >= 0;
    if (r == 0)
        check_reads(in, "defghij", 7);
    tl_input_close(in);
    still_open = still_open && fcntl(STDIN_FILENO, F_GETFL) >= 0;
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(fd);
    assert_int_equal(r, 0);
    assert_true(taken && still_open);
}

/* Several threads read one input at once. */
typedef struct reading {
    tl_input *in;
    const char *data;
    size_t n;
    unsigned seed, wrong;
    pthread_t thread;
} reading;

static void *reading_main(void *arg)
{
    reading *r = arg;
    char buf[3000];
    uint32_t x = r->seed;
    for (int i = 0; i < 5000; i++) {
        x = x * 1664525 + 1013904223;
        size_t at = (size_t)x % r->n, got = 0, there = r->n - at < sizeof buf ? r->n - at : sizeof buf;
        if (tl_input_read(r->in, at, buf, sizeof buf, &got, NULL) < 0 || got != there ||
            memcmp(buf, r->data + at, there) != 0)
            r->wrong++;
    }
    return NULL;
}

static void test_threads_read_at_once(void **state)
{
    static const size_t size[] = {1000000, TL_INPUT_MEMORY + 1000000};
    for (size_t k = 0; k < 3; k++) {
        size_t n = size[k / 2];
        char *data = pattern(n);
        scratch_write("file", data, n);
        tl_input *in = k == 0 ? open_input("file") : open_pipe(data, n); /* file, memory, temporary file */
        reading r[4];
        for (unsigned i = 0; i < 4; i++) {
            r[i] = (reading){.in = in, .data = data, .n = n, .seed = i};
            assert_int_equal(pthread_create(&r[i].thread, NULL, reading_main, &r[i]), 0);
        }
        for (unsigned i = 0; i < 4; i++) {
            pthread_join(r[i].thread, NULL);
            assert_int_equal(r[i].wrong, 0);
        }
        tl_input_close(in);
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plain_file, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_small_files, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_file_that_cannot_be_opened, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_file_that_shrinks, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_file_that_grows_keeps_its_size, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_file_without_a_size, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_memory, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_pipe, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_pipe, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_no_room_for_a_large_pipe, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_standard_input, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_threads_read_at_once, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
