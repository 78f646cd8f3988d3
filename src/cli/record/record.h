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

/* How the recorder gets into the program. */
typedef enum tl_record_way {
    TL_WAY_LINKED,  /* it is there, or in what the program starts */
    TL_WAY_PRELOAD, /* loaded, for hooks that the compiler made */
    TL_WAY_SLEDS,   /* the same, for sleds; without any that can be used, the code is patched */
    TL_WAY_PATCH,   /* loaded, and code is patched */
    TL_WAY_MANAGED  /* a runtime loads it, and calls it */
} tl_record_way;

typedef struct tl_record {
    const tl_cli *cli;
    const char *name;          /* of the program, as given; of a process, its own */
    unsigned modes;            /* TL_RECORD_* */
    const tl_format *convert;  /* the format of -o if that is not a recording; else NULL */
    char stem[TL_RECORD_STEM]; /* of the recordings, without suffix */
    char program[PATH_MAX];    /* the file to run */
    char target[PATH_MAX];     /* the program itself; of a script what runs it */
    char library[PATH_MAX];    /* the recorder that is loaded; "": none */
    tl_record_way way;
    uint64_t device, inode;                     /* of the target */
    char **command;                             /* the words to run in place of the program's; NULL: those */
    bool (*prepare)(const struct tl_record *r); /* in the process that becomes that; NULL: nothing is to be done */
    bool one_of_many;                           /* of --runs: no table, and no advice */
    bool certain;                               /* the recorder is in that file, not perhaps in what it starts */
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
int tl_record_plan(tl_record *r); /* modes, names; with -f removes what is in the way */
int tl_record_find(tl_record *r); /* the program */
int tl_record_look(tl_record *r); /* which way it is recorded, and that it can be */
/* The part of that which loads nothing: the way, the target, what that is, and whether it runs a script. */
struct tl_record_facts;
int tl_record_choose(tl_record *r, struct tl_record_facts *f, bool *script);
int tl_record_dry_run(tl_record *r);            /* the other way: shows what would be patched */
int tl_record_run(tl_record *r);                /* runs it to its end */
void tl_record_say_patched(const tl_record *r); /* what was patched in it */
/* Rewrites a recorder's profile in a twentieth of the size. The names are in it, so no binary is opened. */
int tl_record_compact(const char *path);
void tl_record_settle_children(const tl_record *r); /* the same for recordings of child processes; names them */
int tl_record_settle(tl_record *r);                 /* gives what a killed program left its final name */
int tl_record_report(tl_record *r, bool *any);      /* *any: something was recorded */

/* Runs the program several times (--runs), or two in turns (--turns). The first exit status that is not 0. */
int tl_record_runs(const tl_cli *c);
/* One run from its plan to its report. An exit status of the verb. */
int tl_record_once(const tl_cli *c, bool one_of_many);

/* The value of TRACELOOM for the program, to be freed. NULL: no memory. */
char *tl_record_settings(const tl_record *r);
/* That of LD_PRELOAD, to be freed: the recorder, and what is there already. NULL: no memory. */
char *tl_record_preload(const tl_record *r);

/* Searches PATH as execvp() does. If false, errno is ENOENT, or EACCES if one is found that cannot be run. */
bool tl_record_search(const char *name, char out[static PATH_MAX]);
/* The program that runs a script; false: the file is no script, or its program is unknown. */
bool tl_record_interpreter(const char *path, char out[static PATH_MAX]);
/* A library that is loaded into what is recorded. */
typedef struct tl_record_part {
    const char *file, *package, *without; /* without: "has no recorder in it": why it is needed */
    const char *folder;                   /* where libraries are: "" or "/traceloom" */
    bool in_list;                         /* its path is an element of a list */
} tl_record_part;
extern const tl_record_part tl_record_recorder, tl_record_plugin, tl_record_mono, tl_record_clr;
/* Finds it; only those who could change this command, or the caller, may be able to change it. Reports why not; an exit
 * status, or TL_EXIT_DONE. */
int tl_record_library(const char *name, const tl_record_part *part, char out[static PATH_MAX]);

/* A recording that is one file or folder. */
typedef struct tl_record_kind {
    const char *suffix;
    const char *noun;                 /* "file" */
    const char *content;              /* "a recording of instructions" */
    bool (*remove)(const char *path); /* if it is one */
} tl_record_kind;
/* Makes its stem, and room for it; or finds the format of -o and --to, r->convert. Reports failures. */
int tl_record_plan_one(tl_record *r, const tl_record_kind *k);
/* As tl_record_path(). */
char *tl_record_one_path(const tl_record *r, const tl_record_kind *k, const char *more, char buf[static PATH_MAX]);

/* Makes the output of it, in the format r->convert, and removes it. */
int tl_record_convert_one(const tl_record *r, const char *path, bool (*discard)(const char *path));

/* The mode whose recordings have the suffix of this path; 0: none. */
unsigned tl_record_mode_of(const char *path);

/* The first option that only patched programs obey; NULL: none is given. */
const char *tl_record_only_patched(const tl_arguments *a);

/* `report` with these options, whose table goes where messages go. A tl_exit. */
int tl_record_show(const tl_record *r, const tl_arguments *report);
/* Writes `from` in the format of `to`, or that of --to, with the other verbs. */
int tl_record_rewrite(const tl_record *r, const char *from, const char *to, bool profile, bool quiet);

/* ns of a clock that nobody sets. */
uint64_t tl_record_now(void);

/* Its name, in r->program; NULL, after a message: there is no such process. */
const char *tl_record_process_name(tl_record *r);
/* Records a process that runs already (--pid), for a while. An exit status of any verb. */
int tl_record_process(tl_record *r);

#endif
