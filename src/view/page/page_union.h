/* The trees of both sides of a comparison, as a section of a page: see docs/page.md. */
#ifndef TL_VIEW_PAGE_UNION_H
#define TL_VIEW_PAGE_UNION_H

#include "analysis/compare/compare_answer.h"

#define TL_HTML_UNION_MAX 10000u /* places */

/* As JSON in memory, in about a tenth of `limit` bytes: *json belongs to the caller. Errors: TL_ENOMEM. */
int tl_html_union(const tl_compare_show *show, uint64_t limit, char **json, size_t *n, tl_error *e);

#endif
