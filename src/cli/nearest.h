/* Words of other tools, and what replaces them. */
#ifndef TL_CLI_NEAREST_H
#define TL_CLI_NEAREST_H

#include "base/text/nearest_word.h"

/* What replaces a verb of other tools: "report --by callers"; NULL: unknown. */
const char *tl_verb_of_others(const char *name);
/* What replaces a table of other tools or plain English in --by; NULL: unknown. */
const char *tl_table_of_others(const char *name);

/* What SQL calls a column that other tools have: "dur"; NULL: unknown. */
const char *tl_column_of_others(const char *name);

#endif
