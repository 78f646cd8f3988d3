/* The page that controls a recording program: see rt/control_layout.h. */
#ifndef TL_CLI_CONTROL_PAGE_H
#define TL_CLI_CONTROL_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#define TL_CONTROL_COMMAND 896u  /* bytes of a command, with its final zero */
#define TL_CONTROL_RESULT  1024u /* bytes of an answer */

typedef struct tl_control {
    const char *verb; /* for messages: "ctl" */
    long pid;
    char name[64]; /* of the program */
    char *page;
} tl_control;

typedef struct tl_control_status {
    uint32_t state, modes, functions, known, lanes;
    uint64_t bytes, lost, since;
    char path[4096];
} tl_control_status;

/* Finds the page of a process. Reports failures in the name of a verb, as all later ones, and returns an exit status:
 * TL_EXIT_NO without recorder. */
int tl_control_open(tl_control *p, const char *verb, long pid);
/* The same without a word: false if there is none. */
bool tl_control_find(tl_control *p, const char *verb, long pid);
bool tl_control_is_stopped(long pid); /* by a signal or a debugger */
/* Prints the ids of processes that have a page and are ours to look at, one per line. */
void tl_control_print_pids(void);
void tl_control_close(tl_control *p);
/* Sends a command, and waits for the answer. TL_EXIT_NO: refused, `answer` says why; TL_EXIT_DAMAGED, after a message:
 * no answer. */
int tl_control_ask(tl_control *p, const char *command, char answer[static TL_CONTROL_RESULT]);
/* The parts of that. take makes this the only commander, replaces a dead one, and reports failures; receive waits if it
 * has to, and gives that up: it comes after each take and send. */
bool tl_control_take(tl_control *p);
uint32_t tl_control_send(tl_control *p, const char *command); /* the number of the request */
bool tl_control_is_answered(const tl_control *p, uint32_t request);
int tl_control_receive(tl_control *p, uint32_t request, char answer[static TL_CONTROL_RESULT]);
/* A number of the page, by its CONTROL_*. */
uint32_t *tl_control_word(const tl_control *p, unsigned offset);
tl_control_status tl_control_read(const tl_control *p);

#endif
