/* Content that is still being written: a growing regular file, or a pipe read as data arrives. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io/input_impl.h"

/* The usual capacity of a pipe. */
#define PIPE_CHUNK ((size_t)1 << 16)
/* Intervals of checks of a file, in ms: short enough for people, long enough to cost nothing. */
enum { LOOK_FIRST = 1, LOOK_SELDOM = 20 };

/* Checks for compression once there are enough bytes. */
static int refuse_compressed(tl_input *in, tl_error *e)
{
    uint8_t head[TL_CODEC_HEAD];
    size_t got = 0;
    if (in->plain || in->size == 0)
        return 0;
    int r = tl_input_read(in, 0, head, sizeof head, &got, e);
    if (r < 0)
        return r;
    in->codec = tl_codec_probe(head, got);
    if (in->codec != TL_CODEC_NONE)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "the content is compressed (%s): only plain content can be followed", tl_codec_name(in->codec));
    in->plain = got == sizeof head;
    return 0;
}

static int open_content(tl_input *in, int fd, tl_error *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return tl_fail_errno(e, errno, "cannot be examined");
    if (S_ISDIR(st.st_mode))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "is a directory, expected a file");
    const off_t at = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    if (at < 0) {
        in->pipe = fd;
        return 0;
    }
    in->fd = fd;
    in->base = (uint64_t)at;
    in->size = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
    return refuse_compressed(in, e);
}

int tl_input_open_follow(tl_input **out, const char *path, tl_error *e)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return tl_fail_errno(e, errno, "%s", path);
    tl_input *in = tl_input_new(path);
    if (!in) {
        if (!is_stdin)
            close(fd);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open it", tl_input_name_of(path));
    }
    in->follows = true;
    in->close_fd = !is_stdin;
    int result = open_content(in, fd, e);
    if (result < 0) {
        if (in->fd < 0 && in->pipe < 0)
            in->pipe = fd;
        tl_input_close(in);
        return e ? tl_error_context(e, "%s", tl_input_name_of(path)) : result;
    }
    *out = in;
    return 0;
}

bool tl_input_follows(const tl_input *in)
{
    return in->follows;
}

/* Gets the current size. A file that became shorter was rewritten: new content does not continue the old. */
static int look(tl_input *in, tl_error *e)
{
    struct stat st;
    if (fstat(in->fd, &st) < 0)
        return tl_fail_errno(e, errno, "cannot be examined");
    const uint64_t end = st.st_size > 0 ? (uint64_t)st.st_size : 0, size = end > in->base ? end - in->base : 0;
    if (size < in->size) {
        snprintf(in->damage, sizeof in->damage,
                 "the file became shorter while it was followed: %" PRIu64 " bytes, %" PRIu64 " before", size,
                 in->size);
        in->damage_offset = size;
        in->ended = true;
        return 0;
    }
    in->size = size;
    return 0;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int wait_for_file(tl_input *in, uint64_t size_known, unsigned timeout_ms, tl_error *e)
{
    const uint64_t until = now_ms() + timeout_ms;
    unsigned pause = LOOK_FIRST;
    for (;;) {
        int r = look(in, e);
        const uint64_t now = now_ms();
        if (r < 0 || in->ended || in->size > size_known || now >= until)
            return r;
        const uint64_t nap = pause < until - now ? pause : until - now;
        const struct timespec ts = {.tv_nsec = (long)nap * 1000000};
        if (nanosleep(&ts, NULL) < 0) /* a signal: the caller decides what it means */
            return 0;
        pause = pause < LOOK_SELDOM ? pause * 2 : LOOK_SELDOM;
    }
}

/* Reads everything in the pipe. */
static int drain(tl_input *in, tl_error *e)
{
    uint8_t chunk[4096];
    for (size_t sum = 0; sum < PIPE_CHUNK;) {
        struct pollfd ready = {.fd = in->pipe, .events = POLLIN};
        if (sum > 0 && poll(&ready, 1, 0) <= 0)
            return 0;
        ssize_t n = read(in->pipe, chunk, sizeof chunk);
        if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n < 0)
            return tl_fail_errno(e, errno, "cannot be read");
        if (n == 0) {
            in->ended = true;
            return 0;
        }
        int r = tl_spool_append(&in->spool, chunk, (size_t)n, e);
        if (r < 0)
            return r;
        in->size = in->spool.size;
        sum += (size_t)n;
    }
    return 0;
}

static int wait_for_pipe(tl_input *in, uint64_t size_known, unsigned timeout_ms, tl_error *e)
{
    const uint64_t until = now_ms() + timeout_ms;
    for (;;) {
        const uint64_t now = now_ms(), left = now < until ? until - now : 0;
        struct pollfd ready = {.fd = in->pipe, .events = POLLIN};
        const int n = poll(&ready, 1, left < INT32_MAX ? (int)left : INT32_MAX);
        if (n < 0 && errno != EINTR)
            return tl_fail_errno(e, errno, "cannot be waited for");
        if (n < 0)
            return 0; /* a signal: the caller decides what it means */
        int r = n > 0 ? drain(in, e) : 0;
        if (r < 0 || in->ended || in->size > size_known || left == 0)
            return r;
    }
}

int tl_input_wait(tl_input *in, uint64_t size_known, unsigned timeout_ms, bool *ended, tl_error *e)
{
    int r = 0;
    if (!in->follows)
        in->ended = true;
    if (!in->ended && in->size <= size_known) {
        r = in->fd >= 0 ? wait_for_file(in, size_known, timeout_ms, e) : wait_for_pipe(in, size_known, timeout_ms, e);
        if (r == 0)
            r = refuse_compressed(in, e);
    }
    if (r == 0)
        *ended = in->ended;
    return r;
}
