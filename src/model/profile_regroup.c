/* Copies of profiles with another identity of functions (most keep durations of single calls only for calls from
 * stacks): tables by name, by id or by library are tables of the functions of such a copy, and recursion counts once in
 * each of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/patched.h"
#include "model/profile_impl.h"

/* The file of a function, or else its build-id, or NULL. */
static const char *library_of(const tl_profile *p, const tl_function *f)
{
    if (f->library)
        return f->library;
    const bool is_of_exe = f->module ? p->build_id && strcmp(f->module, p->build_id) == 0 : f->name && !p->build_id;
    return is_of_exe && p->exe ? p->exe : f->module;
}

/* The function of the copy; TL_HASH_NONE when memory runs out. */
static uint32_t add_function(tl_profile *to, const tl_profile *from, const tl_function *f, tl_grouping by)
{
    char label[24];
    tl_function g = *f;
    switch (by) {
    case TL_GROUP_BY_NAME:
        g = (tl_function){.name = tl_function_label(f, label)};
        break;
    case TL_GROUP_BY_ID:
        g.name = f->renamed ? f->renamed : f->name;
        g.renamed = NULL;
        break;
    case TL_GROUP_BY_LAST:
        g.name = f->renamed ? f->renamed : f->name;
        g.renamed = NULL;
        if (g.name) {
            g.id = 0;
            g.flags = (g.flags & ~(uint32_t)TL_FUNCTION_HEX_ID) | TL_FUNCTION_UNKNOWN;
        }
        break;
    case TL_GROUP_ACROSS_BUILDS:
        if (f->name)
            g = (tl_function){.name = f->name, .flags = TL_FUNCTION_UNKNOWN};
        break;
    case TL_GROUP_BY_FUNCTION:
        g.file = NULL;
        g.line = g.offset = 0;
        g.flags &= ~(uint32_t)TL_FUNCTION_OFFSET;
        break;
    case TL_GROUP_BY_LIBRARY:
        g = (tl_function){.name = library_of(from, f)};
        g.flags = g.name ? 0 : TL_FUNCTION_UNKNOWN;
        break;
    }
    return tl_profile_add_function(to, &g);
}

/* False when memory runs out. */
static bool add_numbers(tl_profile *to, uint32_t place, const tl_profile *from, uint32_t of)
{
    tl_place_stat *s = &to->stat[place];
    const tl_place_stat *t = &from->stat[of];
    s->calls = tl_add_saturated(s->calls, t->calls);
    s->total = tl_add_saturated(s->total, t->total);
    s->self = tl_add_saturated(s->self, t->self);
    s->min = t->min < s->min ? t->min : s->min;
    s->max = t->max > s->max ? t->max : s->max;
    for (uint32_t k = 0; k < from->nweight; k++)
        tl_profile_weigh(to, place, k, from->weight_self[(size_t)of * from->nweight + k]);
    return (!from->unwound || tl_profile_add_unwound(to, place, from->unwound[of])) &&
           (!to->has_histogram || tl_hist_merge(&s->hist, &t->hist));
}

/* Copies places with their numbers, parents before children. False when memory runs out. */
static bool add_places(tl_profile *to, const tl_profile *from, const uint32_t *function, uint32_t *place)
{
    place[0] = 0;
    for (uint32_t i = 1; i < from->nplace; i++) {
        const tl_place *at = &from->place[i];
        place[i] = at->function == TL_NO_FUNCTION ? tl_profile_thread_root(to, &from->track[at->track])
                                                  : tl_profile_child(to, place[at->parent], function[at->function]);
        if (place[i] == TL_HASH_NONE || !add_numbers(to, place[i], from, i))
            return false;
    }
    return true;
}

static bool copy_rest(tl_profile *to, const tl_profile *from)
{
    to->of_stacks = from->of_stacks;
    to->rescaled = from->rescaled;
    to->per_thread = from->per_thread;
    to->unmatched_exits = from->unmatched_exits;
    to->unmatched_open = from->unmatched_open;
    to->samples = from->samples;
    to->has_span = from->has_span;
    to->begin = from->begin;
    to->end = from->end;
    to->lost_events = from->lost_events;
    to->damaged_bytes = from->damaged_bytes;
    to->build_id = tl_profile_intern(to, from->build_id);
    to->exe = tl_profile_intern(to, from->exe);
    return (to->build_id || !from->build_id) && (to->exe || !from->exe) &&
           tl_profile_set_patched(to, from->patched, from->npatched, NULL) == 0;
}

/* For TL_GROUP_BY_LAST: restores the id of functions whose originals all have the same. */
static bool restore_ids(tl_profile *to, const tl_profile *from, const uint32_t *function)
{
    enum { NONE_YET, ONE, SEVERAL };
    uint8_t *ids = calloc((size_t)to->nfunction + 1, sizeof *ids);
    for (uint32_t i = 0; ids && i < from->nfunction; i++) {
        const tl_function *f = &from->function[i];
        tl_function *g = &to->function[function[i]];
        const uint32_t kind = f->flags & (TL_FUNCTION_HEX_ID | TL_FUNCTION_UNKNOWN);
        if (ids[function[i]] == NONE_YET) {
            g->id = f->id;
            g->flags = (g->flags & ~(uint32_t)(TL_FUNCTION_HEX_ID | TL_FUNCTION_UNKNOWN)) | kind;
            ids[function[i]] = ONE;
        } else if (g->id != f->id || (g->flags & (TL_FUNCTION_HEX_ID | TL_FUNCTION_UNKNOWN)) != kind) {
            ids[function[i]] = SEVERAL;
        }
    }
    for (uint32_t i = 0; ids && i < to->nfunction; i++)
        if (ids[i] == SEVERAL) {
            to->function[i].id = 0;
            to->function[i].flags = (to->function[i].flags & ~(uint32_t)TL_FUNCTION_HEX_ID) | TL_FUNCTION_UNKNOWN;
        }
    const bool ok = ids != NULL;
    free(ids);
    return ok && tl_profile_index_functions(to);
}

static bool copy(tl_profile *to, const tl_profile *from, tl_grouping by, uint32_t *function, uint32_t *place)
{
    for (uint32_t i = 0; i < from->nfunction; i++)
        if ((function[i] = add_function(to, from, &from->function[i], by)) == TL_HASH_NONE)
            return false;
    if (by == TL_GROUP_BY_LAST && !restore_ids(to, from, function))
        return false;
    to->has_histogram = from->of_stacks || (by == TL_GROUP_ACROSS_BUILDS && from->has_histogram);
    return add_places(to, from, function, place) && copy_rest(to, from);
}

bool tl_profile_set_was(tl_profile *to, const tl_profile *p, uint32_t *place)
{
    to->was = place;
    to->nwas = p->nplace;
    if (!p->was)
        return true;
    to->nwas = p->nwas;
    to->was = tl_alloc(p->nwas, sizeof *to->was);
    for (uint32_t i = 0; to->was && i < p->nwas; i++)
        to->was[i] = place[p->was[i]];
    free(place);
    return to->was != NULL;
}

int tl_profile_regroup(tl_profile **out, const tl_profile *p, tl_grouping by, tl_error *e)
{
    tl_profile *to = NULL;
    uint32_t *function = calloc((size_t)p->nfunction + 1, sizeof *function);
    uint32_t *place = calloc(p->nplace, sizeof *place);
    int status = tl_profile_new(&to, &p->clock, e);
    if (status == 0 && p->nweight)
        status = tl_profile_make_sampled(to, p->kind, p->nweight, e);
    if (status == 0 && (!function || !place || !copy(to, p, by, function, place)))
        status =
            tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a copy of a profile of %" PRIu32 " places", p->nplace);
    if (status == 0)
        status = p->nweight ? tl_profile_choose_weight(to, p->kind[p->weight].name, e) : tl_profile_set_outer(to, e);
    free(function);
    if (status < 0)
        free(place);
    else if (!tl_profile_set_was(to, p, place))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a copy of a profile");
    if (status < 0) {
        tl_profile_free(to);
        return status;
    }
    *out = to;
    return 0;
}
