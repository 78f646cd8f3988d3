/* Reads all calls, and gives each to everything that wants it. Each thread fills data of its own, which are merged. */
#include "analysis/timeline/time_data.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/pool.h"
#include "model/histogram.h"
#include "op/call_scan.h"

enum { WORKERS_MOST = 8 }; /* each has data of its own */
enum { TASKS_MOST = 64 }; /* more parts of the source are read in groups: to begin a scan takes time for each of them */

/* What is known of a track. */
typedef struct track_state {
    tl_time_track all;
    tl_slice_wait wait;
    uint64_t latest; /* in the current part */
    uint32_t part;   /* 1 + its number */
} track_state;

typedef struct worker {
    tl_time_data data;
    tl_longest longest;
    track_state *track;
    uint32_t ntrack;
    bool ready, failed_memory;
    tl_error error;
    uint32_t failed; /* the part; UINT32_MAX: none */
} worker;

typedef struct making {
    tl_source *source;
    const tl_time_options *o;
    uint32_t parts, tasks;
    uint32_t *order; /* of parts, if each is a task */
    worker *worker;
    unsigned nworker;
} making;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for calls over time");
}

static tl_time_axis axis_of(const tl_time_options *o, uint32_t most)
{
    return tl_time_axis_of(o->from, o->to, most ? most : 1, o->whole);
}

static bool start(making *m, worker *w)
{
    const tl_time_options *o = m->o;
    const tl_time_axis slices = axis_of(o, o->slices), columns = axis_of(o, o->columns),
                       heat = axis_of(o, o->heat_columns);
    tl_time_data *d = &w->data;
    tl_longest_init(&w->longest, o->longest, m->source->trace.ntrack, o->from, o->to);
    d->slow = calloc((size_t)o->slow_rows + 1, sizeof *d->slow);
    for (uint32_t i = 0; d->slow && i < o->slow_rows; i++) {
        tl_exemplars_init(&d->slow[i]);
        for (unsigned k = 0; k < TL_EXEMPLAR_NEAR; k++)
            d->slow[i].near[k] = o->near[i][k];
    }
    w->ready = true;
    return tl_self_slices_init(&d->slices, &slices, o->slices ? o->slots : 0) &&
           tl_grid_init(&d->grid, &columns, o->columns ? o->grid_lanes : 0) &&
           tl_heat_init(&d->heat, &heat, o->heat_columns ? o->heat_rows : 0) && tl_lanes_init(&d->lanes, o->lanes) &&
           d->slow;
}

static void fini_worker(worker *w)
{
    for (uint32_t i = 0; i < w->ntrack; i++)
        free(w->track[i].wait.piece);
    free(w->track);
    tl_longest_fini(&w->longest);
    tl_time_data_fini(&w->data);
}

void tl_time_data_fini(tl_time_data *d)
{
    tl_self_slices_fini(&d->slices);
    tl_grid_fini(&d->grid);
    tl_heat_fini(&d->heat);
    tl_long_result_fini(&d->longest);
    tl_lanes_fini(&d->lanes);
    free(d->slow);
    free(d->track);
    *d = (tl_time_data){0};
}

/* The state of a row's track in this part; NULL when memory runs out. */
TL_ALWAYS_INLINE track_state *track_of(worker *w, uint32_t track, uint32_t part)
{
    if (TL_UNLIKELY(track >= w->ntrack) && !TL_GROW_TO(w->track, w->ntrack, track, TL_TRACKS_MAX))
        return NULL;
    track_state *t = &w->track[track];
    if (TL_UNLIKELY(t->part != part + 1)) {
        t->part = part + 1;
        t->latest = 0;
        t->wait.n = 0;
    }
    return t;
}

static void note(track_state *t, uint64_t begin, uint64_t end)
{
    t->latest = end > t->latest ? end : t->latest;
    if (!t->all.any) {
        t->all = (tl_time_track){.begin = begin, .end = end, .any = true};
        return;
    }
    t->all.begin = begin < t->all.begin ? begin : t->all.begin;
    t->all.end = end > t->all.end ? end : t->all.end;
}

/* A selected call, for what draws calls. False when memory runs out. */
static bool add_drawn(worker *w, const tl_time_options *o, const tl_long_call *c)
{
    bool fresh, failed = false;
    uint64_t begin = c->begin, end = c->begin + c->ticks;
    const tl_time_axis range = {.from = o->from, .to = o->to, .whole = o->whole};
    if (!tl_time_axis_clip(&range, &begin, &end))
        return true;
    if (o->columns)
        tl_grid_add(&w->data.grid, c->track, c->depth, c->function, c->begin, c->begin + c->ticks);
    if (!o->longest)
        return !w->data.grid.failed;
    tl_lane *lane = tl_lanes_get(&w->data.lanes, c->track, c->depth, &fresh, &failed);
    if (lane) {
        lane->calls++;
        lane->ticks = tl_add_saturated(lane->ticks, c->ticks);
    }
    tl_longest_add(&w->longest, c);
    return !failed && !w->data.grid.failed && !w->longest.failed;
}

/* A selected call that has ended, for what counts calls. False when memory runs out. */
static bool add_counted(worker *w, const tl_time_options *o, const tl_time_place *place, const tl_exemplar *x)
{
    if (place->slow != TL_TIME_NONE && (o->whole || (x->begin >= o->from && x->begin < o->to)))
        tl_exemplars_add(&w->data.slow[place->slow], x);
    return place->heat == TL_TIME_NONE || !o->heat_columns ||
           tl_heat_add(&w->data.heat, place->heat, x->begin, x->ticks);
}

static bool add_row(worker *w, const tl_time_options *o, const tl_call_rows *r, uint32_t i, uint32_t part)
{
    static const tl_time_place nowhere = {TL_TIME_NONE, TL_TIME_NONE, TL_TIME_NONE, TL_TIME_NONE};
    track_state *t = track_of(w, r->track[i], part);
    if (!t)
        return false;
    const bool known = r->place[i] != TL_CALL_NONE && !(r->flags[i] & TL_CALL_LEFT_OUT);
    const bool is_open = r->flags[i] & TL_CALL_OPEN;
    const tl_time_place *place = known ? &o->place[r->place[i]] : &nowhere;
    const uint64_t begin = r->begin[i];
    note(t, begin, r->end[i]);
    const uint64_t end = is_open ? t->latest : r->end[i];
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
    if (!known)
        return true;
    const uint64_t ticks = end > begin ? end - begin : 0;
    if (place->function != TL_TIME_NONE && !add_drawn(w, o,
                                                      &(tl_long_call){.begin = begin,
                                                                      .ticks = ticks,
                                                                      .track = r->track[i],
                                                                      .depth = r->depth[i],
                                                                      .function = place->function,
                                                                      .is_open = is_open}))
        return false;
    return is_open ||
           add_counted(
               w, o, place,
               &(tl_exemplar){
                   .begin = begin, .ticks = ticks, .track = r->track[i], .depth = r->depth[i], .place = r->place[i]});
}

static int read_task(void *arg, unsigned number, uint32_t i)
{
    making *m = arg;
    worker *w = &m->worker[number];
    const tl_call_scan_options options = {
        .select = m->o->select, .places = m->o->places, .without = TL_CALL_FUNCTIONS, .all = m->o->select != NULL};
    tl_call_scan *scan = NULL;
    tl_call_rows rows;
    const uint32_t first = m->order ? m->order[i] : (uint32_t)((uint64_t)i * m->parts / m->tasks);
    const uint32_t end = m->order ? first + 1 : (uint32_t)((uint64_t)(i + 1) * m->parts / m->tasks);
    bool ok = w->ready || start(m, w);
    int status =
        ok ? tl_call_scan_open(&scan, m->source, first, end - first, &options, &w->error) : no_memory(&w->error);
    while (status >= 0 && (status = tl_call_scan_next(scan, &rows, &w->error)) > 0) {
        for (uint32_t k = 0; ok && k < rows.n; k++)
            ok = add_row(w, m->o, &rows, k, i);
        if (!ok)
            status = no_memory(&w->error);
    }
    tl_call_scan_close(scan);
    tl_grid_flush(&w->data.grid);
    if (status < 0 && w->failed == UINT32_MAX)
        w->failed = i;
    return status;
}

/* Adds all of a worker to the first one. False when memory runs out. */
static bool merge(making *m, worker *from)
{
    worker *into = &m->worker[0];
    tl_time_data *a = &into->data, *b = &from->data;
    bool failed = false, fresh;
    if (!from->ready)
        return true;
    tl_longest_merge(&into->longest, &from->longest);
    tl_grid_merge(&a->grid, &b->grid);
    for (uint32_t i = 0; i < m->o->slow_rows; i++)
        tl_exemplars_merge(&a->slow[i], &b->slow[i]);
    for (uint32_t i = 0; i < b->lanes.n && !failed; i++) {
        const tl_lane *l = &b->lanes.lane[i];
        tl_lane *lane = tl_lanes_get(&a->lanes, l->track, l->depth, &fresh, &failed);
        if (lane) {
            lane->calls += l->calls;
            lane->ticks = tl_add_saturated(lane->ticks, l->ticks);
        }
    }
    for (uint32_t i = 0; i < from->ntrack && !failed; i++) {
        const tl_time_track *t = &from->track[i].all;
        failed = t->any && !TL_GROW_TO(into->track, into->ntrack, i, TL_TRACKS_MAX);
        if (t->any && !failed) {
            note(&into->track[i], t->begin, t->end);
            note(&into->track[i], t->end, t->end);
        }
    }
    return !failed && !a->grid.failed && tl_self_slices_merge(&a->slices, &b->slices) &&
           tl_heat_merge(&a->heat, &b->heat);
}

static int finish(making *m, tl_time_data *out, tl_error *e)
{
    worker *w = &m->worker[0];
    tl_time_data *d = &w->data;
    bool ok = w->ready || start(m, w);
    for (unsigned i = 1; ok && i < m->nworker; i++)
        ok = merge(m, &m->worker[i]);
    ok = ok && tl_longest_finish(&w->longest, &d->longest);
    d->track = ok ? tl_alloc((size_t)w->ntrack + 1, sizeof *d->track) : NULL;
    if (!d->track)
        return no_memory(e);
    for (uint32_t i = 0; i < w->ntrack; i++)
        d->track[i] = w->track[i].all;
    d->ntrack = w->ntrack;
    tl_grid_finish(&d->grid);
    tl_lanes_finish(&d->lanes);
    *out = *d;
    *d = (tl_time_data){0};
    return 0;
}

int tl_time_data_make(tl_time_data *out, tl_source *s, const tl_time_options *o, tl_error *e)
{
    const uint32_t parts = tl_call_scan_parts(s), tasks = parts < TASKS_MOST ? parts : TASKS_MOST;
    making m = {
        .source = s, .o = o, .parts = parts, .tasks = tasks, .nworker = o->threads ? o->threads : tl_processors()};
    *out = (tl_time_data){0};
    m.nworker = m.nworker > WORKERS_MOST ? WORKERS_MOST : m.nworker;
    m.nworker = m.nworker > tasks ? (tasks ? tasks : 1) : m.nworker;
    m.worker = calloc(m.nworker, sizeof *m.worker);
    const bool by_weight = parts == tasks && parts == tl_source_streams(s); /* the heaviest first */
    if (by_weight)
        m.order = tl_source_by_weight(s);
    int status = m.worker && (m.order || !by_weight) ? 0 : no_memory(e);
    for (unsigned i = 0; m.worker && i < m.nworker; i++)
        m.worker[i].failed = UINT32_MAX;
    if (status == 0 && (status = tl_parallel(m.nworker, tasks, read_task, &m)) < 0) {
        const worker *first = &m.worker[0];
        for (unsigned i = 1; i < m.nworker; i++)
            if (m.worker[i].failed < first->failed)
                first = &m.worker[i];
        if (e)
            *e = first->error;
    }
    if (status == 0)
        status = finish(&m, out, e);
    for (unsigned i = 0; m.worker && i < m.nworker; i++)
        fini_worker(&m.worker[i]);
    free(m.worker);
    free(m.order);
    return status;
}

int tl_time_range(tl_source *s, uint64_t *from, uint64_t *to, bool *any, tl_error *e)
{
    const tl_call_scan_options options = {.without = TL_CALL_ALL_PARTS & ~(unsigned)TL_CALL_TIMES};
    tl_call_scan *scan = NULL;
    tl_call_rows rows;
    int status = tl_call_scan_open(&scan, s, 0, tl_call_scan_parts(s), &options, e);
    *any = false;
    while (status >= 0 && (status = tl_call_scan_next(scan, &rows, e)) > 0)
        for (uint32_t i = 0; i < rows.n; i++) {
            *from = *any && *from < rows.begin[i] ? *from : rows.begin[i];
            *to = *any && *to > rows.end[i] ? *to : rows.end[i];
            *any = true;
        }
    tl_call_scan_close(scan);
    return status;
}
