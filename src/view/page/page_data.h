/* The sections of a page that are made from a profile. */
#ifndef TL_VIEW_PAGE_DATA_H
#define TL_VIEW_PAGE_DATA_H

#include "analysis/function/tables.h"
#include "model/place_tree.h"
#include "view/page/page_names.h"

/* What a page has at most: a browser copes with it, and there is a file to send. */
#define TL_HTML_FUNCTIONS_MAX 100000u
#define TL_HTML_PLACES_MAX    100000u
#define TL_HTML_FINE_MAX      512u     /* histograms with all buckets, of the functions with the largest total */
#define TL_HTML_COARSE_MAX    20000u   /* histograms of the next ones, with 8 buckets for each power of two */
#define TL_HTML_TEXTS_MAX     2097152u /* bytes of all texts */

/* In the order of the page. */
enum tl_html_section_number {
    TL_HTML_NAMES,
    TL_HTML_FUNCTIONS,
    TL_HTML_TREE,
    TL_HTML_HIST,
    TL_HTML_SLICES,
    TL_HTML_GRID,
    TL_HTML_SPANS,
    TL_HTML_HEAT,
    TL_HTML_SLOW,
    TL_HTML_SECTIONS
};

typedef struct tl_html_time tl_html_time; /* page_time.h */

/* How much of what is known is in the page. */
typedef struct tl_html_limits {
    uint32_t part;   /* 1/part of all limits */
    uint32_t spans;  /* calls of the timeline */
    uint32_t slices; /* so many slices become one */
    bool slow;       /* are there exemplars? */
} tl_html_limits;

typedef struct tl_html_source {
    const tl_profile *profile;
    tl_table rows;     /* of functions, in the order of the report */
    tl_table by_total; /* the same, those with the largest total first */
    tl_place_tree tree;
} tl_html_source;

typedef struct tl_html_data {
    struct {
        tl_pb text; /* base64 */
        uint32_t n; /* rows */
    } section[TL_HTML_SECTIONS];
    uint64_t functions_out, functions_self;              /* left out, and their self */
    uint64_t places, places_out, places_self, narrowest; /* places: all that have numbers */
    uint64_t hist_out, texts_out;
    uint64_t spans_out, spans_all_from, slow_out; /* calls of the timeline; functions without exemplars */
    uint64_t grid_out;                            /* rows */
    uint32_t *keeper, *row; /* by place of the profile: it or its nearest caller in the tree; the row of those in it */
} tl_html_data;

/* The profile must outlive it. Errors: TL_ENOMEM. tl_html_source_fini() in any case. */
int tl_html_source_init(tl_html_source *s, const tl_profile *p, tl_error *e);
void tl_html_source_fini(tl_html_source *s);

/* Makes the sections. Errors: TL_ENOMEM. tl_html_data_fini() in any case. */
int tl_html_data_make(tl_html_data *d, const tl_html_source *s, const tl_html_time *t, const tl_html_limits *limits,
                      tl_error *e);
void tl_html_data_fini(tl_html_data *d);

/* Parts of it. */
int tl_html_put_functions(tl_html_data *d, const tl_html_source *s, tl_html_names *names, uint32_t part, tl_error *e);
int tl_html_put_tree(tl_html_data *d, const tl_html_source *s, tl_html_names *names, uint32_t part, tl_error *e);

#endif
