/* Makes a profile of a whole source. For calls, or instructions that make calls: each thread takes streams and makes a
 * profile of its own, and these are merged. Since the order of merging does not matter, the result does not depend on
 * which thread did what. */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/patched.h"
#include "op/call_select.h"
#include "op/callstack.h"
#include "op/insn_calls.h"
#include "op/sample_profile.h"
#include "op/sample_select.h"
#include "op/source_impl.h"
#include "op/stream_reader.h"
#include "op/symbols/discover.h"
#include "op/symbols/profile_names.h"
#include "op/symbols/profile_places.h"

typedef struct worker {
    tl_profile *profile;
    tl_callstack *calls;  /* of entries and exits; or ... */
    tl_insn_calls *insns; /* ... of instructions */
    tl_error error;
    uint32_t failed; /* the task that failed; UINT32_MAX: none */
} worker;

typedef struct profile_job {
    tl_source *source;
    const tl_profile_options *options;
    bool of_insns; /* calls must be found in instructions */
    uint32_t *order;
    worker *worker;
    unsigned nworker;
} profile_job;

static int start_worker(profile_job *m, worker *w)
{
    int status = tl_profile_new(&w->profile, &m->source->trace.clock, &w->error);
    if (status < 0)
        return status;
    w->profile->has_histogram = true;
    w->profile->per_thread = m->options->per_thread;
    if (m->of_insns)
        return tl_insn_calls_new(&w->insns, w->profile, &m->source->trace, m->source->code, m->options, &w->error);
    return tl_callstack_new(&w->calls, w->profile, &m->source->trace, m->options, TL_EXITS_MISSING, &w->error);
}

static int add_batch(worker *w, const tl_batch *b, tl_error *e)
{
    return w->insns ? tl_insn_calls_add(w->insns, b, e) : tl_callstack_add(w->calls, b, e);
}

/* The stream has ended. */
static int finish_stream(worker *w, tl_error *e)
{
    if (w->insns)
        return tl_insn_calls_finish(w->insns, e);
    tl_callstack_finish(w->calls);
    return 0;
}

static void find_limit(const worker *w, tl_limit *limit)
{
    *limit = (tl_limit){0};
    if (w->insns)
        tl_insn_calls_limit(w->insns, limit);
}

static int profile_stream(void *arg, unsigned number, uint32_t i)
{
    profile_job *m = arg;
    worker *w = &m->worker[number];
    tl_cursor *c = NULL;
    const tl_batch *b;
    tl_limit limit;
    int status = w->calls || w->insns ? 0 : start_worker(m, w);
    find_limit(w, &limit);
    if (status == 0)
        status = tl_cursor_open_want(&c, m->source, m->order[i], NULL, &limit, &w->error);
    while (status == 0 && (status = tl_cursor_next(c, &b, &w->error)) > 0)
        status = add_batch(w, b, &w->error);
    if (status == 0)
        status = finish_stream(w, &w->error);
    tl_cursor_close(c);
    if (status < 0 && w->failed == UINT32_MAX)
        w->failed = i;
    return status;
}

/* Threads named only by events may run on any stream, and functions that are addresses have to be looked up: one worker
 * matches all streams in the order of time. */
static int profile_by_thread(profile_job *m, tl_error *e)
{
    tl_source *s = m->source;
    tl_thread_view *view = NULL;
    tl_merge *merge = NULL;
    const tl_want want = tl_source_want(s, true);
    int status = tl_thread_view_new(&view, s, e);
    if (status == 0)
        status = tl_merge_open_want(&merge, s, &want, NULL, e);
    const tl_run *run;
    uint32_t n;
    while (status >= 0 && (status = tl_merge_runs(merge, &run, &n, e)) > 0)
        for (uint32_t i = 0; status >= 0 && i < n; i++)
            status = tl_callstack_add(m->worker[0].calls,
                                      tl_thread_view_batch(view, run[i].batch, run[i].from, run[i].to), e);
    if (status == 0)
        tl_callstack_finish(m->worker[0].calls);
    tl_merge_close(merge);
    tl_thread_view_free(view);
    return status;
}

/* One worker for all streams in turn, while other threads decode. */
static int profile_in_turn(profile_job *m, tl_error *e)
{
    worker *w = &m->worker[0];
    tl_stream_reader *stream_reader = NULL;
    tl_limit limit;
    const tl_batch *b;
    find_limit(w, &limit);
    int status = tl_stream_reader_open(&stream_reader, m->source, NULL, &limit, e);
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(m->source); i++) {
        while (status == 0 && (status = tl_stream_reader_next(stream_reader, m->order[i], &b, e)) > 0)
            status = add_batch(w, b, e);
        if (status == 0)
            status = finish_stream(w, e);
    }
    tl_stream_reader_close(stream_reader);
    return status;
}

/* All streams, by all workers. */
static int profile_by_stream(profile_job *m, tl_error *e)
{
    int status = tl_parallel(m->nworker, tl_source_streams(m->source), profile_stream, m);
    if (status == 0)
        return 0;
    const worker *first = &m->worker[0];
    for (unsigned i = 1; i < m->nworker; i++)
        if (m->worker[i].failed < first->failed)
            first = &m->worker[i];
    if (e)
        *e = first->error;
    return status;
}

static bool matches(const worker *w, size_t i, bool not )
{
    return w->insns ? tl_insn_calls_matched(w->insns, i, not ) : w->calls && tl_callstack_matched(w->calls, i, not );
}

/* A glob has to match a function of any worker. */
static int settle_globs(const profile_job *m, tl_error *e)
{
    const tl_select *s = m->options->select;
    int status = 0;
    for (size_t i = 0; s && status == 0 && i < s->nfunc + s->nnot; i++) {
        const bool not = i >= s->nfunc;
        const size_t at = not ? i - s->nfunc : i;
        bool matched = false;
        for (unsigned k = 0; k < m->nworker; k++)
            matched = matched || matches(&m->worker[k], at, not );
        status = tl_select_settle(s, i, matched, e);
    }
    return status;
}

/* Copies the properties of the trace. */
static int describe(tl_profile *p, const tl_trace *t, tl_error *e)
{
    p->lost_events = t->lost_events;
    for (uint32_t i = 0; i < t->ndamage; i++)
        if (t->damage[i].kind & TL_DAMAGE_LOSS)
            p->damaged_bytes += t->damage[i].bytes;
    p->build_id = tl_profile_intern(p, t->build_id);
    p->exe = tl_profile_intern(p, t->exe);
    if ((t->build_id && !p->build_id) || (t->exe && !p->exe))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the profile");
    return tl_profile_set_patched(p, t->patched, t->npatched, e);
}

static int from_samples(tl_profile **out, tl_source *s, const tl_profile_options *o, tl_error *e)
{
    tl_profile *p = NULL;
    int status = tl_profile_from_samples(&p, s, o, e);
    if (status == 0)
        status = describe(p, &s->trace, e);
    if (status < 0) {
        tl_profile_free(p);
        return status;
    }
    *out = p;
    return 0;
}

static void free_worker(worker *w)
{
    tl_callstack_free(w->calls);
    tl_insn_calls_free(w->insns);
    tl_profile_free(w->profile);
    *w = (worker){.failed = UINT32_MAX};
}

static int from_events(tl_profile **out, tl_source *s, const tl_profile_options *o, tl_error *e)
{
    const uint32_t streams = tl_source_streams(s);
    profile_job m = {.source = s, .options = o, .nworker = o->threads ? o->threads : tl_processors()};
    m.of_insns = tl_insn_calls_wanted(&s->trace);
    if (m.of_insns && o->select && o->select->ncls)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "calls that are found in instructions have no class to select them by");
    int status = m.of_insns && o->select ? tl_select_check_insn_cpu(o->select, &s->trace, e) : 0;
    if (status < 0)
        return status;
    if (m.nworker > streams)
        m.nworker = streams ? streams : 1;
    m.order = tl_source_by_weight(s);
    m.worker = calloc(m.nworker, sizeof *m.worker);
    status = m.order && m.worker
                 ? 0
                 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to make a profile with %u threads", m.nworker);
    for (unsigned i = 0; m.worker && i < m.nworker; i++)
        m.worker[i].failed = UINT32_MAX;
    if (status == 0 && (tl_discover_wanted(&s->trace) || tl_discover_threads(&s->trace)))
        status = tl_discover(s, e);
    if (status == 0 && o->select)
        status = tl_select_settle_names(o->select, &s->trace, e);
    if (status == 0 && (status = start_worker(&m, &m.worker[0])) < 0 && e)
        *e = m.worker[0].error;
    if (status == 0)
        status = s->discovery                               ? profile_by_thread(&m, e)
                 : m.of_insns && tl_source_is_one_stream(s) ? profile_in_turn(&m, e)
                                                            : profile_by_stream(&m, e);
    tl_trace_sort_damage(&s->trace);
    if (status == 0)
        status = settle_globs(&m, e);
    for (unsigned i = 1; status == 0 && i < m.nworker; i++) {
        if (!m.worker[i].profile)
            continue;
        status = tl_profile_merge(m.worker[0].profile, m.worker[i].profile, e);
        free_worker(&m.worker[i]);
    }
    if (status == 0)
        status = describe(m.worker[0].profile, &s->trace, e);
    if (status == 0) {
        *out = m.worker[0].profile;
        m.worker[0].profile = NULL;
    }
    for (unsigned i = 0; m.worker && i < m.nworker; i++)
        free_worker(&m.worker[i]);
    free(m.worker);
    free(m.order);
    return status;
}

/* Removes unselected calls from a profile that was read: it knows functions, threads and depth. */
static int select_places(tl_profile *p, const tl_select *s, tl_error *e)
{
    if (s->has_from || s->has_to || s->min_ticks || s->ncls || s->ncpu)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "a profile holds sums of calls: it can be selected by function, thread and depth only");
    if (s->nthread && !p->per_thread)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "the profile does not tell threads apart");
    if (p->nweight) {
        const int samples = tl_samples_select(p, s, e);
        return samples < 0 ? samples : tl_select_settle_tracks(s, p->track, p->ntrack, e);
    }
    bool *hit = calloc(s->nfunc + s->nnot + 1, sizeof *hit);
    uint32_t *depth = calloc(p->nplace, sizeof *depth), *track = calloc(p->nplace, sizeof *track);
    int status = hit && depth && track ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    for (uint32_t i = 1; status == 0 && i < p->nplace; i++) {
        const tl_place *place = &p->place[i];
        if (place->function == TL_NO_FUNCTION) {
            track[i] = place->track;
            continue;
        }
        depth[i] = depth[place->parent] + 1;
        track[i] = track[place->parent];
        char buffer[24];
        const char *label = tl_function_label(&p->function[place->function], buffer);
        bool taken = tl_select_label(s, label, hit, hit + s->nfunc) && (!s->depth || depth[i] <= s->depth) &&
                     (!s->nthread || tl_select_track(s, &p->track[track[i]]));
        if (!taken) {
            tl_hist_fini(&p->stat[i].hist);
            p->stat[i] = (tl_place_stat){.min = UINT64_MAX};
            if (p->unwound)
                p->unwound[i] = 0;
        }
    }
    for (size_t i = 0; status == 0 && i < s->nfunc + s->nnot; i++)
        status = tl_select_settle(s, i, hit[i], e);
    if (status == 0)
        status = tl_select_settle_tracks(s, p->track, p->ntrack, e);
    free(hit);
    free(depth);
    free(track);
    return status;
}

/* Do sums over the places of each function suffice? For samples, and if functions changed names, tables are made from
 * the tree. */
static bool needs_no_tree(const tl_profile *p, const tl_profile_options *o)
{
    bool renamed = false;
    for (uint32_t i = 0; i < p->nfunction; i++)
        renamed = renamed || p->function[i].renamed;
    return o->flat && !p->nweight && !p->per_thread && !renamed;
}

static int from_profile(tl_profile **out, tl_source *s, const tl_profile_options *o, tl_error *e)
{
    tl_profile *p = NULL;
    int status = tl_profile_new(&p, &s->trace.clock, e);
    if (status < 0)
        return status;
    p->per_thread = o->per_thread || (o->select && o->select->nthread);
    status = s->reader->profile(s->state, p, e);
    if (status == 0 && !p->build_id && !p->exe && s->trace.exe)
        status = describe(p, &s->trace, e);
    if (status == 0 && !p->npatched)
        status = tl_profile_set_patched(p, s->trace.patched, s->trace.npatched, e);
    if (status == 0 && !s->trace.recording) /* otherwise they were looked up when it was opened */
        status = tl_profile_name_places(p, s, e);
    if (status == 0 && !s->no_demangle)
        status = tl_profile_demangle(p, e);
    if (status == 0 && o->select)
        status = select_places(p, o->select, e);
    if (status == 0)
        status = tl_profile_choose_weight(p, o->weight, e);
    if (status == 0 && needs_no_tree(p, o))
        status = tl_profile_flatten(p, e);
    if (status < 0) {
        tl_error_context(e, "%s", tl_source_name(s));
        tl_profile_free(p);
        return status;
    }
    *out = p;
    return 0;
}

int tl_profile_from_source(tl_profile **out, tl_source *s, const tl_profile_options *options, tl_error *e)
{
    static const tl_profile_options none = {0};
    const tl_profile_options *o = options ? options : &none;
    if (tl_source_is_profile(s))
        return from_profile(out, s, o, e);
    if (tl_samples_wanted(&s->trace))
        return from_samples(out, s, o, e);
    if (o->weight && strcmp(o->weight, "time") != 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "calls are weighted by time alone; other weights are of samples");
    return from_events(out, s, o, e);
}
