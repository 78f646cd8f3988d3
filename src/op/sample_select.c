/* Which samples of a profile a selection contains, by the functions on their stacks. */
#include "op/sample_select.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/glob.h"

enum { WANTED = 1, UNWANTED = 2 }; /* the match of a function, or of one on a stack */

/* Does a glob match the function's name, now or later? */
static bool matches(const char *glob, const tl_function *f)
{
    char buffer[24];
    return tl_glob(glob, tl_function_label(f, buffer)) || (f->renamed && tl_glob(glob, f->renamed));
}

static void match_functions(const tl_profile *p, const tl_select *s, uint8_t *match, bool *hit)
{
    for (uint32_t i = 0; i < p->nfunction; i++)
        for (size_t k = 0; k < s->nfunc + s->nnot; k++) {
            const bool not = k >= s->nfunc;
            if (!matches(not ? s->not_func[k - s->nfunc] : s->func[k], &p->function[i]))
                continue;
            hit[k] = true;
            match[i] |= not ? UNWANTED : WANTED;
        }
}

static uint64_t *weights_of(tl_profile *p, uint32_t place)
{
    return p->weight_self + (size_t)place * p->nweight;
}

static void clear(tl_profile *p, uint32_t place)
{
    memset(weights_of(p, place), 0, p->nweight * sizeof *p->weight_self);
}

/* Drops places with unwanted stacks. on_stack[place]: what the functions of its stack match. */
static void drop_stacks(tl_profile *p, const tl_select *s, const uint8_t *match, uint32_t *on_stack)
{
    for (uint32_t i = 1; i < p->nplace; i++) {
        const tl_place *at = &p->place[i];
        on_stack[i] = on_stack[at->parent];
        if (at->function == TL_NO_FUNCTION)
            continue;
        on_stack[i] |= match[at->function];
        if (on_stack[i] & UNWANTED || (s->nfunc && !(on_stack[i] & WANTED)))
            clear(p, i);
    }
}

/* Adds deeper places to the deepest kept frame: children come after their parents. */
static void cut_stacks(tl_profile *p, uint32_t longest, uint32_t *depth)
{
    for (uint32_t i = 1; i < p->nplace; i++)
        depth[i] = depth[p->place[i].parent] + (p->place[i].function != TL_NO_FUNCTION);
    for (uint32_t i = p->nplace; i-- > 1;) {
        if (depth[i] <= longest)
            continue;
        for (uint32_t k = 0; k < p->nweight; k++)
            tl_profile_weigh(p, p->place[i].parent, k, weights_of(p, i)[k]);
        clear(p, i);
    }
}

/* Drops the trees of unwanted threads, in profiles that were read as such. */
static void drop_threads(tl_profile *p, const tl_select *s, uint32_t *dropped)
{
    for (uint32_t i = 1; i < p->nplace; i++) {
        const tl_place *at = &p->place[i];
        dropped[i] = at->function == TL_NO_FUNCTION ? !tl_select_track(s, &p->track[at->track]) : dropped[at->parent];
        if (dropped[i])
            clear(p, i);
    }
}

/* Counts the remaining samples. */
static void count_samples(tl_profile *p)
{
    uint64_t n = 0;
    uint32_t index = 0;
    while (index < p->nweight && strcmp(p->kind[index].name, tl_sample_weight[TL_WEIGHT_SAMPLES].name) != 0)
        index++;
    if (index == p->nweight)
        return;
    for (uint32_t i = 0; i < p->nplace; i++)
        n = tl_add_saturated(n, tl_profile_weight_self(p, i, index));
    p->samples.counted = tl_add_saturated(n, p->samples.empty);
}

static int check(const tl_select *s, tl_error *e)
{
    if (!s->min_ticks)
        return 0;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "samples have no durations: they cannot be selected by them");
}

int tl_samples_select(tl_profile *p, const tl_select *s, tl_error *e)
{
    int status = check(s, e);
    if (status < 0)
        return status;
    bool *hit = calloc(s->nfunc + s->nnot + 1, sizeof *hit);
    uint8_t *match = calloc((size_t)p->nfunction + 1, sizeof *match);
    uint32_t *scratch = calloc(p->nplace, sizeof *scratch);
    if (!hit || !match || !scratch) {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
        goto out;
    }
    if (s->nthread && p->per_thread)
        drop_threads(p, s, scratch);
    if (s->nfunc || s->nnot) {
        memset(scratch, 0, p->nplace * sizeof *scratch);
        match_functions(p, s, match, hit);
        drop_stacks(p, s, match, scratch);
    }
    if (s->nfunc) /* an empty stack has no function */
        p->samples.empty = 0;
    count_samples(p);
    if (s->depth) {
        memset(scratch, 0, p->nplace * sizeof *scratch);
        cut_stacks(p, s->depth, scratch);
    }
    for (size_t i = 0; i < s->nfunc + s->nnot && status == 0; i++)
        status = tl_select_settle(s, i, hit[i], e);
out:
    free(hit);
    free(match);
    free(scratch);
    return status;
}
