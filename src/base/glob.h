/* Shell-like patterns: *, ?, [a-z], [!a-z], backslash. The whole text must match; * also matches / and ::. */
#ifndef TL_BASE_GLOB_H
#define TL_BASE_GLOB_H

#include <stdbool.h>

/* Linear in text length times number of stars; never recursive. */
bool tl_glob(const char *pattern, const char *text);

#endif
