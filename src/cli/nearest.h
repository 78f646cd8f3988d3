/* The word meant by a mistyped one: an option, a verb, a format. */
#ifndef TL_CLI_NEAREST_H
#define TL_CLI_NEAREST_H

#include <stddef.h>

#define TL_WORD_MAX 32u /* longest word to compare: no option, verb or format is longer */

/* The candidate nearest to a mistyped word; NULL if none is near. */
const char *tl_nearest(const char *word, const char *const *candidate, size_t n);

/* What replaces a verb of other tools: "report --by callers"; NULL: unknown. */
const char *tl_verb_of_others(const char *name);
/* What replaces a table of other tools or plain English in --by; NULL: unknown. */
const char *tl_table_of_others(const char *name);

#endif
