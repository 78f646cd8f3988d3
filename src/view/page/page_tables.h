/* Tables of `report` that a page has beside its profile, or in place of one: those that its traces have something for,
 * each as a section. */
#ifndef TL_VIEW_PAGE_TABLES_H
#define TL_VIEW_PAGE_TABLES_H

#include "analysis/table_run.h"
#include "view/page/page.h"

/* A table has at most so many rows of each of its lists, and about so many bytes, less in a small page. */
#define TL_HTML_TABLE_ROWS_MAX  2000u
#define TL_HTML_TABLE_BYTES_MAX 250000u
#define TL_HTML_TABLE_PART      40u /* of the bytes of a page */

typedef struct tl_html_tables tl_html_tables;

typedef struct tl_html_tables_options {
    const char *by; /* the table of `options`, or NULL */
    tl_table_options options;
    const char *exe; /* the traced binary, for tables of its code; or NULL */
    bool several;    /* inputs */
    unsigned threads;
    uint64_t limit; /* bytes of the page */
    /* Can the table be narrowed by what the user selected? */
    bool (*can_select)(void *arg, const tl_table_kind *kind);
    void *arg;
} tl_html_tables_options;

/* Is it one of these tables? */
bool tl_html_tables_know(const char *word);

/* *out belongs to the caller: tl_html_tables_free(). Errors: TL_ENOMEM. */
int tl_html_tables_new(tl_html_tables **out, const tl_html_tables_options *o, tl_error *e);
/* Adds the selected part of a source to the tables that it has something for. Errors: those of reading and of options.
 */
int tl_html_tables_add(tl_html_tables *t, tl_source *s, const tl_select *select, tl_error *e);
/* Is any table not empty? */
bool tl_html_tables_any(const tl_html_tables *t);
/* Makes the sections of tables that are not empty, *n of them, which live as long as the tables; `subject` is what the
 * tables are about. Errors: TL_ENOMEM. */
int tl_html_tables_make(tl_html_tables *t, const char *subject, const tl_html_section **section, size_t *n,
                        tl_error *e);
/* The line above the first table. */
const char *tl_html_tables_facts(const tl_html_tables *t);
/* The first rows of the first table, for readers without scripts. */
void tl_html_tables_put(const tl_html_tables *t, tl_output *out);
void tl_html_tables_free(tl_html_tables *t);

#endif
