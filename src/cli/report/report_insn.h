/* `report --by mix, block, branch, page, reuse, cache, syscall` and, of traces of instructions, thread: tables made by
 * one pass over the events (analysis/instruction), not from a profile. */
#ifndef TL_CLI_REPORT_INSN_H
#define TL_CLI_REPORT_INSN_H

#include "analysis/instruction/insn_pass.h"
#include "base/io/output.h"
#include "base/text/json_write.h"
#include "cli/inputs.h"
#include "cli/verbs.h"
#include "op/symbols/code_map.h"
#include "view/text_table.h"

/* The table that is being shown. */
typedef struct tl_insn_report {
    const tl_cli *cli;
    const tl_terminal *terminal; /* of the output */
    char subject[256];           /* the file and its format, or "3 files" */
    const tl_code_map *code;     /* of -e, for names of functions; or NULL */
    const void *table;           /* what the pass made */
} tl_insn_report;

/* One kind of table. */
typedef struct tl_insn_view {
    const char *by;    /* "mix" */
    const char *what;  /* "branches": what an empty table has none of */
    const char *sorts; /* words of --sort that it knows, or NULL */
    const tl_insn_table *how;
    size_t options_size; /* of the struct that `how->init` gets, zeroed; 0: NULL */
    /* Fills it from the command line; false with one line about what is wrong. May be NULL. */
    bool (*options)(void *options, const tl_arguments *a, char message[static TL_USAGE_SIZE]);
    bool (*empty)(const void *table);
    int (*json)(const tl_insn_report *r, tl_json *j, tl_error *e); /* the members of the object after "schema" */
    int (*text)(const tl_insn_report *r, tl_output *out, tl_error *e);
} tl_insn_view;
extern const tl_insn_view tl_insn_view_mix, tl_insn_view_block, tl_insn_view_branch, tl_insn_view_page,
    tl_insn_view_reuse, tl_insn_view_cache, tl_insn_view_syscall, tl_insn_view_calls, /* syscall, with --calls */
    tl_insn_view_thread;

/* Does --by name one of these tables, of whatever input? */
bool tl_report_is_insn(const tl_arguments *a);
/* Is it one of these tables, now that the first input is known? Of instructions, "thread" is, too. */
bool tl_report_is_insn_of(const tl_arguments *a, const tl_trace *t);
/* Reads the inputs and prints the table to a file ("-": standard output). with_profile: a profile was to be written,
 * too. `open` is the first input if it is open already (it is closed here), else NULL. Returns a tl_exit. */
int tl_report_insn(const tl_cli *c, tl_reading *open, const char *path, bool with_profile);
/* Says that an option belongs to another table than --by asks for: TL_EXIT_USAGE; else 0. */
int tl_insn_check_options(const tl_arguments *a);

/* Rows to show: --top, else `on_terminal` where the output is one; 0: all. At most n. */
uint32_t tl_insn_rows(const tl_insn_report *r, uint32_t n, uint32_t on_terminal);
/* The subject, in strong letters, as a line. */
void tl_insn_subject(const tl_insn_report *r, tl_output *out);
/* "main+0x1c", kept by the table t, or "" where no -e names a function that holds the pc. */
const char *tl_insn_place(const tl_insn_report *r, tl_text_table *t, uint64_t pc);
/* Prints the table, and how many rows of `what` are not in it, and frees it. Errors: TL_ENOMEM. */
int tl_insn_print(const tl_insn_report *r, tl_text_table *t, uint64_t left_out, const char *what, tl_output *out,
                  tl_error *e);

#endif
