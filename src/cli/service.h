/* What is different when verbs answer questions of `serve`: inputs stay open, and standard output is memory. */
#ifndef TL_CLI_SERVICE_H
#define TL_CLI_SERVICE_H

#include "base/io/output.h"
#include "cli/source_pool.h"

typedef struct tl_service {
    tl_source_pool *pool;
    tl_output *out;     /* in place of standard output */
    bool only_profile;  /* of a page: no tables, and nothing about when things happened */
    bool *has_sums;     /* set if the page has calls or samples; or NULL */
    const char *served; /* JSON for the page: that it is served, and what it can ask */
} tl_service;

#endif
