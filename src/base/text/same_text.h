/* Comparison of texts that may be missing. */
#ifndef TL_BASE_SAME_TEXT_H
#define TL_BASE_SAME_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Both NULL, or equal. */
static inline bool tl_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

#endif
