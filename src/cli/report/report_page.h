/* The page of `report`: -o x.html, --to html. */
#ifndef TL_CLI_REPORT_PAGE_H
#define TL_CLI_REPORT_PAGE_H

#include "cli/inputs.h"
#include "cli/verbs.h"
#include "view/page/page_tables.h"

/* Whether the command line asks for a page: by --to, or the suffix of -o. */
bool tl_report_wants_page(const tl_arguments *a);
/* Whether the options are compatible with a page whose first table is `kind`, or those that only a page takes are given
 * without one. Reports those that are not; exit status. */
int tl_report_check_page(const tl_cli *c, const tl_table_kind *kind, bool page);
/* Adds the selected part of an input to the tables of the page, which are made for the first one; *tables belongs to
 * the caller in any case. Returns a tl_exit. */
int tl_report_page_add(const tl_cli *c, tl_html_tables **tables, tl_reading *r, const tl_select *select);
/* What says when something happened. */
typedef struct tl_report_time {
    tl_source *source;         /* the trace, still open; NULL: there is none */
    bool of_files;             /* because there are several */
    const tl_profile *profile; /* of the trace; the page's is a copy of it, or it itself */
    const tl_select *select;
} tl_report_time;

/* Writes the page of the profile of all inputs, t->profile, and of the tables, which may be NULL. Returns a tl_exit. */
int tl_report_page(const tl_cli *c, tl_profile_table *t, const tl_html_inputs *inputs, const tl_catalog *damage,
                   tl_html_tables *tables, const tl_report_time *time);

#endif
