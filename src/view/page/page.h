/* A report as one HTML file that needs nothing else: see docs/page.md. */
#ifndef TL_VIEW_PAGE_H
#define TL_VIEW_PAGE_H

#include "analysis/function/profile_answer.h"
#include "analysis/trace/catalog.h"
#include "op/source_impl.h"
#include "traceloom/sink.h"

#define TL_HTML_SIZE_USUAL 10000000u /* bytes of a page, unless another limit is given */
#define TL_HTML_SIZE_LEAST 1000000u
#define TL_HTML_INPUTS_MAX 100u  /* inputs that are listed, and that have sentences */
#define TL_HTML_LINES_MAX  500u  /* sentences about losses, and about others that limit the answer */
#define TL_HTML_DAMAGE_MAX 1000u /* damaged places that are listed */

/* What a page says of its inputs. */
typedef struct tl_html_lines {
    const char *line[TL_HTML_LINES_MAX];
    uint32_t n;
} tl_html_lines;

typedef struct tl_html_inputs {
    tl_arena arena;
    struct {
        const char *name, *format, *version; /* version may be NULL */
    } input[TL_HTML_INPUTS_MAX];
    uint64_t n;
    tl_html_lines losses, notes;
    uint64_t lost_events, lost_packets, damaged_bytes, out_of_order;
    bool failed; /* memory ran out */
} tl_html_inputs;

/* Adds a trace, after it was read; nothing of it is kept. Zeroed is without inputs; tl_html_inputs_fini() in any case.
 * Errors: TL_ENOMEM. */
int tl_html_inputs_add(tl_html_inputs *in, const tl_trace *t, tl_error *e);
void tl_html_inputs_fini(tl_html_inputs *in);

/* A section that is one JSON value, of n bytes. */
typedef struct tl_html_section {
    const char *name, *json;
    size_t n;
    uint64_t left_out; /* how much of it the page does not have ... */
    const char *what;  /* ... of these: "rows of --by gc"; NULL if nothing is left out */
} tl_html_section;

typedef struct tl_html_page {
    const tl_profile_table *table; /* the profile, and what is known of its traces */
    /* Tables to show in place of the profile, which is empty; or NULL. Their sections are in `more`. */
    const struct tl_html_tables *instead;
    const tl_html_inputs *inputs;
    const tl_catalog *damage;
    struct {
        tl_source *source;         /* is read once more for what happened when; NULL: the page has no time ... */
        const char *unknown;       /* ... for this reason, a sentence; or NULL */
        const tl_profile *profile; /* what tl_profile_from_source() made; table->profile is it or a copy of it */
        const tl_select *select;   /* as then; or NULL */
        unsigned threads;
    } time;
    const tl_html_section *more; /* [nmore] behind the page's own, in this order */
    size_t nmore;
    const char *title, *facts; /* facts: the subject of tl_profile_head() */
    const char *by, *sort;     /* of the first screen; or NULL */
    bool has_top;
    uint32_t top;
    const char *selection, *again; /* what was selected, and the command that makes the page again; or NULL */
    uint64_t limit;                /* bytes */
    bool overwrite;
    const char *served; /* JSON about the server that the page can ask, see docs/serve.md; NULL: it is a file */
    /* Told what was left out; may be NULL. */
    void (*drops)(void *arg, const tl_drop *d);
    void *arg;
} tl_html_page;

/* Writes the page; "-" is standard output, and a suffix .gz or .zst compresses. The file is there when all is written,
 * or not at all. Errors: TL_EEXIST, TL_EIO, TL_ENOMEM; TL_EUNSUPPORTED if this build cannot compress. */
int tl_html_page_write(const tl_html_page *page, const char *path, tl_error *e);
/* The content security policy of a page. `served`: it may ask its server. */
void tl_html_put_policy(tl_output *out, bool served);
/* The same to an open output; finish it. */
int tl_html_page_put(const tl_html_page *page, tl_output *out, tl_error *e);

#endif
