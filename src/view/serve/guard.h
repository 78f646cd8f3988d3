/* Which requests `serve` answers at all: docs/serve.md says against whom. */
#ifndef TL_VIEW_SERVE_GUARD_H
#define TL_VIEW_SERVE_GUARD_H

#include <stdbool.h>

/* What the guard looks at. */
typedef struct tl_serve_headers {
    const char *method;
    const char *host;               /* the last one; NULL: none */
    unsigned hosts;                 /* how many there are */
    const char *site, *mode, *dest; /* Sec-Fetch-...; NULL: none */
    unsigned sites;
    bool has_body; /* one was announced */
} tl_serve_headers;

/* 0, or the status of the refusal, and why. */
int tl_serve_guard(const tl_serve_headers *h, const char **why);
/* The same for the site that asks; `is_page`: it asks for the page, not for an answer. */
int tl_serve_guard_site(const tl_serve_headers *h, bool is_page, const char **why);

#endif
