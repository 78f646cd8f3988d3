/* The sites of traceloom/rt.h that have been used, for the mode "ctf". */
#ifndef TL_RT_SPANS_H
#define TL_RT_SPANS_H

#include "rt/rt_sys.h"
#include "traceloom/rt.h"

enum {
    RT_SITES = 16384,      /* more are not recorded; a message says so */
    RT_SITE_FIELDS = 16,   /* of one site; more are left out */
    RT_SITE_TEXT = 1000,   /* bytes of a text; more are cut */
    RT_SITE_EVENT = 0x8000 /* number of a site's events in notes: its index plus this, so that it differs from the types
                              that programs register themselves */
};

/* The number of the span's function; 0: the site is not a span. A site's index is its id - 1. */
uint32_t tl_rt_span_function(uint32_t index);

/* How many bytes of a text are recorded, without cutting a character in two. NULL: 0. */
uint32_t tl_rt_site_text(const char *s);

#endif
