/* Command lines that a shell reads as they were meant. */
#ifndef TL_BASE_SHELL_WORD_H
#define TL_BASE_SHELL_WORD_H

#include "base/protobuf.h"

/* Appends a space and the word, in quotes where it needs them. `line` fails when memory runs out. */
void tl_put_shell_word(tl_pb *line, const char *word);
/* An option and its value. */
void tl_put_shell_option(tl_pb *line, const char *option, const char *value);

#endif
