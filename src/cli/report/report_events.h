/* Tables that are made straight from the events of the inputs, not from a profile: what those of managed runtimes and
 * those of instructions have in common. */
#ifndef TL_CLI_REPORT_EVENTS_H
#define TL_CLI_REPORT_EVENTS_H

#include "base/io/output.h"
#include "base/text/json_write.h"
#include "cli/inputs.h"
#include "cli/verbs.h"
#include "traceloom/profile.h"

#define TL_SUBJECT_SIZE 256u

/* One table. The functions get `table`. */
typedef struct tl_events_report {
    const char *by;        /* "gc" */
    const char *what;      /* "garbage collections": what an empty table has none of */
    const char *sorts;     /* words of --sort that it knows, or NULL */
    bool several;          /* inputs can be added up */
    const char *no_thread; /* why threads cannot be chosen, or NULL */
    bool of_insns;         /* of instructions: these can be chosen by level and pc, too */
    tl_want want;          /* how inputs are opened */
    void *table;
    char *subject; /* [TL_SUBJECT_SIZE]: is set to what was read: the file and its format, or "3 files" */
    const tl_terminal **terminal;                               /* is set to what is known of the output */
    int (*check)(void *table, const tl_reading *r, bool first); /* an exit status after a message. May be NULL */
    int (*read)(void *table, tl_source *s, const tl_select *select, bool first, tl_error *e);
    bool (*empty)(const void *table);
    int (*json)(void *table, tl_json *j, tl_error *e); /* the members of the object after "schema" */
    int (*text)(void *table, tl_output *out, tl_error *e);
} tl_events_report;

/* Reads the inputs and prints the table to a file ("-": standard output). with_profile: a profile was to be written,
 * too. `open` is the first input if it is open already (it is closed here), else NULL. Returns a tl_exit. */
int tl_report_events(const tl_cli *c, const tl_events_report *how, tl_reading *open, const char *path,
                     bool with_profile);

/* Rows of JSON: as many as --top says, else all. */
uint32_t tl_events_json_rows(const tl_cli *c, uint32_t n);
/* Rows to show: --top, else `on_terminal` or, where there is no terminal, `elsewhere`; 0: all. At most n. */
uint32_t tl_events_rows(const tl_cli *c, const tl_terminal *terminal, uint32_t n, uint32_t on_terminal,
                        uint32_t elsewhere);
/* A subject, in strong letters, as a line. */
void tl_events_subject(const tl_terminal *terminal, const char *subject, tl_output *out);

struct tl_text_table;
/* Prints a table, and how many rows of `what` are not in it, and frees it. Errors: TL_ENOMEM. */
int tl_events_print(const tl_cli *c, const tl_terminal *terminal, struct tl_text_table *t, uint64_t left_out,
                    const char *what, tl_output *out, tl_error *e);

#endif
