/* Shell-like patterns: *, ?, [a-z], [!a-z], backslash. The whole text must match; * also matches / and ::. */
#ifndef TL_BASE_GLOB_H
#define TL_BASE_GLOB_H

#include <stdbool.h>

/* Never recursive; at worst, the product of both lengths in steps, and for each '[' without a ']' the rest of the
 * pattern. */
bool tl_glob(const char *pattern, const char *text);

#endif
