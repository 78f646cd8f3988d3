/* Tables of `report` made directly from the events of the inputs, not from a profile. */
#ifndef TL_CLI_REPORT_TABLE_H
#define TL_CLI_REPORT_TABLE_H

#include "analysis/table_kind.h"
#include "cli/answer_target.h"
#include "cli/inputs.h"

/* The first of the options given that selects what the table cannot tell apart, "--cpu", or else one that is about
 * profiles only, --weight or --per-thread; or NULL. */
const char *tl_report_table_stray(const tl_arguments *a, const tl_table_kind *kind);

/* Reads the inputs and shows the table. with_profile: a profile was requested, too. `open` is the first input if it is
 * already open (closed here), else NULL. Returns a tl_exit. */
int tl_report_table(const tl_cli *c, const tl_table_kind *kind, tl_reading *open, const tl_target *to,
                    bool with_profile);

#endif
