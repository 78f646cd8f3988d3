/* The word that was meant by a mistyped one: an option, a verb, a format. */
#ifndef TL_CLI_NEAREST_H
#define TL_CLI_NEAREST_H

#include <stddef.h>

#define TL_WORD_MAX 32u /* longest word that is compared with others: no option, verb or format is longer */

/* The candidate nearest to a mistyped word, or NULL if none is near. */
const char *tl_nearest(const char *word, const char *const *candidate, size_t n);

/* What does here what other tools have a verb for: "report --by callers"; NULL: not known. */
const char *tl_verb_of_others(const char *name);
/* What to do about a word that is not a table of --by, but of other tools or plain English; NULL: not known. */
const char *tl_table_of_others(const char *name);

#endif
