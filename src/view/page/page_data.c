/* Makes the sections of a page from a profile. */
#include "view/page/page_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "view/page/page_time.h"

/* tl_function_rows() computes percentiles: the second order is a copy. */
int tl_html_source_init(tl_html_source *s, const tl_profile *p, tl_error *e)
{
    *s = (tl_html_source){.profile = p};
    int status = tl_function_rows(&s->rows, p, e);
    if (status < 0)
        return status;
    s->by_total = (tl_table){.row = tl_alloc((size_t)s->rows.n + 1, sizeof *s->rows.row), .n = s->rows.n};
    if (!s->by_total.row)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the functions of the page");
    if (s->rows.n)
        memcpy(s->by_total.row, s->rows.row, s->rows.n * sizeof *s->rows.row);
    tl_table_sort(&s->by_total, p, TL_BY_TOTAL, 0);
    return tl_place_tree_init(&s->tree, p, e);
}

void tl_html_source_fini(tl_html_source *s)
{
    tl_table_free(&s->rows);
    tl_table_free(&s->by_total);
    tl_place_tree_fini(&s->tree);
}

static int put_time(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                    tl_error *e)
{
    int status = tl_html_put_slices(d, t, limits, e);
    if (status == 0)
        status = tl_html_put_timeline(d, t, names, limits, e);
    if (status == 0)
        status = tl_html_put_heat(d, t, names, limits, e);
    return status == 0 ? tl_html_put_slow(d, t, names, limits, e) : status;
}

/* Names come last, when it is known which are used. */
int tl_html_data_make(tl_html_data *d, const tl_html_source *s, const tl_html_time *t, const tl_html_limits *limits,
                      tl_error *e)
{
    const uint32_t part = limits->part;
    tl_html_names names;
    *d = (tl_html_data){0};
    int status = 0;
    if (!tl_html_names_init(&names, s->profile, t, TL_HTML_TEXTS_MAX / part))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the names of the page");
    if (status == 0)
        status = tl_html_put_functions(d, s, &names, part, e);
    if (status == 0)
        status = tl_html_put_tree(d, s, &names, part, e);
    if (status == 0 && t->known)
        status = put_time(d, t, &names, limits, e);
    if (status == 0) {
        d->section[TL_HTML_NAMES].n = names.n;
        d->texts_out = names.texts_out;
        status = names.failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the names of the page")
                              : tl_columns_pack(&names.columns, &d->section[TL_HTML_NAMES].text, e);
    }
    tl_html_names_fini(&names);
    return status;
}

void tl_html_data_fini(tl_html_data *d)
{
    for (unsigned i = 0; i < TL_HTML_SECTIONS; i++)
        tl_pb_fini(&d->section[i].text);
    free(d->keeper);
    free(d->row);
}
