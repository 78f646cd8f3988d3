/* An answer as a section of a page. */
#ifndef TL_VIEW_ANSWER_SECTION_H
#define TL_VIEW_ANSWER_SECTION_H

#include "view/json_view.h"

/* The answer as JSON, as `report --json` prints it, within a limit (NULL: all of it), in memory: *json belongs to the
 * caller. Errors: TL_ENOMEM. */
int tl_html_answer(const tl_answer *a, tl_json_limit *limit, char **json, size_t *n, tl_error *e);

#endif
