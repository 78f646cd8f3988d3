/* The sections of a page that say when something happened. */
#ifndef TL_VIEW_PAGE_TIME_H
#define TL_VIEW_PAGE_TIME_H

#include "analysis/timeline/time_data.h"
#include "view/page/page.h"
#include "view/page/page_data.h"

/* What a page has at most; see longest.h, lanes.h, ... for what is chosen. */
#define TL_HTML_SPANS_MAX        400000u
#define TL_HTML_SPANS_LEAST      50000u /* fewer only together with everything else */
#define TL_HTML_SPAN_LANES_MAX   4096u
#define TL_HTML_GRID_LANES_MAX   512u
#define TL_HTML_GRID_COLUMNS_MAX 2048u
#define TL_HTML_SLICED_MAX       20000u /* places that have slices */
#define TL_HTML_SLICES_MAX       128u
#define TL_HTML_HEAT_MAX         64u /* functions whose durations are shown over time */
#define TL_HTML_HEAT_COLUMNS_MAX 256u
#define TL_HTML_SLOW_MAX         20000u /* exemplars */

/* What was read once, whatever the limits are then. */
struct tl_html_time {
    bool known;          /* is it known when something happened? */
    const char *unknown; /* why not, if it is worth a sentence */
    bool of_insns;       /* the axis counts instructions */
    uint64_t begin, end; /* ticks of the first and the last event, or of the selected time */
    uint64_t zero;       /* the tick that --time counts from */
    bool has_utc;
    int64_t utc_ns; /* of `begin` */
    const tl_trace *trace;
    tl_time_data data;
    uint32_t *page_place; /* by number of a place in the trace's profile: the place in the page's */
    uint32_t *function;   /* [functions] by the numbers in `data`: function of the page's profile */
    uint32_t *sliced;     /* [nsliced] places of the page's profile: slots 2i are their own, 2i+1 of those below them
                             that have none */
    uint32_t nsliced;
    uint32_t *heat, nheat;       /* functions of the rows */
    uint32_t *slow, nslow;       /* the same */
    uint64_t functions_not_slow; /* which have no exemplars */
};

/* Reads what there is. Errors: those of reading. tl_html_time_fini() in any case. */
int tl_html_time_make(tl_html_time *t, const tl_html_page *page, const tl_html_source *s, tl_error *e);
void tl_html_time_fini(tl_html_time *t);

/* Makes sections; `rows` and names are those of the tree. */
int tl_html_put_slices(tl_html_data *d, const tl_html_time *t, const tl_html_limits *limits, tl_error *e);
int tl_html_put_timeline(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                         tl_error *e);
int tl_html_put_heat(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                     tl_error *e);
int tl_html_put_slow(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                     tl_error *e);

#endif
