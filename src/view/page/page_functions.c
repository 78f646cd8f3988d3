/* The functions of a page, and the histograms of their calls. */
#include <stdlib.h>

#include "base/grow.h"
#include "view/page/page_data.h"

enum { FUNCTION, CALLS, TOTAL, SELF, SHORTEST, LONGEST, P50, P90, P99, P999, P9999, UNWOUND, COLUMNS };
enum { HIST_FUNCTION, HIST_BUCKETS, HIST_SUB_BITS, HIST_BUCKET, HIST_CALLS, HIST_COLUMNS };
enum { COARSE_SUB_BITS = 3 };

typedef struct quantiles {
    uint64_t p999, p9999;
    bool chosen; /* the function is in the page */
} quantiles;

typedef struct making {
    const tl_html_source *source;
    tl_html_names *names;
    tl_columns functions, hist;
    quantiles *of_row;  /* [rows] by position */
    tl_hist_total *sum; /* of one function */
    uint32_t nfunction, nhist;
} making;

static void add_up(making *m, const tl_row *row)
{
    const tl_profile *p = m->source->profile;
    tl_hist_total_start(m->sum, row->stat.min, row->stat.max);
    for (uint32_t at = p->same_first[row->function]; at; at = p->same_next[at])
        tl_hist_total_add(m->sum, &p->stat[at].hist);
}

/* The bucket that all values of a bucket are in, if there are fewer of them. */
static uint32_t coarse(uint32_t bucket)
{
    const uint64_t low = tl_hist_low(bucket), least = 1u << COARSE_SUB_BITS;
    const unsigned exponent = 63u - (unsigned)__builtin_clzll(low | least) - COARSE_SUB_BITS;
    return (exponent << COARSE_SUB_BITS) + (uint32_t)(low >> exponent);
}

static void put_bucket(making *m, uint32_t *last, uint32_t bucket, uint64_t calls)
{
    tl_pb_varint(&m->hist.column[HIST_BUCKET], bucket - *last);
    tl_pb_varint(&m->hist.column[HIST_CALLS], calls);
    *last = bucket;
}

static void put_hist(making *m, const tl_row *row, bool fine)
{
    uint32_t n = 0, last = 0, at = 0;
    tl_hist_pair pair, held = {0};
    while (tl_hist_each(&m->sum->hist, &at, &pair)) {
        const uint32_t bucket = fine ? pair.bucket : coarse(pair.bucket);
        if (held.count && held.bucket == bucket) {
            held.count = tl_add_saturated(held.count, pair.count);
            continue;
        }
        if (held.count)
            put_bucket(m, &last, held.bucket, held.count);
        held = (tl_hist_pair){.bucket = bucket, .count = pair.count};
        n++;
    }
    if (held.count)
        put_bucket(m, &last, held.bucket, held.count);
    tl_pb_varint(&m->hist.column[HIST_FUNCTION], tl_html_function(m->names, row->function));
    tl_pb_varint(&m->hist.column[HIST_BUCKETS], n);
    tl_pb_varint(&m->hist.column[HIST_SUB_BITS], fine ? TL_HIST_SUB_BITS : COARSE_SUB_BITS);
    m->nhist++;
}

/* Those with the largest total, which also get histograms. */
static void choose(making *m, tl_html_data *d, uint32_t part)
{
    const tl_html_source *s = m->source;
    const tl_table *t = &s->by_total;
    const uint32_t fine = TL_HTML_FINE_MAX / part, most = fine + TL_HTML_COARSE_MAX / part;
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_row *row = &t->row[i];
        quantiles *q = &m->of_row[row->position];
        q->chosen = i < TL_HTML_FUNCTIONS_MAX / part;
        if (!q->chosen) {
            d->functions_out++;
            d->functions_self = tl_add_saturated(d->functions_self, row->stat.self);
        }
        if (!q->chosen || !s->profile->has_histogram || row->untimed || !row->stat.calls)
            continue;
        add_up(m, row);
        q->p999 = tl_hist_quantile(&m->sum->hist, 9990, 10000, row->stat.min, row->stat.max);
        q->p9999 = tl_hist_quantile(&m->sum->hist, 9999, 10000, row->stat.min, row->stat.max);
        if (m->nhist < most)
            put_hist(m, row, m->nhist < fine);
        else
            d->hist_out++;
    }
}

static void put_function(making *m, const tl_row *row)
{
    const quantiles *q = &m->of_row[row->position];
    const uint64_t value[COLUMNS] = {
        [FUNCTION] = tl_html_function(m->names, row->function),
        [CALLS] = row->stat.calls,
        [TOTAL] = row->stat.total,
        [SELF] = row->stat.self,
        [SHORTEST] = row->untimed ? 0 : row->stat.min,
        [LONGEST] = row->untimed ? 0 : row->stat.max,
        [P50] = row->p50,
        [P90] = row->p90,
        [P99] = row->p99,
        [P999] = q->p999,
        [P9999] = q->p9999,
        [UNWOUND] = row->unwound,
    };
    for (unsigned i = 0; i < COLUMNS; i++)
        tl_pb_varint(&m->functions.column[i], value[i]);
    m->nfunction++;
}

/* In the order of the report. */
static void put_rows(making *m)
{
    const tl_table *t = &m->source->rows;
    for (uint32_t i = 0; i < t->n; i++)
        if (m->of_row[t->row[i].position].chosen)
            put_function(m, &t->row[i]);
}

static int pack(making *m, tl_html_data *d, tl_error *e)
{
    int status = tl_columns_pack(&m->functions, &d->section[TL_HTML_FUNCTIONS].text, e);
    d->section[TL_HTML_FUNCTIONS].n = m->nfunction;
    if (status == 0 && m->nhist)
        status = tl_columns_pack(&m->hist, &d->section[TL_HTML_HIST].text, e);
    d->section[TL_HTML_HIST].n = m->nhist;
    return status;
}

int tl_html_put_functions(tl_html_data *d, const tl_html_source *s, tl_html_names *names, uint32_t part, tl_error *e)
{
    making m = {.source = s, .names = names};
    int status = 0;
    m.of_row = calloc((size_t)s->rows.n + 1, sizeof *m.of_row);
    m.sum = tl_alloc(1, sizeof *m.sum);
    const bool ready = tl_columns_init(&m.functions, COLUMNS) && tl_columns_init(&m.hist, HIST_COLUMNS);
    if (m.of_row && m.sum && ready) {
        choose(&m, d, part);
        put_rows(&m);
        status = pack(&m, d, e);
    } else {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the functions of the page");
    }
    free(m.of_row);
    free(m.sum);
    tl_columns_fini(&m.functions);
    tl_columns_fini(&m.hist);
    return status;
}
