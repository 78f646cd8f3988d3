/* The functions and texts of a page. */
#ifndef TL_VIEW_PAGE_NAMES_H
#define TL_VIEW_PAGE_NAMES_H

#include "model/profile_impl.h"
#include "view/pack/columns.h"

/* Longer texts are cut in the middle: nobody reads them, and a name may have megabytes. */
#define TL_HTML_TEXT_MAX 1024u

typedef struct tl_html_names {
    const tl_profile *profile;
    uint32_t *number; /* [functions of the profile] number in the page + 1; 0: it is not there yet */
    uint32_t n;       /* functions in the page */
    uint32_t *thread; /* [threads of the profile], as `number` */
    uint32_t threads;
    const struct tl_html_time *time; /* who knows when threads ran; then there are also: */
    uint32_t *of_track;              /* [tracks of the trace], as `number` */
    const tl_track **sorted;         /* [tracks of the trace] in the order of tl_track_compare() */
    tl_columns columns;
    tl_hash text;       /* a string's address -> number of its text */
    uint32_t texts;     /* so far */
    size_t room;        /* bytes left for texts */
    uint64_t texts_out; /* for which there was no room */
    tl_pb scratch;
    bool failed; /* memory ran out */
} tl_html_names;

/* text_most: bytes of all texts together. False when memory runs out. tl_html_names_fini() in any case. */
bool tl_html_names_init(tl_html_names *t, const tl_profile *p, const struct tl_html_time *time, size_t text_most);
void tl_html_names_fini(tl_html_names *t);
/* The number of a function in the page, which it gets when it is first asked for. */
uint32_t tl_html_function(tl_html_names *t, uint32_t function);
/* The same of a thread. */
uint32_t tl_html_thread(tl_html_names *t, uint32_t track);
/* The same of a track of the trace, if the page knows when something happened. */
uint32_t tl_html_trace_thread(tl_html_names *t, uint32_t track);

/* Appends n bytes of text as UTF-8, as JSON output has it: bytes that are not UTF-8 are U+0080 to U+00FF. */
void tl_html_repair(tl_pb *out, const char *s, size_t n);

#endif
