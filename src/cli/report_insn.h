/* `report --by mix, block, branch, page, reuse, cache, syscall` and, of traces of instructions, thread: tables made by
 * one pass over the events (analysis/instruction), not from a profile. */
#ifndef TL_CLI_REPORT_INSN_H
#define TL_CLI_REPORT_INSN_H

#include "analysis/instruction/insn_pass.h"
#include "base/json_write.h"
#include "base/output.h"
#include "cli/text_table.h"
#include "cli/verbs.h"

/* The table that is being shown. */
typedef struct tl_insn_report {
    const tl_cli *cli;
    const tl_terminal *terminal; /* of the output */
    char subject[256];           /* the file and its format, or "3 files" */
    tl_elf *elf;                 /* of -e, for names of functions; or NULL */
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
    tl_insn_view_reuse, tl_insn_view_cache, tl_insn_view_syscall, tl_insn_view_thread;

/* The view of --by, or NULL: it is a table of another kind. "thread" only if the input has instructions. */
const tl_insn_view *tl_insn_view_of(const tl_arguments *a);
/* Reads the inputs and prints the table to a file ("-": standard output). with_profile: a profile was to be written,
 * too. Returns a tl_exit. */
int tl_report_insn(const tl_cli *c, const tl_insn_view *view, const char *path, bool with_profile);

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
