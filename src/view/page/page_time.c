/* Reads the trace of a page once more, for what happened when. */
#include "view/page/page_time.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/histogram.h"
#include "model/place_choice.h"
#include "op/call_scan.h"
#include "op/insn_calls.h"
#include "op/sample_profile.h"

enum { EXEMPLARS_EACH = TL_EXEMPLAR_LONGEST + TL_EXEMPLAR_NEAR * TL_EXEMPLAR_EACH };

/* Only for the time of the pass. */
typedef struct making {
    tl_html_time *t;
    const tl_html_page *page;
    const tl_html_source *source;
    tl_call_places *places;
    tl_time_place *place;  /* by number of a place in the trace's profile */
    uint32_t *slot;        /* by place of the page's profile */
    uint32_t *heat, *slow; /* by function of the page's profile: row + 1 */
    uint32_t *rank;        /* by function of the page's profile: its number */
    uint64_t (*near)[TL_EXEMPLAR_NEAR];
} making;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the time line of the page");
}

/* The widest places have slices of their own; what is below them, and is not one, counts together. */
static int choose_sliced(making *m, tl_error *e)
{
    const tl_profile *p = m->source->profile;
    const tl_choice_limit limit = {.places = TL_HTML_SLICED_MAX, .depth = UINT32_MAX, .with_timeless = true};
    tl_place_choice choice;
    tl_others *others = calloc(p->nplace, sizeof *others);
    uint32_t *keeper = tl_alloc(p->nplace, sizeof *keeper);
    int status = tl_place_choose(&choice, &m->source->tree, &limit, e);
    if (status == 0)
        m->t->sliced = tl_alloc(choice.n + 1, sizeof *m->t->sliced);
    if (status == 0 && (!others || !keeper || !m->t->sliced))
        status = no_memory(e);
    if (status == 0) {
        tl_place_others(&choice, &m->source->tree, keeper, others, NULL);
        m->t->sliced[0] = 0; /* the whole */
        m->t->nsliced = (uint32_t)choice.n + 1;
        m->slot[0] = 0;
        for (uint32_t i = 0; i < choice.n; i++) {
            m->t->sliced[i + 1] = choice.list[i].place;
            m->slot[choice.list[i].place] = 2 * (i + 1);
        }
        for (uint32_t i = 1; i < p->nplace; i++)
            if (keeper[i] != i)
                m->slot[i] = m->slot[keeper[i]] + 1;
    }
    tl_place_choice_fini(&choice);
    free(others);
    free(keeper);
    return status;
}

/* The functions with the largest total have durations over time, and exemplars. */
static void choose_functions(making *m)
{
    tl_html_time *t = m->t;
    const tl_table *list = &m->source->by_total;
    for (uint32_t i = 0; i < list->n; i++) {
        const tl_row *row = &list->row[i];
        if (row->untimed || !row->stat.calls)
            continue;
        if (t->nheat < TL_HTML_HEAT_MAX) {
            t->heat[t->nheat] = row->function;
            m->heat[row->function] = ++t->nheat;
        }
        if (t->nslow == TL_HTML_SLOW_MAX / EXEMPLARS_EACH) {
            t->functions_not_slow++;
            continue;
        }
        t->slow[t->nslow] = row->function;
        m->near[t->nslow][0] = row->p50;
        m->near[t->nslow][1] = row->p90;
        m->near[t->nslow][2] = row->p99;
        m->slow[row->function] = ++t->nslow;
    }
}

static int allocate(making *m, tl_error *e)
{
    const tl_profile *p = m->source->profile, *raw = m->page->time.profile;
    tl_html_time *t = m->t;
    m->place = tl_alloc(raw->nplace, sizeof *m->place);
    m->slot = calloc(p->nplace, sizeof *m->slot);
    m->heat = calloc((size_t)p->nfunction + 1, sizeof *m->heat);
    m->slow = calloc((size_t)p->nfunction + 1, sizeof *m->slow);
    m->rank = calloc((size_t)p->nfunction + 1, sizeof *m->rank);
    m->near = calloc(TL_HTML_SLOW_MAX / EXEMPLARS_EACH, sizeof *m->near);
    t->page_place = tl_alloc(raw->nplace, sizeof *t->page_place);
    t->function = tl_alloc((size_t)p->nfunction + 1, sizeof *t->function);
    t->heat = tl_alloc(TL_HTML_HEAT_MAX, sizeof *t->heat);
    t->slow = tl_alloc(TL_HTML_SLOW_MAX / EXEMPLARS_EACH, sizeof *t->slow);
    return m->place && m->slot && m->heat && m->slow && m->rank && m->near && t->page_place && t->function && t->heat &&
                   t->slow
               ? 0
               : no_memory(e);
}

/* Which numbers each place of the trace has. */
static int plan(making *m, tl_error *e)
{
    const tl_profile *p = m->source->profile, *raw = m->page->time.profile;
    int status = allocate(m, e);
    if (status == 0)
        status = tl_profile_function_order(p, m->t->function, e);
    if (status == 0)
        status = choose_sliced(m, e);
    if (status == 0 && !p->nweight)
        choose_functions(m);
    for (uint32_t i = 0; status == 0 && i < p->nfunction; i++)
        m->rank[m->t->function[i]] = i;
    for (uint32_t i = 0; status == 0 && i < raw->nplace; i++) {
        const uint32_t from = m->places->order[i], to = p == raw ? from : p->was[from];
        const uint32_t function = p->place[to].function;
        m->t->page_place[i] = to;
        m->place[i] = (tl_time_place){TL_TIME_NONE, m->slot[to], TL_TIME_NONE, TL_TIME_NONE};
        if (function == TL_NO_FUNCTION)
            continue;
        m->place[i].function = m->rank[function];
        m->place[i].heat = m->heat[function] - 1;
        m->place[i].slow = m->slow[function] - 1;
    }
    return status;
}

/* ---- samples ---- */

typedef struct sampling {
    making *m;
    uint32_t *number; /* by place: its number + 1, or that of the caller that counts for it; 0: it does not count */
    unsigned chosen, counted;
    bool failed;
} sampling;

static void add_sample(void *arg, uint32_t place, uint64_t ts, unsigned weight, uint64_t amount)
{
    sampling *s = arg;
    tl_self_slices *slices = &s->m->t->data.slices;
    const uint32_t number = s->number[place];
    uint64_t begin = ts, end = ts;
    if (number == 0 || (weight != s->chosen && weight != s->counted) || !tl_time_axis_clip(&slices->axis, &begin, &end))
        return;
    if (!tl_self_slices_put(slices, s->m->place[number - 1].slot, tl_time_axis_piece(&slices->axis, begin),
                            weight == s->chosen ? amount : 0, weight == s->counted ? amount : 0))
        s->failed = true;
}

/* Deep stacks count where the selection cut them. */
static void number_samples(const making *m, uint32_t *number, uint32_t *depth)
{
    const tl_profile *raw = m->page->time.profile;
    const uint32_t most = m->page->time.select ? m->page->time.select->depth : 0;
    for (uint32_t i = 1; i < raw->nplace; i++) { /* callers come first */
        const tl_place *at = &raw->place[i];
        depth[i] = depth[at->parent] + (at->function != TL_NO_FUNCTION);
        if (most && depth[i] > most)
            number[i] = number[at->parent];
        else if (tl_place_is_used(raw, i) || raw->stat[i].self)
            number[i] = m->places->number[i] + 1;
    }
}

static int read_samples(making *m, tl_error *e)
{
    const tl_profile *raw = m->page->time.profile;
    const tl_profile_options options = {.per_thread = raw->per_thread,
                                        .weight = raw->nweight ? raw->kind[raw->weight].name : NULL,
                                        .select = m->page->time.select};
    sampling s = {.m = m, .chosen = TL_WEIGHT_TIME, .counted = TL_WEIGHT_SAMPLES};
    const tl_sample_watch watch = {add_sample, &s};
    uint32_t *depth = calloc(raw->nplace, sizeof *depth);
    s.number = calloc(raw->nplace, sizeof *s.number);
    if (raw->nweight) {
        s.chosen = raw->weight;
        s.counted = tl_profile_counting_weight(raw);
    }
    int status = depth && s.number ? 0 : no_memory(e);
    if (status == 0) {
        number_samples(m, s.number, depth);
        status = tl_samples_watch(m->page->time.source, &options, &watch, e);
    }
    if (status == 0 && s.failed)
        status = no_memory(e);
    free(depth);
    free(s.number);
    return status;
}

/* ---- all ---- */

static int read_calls(making *m, tl_error *e)
{
    tl_html_time *t = m->t;
    const tl_time_options options = {.from = t->begin,
                                     .to = t->end + 1,
                                     .whole = true,
                                     .slices = TL_HTML_SLICES_MAX,
                                     .columns = TL_HTML_GRID_COLUMNS_MAX,
                                     .heat_columns = TL_HTML_HEAT_COLUMNS_MAX,
                                     .slots = 2 * t->nsliced,
                                     .heat_rows = t->nheat,
                                     .slow_rows = t->nslow,
                                     .lanes = TL_HTML_SPAN_LANES_MAX,
                                     .grid_lanes = TL_HTML_GRID_LANES_MAX,
                                     .longest = TL_HTML_SPANS_MAX,
                                     .near = (const uint64_t(*)[TL_EXEMPLAR_NEAR])m->near,
                                     .places = m->places,
                                     .place = m->place,
                                     .select = m->page->time.select,
                                     .threads = m->page->time.threads};
    return tl_time_data_make(&t->data, m->page->time.source, &options, e);
}

static int read_all(making *m, bool calls, bool samples, tl_error *e)
{
    tl_html_time *t = m->t;
    int status = calls ? read_calls(m, e) : 0;
    if (status == 0 && !calls) {
        const tl_time_axis axis = tl_time_axis_of(t->begin, t->end + 1, TL_HTML_SLICES_MAX, true);
        status = tl_self_slices_init(&t->data.slices, &axis, 2 * t->nsliced) ? 0 : no_memory(e);
    }
    return status == 0 && samples ? read_samples(m, e) : status;
}

/* Selected time has the whole width. */
static void cut_range(tl_html_time *t, const tl_select *select)
{
    const uint64_t from = select->has_from ? tl_add_saturated(t->zero, select->time_from) : 0;
    const uint64_t to = select->has_to ? tl_add_saturated(t->zero, select->time_to) : UINT64_MAX;
    t->begin = from > t->begin ? from : t->begin;
    t->end = to && to - 1 < t->end ? to - 1 : t->end;
}

/* The time of all events, into begin and end; false if there are none. */
static int find_range(tl_html_time *t, const tl_html_page *page, bool calls, bool *any, tl_error *e)
{
    const tl_profile *raw = page->time.profile;
    *any = !t->of_insns && tl_trace_range(t->trace, &t->begin, &t->end);
    if (!*any && raw->has_span) {
        t->begin = raw->begin;
        t->end = raw->end;
        *any = true;
    }
    const int status = !*any && calls ? tl_time_range(page->time.source, &t->begin, &t->end, any, e) : 0;
    t->zero = t->trace->clock.from_zero ? 0 : t->begin;
    if (page->time.select && !t->of_insns && t->trace->has_range)
        cut_range(t, page->time.select);
    t->end = t->end < UINT64_MAX ? t->end : UINT64_MAX - 1;
    t->begin = t->begin < t->end ? t->begin : t->end;
    return status;
}

static void find_utc(tl_html_time *t)
{
    const tl_clock *clock = &t->trace->clock;
    tl_scale scale;
    t->has_utc = !t->of_insns && clock->has_utc && clock->hz;
    if (!t->has_utc)
        return;
    tl_scale_init(&scale, clock->hz);
    /* Unsigned arithmetic: offsets before 1970 work like later ones. */
    t->utc_ns = (int64_t)(tl_scale_ns(&scale, t->begin) + (uint64_t)clock->utc_offset_ns);
}

/* Why there is no time; NULL: nothing is in the way. */
static const char *obstacle(const tl_html_page *page, const tl_html_source *s)
{
    const tl_select *select = page->time.select;
    if (!page->time.source)
        return page->time.unknown;
    if (s->profile != page->time.profile && !s->profile->was)
        return "the functions of the page are not those of the trace";
    if (page->time.profile->nweight && select && select->depth && (select->nfunc || select->nnot))
        return "samples that are chosen by function and depth have no time";
    return NULL;
}

int tl_html_time_make(tl_html_time *t, const tl_html_page *page, const tl_html_source *s, tl_error *e)
{
    *t = (tl_html_time){.unknown = obstacle(page, s)};
    if (t->unknown || !page->time.source || page->instead)
        return 0;
    tl_source *source = page->time.source;
    const tl_profile *raw = page->time.profile;
    making m = {.t = t, .page = page, .source = s};
    bool any = false;
    t->trace = &source->trace;
    const bool calls = !raw->nweight && tl_call_scan_wanted(t->trace);
    const bool samples =
        raw->nweight || (tl_call_scan_wanted(t->trace) && tl_call_scan_is_told(t->trace) && raw->samples.counted);
    t->of_insns = calls && tl_insn_calls_wanted(t->trace);
    if (!calls && !samples)
        return 0;
    int status = calls ? tl_call_scan_prepare(source, e) : 0;
    if (status == 0)
        status = find_range(t, page, calls, &any, e);
    if (status < 0 || !any)
        return status;
    find_utc(t);
    status = tl_call_places_new(&m.places, (tl_profile *)(uintptr_t)raw, e);
    if (status == 0)
        status = plan(&m, e);
    if (status == 0)
        status = read_all(&m, calls, samples, e);
    t->known = status == 0;
    tl_call_places_free(m.places);
    free(m.place);
    free(m.slot);
    free(m.heat);
    free(m.slow);
    free(m.rank);
    free(m.near);
    return status;
}

void tl_html_time_fini(tl_html_time *t)
{
    tl_time_data_fini(&t->data);
    free(t->page_place);
    free(t->function);
    free(t->sliced);
    free(t->heat);
    free(t->slow);
    *t = (tl_html_time){0};
}
