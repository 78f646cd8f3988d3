/* The page that controls a recording program: see rt/control_layout.h. */
#ifndef TL_CLI_CONTROL_PAGE_H
#define TL_CLI_CONTROL_PAGE_H

#include <stdint.h>

#define TL_CONTROL_COMMAND 896u  /* bytes of a command, with its final zero */
#define TL_CONTROL_RESULT  1024u /* bytes of an answer */

typedef struct tl_control {
    long pid;
    char name[64]; /* of the program */
    char *page;
} tl_control;

typedef struct tl_control_status {
    uint32_t state, modes, functions, known, lanes;
    uint64_t bytes, lost, since;
    char path[4096];
} tl_control_status;

/* Finds the page of a process. Reports failures, and returns an exit status: TL_EXIT_NO without recorder. */
int tl_control_open(tl_control *p, long pid);
/* Prints the ids of processes that have a page and are ours to look at, one per line. */
void tl_control_print_pids(void);
void tl_control_close(tl_control *p);
/* Sends a command, and waits for the answer. TL_EXIT_NO: refused, `answer` says why; TL_EXIT_DAMAGED, after a message:
 * no answer. */
int tl_control_ask(tl_control *p, const char *command, char answer[static TL_CONTROL_RESULT]);
tl_control_status tl_control_read(const tl_control *p);

#endif
