/* Shared by the verbs: the command line, the terminal, exit statuses. Each verb is a function in a file of its own. */
#ifndef TL_CLI_VERBS_H
#define TL_CLI_VERBS_H

#include <stdio.h>

#include "cli/options.h"
#include "traceloom/error.h"
#include "view/terminal.h"

typedef enum tl_exit {
    TL_EXIT_DONE = 0,
    TL_EXIT_NO = 1,      /* the answer is no: check found problems, report has no such table */
    TL_EXIT_USAGE = 2,   /* the command line makes no sense */
    TL_EXIT_DAMAGED = 3, /* the input was damaged or unreadable, or the output could not be written */
    TL_EXIT_LOST = 4,    /* with --strict: the trace reports lost events */
    TL_EXIT_LIMIT = 5    /* query: a limit was reached, or it was interrupted */
} tl_exit;

/* For record, whose other statuses are the program's. */
enum { TL_EXIT_RECORD = 125, TL_EXIT_CANNOT_RUN = 126, TL_EXIT_NOT_FOUND = 127 };

typedef struct tl_cli {
    const tl_arguments *args;
    const struct tl_exe_files *files; /* further files of -e besides args->exe */
    tl_terminal out;                  /* standard output */
    const struct tl_service *service; /* of a question of `serve`; NULL: a command */
} tl_cli;

/* Each returns a tl_exit. */
int tl_verb_info(tl_cli *c);
int tl_verb_check(tl_cli *c);
int tl_verb_report(tl_cli *c);
int tl_verb_convert(tl_cli *c);
int tl_verb_query(tl_cli *c);
int tl_verb_serve(tl_cli *c);
int tl_verb_load(tl_cli *c);
int tl_verb_record(tl_cli *c); /* or the status of the program, or one of TL_EXIT_RECORD, ... */
int tl_verb_ctl(tl_cli *c);
/* Parses all words after "help" itself: it also has options that no list shows (--man VERB, --completion SHELL and
 * --names read|VERB|processes|options, for building, completion and tests). */
int tl_verb_help(tl_cli *c, int argc, const char *const *argv);

/* Writes the profile of all inputs to args->output, or to standard output: for `report -o`, and for `convert` to a
 * format of profiles. */
int tl_report_to_file(tl_cli *c);

/* Prints the version and optional parts, as text or JSON. Returns a tl_exit. */
int tl_print_version(bool json);
/* Prints the short help of a verb, or of the whole command for NULL. */
void tl_print_help(const tl_verb *verb);
/* Prints the man page of a verb ("" or "traceloom": the whole command; "formats": the formats) in mdoc; false if there
 * is no such page. */
bool tl_print_man(const char *verb, FILE *file);
/* Prints the list of tables; and their columns, for docs/tables.md: false if `what` is not "markdown". */
void tl_print_tables(void);
bool tl_print_tables_as(const char *what);
/* The same of the tables of SQL, for docs/schema.md. */
bool tl_print_schema_as(const char *what);
/* Prints the completion script of a shell; false if the shell is unknown. */
bool tl_print_completion(const char *shell);

#endif
