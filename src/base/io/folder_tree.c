/* Paths in folders, and removing folders. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/io/folder_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *tl_path_join(const char *folder, const char *name)
{
    const size_t n = strlen(folder), m = strlen(name);
    char *path = malloc(n + 1 + m + 1);
    if (!path)
        return NULL;
    memcpy(path, folder, n);
    path[n] = '/';
    memcpy(path + n + 1, name, m + 1);
    return path;
}

bool tl_is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void tl_remove_tree(const char *path, unsigned depth)
{
    DIR *d = opendir(path);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (!tl_is_dots(entry->d_name) && unlinkat(dirfd(d), entry->d_name, 0) < 0 && depth > 0) {
            char *inner = tl_path_join(path, entry->d_name);
            if (inner)
                tl_remove_tree(inner, depth - 1);
            free(inner);
        }
    if (d)
        closedir(d);
    rmdir(path);
}
