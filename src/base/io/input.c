/* Input: bytes at any offset. A plain regular file is read in place; everything else is spooled when it is opened, or,
 * where the caller wants that and it is possible, decompressed when it is read. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/io/input_impl.h"
#include "base/io/sparse.h"

_Static_assert(sizeof(off_t) == 8, "file offsets must have 64 bits");

#define PIPE_CHUNK ((size_t)1 << 18)

/* The bytes of a file descriptor in order, with the first ones looked at already. */
typedef struct raw {
    int fd;
    bool regular;
    uint64_t offset; /* of a regular file: where to read next */
    uint8_t head[TL_CODEC_HEAD];
    size_t head_n, head_at;
} raw;

const char *tl_input_name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

tl_input *tl_input_new(const char *path)
{
    size_t n = strlen(path) + 1;
    tl_input *in = calloc(1, sizeof *in + n);
    if (in) {
        in->fd = in->pipe = -1;
        tl_spool_init(&in->spool);
        memcpy(in->path, path, n);
    }
    return in;
}

/* Reads until n bytes or the end: how many, or -1 with errno. */
static int64_t raw_read_full(raw *r, void *buf, size_t n)
{
    if (r->regular) {
        int64_t got = tl_pread_full(r->fd, buf, n, r->offset);
        r->offset += got > 0 ? (uint64_t)got : 0;
        return got;
    }
    size_t sum = 0;
    while (sum < n) {
        ssize_t got = read(r->fd, (char *)buf + sum, n - sum);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        sum += (size_t)got;
    }
    return (int64_t)sum;
}

/* A tl_codec_source: first the head, then the rest. */
static int64_t raw_next(void *arg, void *buf, size_t n, tl_error *e)
{
    raw *r = arg;
    size_t head = r->head_n - r->head_at;
    if (head > n)
        head = n;
    memcpy(buf, r->head + r->head_at, head);
    r->head_at += head;
    if (r->head_n < sizeof r->head) /* the head was all there is */
        return (int64_t)head;
    int64_t got = raw_read_full(r, (char *)buf + head, n - head);
    if (got < 0)
        return tl_fail_errno(e, errno, "cannot be read");
    return (int64_t)head + got;
}

/* Copies a pipe as it is. */
static int spool_plain(tl_input *in, raw *r, tl_error *e)
{
    uint8_t *chunk = malloc(PIPE_CHUNK);
    if (!chunk)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a buffer of %zu bytes", PIPE_CHUNK);
    int64_t n;
    while ((n = raw_next(r, chunk, PIPE_CHUNK, e)) > 0) {
        int result = tl_spool_append(&in->spool, chunk, (size_t)n, e);
        if (result < 0) {
            n = result;
            break;
        }
    }
    free(chunk);
    return (int)n;
}

/* Compressed content that may be decompressed when it is read: 1, and in->lazy is set; 0: it has to be spooled. */
static int open_packed(tl_input *in, const tl_packed *p, tl_error *e)
{
    return in->codec == TL_CODEC_ZSTD ? tl_lazy_open(&in->lazy, p, e) : 0;
}

static int open_content(tl_input *in, int fd, bool lazy, tl_error *e)
{
    struct stat st;
    raw r = {.fd = fd};
    if (fstat(fd, &st) < 0)
        return tl_fail_errno(e, errno, "cannot be examined");
    if (S_ISDIR(st.st_mode))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "is a directory, expected a file");
    if (isatty(fd))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "is a terminal, expected a file or a pipe");

    /* Files that the kernel makes up (/proc) say 0 and have content: read them as a pipe. */
    off_t at = S_ISREG(st.st_mode) && st.st_size > 0 ? lseek(fd, 0, SEEK_CUR) : -1;
    if (at >= 0) {
        r.regular = true;
        r.offset = in->base = (uint64_t)at;
    }
    int64_t n = raw_read_full(&r, r.head, sizeof r.head);
    if (n < 0)
        return tl_fail_errno(e, errno, "cannot be read");
    r.head_n = (size_t)n;
    if (n > 0 && S_ISCHR(st.st_mode)) /* such as /dev/zero, which has no end; but /dev/null is just empty */
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "is a device, expected a file or a pipe");
    in->codec = tl_codec_probe(r.head, r.head_n);
    if (r.regular && tl_sparse_check(fd, e) < 0)
        return TL_ENOMEM;

    if (r.regular && in->codec == TL_CODEC_NONE) {
        in->fd = fd;
        in->size = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
        return 0;
    }
    int result = 0;
    if (lazy && r.regular && st.st_size > at) {
        const tl_packed p = {.fd = fd, .base = in->base, .size = (uint64_t)(st.st_size - at)};
        result = open_packed(in, &p, e);
    }
    if (result == 0)
        result = in->codec == TL_CODEC_NONE ? spool_plain(in, &r, e)
                                            : tl_decompress(in->codec, raw_next, &r, &in->spool, in->damage, e);
    in->size = in->damage_offset = in->spool.size;
    return result;
}

/* Takes the descriptor over, also on failure, unless it is that of standard input. */
static int open_fd(tl_input **out, int fd, bool keep_open, const char *path, bool lazy, tl_error *e)
{
    const char *name = tl_input_name_of(path);
    tl_input *in = tl_input_new(path);
    int result = in ? open_content(in, fd, lazy, e) : TL_ENOMEM;
    if (!in)
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open it", name);
    else if (result < 0 && e)
        tl_error_context(e, "%s", name);
    if (result < 0) {
        if (in)
            in->fd = -1;
        tl_input_close(in);
        if (!keep_open)
            close(fd);
        return result;
    }
    if (in->lazy && !keep_open)
        tl_lazy_own(in->lazy);
    else if (in->fd >= 0)
        in->close_fd = !keep_open;
    else if (!in->lazy && !keep_open)
        close(fd);
    *out = in;
    return 0;
}

static int open_path(tl_input **out, const char *path, bool lazy, tl_error *e)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? tl_fail_errno(e, errno, "%s", path) : open_fd(out, fd, is_stdin, path, lazy, e);
}

int tl_input_open(tl_input **out, const char *path, tl_error *e)
{
    return open_path(out, path, false, e);
}

int tl_input_open_lazy(tl_input **out, const char *path, tl_error *e)
{
    return open_path(out, path, true, e);
}

int tl_input_open_beside(tl_input **out, const char *path, tl_error *e)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return tl_fail_errno(e, errno, "%s", path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return open_fd(out, fd, false, path, true, e);
    close(fd);
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: is not a regular file", path);
}

int tl_input_open_lazy_file(tl_input **out, int fd, const char *path, tl_error *e)
{
    return open_fd(out, fd, false, path, true, e);
}

int tl_input_open_memory(tl_input **out, const void *data, size_t size, const char *path, tl_error *e)
{
    tl_input *in = tl_input_new(path);
    if (!in)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open it", path);
    in->borrowed = data ? data : (const uint8_t *)in->path; /* nothing is never read */
    in->size = size;
    *out = in;
    return 0;
}

/* A tl_codec_source. */
static int64_t memory_next(void *arg, void *buf, size_t n, tl_error *e)
{
    tl_packed *p = arg;
    const int64_t got = tl_packed_read(p, p->base, buf, n, e);
    p->base += (uint64_t)got;
    return got;
}

int tl_input_open_lazy_memory(tl_input **out, const void *data, size_t size, const char *path, tl_error *e)
{
    tl_input *in = NULL;
    tl_packed p = {.data = data, .fd = -1, .size = size};
    int result = tl_input_open_memory(&in, data, size, path, e);
    if (!in)
        return result;
    in->codec = tl_codec_probe(in->borrowed, size < TL_CODEC_HEAD ? size : TL_CODEC_HEAD);
    if (in->codec != TL_CODEC_NONE) {
        in->borrowed = NULL;
        result = open_packed(in, &p, e);
        if (result == 0)
            result = tl_decompress(in->codec, memory_next, &p, &in->spool, in->damage, e);
        in->size = in->damage_offset = in->spool.size;
    }
    if (result < 0) {
        tl_input_close(in);
        return e ? tl_error_context(e, "%s", tl_input_name_of(path)) : result;
    }
    *out = in;
    return 0;
}

int tl_input_settle(tl_input *in, tl_error *e)
{
    if (!in->lazy)
        return 0;
    const int result = tl_lazy_spool(in->lazy, &in->spool, in->damage, e);
    if (result < 0)
        return result;
    tl_lazy_close(in->lazy);
    in->lazy = NULL;
    in->size = in->damage_offset = in->spool.size;
    return 0;
}

int tl_input_open_file(tl_input **out, int fd, const char *path, tl_error *e)
{
    struct stat st;
    tl_input *in = NULL;
    int result = 0;
    if (fstat(fd, &st) < 0)
        result = tl_fail_errno(e, errno, "%s: cannot be examined", path);
    else if (!S_ISREG(st.st_mode))
        result = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: is not a regular file", path);
    else if (tl_sparse_check(fd, e) < 0)
        result = e ? tl_error_context(e, "%s", path) : TL_ENOMEM;
    else if (!(in = tl_input_new(path)))
        result = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open it", path);
    if (!in) {
        close(fd);
        return result;
    }
    in->fd = fd;
    in->close_fd = true;
    in->size = (uint64_t)st.st_size;
    *out = in;
    return 0;
}

void tl_input_close(tl_input *in)
{
    if (!in)
        return;
    tl_lazy_close(in->lazy);
    tl_spool_fini(&in->spool);
    if (in->close_fd)
        close(in->fd >= 0 ? in->fd : in->pipe);
    free(in);
}

const char *tl_input_path(const tl_input *in)
{
    return in->path;
}

const char *tl_input_name(const tl_input *in)
{
    return tl_input_name_of(in->path);
}

uint64_t tl_input_size(const tl_input *in)
{
    return in->lazy ? tl_lazy_size(in->lazy) : in->size;
}

const char *tl_input_damage(const tl_input *in, uint64_t *offset)
{
    if (in->lazy)
        return tl_lazy_damage(in->lazy, offset);
    if (in->damage[0] == '\0')
        return NULL;
    if (offset)
        *offset = in->damage_offset;
    return in->damage;
}

void tl_input_look_again(tl_input *in)
{
    struct stat st;
    if (in->fd >= 0 && !in->lazy && fstat(in->fd, &st) == 0 && (uint64_t)st.st_size > in->base + in->size)
        in->size = (uint64_t)st.st_size - in->base;
}

int tl_input_read(tl_input *in, uint64_t offset, void *buf, size_t n, size_t *got, tl_error *e)
{
    if (in->lazy)
        return tl_lazy_read(in->lazy, offset, buf, n, got, e);
    if (offset >= in->size)
        n = 0;
    else if (n > in->size - offset)
        n = (size_t)(in->size - offset);

    if (n == 0) {
        /* the end */
    } else if (in->borrowed) {
        memcpy(buf, in->borrowed + (size_t)offset, n);
    } else if (in->fd >= 0) {
        int64_t r = tl_pread_full(in->fd, buf, n, in->base + offset);
        if (r < 0)
            return tl_fail_errno(e, errno, "cannot be read");
        if ((size_t)r < n && !in->follows)
            return tl_fail(e, TL_EIO, offset + (uint64_t)r, "the file became shorter while it was read");
        n = (size_t)r;
    } else {
        int result = tl_spool_read(&in->spool, offset, buf, n, e);
        if (result < 0)
            return result;
    }
    *got = n;
    return 0;
}

uint32_t tl_input_frames(const tl_input *in)
{
    return in->lazy ? tl_lazy_frames(in->lazy)->n : 0;
}

int tl_input_note(const tl_input *in, uint32_t magic, void **data, size_t *n, tl_error *e)
{
    return in->lazy ? tl_lazy_note(in->lazy, magic, data, n, e) : 0;
}
