/* The name of a file without the folders that it is in. */
#ifndef TL_BASE_BASE_NAME_H
#define TL_BASE_BASE_NAME_H

#include <string.h>

/* What stands behind the last '/'; the whole path if nothing does. Borrowed from it. */
static inline const char *tl_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

#endif
