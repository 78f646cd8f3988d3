/* `traceloom record`: shared by its parts. In order: plan, find, look, run, settle, report. */
#ifndef TL_CLI_RECORD_H
#define TL_CLI_RECORD_H

#include <limits.h>
#include <sys/types.h>
#include <time.h>

#include "cli/verbs.h"
#include "model/format_impl.h"

/* As in rt/control_layout.h. */
#define TL_RECORD_CALLS   1u
#define TL_RECORD_PROFILE 2u
#define TL_RECORD_STREAMS 4u
#define TL_RECORD_MODES   3u /* how many there are */

#define TL_RECORD_STEM (PATH_MAX - 64) /* bytes of a name without suffix */
#define TL_RECORD_LIVE ".live"         /* at the end of a name: being written, or left by a killed program */

typedef struct tl_record {
    const tl_cli *cli;
    unsigned modes;            /* TL_RECORD_* */
    const tl_format *convert;  /* the format of -o if that is not a recording; else NULL */
    char stem[TL_RECORD_STEM]; /* of the recordings, without suffix */
    char program[PATH_MAX];    /* the file to run */
    bool certain;              /* the recorder is in that file, not perhaps in what it starts */
    struct timespec begin;
    pid_t pid;
    int status; /* of waitpid() */
} tl_record;

const char *tl_record_suffix(unsigned mode);
/* The name of a mode, or of the combined ones; "none" if there is no such. */
const char *tl_record_mode_name(unsigned modes);
/* The path of one mode's recording, with `more` appended: "" or TL_RECORD_LIVE. Returns buf. */
char *tl_record_path(const tl_record *r, unsigned mode, const char *more, char buf[static PATH_MAX]);

/* Can the format hold calls, and can -o be written? So that the program is not run in vain. Reports why not; an exit
 * status. */
int tl_record_try(const tl_record *r);
/* Does convert make a profile from the recording, or write its events? */
bool tl_record_makes_profile(const tl_record *r);

/* Each reports failures and returns an exit status, or TL_EXIT_DONE. */
int tl_record_plan(tl_record *r);              /* modes, names; with -f removes what is in the way */
int tl_record_find(tl_record *r);              /* the program */
int tl_record_look(tl_record *r);              /* is there a recorder in it? */
int tl_record_run(tl_record *r);               /* runs it to its end */
int tl_record_settle(tl_record *r);            /* gives what a killed program left its final name */
int tl_record_report(tl_record *r, bool *any); /* *any: something was recorded */

/* The value of TRACELOOM for the program, to be freed. NULL: no memory. */
char *tl_record_settings(const tl_record *r);

#endif
