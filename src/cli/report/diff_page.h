/* A comparison as a page: report --diff BASE NEW -o x.html. */
#ifndef TL_CLI_DIFF_PAGE_H
#define TL_CLI_DIFF_PAGE_H

#include "analysis/compare/compare_answer.h"
#include "cli/report/diff_sides.h"

/* Writes the page: the comparison, the same by path (NULL: it already is), and the runs of NEW added up, whose profiles
 * are changed by that. `again` is the command that gives the same. Returns a tl_exit. */
int tl_diff_page(const tl_cli *c, const tl_compare_show *show, const tl_compare *paths, tl_diff_sides *s,
                 const char *again);

#endif
