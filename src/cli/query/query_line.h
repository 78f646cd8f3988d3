/* Lines that are typed at a terminal: edited with libedit, or read as they are in builds without it and on terminals
 * that cannot. */
#ifndef TL_CLI_QUERY_LINE_H
#define TL_CLI_QUERY_LINE_H

#include "cli/query/query_complete.h"

typedef enum tl_line_end {
    TL_LINE_READ,
    TL_LINE_CANCELLED, /* ^C */
    TL_LINE_EOF
} tl_line_end;

typedef struct tl_line tl_line;

/* Gives the words that the text before the cursor may go on with. */
typedef void tl_line_words(void *arg, const char *before, tl_completion *out);

/* NULL: no memory. */
tl_line *tl_line_open(tl_line_words *words, void *arg);
/* Reads a line: *text, without its newline, until the next call. */
tl_line_end tl_line_read(tl_line *l, const char *prompt, const char **text);
/* Adds a line to those that can be recalled. */
void tl_line_remember(tl_line *l, const char *text);
void tl_line_close(tl_line *l);

#endif
