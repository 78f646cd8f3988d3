/* Where output goes. A file is created beside its target without a name, or with a temporary one if the file system has
 * no nameless files; it gets its own name when complete. Devices and pipes are written directly. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/io/output_target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/io/name_beside.h"

_Static_assert(sizeof(off_t) == 8, "file offsets must have 64 bits");

static int no_memory(tl_error *e, const char *path)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open it", path);
}

/* Links the open file to `name`, which must not exist. */
static int link_nameless(const tl_target *t, const char *name)
{
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", t->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* open() heeds umask and the directory's access control list; mkstemp() would make a file of mode 0600. */
static int create_named(tl_target *t)
{
    t->fd = open(t->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    return t->fd < 0 ? -1 : 0;
}

/* Finds a free name beside the target: for a file to be created, or for the nameless one. */
static int take_temporary_name(tl_target *t, tl_error *e)
{
    t->temporary = tl_name_beside(t->real_path);
    if (!t->temporary)
        return no_memory(e, t->path);
    int error = EEXIST;
    for (unsigned try = 0; try < TL_NAME_TRIES && error == EEXIST; try++) {
        tl_name_try(t->temporary, try);
        if ((t->nameless ? link_nameless(t, t->temporary) : create_named(t)) == 0)
            return 0;
        error = errno;
    }
    free(t->temporary);
    t->temporary = NULL;
    return tl_fail_beside(e, error, t->path, t->real_path, "file");
}

/* Creates a nameless file in the target's directory; false if that is impossible, or if it could not be named later. */
static bool create_nameless(tl_target *t)
{
#ifdef O_TMPFILE
    const char *slash = strrchr(t->real_path, '/');
    char *directory =
        slash ? strndup(t->real_path, slash == t->real_path ? 1 : (size_t)(slash - t->real_path)) : strdup(".");
    if (directory && access("/proc/self/fd", X_OK) == 0)
        t->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(directory);
#endif
    t->nameless = t->fd >= 0;
    return t->nameless;
}

/* Opens a file that is to appear (st is NULL) or to be replaced. */
static int open_by_rename(tl_target *t, const struct stat *st, tl_error *e)
{
    /* A symbolic link stays: its target is replaced. */
    t->real_path = st ? realpath(t->path, NULL) : NULL;
    if (!t->real_path)
        t->real_path = strdup(t->path);
    if (!t->real_path)
        return no_memory(e, t->path);
    int r = create_nameless(t) ? 0 : take_temporary_name(t, e);
    if (r < 0)
        return r;
    /* Writing to an existing file keeps its mode; so does replacing it. A failure does not matter. */
    if (st)
        (void)fchmod(t->fd, st->st_mode & 0777);
    t->seekable = true;
    return 0;
}

static int open_in_place(tl_target *t, tl_error *e)
{
    do
        t->fd = open(t->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (t->fd < 0 && errno == EINTR);
    return t->fd < 0 ? tl_fail_errno(e, errno, "%s", t->path) : 0;
}

/* Standard output belongs to the caller; if it is a regular file it can be patched, unless it only appends. */
static void use_stdout(tl_target *t)
{
    struct stat st;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    t->fd = STDOUT_FILENO;
    t->is_stdout = true;
    if (fstat(t->fd, &st) < 0 || !S_ISREG(st.st_mode) || flags < 0 || (flags & O_APPEND))
        return;
    off_t at = lseek(t->fd, 0, SEEK_CUR);
    t->seekable = at >= 0;
    t->base = at >= 0 ? (uint64_t)at : 0;
}

int tl_target_open(tl_target *t, const char *path, bool overwrite, tl_error *e)
{
    bool is_stdout = strcmp(path, "-") == 0;
    struct stat st;
    int r = 0;

    *t = (tl_target){.fd = -1, .overwrite = overwrite};
    t->path = strdup(is_stdout ? "standard output" : path);
    if (!t->path)
        return no_memory(e, path);

    if (is_stdout)
        use_stdout(t);
    else if (*path == '\0')
        r = tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "the name of an output file is empty");
    else if (stat(path, &st) == 0)
        if (S_ISDIR(st.st_mode))
            r = tl_fail_errno(e, EISDIR, "%s", path);
        else if (!S_ISREG(st.st_mode))
            r = open_in_place(t, e);
        else if (!overwrite)
            r = tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s: the file exists", path);
        else
            r = open_by_rename(t, &st, e);
    else if (lstat(path, &st) == 0 && !overwrite)
        r = tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s: a symbolic link of this name exists", path);
    else
        r = open_by_rename(t, NULL, e);

    if (r < 0)
        tl_target_close(t);
    return r;
}

void tl_target_open_memory(tl_target *t)
{
    *t = (tl_target){.fd = -1, .seekable = true};
}

static int write_memory(tl_target *t, const void *data, size_t n, tl_error *e)
{
    if (!TL_GROW(t->memory, t->n, n, t->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for output beyond %zu bytes", t->n);
    memcpy(t->memory + t->n, data, n);
    t->n += n;
    return 0;
}

int tl_target_write(tl_target *t, const void *data, size_t n, tl_error *e)
{
    const char *p = data;
    if (n == 0)
        return 0;
    if (!t->path)
        return write_memory(t, data, n, e);
    while (n > 0) {
        ssize_t r = write(t->fd, p, n < INT_MAX ? n : INT_MAX);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            /* Our standard output may be non-blocking: wait here. */
            struct pollfd ready = {.fd = t->fd, .events = POLLOUT};
            poll(&ready, 1, -1);
            continue;
        }
        if (r < 0)
            return tl_fail_errno(e, errno, "%s", t->path);
        p += r;
        n -= (size_t)r;
    }
    return 0;
}

int tl_target_patch(tl_target *t, uint64_t offset, const void *data, size_t n, tl_error *e)
{
    const char *p = data;
    if (!t->path) {
        memcpy(t->memory + (size_t)offset, data, n);
        return 0;
    }
    offset += t->base;
    while (n > 0) {
        ssize_t r = pwrite(t->fd, p, n < INT_MAX ? n : INT_MAX, (off_t)offset);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return tl_fail_errno(e, errno, "%s", t->path);
        p += r;
        offset += (uint64_t)r;
        n -= (size_t)r;
    }
    return 0;
}

/* Gives the file its name. Without overwrite, by link(), which fails if the name was taken meanwhile; some file systems
 * have no hard links. */
static int give_name(tl_target *t, tl_error *e)
{
    if (!t->overwrite) {
        if ((t->nameless ? link_nameless(t, t->real_path) : link(t->temporary, t->real_path)) == 0) {
            if (t->temporary)
                unlink(t->temporary);
            return 0;
        }
        if (errno == EEXIST)
            return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s: the file exists: it was created while this one was written",
                           t->path);
        struct stat st;
        if (lstat(t->real_path, &st) == 0)
            return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s: the file exists", t->path);
    }
    if (t->nameless) {
        int r = take_temporary_name(t, e);
        if (r < 0)
            return r;
    }
    if (rename(t->temporary, t->real_path) < 0)
        return tl_fail_errno(e, errno, "%s: cannot rename the complete file", t->path);
    return 0;
}

int tl_target_finish(tl_target *t, tl_error *e)
{
    int r = 0;
    if (!t->path || t->is_stdout)
        return 0;
    /* Some file systems report a full device only on close, which deletes a nameless file: a second descriptor keeps
     * it. EINTR: it is closed nevertheless. */
    int keep = t->nameless ? fcntl(t->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (t->nameless && keep < 0)
        r = tl_fail_errno(e, errno, "%s", t->path);
    if (close(t->fd) < 0 && errno != EINTR && r == 0)
        r = tl_fail_errno(e, errno, "%s", t->path);
    t->fd = keep;
    if (r == 0 && (t->temporary || t->nameless))
        r = give_name(t, e);
    if (r < 0 && t->temporary)
        unlink(t->temporary);
    if (keep >= 0)
        close(keep);
    t->fd = -1;
    free(t->temporary);
    t->temporary = NULL;
    return r;
}

void tl_target_close(tl_target *t)
{
    if (t->fd >= 0 && !t->is_stdout)
        close(t->fd);
    if (t->temporary) {
        unlink(t->temporary);
        free(t->temporary);
    }
    free(t->real_path);
    free(t->path);
    free(t->memory);
    *t = (tl_target){.fd = -1};
}
