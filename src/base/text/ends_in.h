/* How strings end. */
#ifndef TL_BASE_ENDS_IN_H
#define TL_BASE_ENDS_IN_H

#include <stdbool.h>
#include <string.h>

static inline bool tl_ends_in(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && memcmp(s + n - m, end, m) == 0;
}

/* The same of a path, of which something is left without the suffix. */
static inline bool tl_has_suffix(const char *path, const char *suffix)
{
    return strlen(path) > strlen(suffix) && tl_ends_in(path, suffix);
}

#endif
