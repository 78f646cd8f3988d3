/* Inputs to test with: files and pipes, and reads at all places. Needs a directory from scratch.h. */
#ifndef TL_TEST_INPUT_CHECK_H
#define TL_TEST_INPUT_CHECK_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/io/input.h"
#include "check.h"
#include "scratch.h"

static inline tl_input *open_input(const char *path)
{
    tl_input *in = NULL;
    tl_error e;
    must(tl_input_open(&in, path, &e), &e);
    return in;
}

/* The whole content, terminated; the size in *n. */
static inline char *content(tl_input *in, size_t *n)
{
    size_t size = (size_t)tl_input_size(in);
    char *p = malloc(size + 1);
    tl_error e;
    must(tl_input_read(in, 0, p, size, n, &e), &e);
    assert_int_equal(*n, size);
    p[size] = '\0';
    return p;
}

/* Reads at the beginning, at the end, beyond it, and in between. */
static inline void check_reads(tl_input *in, const char *data, size_t n)
{
    char *buf = malloc(n + 100);
    size_t got;
    assert_int_equal(tl_input_size(in), n);
    for (size_t i = 0; i < 50; i++) {
        size_t at = n * i / 49, want = (i * 7919) % 100000, there = n - at < want ? n - at : want;
        memset(buf, '#', there + 1);
        assert_int_equal(tl_input_read(in, at, buf, want < n + 100 ? want : n + 100, &got, NULL), 0);
        assert_int_equal(got, there);
        assert_memory_equal(buf, data + at, there);
        assert_int_equal(buf[there], '#');
    }
    assert_int_equal(tl_input_read(in, 0, buf, n + 100, &got, NULL), 0);
    assert_int_equal(got, n);
    assert_memory_equal(buf, data, n);
    static const uint64_t beyond[] = {0, 1, 1u << 30, (uint64_t)1 << 40, UINT64_MAX / 2, UINT64_MAX - 50};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        uint64_t at = beyond[i] > UINT64_MAX - n ? UINT64_MAX : n + beyond[i];
        assert_int_equal(tl_input_read(in, at, buf, 100, &got, NULL), 0);
        assert_int_equal(got, 0);
    }
    free(buf);
}

/* n bytes that look random; belong to the caller. */
static inline char *pattern(size_t n)
{
    char *p = malloc(n + 1);
    uint32_t x = 777;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        p[i] = (char)(x >> 24);
    }
    return p;
}

/* Feeds a named pipe in uneven pieces. */
typedef struct feed {
    const char *data;
    size_t n;
    pthread_t thread;
} feed;

static inline void *feed_main(void *arg)
{
    feed *f = arg;
    int fd = open("fifo", O_WRONLY);
    for (size_t at = 0, step = 1; at < f->n;) {
        step = step * 13 % 65521;
        ssize_t n = write(fd, f->data + at, step < f->n - at ? step : f->n - at);
        if (n < 0)
            break;
        at += (size_t)n;
    }
    close(fd);
    return NULL;
}

static inline void feed_start(feed *f, const void *data, size_t n)
{
    signal(SIGPIPE, SIG_IGN);
    if (access("fifo", F_OK) < 0)
        assert_int_equal(mkfifo("fifo", 0600), 0);
    f->data = data;
    f->n = n;
    assert_int_equal(pthread_create(&f->thread, NULL, feed_main, f), 0);
}

static inline tl_input *open_pipe(const void *data, size_t n)
{
    feed f;
    feed_start(&f, data, n);
    tl_input *in = open_input("fifo");
    pthread_join(f.thread, NULL);
    return in;
}

#endif
