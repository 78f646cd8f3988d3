/* Tests of inputs that are still being written: growing files, and pipes read as data arrives. */
#include <errno.h>
#include <sys/time.h>
#include <time.h>

#include "input_check.h"
#include "input_inside.h"

enum { LONG = 20000 }; /* ms: no test waits that long unless something is wrong */

static tl_input *follow(const char *path)
{
    tl_input *in = NULL;
    tl_error e;
    must(tl_input_open_follow(&in, path, &e), &e);
    assert_true(tl_input_follows(in));
    return in;
}

static bool wait_more(tl_input *in, uint64_t known, unsigned ms)
{
    tl_error e;
    bool ended = !known;
    must(tl_input_wait(in, known, ms, &ended, &e), &e);
    return ended;
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void check_content(tl_input *in, const char *expected)
{
    size_t n;
    char *text = content(in, &n);
    assert_string_equal(text, expected);
    free(text);
}

static uint64_t ms_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void test_file_that_grows(void **state)
{
    scratch_write("log", "", 0);
    tl_input *in = follow("log");
    assert_string_equal(tl_input_path(in), "log");
    assert_null(input_compression(in));
    assert_int_equal(tl_input_size(in), 0);
    assert_false(wait_more(in, 0, 0));
    append("log", "one\nt");
    assert_int_equal(tl_input_size(in), 0); /* not before a wait */
    assert_false(wait_more(in, 0, LONG));
    check_content(in, "one\nt");
    append("log", "wo\n");
    assert_false(wait_more(in, 2, LONG)); /* that many are known already */
    assert_int_equal(tl_input_size(in), 5);
    assert_false(wait_more(in, 5, LONG));
    check_content(in, "one\ntwo\n");
    assert_null(tl_input_damage(in, NULL));
    tl_input_close(in);
}

static void test_waiting_takes_as_long_as_told(void **state)
{
    scratch_write("log", "abc", 3);
    tl_input *in = follow("log");
    assert_int_equal(tl_input_size(in), 3);
    const uint64_t begin = ms_now();
    assert_false(wait_more(in, 3, 60));
    assert_true(ms_now() - begin >= 59);
    assert_int_equal(tl_input_size(in), 3);
    tl_input_close(in);
}

static void test_file_that_becomes_shorter_has_ended(void **state)
{
    char buf[20];
    size_t got;
    uint64_t offset = 0;
    scratch_write("log", "0123456789", 10);
    tl_input *in = follow("log");
    assert_int_equal(truncate("log", 4), 0);
    assert_true(wait_more(in, 10, LONG));
    assert_string_equal(tl_input_damage(in, &offset),
                        "the file became shorter while it was followed: 4 bytes, 10 before");
    assert_int_equal(offset, 4);
    assert_int_equal(tl_input_read(in, 0, buf, sizeof buf, &got, NULL), 0);
    assert_int_equal(got, 4);
    append("log", "more than there ever was");
    assert_true(wait_more(in, 10, LONG)); /* ended stays ended */
    tl_input_close(in);
}

/* Standard input may have been read from before. */
static void test_standard_input_is_followed_from_where_it_stands(void **state)
{
    scratch_write("log", "header\nrest", 11);
    const int saved = dup(STDIN_FILENO), fd = open("log", O_RDONLY);
    assert_true(lseek(fd, 7, SEEK_SET) == 7);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    tl_input *in = follow("-");
    assert_string_equal(tl_input_name(in), "standard input");
    check_content(in, "rest");
    append("log", " of it");
    assert_false(wait_more(in, 4, LONG));
    check_content(in, "rest of it");
    tl_input_close(in);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* stays open */
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

/* A named pipe, both ends in one thread: opening it for reading and writing does not block on Linux. */
static int make_pipe(void)
{
    assert_int_equal(mkfifo("pipe", 0600), 0);
    const int fd = open("pipe", O_RDWR);
    assert_true(fd >= 0);
    return fd;
}

static void test_pipe_is_read_as_it_comes(void **state)
{
    const int fd = make_pipe();
    tl_input *in = follow("pipe");
    assert_int_equal(tl_input_size(in), 0);
    assert_false(wait_more(in, 0, 1));
    assert_int_equal(write(fd, "one\nt", 5), 5);
    assert_false(wait_more(in, 0, LONG));
    check_content(in, "one\nt");
    assert_int_equal(write(fd, "wo\n", 3), 3);
    assert_false(wait_more(in, 5, LONG));
    check_content(in, "one\ntwo\n");
    assert_int_equal(write(fd, "!", 1), 1);
    close(fd);
    for (bool ended = false; !ended;) /* the last byte may come with the end or before it */
        ended = wait_more(in, tl_input_size(in), LONG);
    check_content(in, "one\ntwo\n!");
    assert_true(wait_more(in, 9, LONG));
    assert_null(tl_input_damage(in, NULL));
    tl_input_close(in);
}

static void test_large_pipe(void **state)
{
    enum { N = 3 * TL_INPUT_MEMORY / 2 }; /* part of it goes to a temporary file */
    char *data = pattern(N);
    feed f;
    feed_start(&f, data, N);
    tl_input *in = follow("fifo");
    for (bool ended = false; !ended;)
        ended = wait_more(in, tl_input_size(in), LONG);
    pthread_join(f.thread, NULL);
    check_reads(in, data, N);
    tl_input_close(in);
    free(data);
}

static void on_alarm(int number)
{
    (void)number;
}

static void check_interrupted(const char *path)
{
    struct sigaction act = {.sa_handler = on_alarm}, before;
    tl_input *in = follow(path);
    const uint64_t begin = ms_now();
    sigaction(SIGALRM, &act, &before);
    /* again and again: on a busy machine the first may come before waiting begins */
    const struct itimerval each = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1}, never = {.it_value.tv_sec = 0};
    setitimer(ITIMER_REAL, &each, NULL);
    assert_false(wait_more(in, 0, LONG));
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    assert_true(ms_now() - begin < LONG / 2);
    tl_input_close(in);
}

static void test_a_signal_ends_waiting(void **state)
{
    const int fd = make_pipe();
    scratch_write("log", "", 0);
    check_interrupted("log");
    check_interrupted("pipe");
    close(fd);
}

static void test_compressed_content_is_refused(void **state)
{
    static const char gzip[] = "\x1f\x8b\x08\0\0\0\0\0\0\3rest";
    tl_input *in = NULL;
    tl_error e;
    bool ended;
    scratch_write("log.gz", gzip, sizeof gzip);
    assert_int_equal(tl_input_open_follow(&in, "log.gz", &e), TL_EUNSUPPORTED);
    assert_string_equal(e.message, "log.gz: the content is compressed (gzip): only plain content can be followed");
    const int fd = make_pipe();
    in = follow("pipe");
    assert_int_equal(write(fd, gzip, sizeof gzip), sizeof gzip);
    assert_int_equal(tl_input_wait(in, 0, LONG, &ended, &e), TL_EUNSUPPORTED);
    tl_input_close(in);
    /* Byte by byte: the wait ends when there are enough. */
    in = follow("pipe");
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof gzip; i++) {
        assert_int_equal(write(fd, gzip + i, 1), 1);
        r = tl_input_wait(in, i, LONG, &ended, &e);
    }
    assert_int_equal(r, TL_EUNSUPPORTED);
    tl_input_close(in);
    close(fd);
}

static void test_what_cannot_be_opened(void **state)
{
    tl_input *in = NULL;
    tl_error e;
    assert_int_equal(tl_input_open_follow(&in, "no.such", &e), TL_EIO);
    assert_string_equal(e.message, "no.such: No such file or directory");
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(tl_input_open_follow(&in, "dir", &e), TL_EUNSUPPORTED);
    assert_string_equal(e.message, "dir: is a directory, expected a file");
    assert_int_equal(tl_input_open_follow(&in, "dir", NULL), TL_EUNSUPPORTED);
    assert_null(in);
}

static void test_other_inputs_have_ended(void **state)
{
    bool ended = false;
    scratch_write("log", "abc", 3);
    tl_input *in = open_input("log");
    assert_false(tl_input_follows(in));
    append("log", "def");
    assert_int_equal(tl_input_wait(in, 3, LONG, &ended, NULL), 0);
    assert_true(ended);
    assert_int_equal(tl_input_size(in), 3);
    tl_input_close(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_file_that_grows, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_waiting_takes_as_long_as_told, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_file_that_becomes_shorter_has_ended, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_standard_input_is_followed_from_where_it_stands, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test_setup_teardown(test_pipe_is_read_as_it_comes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_pipe, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_signal_ends_waiting, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_compressed_content_is_refused, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_opened, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_other_inputs_have_ended, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
