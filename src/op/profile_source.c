/* Makes a profile of a whole source: of samples, of a profile in a file, or of calls, by a pass of several threads. */
#include <stdlib.h>
#include <string.h>

#include "model/patched.h"
#include "op/call_pass.h"
#include "op/call_select.h"
#include "op/sample_profile.h"
#include "op/sample_select.h"
#include "op/source_impl.h"
#include "op/symbols/profile_names.h"
#include "op/symbols/profile_places.h"

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

static int from_events(tl_profile **out, tl_source *s, const tl_profile_options *o, tl_error *e)
{
    tl_call_pass m = {.source = s, .options = o};
    int status = tl_call_pass_run(&m, e);
    for (unsigned i = 1; status == 0 && i < m.nworker; i++) {
        if (!m.worker[i].profile)
            continue;
        status = tl_profile_merge(m.worker[0].profile, m.worker[i].profile, e);
        tl_call_worker_fini(&m.worker[i]);
    }
    if (status == 0)
        status = describe(m.worker[0].profile, &s->trace, e);
    if (status == 0) {
        *out = m.worker[0].profile;
        m.worker[0].profile = NULL;
    }
    tl_call_pass_fini(&m);
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
