/* Sums of calls by keys and steps of time. */
#include "op/call_sums.h"

#include <stdlib.h>

#include "base/grow.h"
#include "op/call_pass.h"

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for sums of calls");
}

/* Adds a slot of another worker to one's own. */
static bool merge_slot(tl_call_worker *into, const tl_call_worker *from, uint32_t slot)
{
    tl_profile *p = into->profile;
    tl_call_slots *s = &into->slots;
    const tl_place_stat *stat = &from->profile->stat[slot];
    tl_call_key key = from->slots.key[slot];
    if (stat->calls == 0 && stat->outer == 0)
        return true;
    /* Slots have a function even if they are not by function. */
    const tl_function *f = &from->profile->function[from->profile->place[slot].function];
    key.function = tl_profile_intern_function(p, NULL, f->id);
    if (key.function == TL_HASH_NONE)
        return false;
    const uint32_t at = tl_call_slots_find_number(s, p, key);
    if (at == TL_HASH_NONE || !tl_hist_merge(&p->stat[at].hist, &stat->hist))
        return false;
    tl_profile_add_sums(&p->stat[at], stat);
    return true;
}

static int merge(tl_call_worker *into, const tl_call_worker *from, tl_error *e)
{
    const tl_profile *p = from->profile;
    /* Functions come with their details, so that one that only this worker met has a name. */
    for (uint32_t i = 0; i < p->nfunction; i++) {
        const uint32_t function = tl_profile_add_function(into->profile, &p->function[i]);
        if (function == TL_HASH_NONE || !tl_id_map_put(&into->profile->by_id, (uint64_t)p->function[i].id, function))
            return no_memory(e);
    }
    for (uint32_t slot = 1; slot < p->nplace; slot++)
        if (!merge_slot(into, from, slot))
            return tl_call_slots_error(&into->slots, no_memory(e), e);
    into->profile->unmatched_exits += p->unmatched_exits;
    into->profile->unmatched_open += p->unmatched_open;
    return 0;
}

/* ---- rows ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_key(const void *x, const void *y)
{
    const tl_call_key *a = &((const tl_call_sum *)x)->key, *b = &((const tl_call_sum *)y)->key;
    int order = compare(a->step, b->step);
    if (order == 0)
        order = compare(a->place, b->place);
    if (order == 0)
        order = compare(a->function, b->function);
    if (order == 0)
        order = compare(a->track, b->track);
    if (order == 0)
        order = compare(a->depth, b->depth);
    return order ? order : (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/* order: functions; rank: the place of each in it. [nfunction] */
static int order_functions(const tl_profile *p, uint32_t *order, uint32_t *rank, tl_error *e)
{
    const int status = tl_profile_function_order(p, order, e);
    for (uint32_t i = 0; status == 0 && i < p->nfunction; i++)
        rank[order[i]] = i;
    return status;
}

/* Indices of functions become ranks to sort rows, and then indices again. */
static void use_functions(tl_call_sums *s, const uint32_t *map)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->row[i].key.function != TL_HASH_NONE)
            s->row[i].key.function = map[s->row[i].key.function];
}

static int make_rows(tl_call_sums *s, const tl_call_slots *slots, const tl_call_sums_options *o, tl_error *e)
{
    tl_profile *p = s->profile;
    s->row = tl_alloc((size_t)p->nplace + 1, sizeof *s->row);
    uint32_t *order = tl_alloc((size_t)p->nfunction + 1, sizeof *order);
    uint32_t *rank = tl_alloc((size_t)p->nfunction + 1, sizeof *rank);
    int status = s->row && order && rank ? order_functions(p, order, rank, e) : no_memory(e);
    for (uint32_t i = 1; status == 0 && i < p->nplace; i++) {
        if (p->stat[i].calls == 0) {
            if (p->stat[i].outer == 0)
                continue;
            p->stat[i].min = 0;
        }
        tl_call_sum *row = &s->row[s->n++];
        *row = (tl_call_sum){.key = slots->key[i], .stat = &p->stat[i]};
        if (o->by & TL_BY_PLACE && row->key.place != TL_HASH_NONE)
            row->key.place = o->places->number[row->key.place];
    }
    if (status == 0) {
        use_functions(s, rank);
        qsort(s->row, s->n, sizeof *s->row, by_key);
        use_functions(s, order);
    }
    free(order);
    free(rank);
    return status;
}

int tl_call_sums_new(tl_call_sums **out, tl_source *s, const tl_call_sums_options *o, tl_error *e)
{
    const tl_profile_options options = {.flat = true, .threads = o->threads, .select = o->select};
    tl_call_pass m = {.source = s,
                      .options = &options,
                      .by = o->by | TL_BY_STEP,
                      .step = o->step,
                      .begin = o->begin,
                      .memory = o->memory,
                      .places = o->by & TL_BY_PLACE ? o->places : NULL};
    tl_call_sums *sums = calloc(1, sizeof *sums);
    int status = sums ? tl_call_pass_run(&m, e) : no_memory(e);
    for (unsigned i = 1; status == 0 && i < m.nworker; i++) {
        if (m.worker[i].profile)
            status = merge(&m.worker[0], &m.worker[i], e);
        tl_call_worker_fini(&m.worker[i]);
    }
    if (status == 0) {
        sums->profile = m.worker[0].profile;
        m.worker[0].profile = NULL;
        status = make_rows(sums, &m.worker[0].slots, o, e);
    }
    tl_call_pass_fini(&m);
    if (status < 0) {
        tl_call_sums_free(sums);
        return status;
    }
    *out = sums;
    return 0;
}

void tl_call_sums_free(tl_call_sums *s)
{
    if (!s)
        return;
    tl_profile_free(s->profile);
    free(s->row);
    free(s);
}
