/* Finds the sections of a finished page. */
#ifndef TL_VIEW_SECTION_SCAN_H
#define TL_VIEW_SECTION_SCAN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tl_html_scanned {
    const char *name, *text; /* in the page; not terminated */
    size_t name_n, text_n;
    const char *n; /* digits of data-n; NULL: it is JSON */
    size_t n_n;
} tl_html_scanned;

/* The next section from *at on, which moves behind it; *at == page: the first. False: there are no more. */
bool tl_html_scan(const char **at, const char *end, tl_html_scanned *out);

#endif
