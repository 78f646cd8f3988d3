/* Text and JSON of a page. */
#ifndef TL_VIEW_PAGE_TEXT_H
#define TL_VIEW_PAGE_TEXT_H

#include "base/text/json_write.h"
#include "view/page/page.h"
#include "view/page/page_data.h"

/* Text between tags or in an attribute in double quotes. What does not belong on a screen becomes "?". */
void tl_html_put(tl_output *out, const char *s);
/* A script element with JSON: n bytes that have `<` only in strings. */
void tl_html_put_json(tl_output *out, const char *section, const char *json, size_t n);

/* Begins a JSON object in memory. Errors: TL_ENOMEM. */
int tl_html_json_begin(tl_output **out, tl_json *j, tl_error *e);
/* What was written to an output in memory, which is closed: *json belongs to the caller. Errors: TL_ENOMEM. */
int tl_html_take(tl_output *out, char **json, size_t *n, tl_error *e);

/* The sections that are JSON, each in memory: *json belongs to the caller. Errors: TL_ENOMEM. */
int tl_html_meta(const tl_html_page *page, const tl_html_data *d, const tl_html_source *s, const tl_html_time *t,
                 const char *facts, char **json, size_t *n, tl_error *e);
int tl_html_damage(const tl_catalog *damage, char **json, size_t *n, tl_error *e);

/* What readers without scripts see. */
void tl_html_put_static(tl_output *out, const tl_html_page *page, const tl_html_source *s, const char *facts);

/* What was left out, in words: number i, or NULL past the end. */
typedef struct tl_html_omission {
    const char *section;
    uint64_t n, self;
    bool has_self;
    char text[96]; /* "functions with a small total" */
} tl_html_omission;
bool tl_html_left_out(const tl_html_data *d, const tl_profile *p, unsigned i, tl_html_omission *out);

#endif
