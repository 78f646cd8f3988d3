/* Tests of base/io/output.h on standard output and pipes: what is written if other processes fail or are slow. */
#include "output_check.h"

/* Standard output for the time of a test. */
static int replace_stdout(int fd)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    return saved;
}

static void restore_stdout(int saved)
{
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

static void test_standard_output(void **state)
{
    int saved = replace_stdout(open("out", O_RDWR | O_CREAT, 0600));
    bool wrote = write(STDOUT_FILENO, "before ", 7) == 7;
    tl_output *o = open_plain("-", false);
    bool patchable = tl_output_can_patch(o);
    tl_output_puts(o, "XXXXX world");
    int patched = tl_output_patch(o, 0, "hello", 5, NULL), r = tl_output_finish(o, NULL);
    tl_output_close(o);
    bool still_open = write(STDOUT_FILENO, " after", 6) == 6;
    restore_stdout(saved);
    assert_true(wrote && patchable && still_open);
    assert_int_equal(patched, 0);
    assert_int_equal(r, 0);
    check_content("out", "before hello world after", 24);
}

/* A file in append mode cannot be patched: pwrite() would append, too. */
static void test_standard_output_that_appends(void **state)
{
    int saved = replace_stdout(open("out", O_WRONLY | O_CREAT | O_APPEND, 0600));
    tl_output *o = open_plain("-", false);
    bool patchable = tl_output_can_patch(o);
    tl_output_puts(o, "x");
    int r = tl_output_patch(o, 0, "y", 1, NULL);
    tl_output_close(o);
    restore_stdout(saved);
    assert_false(patchable);
    assert_int_equal(r, TL_EUNSUPPORTED);
}

static void test_closed_pipe(void **state)
{
    int end[2];
    tl_error e;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(end), 0);
    close(end[0]);
    int saved = replace_stdout(end[1]);
    tl_output *o = open_plain("-", false);
    tl_output_puts(o, "nobody reads this");
    int r = tl_output_finish(o, &e);
    tl_output_close(o);
    restore_stdout(saved);
    assert_int_equal(r, TL_EIO);
    assert_int_equal(e.sys_errno, EPIPE);
    assert_string_equal(e.message, "standard output: Broken pipe");
}

static void *drain_slowly(void *arg)
{
    int fd = *(int *)arg;
    static char sink[100000];
    size_t sum = 0;
    for (ssize_t n; (n = read(fd, sink, sizeof sink)) > 0; sum += (size_t)n)
        usleep(1000);
    *(size_t *)sink = sum;
    return sink;
}

/* A pipe takes part of a write, and a non-blocking one refuses the rest. */
static void test_short_writes(void **state)
{
    int end[2];
    pthread_t reader;
    void *sum;
    char *data = pattern(2000000);
    assert_int_equal(pipe(end), 0);
    assert_int_equal(pthread_create(&reader, NULL, drain_slowly, &end[0]), 0);
    fcntl(end[1], F_SETFL, O_NONBLOCK);
    int saved = replace_stdout(end[1]);
    tl_output *o = open_plain("-", false);
    tl_output_write(o, data, 2000000);
    int r = tl_output_finish(o, NULL);
    tl_output_close(o);
    restore_stdout(saved);
    pthread_join(reader, &sum);
    close(end[0]);
    assert_int_equal(r, 0);
    assert_int_equal(*(size_t *)sum, 2000000);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_standard_output, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_standard_output_that_appends, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_closed_pipe, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_short_writes, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
