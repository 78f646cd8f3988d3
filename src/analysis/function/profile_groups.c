/* Regroups the functions of a profile as a table needs them. */
#include "analysis/function/profile_answer.h"
#include "base/text/words.h"
#include "model/trace_impl.h"

/* Counts tracks that are threads; all tracks if none is a thread: in a trace, those are streams. */
static void count_tracks(tl_profile_table *r, const tl_trace *t, bool of_events)
{
    uint32_t n = 0, cpus = 0;
    for (uint32_t i = 0; i < tl_trace_tracks(t); i++) {
        n += tl_trace_track(t, i)->has_tid;
        cpus += tl_trace_track(t, i)->is_cpu;
    }
    r->are_cpus = (r->tracks == 0 || r->are_cpus) && cpus > 0 && cpus == tl_trace_tracks(t);
    r->are_threads = r->are_threads || n || !of_events;
    r->tracks += n ? n : tl_trace_tracks(t);
}

void tl_profile_table_add(tl_profile_table *t, const tl_trace *trace, const tl_profile *p, bool of_events)
{
    uint64_t begin = p->begin, end = p->end;
    count_tracks(t, trace, of_events);
    t->has_span = tl_trace_range(trace, &begin, &end) || p->has_span;
    t->span = t->has_span ? end - begin : 0;
}

/* Does it have neither calls nor samples, nor a sign of any? */
bool tl_profile_is_empty(const tl_profile *p)
{
    bool any = tl_profile_weights(p) > 0 || tl_profile_unmatched_exits(p) > 0 || tl_profile_unmatched_open(p) > 0;
    for (uint32_t i = 0; !any && i < p->nplace; i++)
        any = p->stat[i].calls > 0 || p->stat[i].self > 0;
    return !any;
}

bool tl_profile_lacks_names(const tl_profile *p, const tl_trace *t)
{
    if (tl_profile_weights(p) || p->of_stacks)
        return false;
    for (uint32_t i = 0; i < tl_profile_functions(p) && !tl_trace_counts_insns(t); i++)
        if (tl_profile_get_function(p, i)->name && !(tl_profile_get_function(p, i)->flags & TL_FUNCTION_UNKNOWN))
            return false;
    return tl_trace_counts_insns(t) ||
           tl_profile_functions(p) > 0; /* instructions: their entries and levels have no names */
}

uint32_t tl_profile_strangers(const tl_profile *p, const tl_trace *t)
{
    uint32_t strange = 0, known = 0;
    bool names = false;
    for (uint32_t i = 0; i < t->nfunction; i++)
        names = names || t->function[i].name;
    for (uint32_t i = 0; names && i < tl_profile_functions(p); i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        const bool is_known = f->name || f->flags & TL_FUNCTION_UNKNOWN || tl_trace_function(t, f->id);
        strange += !is_known;
        known += is_known;
    }
    return tl_profile_weights(p) && strange > known ? strange : 0;
}

int tl_profile_group(const tl_table_kind *kind, tl_profile_table *t, bool per_thread, bool several, tl_profile **copy,
                     tl_error *e)
{
    const tl_profile *p = t->profile;
    const bool tree = kind->profile & TL_PROFILE_TREES;
    const bool stacks = tl_profile_weights(p) || p->of_stacks;
    bool renamed = false;
    tl_profile *joined = NULL;
    *copy = NULL;
    if (p->per_thread && p->ntrack) {
        t->tracks = (uint32_t)tl_profile_threads(p);
        t->trees = p->ntrack;
    }
    if (tree && p->per_thread && !per_thread) { /* a file may have threads without being asked */
        const int joining = tl_profile_join(&joined, NULL, p, TL_JOIN_THREADS, e);
        if (joining < 0)
            return joining;
        p = joined;
    }
    for (uint32_t i = 0; i < tl_profile_functions(p); i++)
        renamed = renamed || tl_profile_get_function(p, i)->renamed;
    int status = 0;
    if (kind->profile & TL_PROFILE_MODULES)
        status = tl_profile_regroup(copy, p, TL_GROUP_BY_LIBRARY, e);
    else if (kind->profile & TL_PROFILE_NAMES)
        status = tl_profile_regroup(copy, p, TL_GROUP_ACROSS_BUILDS, e);
    else if (stacks && tree)
        status = tl_profile_regroup(copy, p, TL_GROUP_BY_NAME, e);
    else if (stacks && several)
        status = tl_profile_regroup(copy, p, TL_GROUP_BY_LAST, e);
    else if (renamed)
        status = tl_profile_regroup(copy, p, TL_GROUP_BY_ID, e);
    if (status == 0 && joined && !*copy)
        *copy = joined;
    else
        tl_profile_free(joined);
    if (*copy)
        t->profile = *copy;
    return status;
}

int tl_profile_sorts(const tl_profile *p, const char *sort, tl_error *e)
{
    const bool samples = tl_profile_weights(p);
    if (!sort || tl_word_place(sort, "min p50 p90 p99 max") < 0 || (!samples && tl_profile_has_histogram(p)))
        return 0;
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "sort %s needs durations of calls; %s", sort,
                   samples ? "samples of stacks have none" : "this profile holds only sums of them");
}
