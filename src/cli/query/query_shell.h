/* The shell of `query`: statements and commands that are typed at a terminal. */
#ifndef TL_CLI_QUERY_SHELL_H
#define TL_CLI_QUERY_SHELL_H

#include "cli/query/query_job.h"

struct tl_shell;

/* A command with a dot. */
typedef struct tl_shell_command {
    const char *name, *arguments, *what;
    /* `argument`: what follows the name, which may be changed. False: the shell ends. */
    bool (*run)(struct tl_shell *s, char *argument);
} tl_shell_command;

/* All of them; ends with one without a name. */
extern const tl_shell_command tl_shell_commands[];

/* Reads and runs until the end of input, or .quit; the job is open, with an output. Failures are said, and do not end
 * it. Returns a tl_exit: what was typed does not count. */
int tl_query_shell(tl_query_job *j);

#endif
