/* What was typed in earlier shells: a file that only its owner can read. */
#ifndef TL_CLI_QUERY_HISTORY_H
#define TL_CLI_QUERY_HISTORY_H

#define TL_HISTORY_LINES 1000

/* Opens traceloom/history in $XDG_STATE_HOME, or ~/.local/state; missing folders are made. Returns a descriptor, which
 * is the caller's; -1: there is none, or it is a link, not a file, or somebody else's. */
int tl_history_open(void);
/* Calls `each` with the last lines, the oldest first. */
void tl_history_read(int fd, void (*each)(void *arg, const char *line), void *arg);
/* Adds a line. -1 is fine. */
void tl_history_add(int fd, const char *line);

#endif
