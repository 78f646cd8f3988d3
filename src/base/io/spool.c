/* Spool: memory first, then an unlinked temporary file. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/io/input.h"

_Static_assert(sizeof(off_t) == 8, "file offsets must have 64 bits");

void tl_spool_init(tl_spool *s)
{
    *s = (tl_spool){.fd = -1};
}

void tl_spool_fini(tl_spool *s)
{
    free(s->memory);
    if (s->fd >= 0)
        close(s->fd);
    tl_spool_init(s);
}

int64_t tl_pread_full(int fd, void *buf, size_t n, uint64_t offset)
{
    size_t got = 0;
    while (got < n && offset + got <= INT64_MAX) {
        ssize_t r = pread(fd, (char *)buf + got, n - got, (off_t)(offset + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (int64_t)got;
}

/* A nameless file in the directory, or -1 with errno. Some file systems have no O_TMPFILE. */
static int open_nameless(const char *directory)
{
#ifdef O_TMPFILE
    int nameless = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (nameless >= 0)
        return nameless;
#endif
    static const char name[] = "/traceloom.XXXXXX";
    size_t n = strlen(directory);
    char *path = malloc(n + sizeof name);
    if (!path) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(path, directory, n);
    memcpy(path + n, name, sizeof name);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    int saved = errno;
    free(path);
    errno = saved;
    return fd;
}

static int open_file(tl_spool *s, tl_error *e)
{
    const char *wanted = getenv("TMPDIR");
    if (wanted && *wanted) {
        s->directory = wanted;
        s->fd = open_nameless(wanted);
    } else {
        s->directory = "/var/tmp";
        s->fd = open_nameless(s->directory);
        if (s->fd < 0) {
            s->directory = "/tmp";
            s->fd = open_nameless(s->directory);
        }
    }
    if (s->fd < 0)
        return tl_fail_errno(e, errno, "cannot make a temporary file in %s", s->directory);
    return 0;
}

static int write_file(tl_spool *s, const void *data, size_t n, tl_error *e)
{
    const char *p = data;
    while (n > 0) {
        ssize_t r = write(s->fd, p, n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return tl_fail_errno(e, errno, "cannot keep the content in a temporary file in %s", s->directory);
        p += r;
        n -= (size_t)r;
        s->size += (uint64_t)r;
    }
    return 0;
}

/* Moves the memory's content to a file. */
static int spill(tl_spool *s, tl_error *e)
{
    size_t n = (size_t)s->size;
    int r = open_file(s, e);
    if (r < 0)
        return r;
    s->size = 0;
    r = write_file(s, s->memory, n, e);
    free(s->memory);
    s->memory = NULL;
    s->capacity = 0;
    return r;
}

int tl_spool_append(tl_spool *s, const void *data, size_t n, tl_error *e)
{
    if (n == 0)
        return 0;
    if (s->fd < 0 && n > TL_INPUT_MEMORY - s->size) {
        int r = spill(s, e);
        if (r < 0)
            return r;
    }
    if (s->fd >= 0)
        return write_file(s, data, n, e);

    if (!TL_GROW(s->memory, (size_t)s->size, n, s->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for content beyond %" PRIu64 " bytes", s->size);
    memcpy(s->memory + s->size, data, n);
    s->size += n;
    return 0;
}

int tl_spool_read(const tl_spool *s, uint64_t offset, void *buf, size_t n, tl_error *e)
{
    if (n == 0)
        return 0;
    if (s->fd < 0) {
        memcpy(buf, s->memory + (size_t)offset, n);
        return 0;
    }
    int64_t got = tl_pread_full(s->fd, buf, n, offset);
    if (got < 0)
        return tl_fail_errno(e, errno, "cannot read the temporary file in %s", s->directory);
    if ((uint64_t)got < n)
        return tl_fail(e, TL_EIO, offset, "the temporary file in %s was truncated by somebody else", s->directory);
    return 0;
}
