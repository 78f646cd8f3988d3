/* The section of a page that is a comparison: see docs/page.md. */
#ifndef TL_VIEW_PAGE_COMPARE_H
#define TL_VIEW_PAGE_COMPARE_H

#include "analysis/compare/compare_answer.h"

#define TL_HTML_UNION_MAX 10000u /* places of the union of both trees */

/* Makes it from a comparison and its answer, which it frees. *json belongs to the caller. Errors: TL_ENOMEM. */
int tl_html_compare(const tl_compare_show *show, tl_answer *answer, char **json, size_t *n, tl_error *e);

#endif
