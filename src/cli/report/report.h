/* Which tables and options of `report` are compatible. */
#ifndef TL_CLI_REPORT_H
#define TL_CLI_REPORT_H

#include "analysis/table_kind.h"
#include "cli/inputs.h"
#include "cli/verbs.h"
#include "traceloom/profile.h"

/* Whether the table --by `by` can be sorted by this word, one of `sorts` (NULL: it has one order); sort may be NULL.
 * Reports why not; exit status. */
int tl_report_check_sort(const char *sort, const char *by, const char *sorts);
/* Whether the table can be made from the input, whose profile `p` is, or NULL: TL_EXIT_DONE, TL_EXIT_NO after reporting
 * why not and counting it, or what failed. */
int tl_report_check_fits(const tl_table_kind *kind, const tl_reading *r, const tl_profile *p, size_t *unfit);
/* What the command line says for single tables. */
tl_table_options tl_report_own_options(const tl_arguments *a);
/* Whether the options are compatible: `table` is shown, a profile is written `to_file`. Reports those that are not;
 * exit status. */
int tl_report_check_options(const tl_cli *c, const tl_table_kind *kind, bool table, bool to_file);

#endif
