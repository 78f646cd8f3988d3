/* Messages for people on standard error. Each is one line that begins with "traceloom: " or the name of a file. */
#ifndef TL_CLI_MESSAGE_H
#define TL_CLI_MESSAGE_H

#include "base/compiler.h"
#include "cli/verbs.h"
#include "traceloom/error.h"

/* What an input is called: its path, or "standard input" for "-". */
const char *tl_path_name(const char *path);

/* Always shown: "SUBJECT: text"; subject NULL: "traceloom". */
TL_PRINTF(2, 3) void tl_say_error(const char *subject, const char *format, ...);
/* Not with -q. */
TL_PRINTF(3, 4) void tl_say(const tl_cli *c, const char *subject, const char *format, ...);
/* Only with -v. */
TL_PRINTF(3, 4) void tl_say_more(const tl_cli *c, const char *subject, const char *format, ...);

/* Shows a library's error: with the name of the file in front and the byte offset, if the message does not have them.
 * A pipe that nobody reads any more is not an error to talk about. Returns the exit status that suits the error. */
int tl_say_failure(const char *path, const tl_error *e);

/* Of two exit statuses the one that says more: damage before losses before "no". */
int tl_exit_worse(int a, int b);

#endif
