/* Tables of `report` made directly from the events of the inputs, not from a profile. */
#ifndef TL_CLI_REPORT_TABLE_H
#define TL_CLI_REPORT_TABLE_H

#include "analysis/table_kind.h"
#include "cli/inputs.h"
#include "view/view.h"

/* How an answer is shown, and where. */
typedef struct tl_target {
    const tl_view *view;
    const char *path; /* "-": standard output */
} tl_target;

/* Reads the inputs and shows the table. with_profile: a profile was requested, too. `open` is the first input if it is
 * already open (closed here), else NULL. Returns a tl_exit. */
int tl_report_table(const tl_cli *c, const tl_table_kind *kind, tl_reading *open, const tl_target *to,
                    bool with_profile);

/* The options for a table from the command line. */
tl_ask tl_ask_of(const tl_cli *c, const tl_view *view, const tl_terminal *terminal);
/* Writes an answer to its target, with a message if that is a file. Returns a tl_exit. */
int tl_show_answer(const tl_cli *c, const tl_answer *a, const tl_ask *ask, const tl_target *to,
                   const tl_terminal *terminal);

#endif
