/* The word meant by a mistyped one: an option, a verb, a class of events. */
#ifndef TL_BASE_NEAREST_WORD_H
#define TL_BASE_NEAREST_WORD_H

#include <stddef.h>

#define TL_WORD_MAX 32u /* longest word to compare: no option, verb or format is longer */

/* The candidate nearest to a mistyped word; NULL if none is near. */
const char *tl_nearest(const char *word, const char *const *candidate, size_t n);

#endif
