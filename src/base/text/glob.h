/* Shell-like patterns: *, ?, [a-z], [!a-z], backslash. The whole text must match; * also matches / and ::. */
#ifndef TL_BASE_GLOB_H
#define TL_BASE_GLOB_H

#include <stdbool.h>

/* Never recursive; at worst as many steps as the lengths of text and pattern multiplied, and for each '[' without a ']'
 * the rest of the pattern. */
bool tl_glob(const char *pattern, const char *text);

#endif
