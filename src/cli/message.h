/* Messages for people on standard error. Each is one line that begins with "traceloom: " or the name of a file. */
#ifndef TL_CLI_MESSAGE_H
#define TL_CLI_MESSAGE_H

#include "base/compiler.h"
#include "base/io/base_name.h"
#include "cli/verbs.h"
#include "traceloom/error.h"

/* Always shown: "SUBJECT: text"; subject NULL: "traceloom". */
TL_PRINTF(2, 3) void tl_say_error(const char *subject, const char *format, ...);
/* Not with -q. */
TL_PRINTF(3, 4) void tl_say(const tl_cli *c, const char *subject, const char *format, ...);
/* Only with -v. */
TL_PRINTF(3, 4) void tl_say_more(const tl_cli *c, const char *subject, const char *format, ...);

/* Hands lines of messages, without their ends, to a function in place of standard error; NULL: no longer. */
void tl_messages_to(void (*take)(void *arg, const char *line), void *arg);

/* A line of a message that another process handed out. */
void tl_say_line(const char *line, size_t n);

/* Shows a library's error, with the name of the file in front and the byte offset, if the message does not have them.
 * Says nothing about a pipe without a reader. Returns the exit status for the error. */
int tl_say_failure(const char *path, const tl_error *e);
/* The same for a message that begins with the name of an option of the library: `before` makes it the command's ("--",
 * "--by "). */
int tl_say_option_failure(const char *path, const char *before, const tl_error *e);

/* The more important of two exit statuses: limits before damage before losses before "no". */
int tl_exit_worse(int a, int b);

#endif
