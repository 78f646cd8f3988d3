/* A folder of files that appears whole: made under a temporary name beside its target, and renamed when complete.
 *
 * A folder to be replaced is moved aside first, under another temporary name, because a rename cannot replace a
 * non-empty folder. If the system can exchange two names, there is no moment without one of them. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/io/output_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/io/folder_tree.h"
#include "base/io/name_beside.h"
#include "base/text/glob.h"

#define NO_FILE UINT32_MAX
#define PART    "part-" /* what names of parts of a file begin with */

/* A file; fd and neighbours are for files that are appended to. */
typedef struct grown_file {
    char *name;
    int fd; /* -1: closed at the moment */
    bool exists;
    uint32_t newer, older; /* list of open files by the time of last use */
} grown_file;

struct tl_output_folder {
    char *path;      /* as the user wrote it */
    char *target;    /* its final place: without '/' at the end and symbolic links */
    char *temporary; /* NULL: gone, or not created yet */
    int fd;          /* of that folder; or -1 */
    bool overwrite;
    const char *ours; /* glob of files that may be replaced, or NULL */
    bool failed;
    grown_file *file;
    uint32_t nfile, capacity;
    uint32_t newest, oldest, nopen;
    tl_output_folder *next; /* list of all unfinished ones */
};

/* Held while something is created, renamed or removed, and for good by tl_output_folders_abandon(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tl_output_folder *unfinished;

static int no_memory(tl_error *e, const char *path)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to write it", path);
}

/* What may be removed */

typedef struct contents {
    uint32_t files;
    bool has_metadata, has_index, has_other;
    bool has_strange; /* a file that does not match the glob */
} contents;

/* Is the folder one of nothing but parts of a file, in the folder that `d` reads? */
static bool has_parts(DIR *d, const char *name, const char *ours)
{
    const int fd = openat(dirfd(d), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *parts = fd >= 0 ? fdopendir(fd) : NULL;
    bool is = parts && ours;
    if (fd >= 0 && !parts)
        close(fd);
    for (struct dirent *entry; is && (entry = readdir(parts));) {
        struct stat st;
        is = tl_is_dots(entry->d_name) ||
             (strncmp(entry->d_name, PART, strlen(PART)) == 0 && tl_glob(ours, entry->d_name) &&
              fstatat(dirfd(parts), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode));
    }
    if (parts)
        closedir(parts);
    return is;
}

static int look_into(const char *path, const char *ours, contents *c)
{
    DIR *d = opendir(path);
    if (!d)
        return -1;
    for (struct dirent *entry; (entry = readdir(d));) {
        struct stat st;
        if (tl_is_dots(entry->d_name))
            continue;
        if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            c->has_other = true;
        else if (S_ISREG(st.st_mode))
            c->files++;
        else if (S_ISDIR(st.st_mode) && strcmp(entry->d_name, "index") == 0)
            c->has_index = true;
        else if (S_ISDIR(st.st_mode) && has_parts(d, entry->d_name, ours))
            continue;
        else
            c->has_other = true;
        c->has_strange = c->has_strange || !ours || !tl_glob(ours, entry->d_name);
        c->has_metadata = c->has_metadata || strcmp(entry->d_name, "metadata") == 0;
    }
    closedir(d);
    return 0;
}

/* Does the folder look like one of ours? */
static int check_replaceable(const tl_output_folder *f, tl_error *e)
{
    contents top = {0}, index = {0};
    if (look_into(f->target, f->ours, &top) < 0)
        return tl_fail_errno(e, errno, "%s", f->path);
    if (top.has_index) {
        char *path = tl_path_join(f->target, "index");
        if (!path)
            return no_memory(e, f->path);
        const int r = look_into(path, f->ours, &index);
        free(path);
        if (r < 0)
            return tl_fail_errno(e, errno, "%s/index", f->path);
    }
    const bool is_empty = top.files == 0 && !top.has_index && !top.has_other;
    const bool is_ours = !top.has_other && !index.has_other && !index.has_index &&
                         (top.has_metadata || (!top.has_strange && !top.has_index));
    if (!is_empty && !is_ours)
        return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s: the folder exists and holds other files: it is not replaced",
                       f->path);
    return 0;
}

static int check_target(const tl_output_folder *f, tl_error *e)
{
    struct stat st;
    if (lstat(f->target, &st) < 0)
        return errno == ENOENT ? 0 : tl_fail_errno(e, errno, "%s", f->path);
    if (!S_ISDIR(st.st_mode))
        return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s: exists and is not a folder", f->path);
    if (!f->overwrite)
        return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s: the folder exists", f->path);
    return check_replaceable(f, e);
}

/* Opening */

/* Makes an empty folder beside the target. NULL with errno set on failure. */
static char *make_beside(const char *target)
{
    char *path = tl_name_beside(target);
    if (!path)
        return NULL;
    for (unsigned try = 0; try < TL_NAME_TRIES; try++) {
        tl_name_try(path, try);
        if (mkdir(path, 0777) == 0)
            return path;
        if (errno != EEXIST)
            break;
    }
    const int error = errno;
    free(path);
    errno = error;
    return NULL;
}

/* The path without '/' at its end; for an existing folder, without symbolic links. */
static char *find_target(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    char *plain = strndup(path, n);
    if (plain && lstat(plain, &st) == 0 && S_ISLNK(st.st_mode)) {
        char *real = realpath(plain, NULL);
        if (real) {
            free(plain);
            return real;
        }
    }
    return plain;
}

/* Makes the temporary folder. */
static int begin(tl_output_folder *f, tl_error *e)
{
    pthread_mutex_lock(&lock);
    f->temporary = make_beside(f->target);
    const int error = errno;
    if (f->temporary) {
        f->next = unfinished;
        unfinished = f;
    }
    pthread_mutex_unlock(&lock);
    return f->temporary ? 0 : tl_fail_beside(e, error, f->path, f->target, "folder");
}

/* Takes it off the list after its temporary folder is gone. Under the lock. */
static void forget(tl_output_folder *f)
{
    tl_output_folder **at = &unfinished;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    free(f->temporary);
    f->temporary = NULL;
}

void tl_output_folders_abandon(void)
{
    pthread_mutex_lock(&lock);
    for (const tl_output_folder *f = unfinished; f; f = f->next)
        for (unsigned try = 0; try < TL_NAME_TRIES && access(f->temporary, F_OK) == 0; try++)
            tl_remove_tree(f->temporary, 1); /* another thread may create a file meanwhile */
}

int tl_output_folder_open(tl_output_folder **out, const char *path, bool overwrite, const char *ours, tl_error *e)
{
    tl_output_folder *f = calloc(1, sizeof *f);
    if (!f)
        return no_memory(e, path);
    f->overwrite = overwrite;
    f->ours = ours;
    f->fd = -1;
    f->newest = f->oldest = NO_FILE;
    f->path = strdup(path);
    f->target = find_target(path);
    int r = 0;
    if (!f->path || !f->target)
        r = no_memory(e, path);
    else if (*path == '\0')
        r = tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "the name of an output folder is empty");
    else
        r = check_target(f, e);
    if (r == 0)
        r = begin(f, e);
    if (r == 0 && (f->fd = open(f->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        r = tl_fail_errno(e, errno, "%s: cannot open the folder beside it", path);
    if (r < 0)
        tl_output_folder_close(f);
    else
        *out = f;
    return r;
}

/* Files */

/* Remembers a file, so that it can be removed. */
static int add_file(tl_output_folder *f, const char *name, uint32_t *file, tl_error *e)
{
    if (!TL_GROW(f->file, f->nfile, 1, f->capacity))
        return no_memory(e, f->path);
    grown_file *g = &f->file[f->nfile];
    *g = (grown_file){.name = strdup(name), .fd = -1, .newer = NO_FILE, .older = NO_FILE};
    if (!g->name)
        return no_memory(e, f->path);
    *file = f->nfile++;
    return 0;
}

/* Makes the folder that a file is in, if its name has one. */
static int make_folder_of(tl_output_folder *f, const grown_file *g, tl_error *e)
{
    char *slash = strchr(g->name, '/');
    if (!slash)
        return 0;
    *slash = '\0';
    const int r = mkdirat(f->fd, g->name, 0777), error = errno;
    *slash = '/';
    return r < 0 && error != EEXIST ? tl_fail_errno(e, error, "%s/%s", f->path, g->name) : 0;
}

int tl_output_folder_file(tl_output_folder *f, const char *name, tl_output **out, tl_error *e)
{
    uint32_t file = 0;
    char *path = tl_path_join(f->temporary, name);
    int r = path ? add_file(f, name, &file, e) : no_memory(e, f->path);
    if (r == 0)
        r = make_folder_of(f, &f->file[file], e);
    if (r == 0)
        r = tl_output_open(out, path, false, TL_PLAIN, 0, e);
    f->failed = f->failed || r < 0;
    free(path);
    return r;
}

int tl_output_folder_add(tl_output_folder *f, const char *name, uint32_t *file, tl_error *e)
{
    return add_file(f, name, file, e);
}

static void unlink_file(tl_output_folder *f, uint32_t i)
{
    const grown_file *g = &f->file[i];
    if (g->newer == NO_FILE)
        f->newest = g->older;
    else
        f->file[g->newer].older = g->older;
    if (g->older == NO_FILE)
        f->oldest = g->newer;
    else
        f->file[g->older].newer = g->newer;
}

static void link_newest(tl_output_folder *f, uint32_t i)
{
    f->file[i].newer = NO_FILE;
    f->file[i].older = f->newest;
    if (f->newest == NO_FILE)
        f->oldest = i;
    else
        f->file[f->newest].newer = i;
    f->newest = i;
}

/* Some file systems report a full device only now. EINTR: it is closed nevertheless. */
static int close_file(tl_output_folder *f, uint32_t i, tl_error *e)
{
    grown_file *g = &f->file[i];
    const int r = close(g->fd);
    unlink_file(f, i);
    f->nopen--;
    g->fd = -1;
    return r < 0 && errno != EINTR ? tl_fail_errno(e, errno, "%s/%s", f->path, g->name) : 0;
}

static int open_file(tl_output_folder *f, uint32_t i, tl_error *e)
{
    grown_file *g = &f->file[i];
    int r = f->nopen < TL_OUTPUT_FOLDER_OPEN ? 0 : close_file(f, f->oldest, e);
    if (r == 0 && !g->exists)
        r = make_folder_of(f, g, e);
    if (r < 0)
        return r;
    const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_CREAT | (g->exists ? 0 : O_EXCL);
    do
        g->fd = openat(f->fd, g->name, flags, 0666);
    while (g->fd < 0 && errno == EINTR);
    if (g->fd < 0)
        return tl_fail_errno(e, errno, "%s/%s", f->path, g->name);
    g->exists = true;
    link_newest(f, i);
    f->nopen++;
    return 0;
}

static int append(tl_output_folder *f, uint32_t file, const void *data, size_t n, tl_error *e)
{
    grown_file *g = &f->file[file];
    const char *p = data;
    if (g->fd < 0) {
        const int r = open_file(f, file, e);
        if (r < 0)
            return r;
    } else if (f->newest != file) {
        unlink_file(f, file);
        link_newest(f, file);
    }
    while (n > 0) {
        const ssize_t r = write(g->fd, p, n < INT_MAX ? n : INT_MAX);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return tl_fail_errno(e, errno, "%s/%s", f->path, g->name);
        p += r;
        n -= (size_t)r;
    }
    return 0;
}

int tl_output_folder_append(tl_output_folder *f, uint32_t file, const void *data, size_t n, tl_error *e)
{
    pthread_mutex_lock(&lock);
    const int r = append(f, file, data, n, e);
    pthread_mutex_unlock(&lock);
    f->failed = f->failed || r < 0;
    return r;
}

/* Ending */

/* Removes what was written. Needs no memory. */
static void remove_temporary(tl_output_folder *f)
{
    for (uint32_t i = 0; i < f->nfile; i++)
        unlinkat(f->fd, f->file[i].name, 0);
    for (uint32_t i = 0; i < f->nfile; i++) {
        char *slash = strchr(f->file[i].name, '/');
        if (!slash)
            continue;
        *slash = '\0';
        unlinkat(f->fd, f->file[i].name, AT_REMOVEDIR);
        *slash = '/';
    }
    rmdir(f->temporary);
}

/* Moves the old folder out of the way, and this one into its place. */
static int replace(tl_output_folder *f, tl_error *e)
{
#ifdef RENAME_EXCHANGE
    if (renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->target, RENAME_EXCHANGE) == 0) {
        tl_remove_tree(f->temporary, 1);
        return 0;
    }
#endif
    char *aside = make_beside(f->target);
    if (!aside)
        return tl_fail_beside(e, errno, f->path, f->target, "folder");
    int r = 0;
    if (rename(f->target, aside) < 0)
        r = tl_fail_errno(e, errno, "%s: cannot be moved out of the way", f->path);
    else if (rename(f->temporary, f->target) < 0) {
        r = tl_fail_errno(e, errno, "%s: cannot rename the complete folder", f->path);
        (void)rename(aside, f->target);
    }
    if (r == 0)
        tl_remove_tree(aside, 1);
    else
        rmdir(aside);
    free(aside);
    return r;
}

static int give_name(tl_output_folder *f, tl_error *e)
{
    struct stat st;
    if (lstat(f->target, &st) == 0) {
        /* Something may have appeared there meanwhile. */
        const int r = check_target(f, e);
        return r < 0 ? r : replace(f, e);
    }
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->target, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EEXIST)
        return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s: was created while this one was written", f->path);
#endif
    if (rename(f->temporary, f->target) < 0)
        return tl_fail_errno(e, errno, "%s: cannot rename the complete folder", f->path);
    return 0;
}

int tl_output_folder_finish(tl_output_folder *f, tl_error *e)
{
    int r = 0;
    while (f->newest != NO_FILE) {
        tl_error why;
        const int closed = close_file(f, f->newest, &why);
        if (closed < 0 && r == 0) {
            r = closed;
            if (e)
                *e = why;
        }
    }
    if (r == 0 && f->failed)
        r = tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s: a file of it could not be written", f->path);
    pthread_mutex_lock(&lock);
    if (r == 0)
        r = give_name(f, e);
    if (r < 0)
        remove_temporary(f);
    forget(f);
    pthread_mutex_unlock(&lock);
    return r;
}

void tl_output_folder_close(tl_output_folder *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->nfile; i++) {
        if (f->file[i].fd >= 0)
            close(f->file[i].fd);
    }
    if (f->temporary) {
        pthread_mutex_lock(&lock);
        remove_temporary(f);
        forget(f);
        pthread_mutex_unlock(&lock);
    }
    if (f->fd >= 0)
        close(f->fd);
    for (uint32_t i = 0; i < f->nfile; i++)
        free(f->file[i].name);
    free(f->file);
    free(f->target);
    free(f->path);
    free(f);
}
