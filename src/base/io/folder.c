/* A folder of files: listed once by a walk over its tree, each file opened on demand relative to its descriptor. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/io/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/grow.h"

typedef struct walk {
    tl_folder *folder;
    uint32_t capacity;
    tl_error *error;
} walk;

static int no_memory(const walk *w)
{
    return tl_fail(w->error, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for the list of its files", w->folder->path);
}

static tl_folder *folder_new(const char *path, tl_error *e)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    tl_folder *f = calloc(1, sizeof *f);
    if (f) {
        f->fd = -1;
        f->path = tl_arena_strndup(&f->arena, path, n);
    }
    if (f && f->path)
        return f;
    tl_folder_close(f);
    tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open it", path);
    return NULL;
}

/* Appends a file to the list. */
static int add(walk *w, const tl_folder_file *file)
{
    tl_folder *f = w->folder;
    if (f->n == TL_FOLDER_FILES_MAX)
        return tl_fail(w->error, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: more than %u files, which no recording has",
                       f->path, TL_FOLDER_FILES_MAX);
    if (!TL_GROW(f->file, f->n, 1, w->capacity))
        return no_memory(w);
    f->file[f->n++] = *file;
    return 0;
}

/* "PREFIX/NAME" in the arena; prefix "" is the folder itself. */
static const char *join(walk *w, const char *prefix, const char *name)
{
    const size_t n = strlen(prefix), m = strlen(name);
    char *path = tl_arena_alloc(&w->folder->arena, n + m + 2);
    if (!path)
        return NULL;
    memcpy(path, prefix, n);
    if (n > 0)
        path[n] = '/';
    memcpy(path + n + (n > 0), name, m + 1);
    return path;
}

static int scan(walk *w, int fd, const char *prefix, unsigned depth);

static int scan_folder(walk *w, int parent, const char *name, const char *path, unsigned depth)
{
    if (depth == TL_FOLDER_DEPTH_MAX)
        return tl_fail(w->error, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s/%s: more than %u folders in each other",
                       w->folder->path, path, TL_FOLDER_DEPTH_MAX);
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) /* removed since it was listed */
        return 0;
    if (fd < 0)
        return tl_fail_errno(w->error, errno, "%s/%s: cannot be opened", w->folder->path, path);
    return scan(w, fd, path, depth + 1);
}

/* An entry of a folder: files are listed, folders walked, other things skipped. */
static int scan_entry(walk *w, int fd, const char *prefix, const char *name, unsigned depth)
{
    struct stat st, link;
    if (fstatat(fd, name, &link, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno == ENOENT)
            return 0;
        return tl_fail_errno(w->error, errno, "%s/%s%s%s: cannot be examined", w->folder->path, prefix,
                             *prefix ? "/" : "", name);
    }
    const bool follow = S_ISLNK(link.st_mode);
    st = link;
    if (follow && fstatat(fd, name, &st, 0) < 0)
        return 0; /* a dangling link */
    if (!S_ISREG(st.st_mode) && (follow || !S_ISDIR(st.st_mode)))
        return 0;
    const char *path = join(w, prefix, name);
    if (!path)
        return no_memory(w);
    if (S_ISDIR(st.st_mode))
        return scan_folder(w, fd, name, path, depth);
    const uint64_t ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    const tl_folder_file file = {.name = path, .size = (uint64_t)st.st_size, .modified_ns = (int64_t)ns};
    return add(w, &file);
}

/* Takes fd over. */
static int scan(walk *w, int fd, const char *prefix, unsigned depth)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        const int reason = errno;
        close(fd);
        return tl_fail_errno(w->error, reason, "%s/%s: cannot be listed", w->folder->path, prefix);
    }
    int status = 0;
    while (status == 0) {
        errno = 0;
        const struct dirent *entry = readdir(d);
        if (!entry) {
            if (errno != 0)
                status = tl_fail_errno(w->error, errno, "%s/%s: cannot be listed", w->folder->path, prefix);
            break;
        }
        if (entry->d_name[0] != '.')
            status = scan_entry(w, dirfd(d), prefix, entry->d_name, depth);
    }
    closedir(d);
    return status;
}

static int by_name(const void *left, const void *right)
{
    const tl_folder_file *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static void sort(tl_folder *f)
{
    if (f->n > 1)
        qsort(f->file, f->n, sizeof *f->file, by_name);
}

int tl_folder_open(tl_folder **out, const char *path, tl_error *e)
{
    tl_folder *f = folder_new(path, e);
    if (!f)
        return TL_ENOMEM;
    walk w = {.folder = f, .error = e};
    int status = 0;
    f->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Listing moves a descriptor's position, so it gets one of its own. */
    const int fd = f->fd < 0 ? -1 : openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        status = tl_fail_errno(e, errno, "%s", path);
    else
        status = scan(&w, fd, "", 0);
    if (status < 0) {
        tl_folder_close(f);
        return status;
    }
    sort(f);
    *out = f;
    return 0;
}

static bool is_hidden(const char *name)
{
    for (; *name; name = strchr(name, '/') ? strchr(name, '/') + 1 : "")
        if (*name == '.' || *name == '/')
            return true;
    return false;
}

/* If several files have one name, keeps the first. */
static void drop_doubles(tl_folder *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (n == 0 || strcmp(f->file[n - 1].name, f->file[i].name) != 0)
            f->file[n++] = f->file[i];
        else if ((uintptr_t)f->file[i].data < (uintptr_t)f->file[n - 1].data)
            f->file[n - 1] = f->file[i];
    }
    f->n = n;
}

int tl_folder_open_memory(tl_folder **out, const void *data, size_t size, const char *path, tl_error *e)
{
    tl_folder *f = folder_new(path, e);
    if (!f)
        return TL_ENOMEM;
    walk w = {.folder = f, .error = e};
    const uint8_t *p = data, *end = p + size;
    while (p < end) {
        const uint8_t *nul = memchr(p, '\0', (size_t)(end - p));
        if (!nul || end - nul < 5)
            break;
        const char *name = (const char *)p;
        const uint8_t *content = nul + 5;
        const uint32_t claimed = tl_load32(nul + 1, false);
        const size_t left = (size_t)(end - content), n = claimed < left ? claimed : left;
        p = content + n;
        if (!*name || is_hidden(name))
            continue;
        const tl_folder_file file = {
            .name = tl_arena_strndup(&f->arena, name, strlen(name)), .size = n, .data = content};
        const int status = file.name ? add(&w, &file) : no_memory(&w);
        if (status < 0) {
            tl_folder_close(f);
            return status;
        }
    }
    sort(f);
    drop_doubles(f);
    *out = f;
    return 0;
}

void tl_folder_close(tl_folder *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    free(f->file);
    tl_arena_fini(&f->arena);
    free(f);
}

uint32_t tl_folder_find(const tl_folder *f, const char *name)
{
    const tl_folder_file key = {.name = name};
    const tl_folder_file *found = f->n ? bsearch(&key, f->file, f->n, sizeof key, by_name) : NULL;
    return found ? (uint32_t)(found - f->file) : UINT32_MAX;
}

static int open_member(const tl_folder *f, uint32_t index, bool lazy, tl_input **out, tl_error *e)
{
    const tl_folder_file *file = &f->file[index];
    const size_t n = strlen(f->path), m = strlen(file->name);
    char *path = malloc(n + m + 2);
    if (!path)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s/%s: no memory to open it", f->path, file->name);
    memcpy(path, f->path, n);
    path[n] = '/';
    memcpy(path + n + 1, file->name, m + 1);
    int status;
    if (f->fd < 0) {
        status = lazy ? tl_input_open_lazy_memory(out, file->data, (size_t)file->size, path, e)
                      : tl_input_open_memory(out, file->data, (size_t)file->size, path, e);
    } else {
        /* O_NONBLOCK: it may have become a pipe, which would wait for a writer. */
        const int fd = openat(f->fd, file->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        status = fd < 0 ? tl_fail_errno(e, errno, "%s", path)
                 : lazy ? tl_input_open_lazy_file(out, fd, path, e)
                        : tl_input_open_file(out, fd, path, e);
    }
    free(path);
    return status;
}

int tl_folder_input(const tl_folder *f, uint32_t index, tl_input **out, tl_error *e)
{
    return open_member(f, index, false, out, e);
}

int tl_folder_input_lazy(const tl_folder *f, uint32_t index, tl_input **out, tl_error *e)
{
    return open_member(f, index, true, out, e);
}
