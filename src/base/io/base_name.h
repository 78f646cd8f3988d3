/* What files are called. */
#ifndef TL_BASE_BASE_NAME_H
#define TL_BASE_BASE_NAME_H

#include <string.h>

/* The part after the last '/'; the whole path if it is empty. Borrowed from it. */
static inline const char *tl_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* What messages call a path. */
static inline const char *tl_path_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

#endif
