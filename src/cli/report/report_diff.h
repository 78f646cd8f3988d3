/* `report --diff BASE NEW`. */
#ifndef TL_CLI_REPORT_DIFF_H
#define TL_CLI_REPORT_DIFF_H

#include "cli/verbs.h"

/* Compares two sides of runs, and tests gates. Returns a tl_exit; TL_EXIT_NO: a gate failed. */
int tl_report_diff(const tl_cli *c);
/* Whether an option that only --diff has is given without it; reports that. Returns a tl_exit. */
int tl_report_check_diff(const tl_arguments *a);

#endif
