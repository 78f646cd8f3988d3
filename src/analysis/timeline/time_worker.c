/* Gives calls to everything that wants them. */
#include "analysis/timeline/time_worker.h"

#include <stdlib.h>

#include "base/grow.h"

static tl_time_axis axis_of(const tl_time_options *o, uint32_t most)
{
    return tl_time_axis_of(o->from, o->to, most ? most : 1, o->whole);
}

bool tl_time_worker_init(tl_time_worker *w, const tl_time_options *o, uint32_t tracks)
{
    const tl_time_axis slices = axis_of(o, o->slices), columns = axis_of(o, o->columns),
                       heat = axis_of(o, o->heat_columns);
    tl_time_data *d = &w->data;
    *w = (tl_time_worker){.options = o, .ready = true};
    tl_longest_init(&w->longest, o->longest, tracks, o->from, o->to);
    w->stretch = calloc(1, sizeof *w->stretch);
    d->slow = calloc((size_t)o->slow_rows + 1, sizeof *d->slow);
    for (uint32_t i = 0; d->slow && i < o->slow_rows; i++) {
        tl_exemplars_init(&d->slow[i]);
        for (unsigned k = 0; k < TL_EXEMPLAR_NEAR; k++)
            d->slow[i].near[k] = o->near[i][k];
    }
    return tl_self_slices_init(&d->slices, &slices, o->slices ? o->slots : 0) &&
           tl_grid_init(&d->grid, &columns, o->columns ? o->grid_lanes : 0) &&
           tl_heat_init(&d->heat, &heat, o->heat_columns ? o->heat_rows : 0) && tl_lanes_init(&d->lanes, o->lanes) &&
           d->slow && w->stretch;
}

void tl_time_worker_fini(tl_time_worker *w)
{
    for (uint32_t i = 0; i < w->ntrack; i++)
        free(w->track[i].wait.piece);
    free(w->track);
    free(w->stretch);
    tl_longest_fini(&w->longest);
    tl_time_data_fini(&w->data);
}

/* The state of a row's track in this part; NULL when memory runs out. */
TL_ALWAYS_INLINE tl_time_track_state *track_of(tl_time_worker *w, uint32_t track, uint32_t part)
{
    if (TL_UNLIKELY(track >= w->ntrack) && !TL_GROW_TO(w->track, w->ntrack, track, TL_TRACKS_MAX))
        return NULL;
    tl_time_track_state *t = &w->track[track];
    if (TL_UNLIKELY(t->part != part + 1)) {
        t->part = part + 1;
        t->latest = 0;
        t->wait.n = 0;
    }
    return t;
}

TL_ALWAYS_INLINE void note(tl_time_track_state *t, uint64_t begin, uint64_t end)
{
    t->latest = end > t->latest ? end : t->latest;
    if (TL_UNLIKELY(!t->all.any))
        t->all = (tl_time_track){.begin = begin, .end = end, .any = true};
    t->all.begin = begin < t->all.begin ? begin : t->all.begin;
    t->all.end = end > t->all.end ? end : t->all.end;
}

/* ---- calls within a stretch ---- */

/* Adds calls to their lane. */
static bool add_to_lane(tl_time_worker *w, uint32_t track, uint32_t depth, uint64_t calls, uint64_t ticks)
{
    bool fresh, failed = false;
    tl_lane *lane = tl_lanes_get(&w->data.lanes, track, depth, &fresh, &failed);
    if (lane) {
        lane->calls += calls;
        lane->ticks = tl_add_saturated(lane->ticks, ticks);
    }
    return !failed;
}

/* A sum goes to what is drawn. */
static bool give(tl_time_worker *w, tl_stretch_sum *x)
{
    const tl_time_options *o = w->options;
    tl_time_data *d = &w->data;
    bool ok = true;
    if (o->slices && x->at.slot != TL_TIME_NONE)
        ok = tl_self_slices_put(&d->slices, x->at.slot, w->stretch->slice, x->self, x->calls);
    if (o->columns && x->at.function != TL_TIME_NONE)
        tl_grid_put(&d->grid, x->track, x->depth, x->at.function, w->stretch->column, x->calls, x->ticks);
    if (ok && o->longest && x->at.function != TL_TIME_NONE)
        ok = add_to_lane(w, x->track, x->depth, x->calls, x->ticks);
    x->calls = 0;
    return ok && !d->grid.failed;
}

static bool end_stretch(tl_time_worker *w)
{
    tl_time_stretch *s = w->stretch;
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->n; i++)
        ok = give(w, &s->sum[s->used[i]]);
    s->n = 0;
    return ok;
}

/* Goes on to the stretch around a time within the range. */
static bool go_to(tl_time_worker *w, uint64_t ts)
{
    tl_time_stretch *s = w->stretch;
    if (!end_stretch(w))
        return false;
    s->from = 0;
    s->to = UINT64_MAX;
    s->slice = tl_time_stretch_narrow(s, &w->data.slices.axis, ts);
    s->column = tl_time_stretch_narrow(s, &w->data.grid.axis, ts);
    s->heat = tl_time_stretch_narrow(s, &w->data.heat.axis, ts);
    s->longest = tl_time_stretch_narrow(s, &w->longest.axis, ts);
    return true;
}

/* The seat is another sum's, or free. */
static bool take_seat(tl_time_worker *w, tl_stretch_sum *x, const tl_call_rows *r, uint32_t i)
{
    tl_time_stretch *s = w->stretch;
    if (!x->calls)
        s->used[s->n++] = (uint16_t)(x - s->sum);
    else if (!give(w, x))
        return false;
    *x = (tl_stretch_sum){
        .place = r->place[i], .track = r->track[i], .depth = r->depth[i], .at = w->options->place[r->place[i]]};
    return true;
}

/* A selected call that ended, all of it within the stretch. */
TL_ALWAYS_INLINE bool add_short(tl_time_worker *w, tl_time_track_state *t, const tl_call_rows *r, uint32_t i)
{
    const tl_time_options *o = w->options;
    const tl_time_stretch *s = w->stretch;
    tl_time_data *d = &w->data;
    const uint64_t begin = r->begin[i], ticks = r->end[i] - begin;
    const uint32_t place = r->place[i], track = r->track[i], depth = r->depth[i];
    tl_stretch_sum *x = tl_time_stretch_sum(w->stretch, place, track, depth);
    if (TL_UNLIKELY(!tl_stretch_sum_is(x, place, track, depth)) && !take_seat(w, x, r, i))
        return false;
    x->calls++;
    x->ticks += ticks;
    x->self += r->self[i];
    const tl_time_place at = x->at;
    if (o->slices && !tl_slice_wait_short(&t->wait, r->parent[i], depth, s->slice, ticks))
        return false;
    if (o->longest && at.function != TL_TIME_NONE) {
        if (TL_LIKELY(tl_longest_skips(&w->longest, s->longest, track, ticks)))
            w->longest.calls++;
        else
            tl_longest_add(&w->longest, &(tl_long_call){begin, ticks, track, depth, at.function, false});
    }
    if (at.slow != TL_TIME_NONE && TL_UNLIKELY(tl_exemplars_want(&d->slow[at.slow], ticks)))
        tl_exemplars_add(&d->slow[at.slow], &(tl_exemplar){begin, ticks, track, depth, place});
    return (at.heat == TL_TIME_NONE || !o->heat_columns ||
            tl_heat_put(&d->heat, at.heat, s->heat, tl_heat_bucket(ticks), 1)) &&
           !w->longest.failed;
}

/* ---- all others ---- */

/* A selected call, for what draws calls. */
static bool add_drawn(tl_time_worker *w, const tl_long_call *c)
{
    const tl_time_options *o = w->options;
    if (o->columns)
        tl_grid_add(&w->data.grid, c->track, c->depth, c->function, c->begin, c->begin + c->ticks);
    if (!o->longest)
        return !w->data.grid.failed;
    tl_longest_add(&w->longest, c);
    return add_to_lane(w, c->track, c->depth, 1, c->ticks) && !w->data.grid.failed && !w->longest.failed;
}

/* A selected call that has ended, for what counts calls. */
static bool add_counted(tl_time_worker *w, const tl_time_place *place, const tl_exemplar *x)
{
    const tl_time_options *o = w->options;
    if (place->slow != TL_TIME_NONE && (o->whole || (x->begin >= o->from && x->begin < o->to)))
        tl_exemplars_add(&w->data.slow[place->slow], x);
    return place->heat == TL_TIME_NONE || !o->heat_columns ||
           tl_heat_add(&w->data.heat, place->heat, x->begin, x->ticks);
}

static bool add_long(tl_time_worker *w, tl_time_track_state *t, const tl_call_rows *r, uint32_t i, bool known)
{
    static const tl_time_place nowhere = {TL_TIME_NONE, TL_TIME_NONE, TL_TIME_NONE, TL_TIME_NONE};
    const tl_time_options *o = w->options;
    const tl_time_axis range = {.from = o->from, .to = o->to, .whole = o->whole};
    const bool is_open = r->flags[i] & TL_CALL_OPEN;
    const tl_time_place *place = known ? &o->place[r->place[i]] : &nowhere;
    const uint64_t begin = r->begin[i], end = is_open ? t->latest : r->end[i], ticks = end > begin ? end - begin : 0;
    uint64_t from = begin, to = begin + ticks;
    const bool within = tl_time_axis_clip(&range, &from, &to);
    if (within && !is_open && !tl_time_stretch_has(w->stretch, to > from ? to - 1 : from, to) &&
        !go_to(w, to > from ? to - 1 : from))
        return false;
    const tl_slice_call call = {.id = r->id[i],
                                .caller = r->parent[i],
                                .begin = begin,
                                .end = r->end[i],
                                .self = r->self[i],
                                .depth = r->depth[i],
                                .slot = place->slot,
                                .is_open = is_open};
    if (o->slices && !tl_self_slices_add(&w->data.slices, &t->wait, &call))
        return false;
    if (within && place->function != TL_TIME_NONE &&
        !add_drawn(w, &(tl_long_call){begin, ticks, r->track[i], r->depth[i], place->function, is_open}))
        return false;
    return !known || is_open ||
           add_counted(w, place, &(tl_exemplar){begin, ticks, r->track[i], r->depth[i], r->place[i]});
}

bool tl_time_worker_add(tl_time_worker *w, const tl_call_rows *r, uint32_t part)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < r->n; i++) {
        const bool known = r->place[i] != TL_CALL_NONE && !(r->flags[i] & TL_CALL_LEFT_OUT);
        tl_time_track_state *t = track_of(w, r->track[i], part);
        if (!t)
            return false;
        note(t, r->begin[i], r->end[i]);
        if (TL_LIKELY(known && tl_time_stretch_has(w->stretch, r->begin[i], r->end[i]) &&
                      !(r->flags[i] & TL_CALL_OPEN)))
            ok = add_short(w, t, r, i);
        else
            ok = add_long(w, t, r, i, known);
    }
    return ok;
}

bool tl_time_worker_flush(tl_time_worker *w)
{
    const bool ok = end_stretch(w);
    w->stretch->from = w->stretch->to = 0;
    tl_grid_flush(&w->data.grid);
    return ok;
}

/* ---- results ---- */

bool tl_time_worker_merge(tl_time_worker *into, tl_time_worker *from)
{
    tl_time_data *a = &into->data, *b = &from->data;
    bool ok = true;
    if (!from->ready)
        return true;
    tl_longest_merge(&into->longest, &from->longest);
    tl_grid_merge(&a->grid, &b->grid);
    for (uint32_t i = 0; i < into->options->slow_rows; i++)
        tl_exemplars_merge(&a->slow[i], &b->slow[i]);
    for (uint32_t i = 0; i < b->lanes.n && ok; i++) {
        const tl_lane *l = &b->lanes.lane[i];
        ok = add_to_lane(into, l->track, l->depth, l->calls, l->ticks);
    }
    for (uint32_t i = 0; i < from->ntrack && ok; i++) {
        const tl_time_track *t = &from->track[i].all;
        ok = !t->any || TL_GROW_TO(into->track, into->ntrack, i, TL_TRACKS_MAX);
        if (t->any && ok) {
            note(&into->track[i], t->begin, t->end);
            note(&into->track[i], t->end, t->end);
        }
    }
    return ok && !a->grid.failed && tl_self_slices_merge(&a->slices, &b->slices) && tl_heat_merge(&a->heat, &b->heat);
}

bool tl_time_worker_finish(tl_time_worker *w, tl_time_data *out)
{
    tl_time_data *d = &w->data;
    if (!tl_longest_finish(&w->longest, &d->longest) || !(d->track = tl_alloc((size_t)w->ntrack + 1, sizeof *d->track)))
        return false;
    for (uint32_t i = 0; i < w->ntrack; i++)
        d->track[i] = w->track[i].all;
    d->ntrack = w->ntrack;
    tl_grid_finish(&d->grid);
    tl_lanes_finish(&d->lanes);
    *out = *d;
    *d = (tl_time_data){0};
    return true;
}
