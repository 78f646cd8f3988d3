/* A file's name without its folders. */
#ifndef TL_BASE_BASE_NAME_H
#define TL_BASE_BASE_NAME_H

#include <string.h>

/* The part of the path after the last '/', or all of it. Borrowed from the path. */
static inline const char *tl_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

#endif
