/* The walk: a stack of folders, each with its sorted names. Files are told by their names where these suffice, so that
 * a hundred thousand of them are opened once, by their reader. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "op/fleet/profile_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/io/folder_tree.h"
#include "base/text/glob.h"
#include "model/format_impl.h"
#include "op/source_kind.h"

/* What a name is stands in front of it. */
enum { IS_FILE = 'f', IS_FOLDER = 'd', IS_OTHER = 0 };

typedef struct level {
    char *path;
    const char **name; /* [n] sorted, in the arena */
    size_t n, capacity, at;
    tl_arena arena;
} level;

struct tl_profile_walk {
    const char *glob;
    level level[TL_WALK_DEPTH_MAX];
    unsigned depth; /* levels in use */
    char *file;     /* lent */
};

static void level_fini(level *l)
{
    free(l->path);
    free(l->name);
    tl_arena_fini(&l->arena);
    *l = (level){0};
}

static int by_name(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a + 1, *b + 1);
}

/* Symbolic links count as what they lead to, but are not followed to folders, which might lead back. */
static char kind_of(int fd, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type == DT_REG)
        return IS_FILE;
    if (entry->d_type == DT_DIR)
        return IS_FOLDER;
    if ((entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) || fstatat(fd, entry->d_name, &st, 0) < 0)
        return IS_OTHER;
    if (S_ISREG(st.st_mode))
        return IS_FILE;
    const bool is_folder =
        S_ISDIR(st.st_mode) && fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    return is_folder ? IS_FOLDER : IS_OTHER;
}

static int no_memory(const level *l, tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for the names of its files", l->path);
}

static int add_name(level *l, char kind, const char *name, tl_error *e)
{
    const size_t n = strlen(name);
    char *copy = tl_arena_alloc(&l->arena, n + 2);
    if (!copy || !TL_GROW(l->name, l->n, 1, l->capacity))
        return no_memory(l, e);
    copy[0] = kind;
    memcpy(copy + 1, name, n + 1);
    l->name[l->n++] = copy;
    return 0;
}

static bool is_named_so(const tl_profile_walk *w, const char *name)
{
    return !w->glob || tl_glob(w->glob, name);
}

static int list(tl_profile_walk *w, level *l, DIR *d, tl_error *e)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(d);
        if (!entry && errno)
            return tl_fail_errno(e, errno, "%s: cannot be listed", l->path);
        if (!entry)
            return 0;
        const char kind = entry->d_name[0] == '.' ? IS_OTHER : kind_of(dirfd(d), entry);
        const bool taken = kind == IS_FOLDER || (kind == IS_FILE && is_named_so(w, entry->d_name));
        const int status = taken ? add_name(l, kind, entry->d_name, e) : 0;
        if (status < 0)
            return status;
    }
}

/* Takes over the path. */
static int enter(tl_profile_walk *w, char *path, tl_error *e)
{
    if (w->depth == TL_WALK_DEPTH_MAX) {
        const int status = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: more than %u folders in each other", path,
                                   TL_WALK_DEPTH_MAX);
        free(path);
        return status;
    }
    level *l = &w->level[w->depth];
    l->path = path;
    DIR *d = opendir(path);
    int status = d ? list(w, l, d, e) : tl_fail_errno(e, errno, "%s: cannot be listed", path);
    if (d)
        closedir(d);
    if (status < 0) {
        level_fini(l);
        return status;
    }
    if (l->n > 1)
        qsort(l->name, l->n, sizeof *l->name, by_name);
    w->depth++;
    return 0;
}

int tl_profile_walk_open(tl_profile_walk **out, const char *folder, const char *glob, tl_error *e)
{
    tl_profile_walk *w = calloc(1, sizeof *w);
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    char *path = strndup(folder, n);
    if (!w || !path) {
        free(w);
        free(path);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for the names of its files", folder);
    }
    w->glob = glob;
    const int status = enter(w, path, e);
    if (status < 0) {
        free(w);
        return status;
    }
    *out = w;
    return 0;
}

/* 1: the file holds a profile, or is called so, and its reader will say what is wrong with it. */
static int is_profile(const tl_profile_walk *w, const char *path, tl_error *e)
{
    return w->glob || tl_format_by_suffix(path, TL_CAN_READ_PROFILE) ? 1 : tl_file_holds_profile(path, e);
}

int tl_profile_walk_next(tl_profile_walk *w, const char **path, tl_error *e)
{
    free(w->file);
    w->file = NULL;
    while (w->depth > 0) {
        level *l = &w->level[w->depth - 1];
        if (l->at == l->n) {
            level_fini(l);
            w->depth--;
            continue;
        }
        const char *name = l->name[l->at++];
        char *joined = tl_path_join(l->path, name + 1);
        if (!joined)
            return no_memory(l, e);
        int status = name[0] == IS_FOLDER ? enter(w, joined, e) : is_profile(w, joined, e);
        if (status > 0) {
            *path = w->file = joined;
            return 1;
        }
        if (name[0] != IS_FOLDER)
            free(joined);
        if (status < 0)
            return status;
    }
    return 0;
}

void tl_profile_walk_close(tl_profile_walk *w)
{
    if (!w)
        return;
    for (unsigned i = 0; i < TL_WALK_DEPTH_MAX; i++)
        level_fini(&w->level[i]);
    free(w->file);
    free(w);
}
