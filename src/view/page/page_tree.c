/* The call tree of a page: its widest places, and for each of them what is left out below it. */
#include <stdlib.h>

#include "base/grow.h"
#include "model/place_choice.h"
#include "view/page/page_data.h"

enum { PARENT, FUNCTION, THREAD, OTHERS, CALLS, TOTAL, SELF, SHORTEST, LONGEST, P50, P90, P99, UNWOUND, COLUMNS };

typedef struct making {
    const tl_html_source *source;
    tl_html_names *names;
    tl_place_choice choice;
    tl_columns columns;
    /* One for each place of the profile: */
    uint32_t *keeper; /* it, or its nearest caller that is in the page */
    uint32_t *row;    /* of those in the page */
    tl_others *others;
    uint64_t *weights; /* of others */
    uint32_t n;        /* rows so far */
} making;

static void put_row(making *m, const uint64_t value[static COLUMNS])
{
    for (unsigned i = 0; i < COLUMNS; i++)
        tl_pb_varint(&m->columns.column[i], value[i]);
    m->n++;
}

static void put_place(making *m, uint32_t place)
{
    const tl_profile *p = m->source->profile;
    const tl_place *at = &p->place[place];
    const bool is_root = at->function == TL_NO_FUNCTION; /* of all, or of a thread */
    tl_stat stat;
    tl_profile_stat(p, place, &stat);
    m->row[place] = m->n;
    put_row(m, (const uint64_t[COLUMNS]){
                   [PARENT] = place ? m->n - m->row[at->parent] : 0,
                   [FUNCTION] = is_root ? 0 : (uint64_t)tl_html_function(m->names, at->function) + 1,
                   [THREAD] = is_root && at->track < p->ntrack ? (uint64_t)tl_html_thread(m->names, at->track) + 1 : 0,
                   [CALLS] = stat.calls,
                   [TOTAL] = is_root ? m->source->tree.weight[place] : stat.total,
                   [SELF] = stat.self,
                   [SHORTEST] = stat.min,
                   [LONGEST] = stat.max,
                   [P50] = tl_profile_percentile(p, place, 500),
                   [P90] = tl_profile_percentile(p, place, 900),
                   [P99] = tl_profile_percentile(p, place, 990),
                   [UNWOUND] = tl_profile_place_unwound(p, place),
               });
    for (uint32_t i = 0; i < p->nweight; i++)
        tl_pb_varint(&m->columns.column[COLUMNS + i], tl_profile_weight_self(p, place, i));
}

static void put_others(making *m, uint32_t place)
{
    const tl_others *o = &m->others[place];
    const uint32_t nweight = m->source->profile->nweight;
    if (o->places == 0)
        return;
    put_row(m, (const uint64_t[COLUMNS]){[PARENT] = m->n - m->row[place],
                                         [OTHERS] = o->places,
                                         [CALLS] = o->calls,
                                         [TOTAL] = o->width,
                                         [SELF] = o->self,
                                         [UNWOUND] = o->unwound});
    for (uint32_t i = 0; i < nweight; i++)
        tl_pb_varint(&m->columns.column[COLUMNS + i], m->weights[(size_t)place * nweight + i]);
}

/* Depth first, in canonical order; others are the last child. */
static void put_rows(making *m)
{
    tl_place_walk w = {.tree = &m->source->tree, .track = TL_NO_TRACK};
    put_place(m, 0);
    while (tl_place_walk_next(&w)) {
        if (m->keeper[w.place] != w.place)
            continue;
        if (w.leaving)
            put_others(m, w.place);
        else
            put_place(m, w.place);
    }
    put_others(m, 0);
}

static bool allocate(making *m)
{
    const tl_profile *p = m->source->profile;
    m->keeper = tl_alloc(p->nplace, sizeof *m->keeper);
    m->row = tl_alloc(p->nplace, sizeof *m->row);
    m->others = calloc(p->nplace, sizeof *m->others);
    m->weights = calloc((size_t)p->nplace * p->nweight + 1, sizeof *m->weights);
    return m->keeper && m->row && m->others && m->weights && tl_columns_init(&m->columns, COLUMNS + p->nweight);
}

static void count_out(const making *m, tl_html_data *d)
{
    for (uint32_t i = 0; i < m->source->profile->nplace; i++) {
        d->places_out += m->others[i].places;
        d->places_self = tl_add_saturated(d->places_self, m->others[i].self);
    }
    d->places = m->choice.n + d->places_out;
    d->narrowest = m->choice.narrowest;
}

int tl_html_put_tree(tl_html_data *d, const tl_html_source *s, tl_html_names *names, uint32_t part, tl_error *e)
{
    const tl_choice_limit limit = {.places = TL_HTML_PLACES_MAX / part, .depth = UINT32_MAX, .with_timeless = true};
    making m = {.source = s, .names = names};
    int status = tl_place_choose(&m.choice, &s->tree, &limit, e);
    if (status == 0 && !allocate(&m))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the call tree of the page");
    if (status == 0) {
        tl_place_others(&m.choice, &s->tree, m.keeper, m.others, s->profile->nweight ? m.weights : NULL);
        put_rows(&m);
        count_out(&m, d);
        d->section[TL_HTML_TREE].n = m.n;
        status = tl_columns_pack(&m.columns, &d->section[TL_HTML_TREE].text, e);
    }
    tl_place_choice_fini(&m.choice);
    tl_columns_fini(&m.columns);
    d->keeper = m.keeper;
    d->row = m.row;
    free(m.others);
    free(m.weights);
    return status;
}
