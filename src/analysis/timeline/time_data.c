/* Reads all calls. Each thread fills data of its own, which are merged. */
#include "analysis/timeline/time_data.h"

#include <stdlib.h>

#include "analysis/timeline/time_worker.h"
#include "base/pool.h"
#include "op/call_ahead.h"

enum { WORKERS_MOST = 8 }; /* each has data of its own */
enum { TASKS_MOST = 64 }; /* more parts of the source are read in groups: to begin a scan takes time for each of them */

typedef struct worker {
    tl_time_worker time;
    tl_error error;
    uint32_t failed; /* the part; UINT32_MAX: none */
} worker;

typedef struct making {
    tl_source *source;
    const tl_time_options *o;
    uint32_t parts, tasks;
    uint32_t *order; /* of parts, if each is a task */
    bool ahead;      /* the first task is most of the work: two threads share it */
    worker *worker;
    unsigned nworker;
} making;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for calls over time");
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

static int read_task(void *arg, unsigned number, uint32_t i)
{
    making *m = arg;
    worker *w = &m->worker[number];
    const tl_call_scan_options options = {
        .select = m->o->select, .places = m->o->places, .without = TL_CALL_FUNCTIONS, .all = m->o->select != NULL};
    tl_call_scan *scan = NULL;
    tl_call_ahead *ahead = NULL;
    tl_call_rows rows;
    const uint32_t first = m->order ? m->order[i] : (uint32_t)((uint64_t)i * m->parts / m->tasks);
    const uint32_t end = m->order ? first + 1 : (uint32_t)((uint64_t)(i + 1) * m->parts / m->tasks);
    bool ok = w->time.ready || tl_time_worker_init(&w->time, m->o, m->source->trace.ntrack);
    int status =
        ok ? tl_call_scan_open(&scan, m->source, first, end - first, &options, &w->error) : no_memory(&w->error);
    if (status >= 0 && m->ahead && i == 0)
        status = tl_call_ahead_open(&ahead, scan, &w->error);
    while (status >= 0 && (status = ahead ? tl_call_ahead_next(ahead, &rows, &w->error)
                                          : tl_call_scan_next(scan, &rows, &w->error)) > 0) {
        if (!tl_time_worker_add(&w->time, &rows, i))
            status = no_memory(&w->error);
    }
    tl_call_ahead_close(ahead);
    tl_call_scan_close(scan);
    if (status == 0 && !tl_time_worker_flush(&w->time))
        status = no_memory(&w->error);
    if (status < 0 && w->failed == UINT32_MAX)
        w->failed = i;
    return status;
}

static int finish(making *m, tl_time_data *out, tl_error *e)
{
    tl_time_worker *w = &m->worker[0].time;
    bool ok = w->ready || tl_time_worker_init(w, m->o, m->source->trace.ntrack);
    for (unsigned i = 1; ok && i < m->nworker; i++)
        ok = tl_time_worker_merge(w, &m->worker[i].time);
    return ok && tl_time_worker_finish(w, out) ? 0 : no_memory(e);
}

int tl_time_data_make(tl_time_data *out, tl_source *s, const tl_time_options *o, tl_error *e)
{
    const uint32_t parts = tl_call_scan_parts(s), tasks = parts < TASKS_MOST ? parts : TASKS_MOST;
    making m = {
        .source = s, .o = o, .parts = parts, .tasks = tasks, .nworker = o->threads ? o->threads : tl_processors()};
    const bool by_weight = parts == tasks && parts == tl_source_streams(s); /* the heaviest first */
    *out = (tl_time_data){0};
    m.ahead = m.nworker > 1 && (parts == 1 || (by_weight && tl_source_is_one_stream(s)));
    m.nworker = m.nworker > WORKERS_MOST ? WORKERS_MOST : m.nworker;
    m.nworker = m.nworker > tasks ? (tasks ? tasks : 1) : m.nworker;
    m.worker = calloc(m.nworker, sizeof *m.worker);
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
        tl_time_worker_fini(&m.worker[i].time);
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
