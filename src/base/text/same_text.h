/* Texts that may be missing, compared. */
#ifndef TL_BASE_SAME_TEXT_H
#define TL_BASE_SAME_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Both are NULL, or both are there and equal. */
static inline bool tl_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

#endif
