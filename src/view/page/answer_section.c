/* Writes an answer into memory. */
#include "view/page/answer_section.h"

#include "view/page/page_text.h"

int tl_html_answer(const tl_answer *a, tl_json_limit *limit, char **json, size_t *n, tl_error *e)
{
    tl_output *out = NULL;
    int status = tl_output_open_memory(&out, TL_PLAIN, e);
    if (status < 0)
        return status;
    status = tl_answer_json(a, out, limit, e);
    if (status == 0)
        return tl_html_take(out, json, n, e);
    tl_output_close(out);
    return status;
}
