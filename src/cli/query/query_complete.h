/* Completion of words in the shell of `query`. */
#ifndef TL_CLI_QUERY_COMPLETE_H
#define TL_CLI_QUERY_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "traceloom/query.h"

/* Words that begin as the text before the cursor ends, whatever the case. */
typedef struct tl_completion {
    const char *typed; /* that end. Borrowed from the text */
    const char **word; /* [n] sorted, each once. Borrowed from the session, or static */
    size_t n, capacity;
    bool failed;
} tl_completion;

/* Finds the words for a line that goes on a statement (`begun`: its lines before; ""), up to the cursor. Commands with
 * a dot, tables after FROM and JOIN, columns of the tables that are mentioned, functions, keywords. */
void tl_query_complete(tl_completion *c, tl_query *q, const char *begun, const char *before);
/* What can be added without a choice, with a blank behind it if there is only one word; the caller's. NULL: no memory.
 */
char *tl_completion_common(const tl_completion *c);
/* Prints all words, or as many as fit on a screen. */
void tl_completion_print(const tl_completion *c, FILE *out);
void tl_completion_fini(tl_completion *c);

#endif
