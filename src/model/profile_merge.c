/* Merging of profiles. Every member is combined by an associative and commutative operation, so merging is, too:
 *
 *   numbers, histogram counts     sum that stops at UINT64_MAX (a cut sum of naturals is the cut of the whole sum)
 *   min, max                      minimum, maximum
 *   places, functions, threads    union, identified by their details, not by their index
 *   address, linkage name         the smaller of the known ones
 *   weights                       sums; both must have the same ones, and the same chosen
 *   begin and end of samples      the earlier and the later one
 *   UTC of the clock, build-id, exe   kept if the same in both, else unknown; unknown stays unknown whatever comes
 *   frequency of the clock        the greater one, of two that are the same but for what measuring them leaves open
 *   rescaled                      if one of them is
 *   clock, histogram, per thread  must be the same in both
 *
 * It goes in two passes, so that running out of memory never leaves half the numbers added: the first makes everything
 * that `from` has, the second adds and cannot fail. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/same_text.h"
#include "model/patched.h"
#include "model/profile_impl.h"
#include "model/trace_impl.h"

static bool same_weights(const tl_profile *a, const tl_profile *b)
{
    bool same = a->nweight == b->nweight && a->weight == b->weight;
    for (uint32_t i = 0; same && i < a->nweight; i++)
        same = tl_same_text(a->kind[i].name, b->kind[i].name) && tl_same_text(a->kind[i].unit, b->kind[i].unit);
    return same;
}

static int check_alike(const tl_profile *into, const tl_profile *from, tl_error *e)
{
    const tl_clock *a = &into->clock, *b = &from->clock;
    if (!tl_same_clock(a, b))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "profiles of different clocks cannot be added up: %s at %" PRIu64 " Hz and %s at %" PRIu64 " Hz",
                       a->name ? a->name : "unnamed", a->hz, b->name ? b->name : "unnamed", b->hz);
    if (!into->nweight != !from->nweight)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "profiles of different kinds: one of %s and one of %s",
                       into->nweight ? "samples" : "calls", from->nweight ? "samples" : "calls");
    if (!same_weights(into, from))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "profiles of samples that have different weights");
    if (into->has_histogram != from->has_histogram)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "profiles of different detail: %s durations of single calls and %s them",
                       into->has_histogram ? "with" : "without", from->has_histogram ? "with" : "without");
    if (into->per_thread != from->per_thread)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "profiles of different shape: %s and %s",
                       into->per_thread ? "a tree for each thread" : "one tree of all threads",
                       from->per_thread ? "a tree for each thread" : "one tree of all threads");
    return 0;
}

/* Maps the parts of `from` to `into`. */
typedef struct merge_map {
    uint32_t *function, *place;
    tl_hash known;       /* string pointer of `from` -> index in string */
    const char **string; /* of `into` */
    uint32_t nstring;
} merge_map;

/* Replaces a string of `from` by that of `into`, interning once per pointer: many functions share a few long file
 * names. */
static bool translate(tl_profile *into, merge_map *m, const char **s)
{
    if (!*s)
        return true;
    uint64_t key = (uint64_t)(uintptr_t)*s;
    uint32_t at = tl_hash_get(&m->known, key);
    if (at == TL_HASH_NONE) {
        at = m->nstring;
        m->string[at] = tl_profile_intern(into, *s);
        if (!m->string[at] || !tl_hash_put(&m->known, key, at))
            return false;
        m->nstring++;
    }
    *s = m->string[at];
    return true;
}

static bool map_functions(tl_profile *into, const tl_profile *from, merge_map *m)
{
    for (uint32_t i = 0; i < from->nfunction; i++) {
        tl_function f = from->function[i];
        if (!translate(into, m, &f.module) || !translate(into, m, &f.name) || !translate(into, m, &f.file) ||
            !translate(into, m, &f.linkage_name) || !translate(into, m, &f.library) || !translate(into, m, &f.renamed))
            return false;
        m->function[i] = tl_profile_add_interned_function(into, &f);
        if (m->function[i] == TL_HASH_NONE)
            return false;
    }
    return true;
}

static uint32_t map_thread_root(tl_profile *into, const tl_profile *from, merge_map *m, uint32_t track)
{
    tl_track t = from->track[track];
    return translate(into, m, &t.name) ? tl_profile_interned_thread_root(into, &t) : TL_HASH_NONE;
}

/* The child of a place for a function. Places that this merge made (from `before` on) have none yet; and if both
 * profiles have places in the same order, which is most likely, it follows the one found last. */
static uint32_t map_child(tl_profile *into, uint32_t parent, uint32_t function, uint32_t last, uint32_t before)
{
    if (parent >= before)
        return tl_profile_append_child(into, parent, function);
    const tl_place *next = &into->place[last + 1];
    if (last + 1 < into->nplace && next->parent == parent && next->function == function)
        return last + 1;
    return tl_profile_child(into, parent, function);
}

/* Makes every place of `from` in `into`, with room in its histogram. */
static bool map_places(tl_profile *into, const tl_profile *from, merge_map *m)
{
    const uint32_t before = into->nplace;
    m->place[0] = 0;
    for (uint32_t i = 1; i < from->nplace; i++) {
        const tl_place at = from->place[i];
        uint32_t place;
        if (at.function == TL_NO_FUNCTION)
            place = map_thread_root(into, from, m, at.track);
        else
            place = map_child(into, m->place[at.parent], m->function[at.function], m->place[i - 1], before);
        if (place == TL_HASH_NONE || !tl_hist_reserve(&into->stat[place].hist, &from->stat[i].hist))
            return false;
        m->place[i] = place;
    }
    return !from->unwound || tl_profile_add_unwound(into, 0, 0);
}

static bool start_map(tl_profile *into, const tl_profile *from, merge_map *m)
{
    m->function = calloc((size_t)from->nfunction + 1, sizeof *m->function);
    m->place = calloc(from->nplace, sizeof *m->place);
    m->string = calloc((size_t)from->nfunction + from->ntrack + 1, 6 * sizeof *m->string); /* more than needed */
    return m->function && m->place && m->string && map_functions(into, from, m);
}

static void free_map(merge_map *m)
{
    free(m->function);
    free(m->place);
    free(m->string);
    tl_hash_fini(&m->known);
}

static void add_stat(tl_place_stat *into, const tl_place_stat *from)
{
    tl_profile_add_sums(into, from);
    tl_hist_add_all(&into->hist, &from->hist); /* cannot fail: room was made */
}

static void add_weights(tl_profile *into, uint32_t place, const tl_profile *from, uint32_t of)
{
    for (uint32_t k = 0; k < from->nweight; k++)
        tl_profile_weigh(into, place, k, from->weight_self[(size_t)of * from->nweight + k]);
    if (from->nweight)
        into->outer_calls[place] = tl_add_saturated(into->outer_calls[place], from->outer_calls[of]);
}

static void add_rest(tl_profile *into, const tl_profile *from)
{
    into->of_stacks = into->of_stacks || from->of_stacks;
    into->rescaled = into->rescaled || from->rescaled;
    into->samples.counted = tl_add_saturated(into->samples.counted, from->samples.counted);
    into->samples.empty = tl_add_saturated(into->samples.empty, from->samples.empty);
    into->samples.paused = tl_add_saturated(into->samples.paused, from->samples.paused);
    if (from->has_span) {
        into->begin = into->has_span && into->begin < from->begin ? into->begin : from->begin;
        into->end = into->has_span && into->end > from->end ? into->end : from->end;
        into->has_span = true;
    }
    into->unmatched_exits = tl_add_saturated(into->unmatched_exits, from->unmatched_exits);
    into->unmatched_open = tl_add_saturated(into->unmatched_open, from->unmatched_open);
    into->lost_events = tl_add_saturated(into->lost_events, from->lost_events);
    into->damaged_bytes = tl_add_saturated(into->damaged_bytes, from->damaged_bytes);
    if (!tl_same_text(into->build_id, from->build_id))
        into->build_id = NULL;
    if (!tl_same_text(into->exe, from->exe))
        into->exe = NULL;
    if (!tl_profile_same_patched(into, from))
        into->npatched = 0;
    if (from->clock.hz > into->clock.hz) {
        into->clock.hz = from->clock.hz;
        tl_scale_init(&into->scale, into->clock.hz);
    }
    if (!from->clock.has_utc || into->clock.utc_offset_ns != from->clock.utc_offset_ns)
        into->clock.has_utc = false;
    if (!into->clock.has_utc)
        into->clock.utc_offset_ns = 0;
}

int tl_profile_merge(tl_profile *into, const tl_profile *from, tl_error *e)
{
    int status = check_alike(into, from, e);
    if (status < 0)
        return status;
    merge_map m = {0};
    if (start_map(into, from, &m) && map_places(into, from, &m)) {
        for (uint32_t i = 0; i < from->nplace; i++) {
            add_stat(&into->stat[m.place[i]], &from->stat[i]);
            add_weights(into, m.place[i], from, i);
            if (from->unwound) /* cannot fail: room was made */
                into->unwound[m.place[i]] = tl_add_saturated(into->unwound[m.place[i]], from->unwound[i]);
        }
        add_rest(into, from);
    } else {
        status =
            tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to merge profiles of %" PRIu32 " and %" PRIu32 " places",
                    into->nplace, from->nplace);
    }
    free_map(&m);
    return status;
}

bool tl_place_recurs(const tl_profile *p, uint32_t place)
{
    const tl_place *at = &p->place[place];
    return at->function != TL_NO_FUNCTION && p->place[at->parent].function == at->function;
}

static uint32_t join_place(tl_profile *into, const tl_profile *from, merge_map *m, uint32_t i, tl_joining what)
{
    const tl_place *at = &from->place[i];
    if (at->function == TL_NO_FUNCTION)
        return i && what == TL_JOIN_RECURSION ? map_thread_root(into, from, m, at->track) : 0;
    if (what == TL_JOIN_RECURSION && tl_place_recurs(from, i))
        return m->place[at->parent];
    return tl_profile_child(into, m->place[at->parent], m->function[at->function]);
}

/* Maps several places of `from` to one of `into`, which the caller discards if memory runs out. */
static bool join_places(tl_profile *into, const tl_profile *from, merge_map *m, tl_joining what)
{
    for (uint32_t i = 0; i < from->nplace; i++) {
        const uint32_t place = m->place[i] = join_place(into, from, m, i, what);
        if (place == TL_HASH_NONE || !tl_hist_reserve(&into->stat[place].hist, &from->stat[i].hist))
            return false;
        add_stat(&into->stat[place], &from->stat[i]);
        add_weights(into, place, from, i);
        if (from->unwound && !tl_profile_add_unwound(into, place, from->unwound[i]))
            return false;
    }
    return true;
}

int tl_profile_join(tl_profile **out, uint32_t **place, const tl_profile *p, tl_joining what, tl_error *e)
{
    merge_map m = {0};
    tl_profile *joined = NULL;
    int status = tl_profile_new(&joined, &p->clock, e);
    if (status == 0 && p->nweight)
        status = tl_profile_make_sampled(joined, p->kind, p->nweight, e);
    if (status == 0) {
        joined->has_histogram = p->has_histogram;
        if (start_map(joined, p, &m) && join_places(joined, p, &m, what))
            add_rest(joined, p);
        else
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a copy of a profile of %" PRIu32 " places",
                             p->nplace);
    }
    if (status == 0 && p->nweight)
        status = tl_profile_choose_weight(joined, p->kind[p->weight].name, e);
    if (status == 0 && place) {
        *place = m.place;
        m.place = NULL;
    } else if (status == 0) {
        if (!tl_profile_set_was(joined, p, m.place))
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a copy of a profile");
        m.place = NULL;
    }
    free_map(&m);
    if (status < 0) {
        tl_profile_free(joined);
        return status;
    }
    *out = joined;
    return 0;
}
