/* A pass over all calls of a source. */
#include "op/call_pass.h"

#include <stdlib.h>

#include "base/pool.h"
#include "op/call_select.h"
#include "op/checkpoints.h"
#include "op/sample_profile.h"
#include "op/stream_reader.h"
#include "op/symbols/discover.h"

static int start_worker(tl_call_pass *m, tl_call_worker *w)
{
    int status = tl_profile_new(&w->profile, &m->source->trace.clock, &w->error);
    if (status < 0)
        return status;
    w->profile->has_histogram = true;
    w->profile->per_thread = m->options->per_thread;
    w->slots = (tl_call_slots){.by = m->by, .step = m->step, .begin = m->begin, .most = m->memory / m->nworker};
    if (m->is_told) {
        const tl_told_what what = {.p = w->profile,
                                   .trace = &m->source->trace,
                                   .options = m->options,
                                   .slots = &w->slots,
                                   .places = m->places,
                                   .named = true};
        tl_stack_calls_init(&w->told, m->source, &what);
        return 0;
    }
    if (m->of_insns)
        status = tl_insn_calls_new(&w->insns, w->profile, &m->source->trace, m->source->code, m->options, &w->error);
    else
        status = tl_callstack_new(&w->calls, w->profile, &m->source->trace, m->options, TL_EXITS_MISSING, &w->error);
    if (status < 0 || !m->by)
        return status;
    return w->insns ? tl_insn_calls_use_slots(w->insns, &w->slots, m->places, &w->error)
                    : tl_callstack_use_slots(w->calls, &w->slots, m->places, &w->error);
}

/* Histograms grow with the calls in them, so they are counted now and then. */
static int check_slots(tl_call_worker *w, int status, tl_error *e)
{
    enum { EVENTS = 1 << 20 };
    tl_call_slots *s = &w->slots;
    if (s->most && w->events >= EVENTS) {
        w->events = 0;
        s->too_large = s->too_large || tl_call_slots_bytes(s, w->profile) > s->most;
    }
    return tl_call_slots_error(s, status, e);
}

static int add_batch(tl_call_worker *w, const tl_batch *b, tl_error *e)
{
    const int status = w->insns   ? tl_insn_calls_add(w->insns, b, e)
                       : w->calls ? tl_callstack_add(w->calls, b, e)
                                  : tl_stack_calls_add(&w->told, b, e);
    w->events += b->n;
    return check_slots(w, status, e);
}

/* The stream has ended. */
static int finish_stream(tl_call_worker *w, tl_error *e)
{
    if (w->insns)
        return tl_insn_calls_finish(w->insns, e);
    if (w->calls)
        tl_callstack_finish(w->calls);
    else
        tl_stack_calls_finish(&w->told);
    return 0;
}

static void find_limit(const tl_call_worker *w, tl_limit *limit)
{
    *limit = (tl_limit){0};
    if (w->insns)
        tl_insn_calls_limit(w->insns, limit);
}

/* The part of a stream that the selected time needs. */
static int profile_part(tl_call_pass *m, tl_call_worker *w, uint32_t stream)
{
    tl_cursor *c = NULL;
    tl_call_part part;
    const tl_batch *b;
    tl_batch cut;
    int status = tl_call_part_begin(&part, m->known, stream, w->calls, w->profile, &w->error);
    if (status == 0)
        status = tl_cursor_open_want(&c, m->source, stream, NULL, &part.limit, &w->error);
    while (status == 0 && !part.ended && (status = tl_cursor_next(c, &b, &w->error)) > 0) {
        tl_call_part_cut(&part, b, &cut);
        status = add_batch(w, &cut, &w->error);
    }
    tl_cursor_close(c);
    tl_callstack_finish(w->calls);
    tl_call_part_finish(&part, m->known, stream, w->profile);
    return status < 0 ? status : 0;
}

/* All of it, noting checkpoints. */
static int note_stream(tl_call_pass *m, tl_call_worker *w, uint32_t stream)
{
    tl_cursor *c = NULL;
    const tl_batch *b;
    int status = tl_cursor_open_want(&c, m->source, stream, NULL, NULL, &w->error);
    tl_checkpoints_begin(m->noting, stream, w->calls, w->profile);
    while (status == 0 && (status = tl_cursor_next(c, &b, &w->error)) > 0) {
        status = tl_checkpoints_add(m->noting, stream, w->calls, b, &w->error);
        w->events += b->n;
        status = check_slots(w, status, &w->error);
    }
    tl_cursor_close(c);
    tl_checkpoints_finish(m->noting, stream, w->calls, w->profile);
    return status;
}

static int profile_all(tl_call_pass *m, tl_call_worker *w, uint32_t stream)
{
    tl_cursor *c = NULL;
    const tl_batch *b;
    tl_limit limit;
    const tl_want want = tl_source_want(m->source, true); /* stacks are fields */
    find_limit(w, &limit);
    int status = tl_cursor_open_want(&c, m->source, stream, m->is_told ? &want : NULL, &limit, &w->error);
    while (status == 0 && (status = tl_cursor_next(c, &b, &w->error)) > 0)
        status = add_batch(w, b, &w->error);
    if (status == 0)
        status = finish_stream(w, &w->error);
    tl_cursor_close(c);
    return status;
}

static int profile_stream(void *arg, unsigned number, uint32_t i)
{
    tl_call_pass *m = arg;
    tl_call_worker *w = &m->worker[number];
    int status = w->calls || w->insns || w->told.trace ? 0 : start_worker(m, w);
    if (status == 0)
        status = m->known    ? profile_part(m, w, m->order[i])
                 : m->noting ? note_stream(m, w, m->order[i])
                             : profile_all(m, w, m->order[i]);
    if (status < 0 && w->failed == UINT32_MAX)
        w->failed = i;
    return status;
}

/* Threads named only by events may run on any stream, and functions that are addresses have to be looked up: one worker
 * matches all streams in the order of time. */
static int profile_by_thread(tl_call_pass *m, tl_error *e)
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
            status = add_batch(&m->worker[0], tl_thread_view_batch(view, run[i].batch, run[i].from, run[i].to), e);
    if (status == 0)
        tl_callstack_finish(m->worker[0].calls);
    tl_merge_close(merge);
    tl_thread_view_free(view);
    return status;
}

/* One worker for all streams in turn, while other threads decode. */
static int profile_in_turn(tl_call_pass *m, tl_error *e)
{
    tl_call_worker *w = &m->worker[0];
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
static int profile_by_stream(tl_call_pass *m, tl_error *e)
{
    int status = tl_parallel(m->nworker, tl_source_streams(m->source), profile_stream, m);
    if (status == 0)
        return 0;
    const tl_call_worker *first = &m->worker[0];
    for (unsigned i = 1; i < m->nworker; i++)
        if (m->worker[i].failed < first->failed)
            first = &m->worker[i];
    if (e)
        *e = first->error;
    return status;
}

static bool matches(const tl_call_worker *w, size_t i, bool not )
{
    return w->insns   ? tl_insn_calls_matched(w->insns, i, not )
           : w->calls ? tl_callstack_matched(w->calls, i, not )
                      : tl_stack_calls_matched(&w->told, i, not );
}

/* A glob has to match a function of any worker. */
static int settle_globs(const tl_call_pass *m, tl_error *e)
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

void tl_call_worker_fini(tl_call_worker *w)
{
    tl_callstack_free(w->calls);
    tl_insn_calls_free(w->insns);
    tl_stack_calls_fini(&w->told);
    tl_call_slots_fini(&w->slots);
    tl_profile_free(w->profile);
    *w = (tl_call_worker){.failed = UINT32_MAX};
}

void tl_call_pass_fini(tl_call_pass *m)
{
    for (unsigned i = 0; m->worker && i < m->nworker; i++)
        tl_call_worker_fini(&m->worker[i]);
    free(m->worker);
    free(m->order);
}

static int prepare(tl_call_pass *m, tl_error *e)
{
    tl_source *s = m->source;
    const tl_select *select = m->options->select;
    int status = m->of_insns ? tl_insn_calls_can_apply(select, &s->trace, e) : 0;
    if (status < 0)
        return status;
    m->order = tl_source_by_weight(s);
    m->worker = calloc(m->nworker, sizeof *m->worker);
    if (!m->order || !m->worker)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to make a profile with %u threads", m->nworker);
    for (unsigned i = 0; i < m->nworker; i++)
        m->worker[i].failed = UINT32_MAX;
    status = m->is_told ? 0 : tl_discover_calls(s, e);
    if (status == 0 && select)
        status = tl_select_settle_names(select, &s->trace, e);
    if (status == 0 && (status = start_worker(m, &m->worker[0])) < 0 && e)
        *e = m->worker[0].error;
    if (status < 0 || !m->worker[0].calls)
        return status;
    m->known = m->by & TL_BY_CPU ? NULL : tl_checkpoints_for(s, select);
    m->noting = tl_checkpoints_wanted(s);
    if (m->known && !tl_checkpoints_meet_all(m->known, m->worker[0].calls))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the functions of calls");
    return 0;
}

/* Their functions are those that any worker met. */
static int complete_checkpoints(const tl_call_pass *m, tl_error *e)
{
    bool ok = true;
    for (unsigned i = 0; i < m->nworker && ok; i++)
        ok = !m->worker[i].profile || tl_checkpoints_meet(m->noting, m->worker[i].profile);
    if (!ok)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the functions of calls");
    tl_checkpoints_complete(m->noting);
    return 0;
}

int tl_call_pass_run(tl_call_pass *m, tl_error *e)
{
    tl_source *s = m->source;
    const uint32_t streams = tl_source_streams(s);
    m->nworker = m->options->threads ? m->options->threads : tl_processors();
    if (m->nworker > streams)
        m->nworker = streams ? streams : 1;
    m->is_told = m->by && tl_samples_wanted(&s->trace);
    m->of_insns = !m->is_told && tl_insn_calls_wanted(&s->trace);
    if (m->is_told)
        m->nworker = 1; /* functions of several names differ by these, and so cannot be merged by id */
    int status = prepare(m, e);
    if (status == 0)
        status = s->discovery && !m->is_told                 ? profile_by_thread(m, e)
                 : m->of_insns && tl_source_is_one_stream(s) ? profile_in_turn(m, e)
                                                             : profile_by_stream(m, e);
    tl_trace_sort_damage(&s->trace);
    if (status == 0 && m->noting)
        status = complete_checkpoints(m, e);
    return status < 0 ? status : settle_globs(m, e);
}
