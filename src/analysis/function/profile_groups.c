/* Regroups the functions of a profile as a table needs them. */
#include "analysis/function/profile_answer.h"
#include "base/text/words.h"

int tl_profile_group(const tl_table_kind *kind, tl_profile_table *t, bool per_thread, bool several, tl_profile **copy,
                     tl_error *e)
{
    const tl_profile *p = t->profile;
    const bool tree = kind->profile & TL_PROFILE_TREES;
    const bool stacks = tl_profile_weights(p) || p->of_stacks;
    bool renamed = false;
    tl_profile *joined = NULL;
    *copy = NULL;
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
