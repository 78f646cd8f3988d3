/* Internals of a tl_profile: an interned prefix tree (parent, function) with exact sums and a histogram per place.
 *
 *   places   0 is the root of all; with per-thread trees each track has a root of its own below it (function
 *            TL_NO_FUNCTION, `track` set). A place is found by (parent, function) through one hash table.
 *   function the profile's own table: trace functions by id, made when first seen; merging maps by
 *            (module, id, name, file, line, library, offset, renamed, flags).
 *   outer    of a place: ticks of its calls that lie in no other call of the same function; summed over the places of a
 *            function this is the function's total.
 *   weights  a profile of samples keeps a matrix of what each place has itself; `stat` is made from one column of it by
 *            tl_profile_choose_weight().  */
#ifndef TL_MODEL_PROFILE_IMPL_H
#define TL_MODEL_PROFILE_IMPL_H

#include "base/hash.h"
#include "base/id_map.h"
#include "base/text/number.h"
#include "model/histogram.h"
#include "model/place_index.h"
#include "traceloom/profile.h"

#define TL_NO_FUNCTION    UINT32_MAX
#define TL_NO_TRACK       UINT32_MAX
/* The name of a clock that no machine has. */
#define TL_RESCALED_CLOCK "rescaled"

#define TL_PLACES_MAX (1u << 26) /* more is TL_ENOMEM: such a tree is useless, and ids must fit */

typedef struct tl_place_stat {
    uint64_t calls, total, self, outer;
    uint64_t min, max; /* min is UINT64_MAX without calls */
    tl_hist hist;
} tl_place_stat; /* one cache line on 64-bit machines */

/* Adds everything but the histogram. */
TL_ALWAYS_INLINE void tl_profile_add_sums(tl_place_stat *into, const tl_place_stat *from)
{
    into->calls = tl_add_saturated(into->calls, from->calls);
    into->total = tl_add_saturated(into->total, from->total);
    into->self = tl_add_saturated(into->self, from->self);
    into->outer = tl_add_saturated(into->outer, from->outer);
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
}

struct tl_profile {
    tl_strings strings;
    tl_place *place;
    tl_place_stat *stat;
    uint32_t nplace, place_capacity;
    tl_place_index child;
    uint32_t indexed;    /* places below this one are in `child`; the others are added on lookup */
    uint32_t *same_next; /* [place_capacity] another place of the same function, 0: none */

    tl_function *function;
    uint32_t nfunction, function_capacity;
    uint32_t *same_first; /* [function_capacity] a place of the function, 0: none; continues in same_next */
    tl_hash by_detail;    /* a hash of a function's identity, next free number on collision -> function */
    tl_id_map by_id;      /* of a trace -> function */

    tl_track *track;
    uint32_t ntrack, track_capacity;
    tl_hash by_track; /* a hash of a track's identity, next free number on collision -> root place */

    tl_clock clock;
    tl_scale scale;
    bool of_stacks;     /* made from calls in changes of stacks: `samples` is known, too */
    bool has_histogram; /* durations of single calls are known */
    bool per_thread;
    bool rescaled; /* by tl_profile_rescale(), to another frequency: durations of calls were rounded */
    uint64_t unmatched_exits, unmatched_open;
    uint32_t nweight;      /* 0: made of calls */
    uint32_t weight;       /* the chosen one, in `stat` */
    const tl_weight *kind; /* [nweight], static */
    uint64_t *weight_self; /* [place_capacity * nweight]: by place, then by weight */
    uint64_t *outer_calls; /* [place_capacity] those `calls` whose stack does not have the function further up */
    uint64_t *unwound;     /* [place_capacity] calls that the exit of an outer one closed; NULL: none */
    tl_sample_counts samples;
    bool has_span; /* of samples: the range of ticks of all events is known */
    uint64_t begin, end;
    uint64_t lost_events, damaged_bytes;
    bool used_exe;              /* it has functions of the binary that the user gave */
    const char *build_id, *exe; /* interned in strings; NULL unless known and the same for all calls */
    uint32_t *was; /* [nwas] of a copy, regrouped or joined: the place that each place of the original became */
    uint32_t nwas;
    struct tl_patched *patched; /* objects that the recorder patched, if the same for all calls; owned */
    uint32_t npatched;
};

/* An empty profile: has_histogram, not per_thread, no build-id. The clock's name is copied. */
int tl_profile_new(tl_profile **out, const tl_clock *clock, tl_error *e);
/* Exchanges all that two profiles hold, including the validity of pointers into them. */
void tl_profile_swap(tl_profile *a, tl_profile *b);
/* Makes room for this many places and functions in all, so that adding them needs no growth. */
bool tl_profile_reserve(tl_profile *p, uint32_t places, uint32_t functions);

/* The profile's function for a trace's function id, with details copied from the trace (NULL: only the id is known).
 * TL_HASH_NONE when memory runs out. */
uint32_t tl_profile_intern_function(tl_profile *p, const tl_trace *t, int64_t id);
/* The function with exactly these details (strings copied), made if needed. For readers of profile files and
 * merging. */
uint32_t tl_profile_add_function(tl_profile *p, const tl_function *f);
/* The same if all strings of *f are already interned in the profile. */
uint32_t tl_profile_add_interned_function(tl_profile *p, const tl_function *f);
/* Rebuilds the index of functions after details that identify them changed in place; they must still be distinct. */
bool tl_profile_index_functions(tl_profile *p);
/* The place below parent for a function, made if needed; TL_HASH_NONE when memory runs out or TL_PLACES_MAX is
 * reached. */
uint32_t tl_profile_child_slow(tl_profile *p, uint32_t parent, uint32_t function);
/* The same for a place known to be missing: skips the lookup. */
uint32_t tl_profile_append_child(tl_profile *p, uint32_t parent, uint32_t function);

TL_ALWAYS_INLINE uint32_t tl_profile_child(tl_profile *p, uint32_t parent, uint32_t function)
{
    uint32_t last = p->place[parent].last_child;
    if (TL_LIKELY(last && p->place[last].function == function))
        return last;
    return tl_profile_child_slow(p, parent, function);
}

/* Makes tl_profile_find_child() possible, until places are added. Errors: TL_ENOMEM. */
int tl_profile_index_places(tl_profile *p, tl_error *e);
/* The place below parent for a function, 0: none. Changes nothing, so any number of threads may ask at once. */
uint32_t tl_profile_find_child(const tl_profile *p, uint32_t parent, uint32_t function);

/* The root of a thread's own tree, made if needed (name, pid and tid identify threads); makes the profile per_thread.
 * TL_HASH_NONE when memory runs out or TL_PLACES_MAX is reached. */
uint32_t tl_profile_thread_root(tl_profile *p, const tl_track *track);
/* The same if the name is already interned in the profile. */
uint32_t tl_profile_interned_thread_root(tl_profile *p, const tl_track *track);

/* For sources that know only calls and self time of each place: computes total and outer of all places, and marks the
 * histogram as missing. */
int tl_profile_sum_up(tl_profile *p, tl_error *e);
/* Computes outer (and outer_calls, of samples) of all places from their totals. */
int tl_profile_set_outer(tl_profile *p, tl_error *e);

bool tl_profile_add_unwound(tl_profile *p, uint32_t place, uint64_t n); /* false when memory runs out */

/* Merges all places of each function, for callers that need only functions: of calls, without trees of threads.
 * TL_ENOMEM; the profile is then unusable. */
int tl_profile_flatten(tl_profile *p, tl_error *e);

/* The weights of samples read from events. */
enum { TL_WEIGHT_SAMPLES, TL_WEIGHT_TIME, TL_WEIGHT_ALLOC_SPACE, TL_WEIGHT_ALLOC_OBJECTS, TL_SAMPLE_WEIGHTS };
extern const tl_weight tl_sample_weight[TL_SAMPLE_WEIGHTS];

/* Turns a new profile into one of samples: without histogram, and with a row of n weights for each place. kind[] is
 * static. Numbers are zero until tl_profile_choose_weight(). */
int tl_profile_make_sampled(tl_profile *p, const tl_weight *kind, uint32_t n, tl_error *e);
/* Computes `stat` from one weight; NULL: "time", or else the first. May be called again. TL_EINVAL if there is no such
 * weight; a profile of calls has only "time". */
int tl_profile_choose_weight(tl_profile *p, const char *name, tl_error *e);
/* Turns a profile of samples whose `stat` holds calls into one of calls, adding the number and time of the samples. If
 * it is `flat`, recursion counts once in the number. Removes the weights. TL_ENOMEM. */
int tl_profile_become_calls(tl_profile *p, bool flat, tl_error *e);
/* Of samples: the weight that counts the things the chosen one measures: samples or allocations. */
uint32_t tl_profile_counting_weight(const tl_profile *p);
/* An amount of a weight in its unit: time in ns (ticks if the clock has no frequency). */
uint64_t tl_profile_weight_value(const tl_profile *p, uint32_t index, uint64_t amount);
/* The sum over all places. */
uint64_t tl_profile_weight_sum(const tl_profile *p, uint32_t index);

/* Adds to a place's own amount of a weight. */
TL_ALWAYS_INLINE void tl_profile_weigh(tl_profile *p, uint32_t place, uint32_t index, uint64_t amount)
{
    uint64_t *self = &p->weight_self[(size_t)place * p->nweight + index];
    *self = tl_add_saturated(*self, amount);
}

/* Copies what the trace finally says about functions: library, module, address, and their last name as `renamed`. */
int tl_profile_settle_functions(tl_profile *p, const tl_trace *t, tl_error *e);

/* A copy with another identity of functions, without durations of single calls. Belongs to the caller. */
typedef enum tl_grouping {
    TL_GROUP_BY_NAME, /* by their name when seen: one function per name */
    TL_GROUP_BY_ID,   /* by everything else: a renamed function is one, with its last name */
    TL_GROUP_BY_LAST, /* the same without the id of named functions, for several traces with ids of their own. An id
                         that all of them share stays */
    TL_GROUP_ACROSS_BUILDS, /* by their name alone, where they have one: builds of a program meet. The only one that
                               keeps durations of single calls */
    TL_GROUP_BY_FUNCTION,   /* by everything but the line: merges samples that were split by it */
    TL_GROUP_BY_LIBRARY     /* by library, or else module, which becomes the name; NULL if unknown */
} tl_grouping;
int tl_profile_regroup(tl_profile **out, const tl_profile *p, tl_grouping by, tl_error *e);
/* A copy in which several places are one: their numbers are added up. *place (may be NULL) says which one each place of
 * p became. Both belong to the caller. */
typedef enum tl_joining {
    TL_JOIN_THREADS,  /* the trees of all threads are merged */
    TL_JOIN_RECURSION /* a function right below itself is the same place. `total` has every call then, inner ones too */
} tl_joining;
int tl_profile_join(tl_profile **out, uint32_t **place, const tl_profile *p, tl_joining what, tl_error *e);
/* Is the place right below one of the same function? */
bool tl_place_recurs(const tl_profile *p, uint32_t place);

/* Takes over place[], which says what each place of p became in its copy `to`: it becomes to->was, counted from p's own
 * original if p is a copy. False when memory runs out. */
bool tl_profile_set_was(tl_profile *to, const tl_profile *p, uint32_t *place);

/* Places in canonical order, parents first, children by function (module, id, name, file, line), roots by track (pid,
 * tid, name): independent of how the profile was made. order[] has nplace entries. */
int tl_profile_canonical_order(const tl_profile *p, uint32_t *order, tl_error *e);
/* The same for functions. */
int tl_profile_function_order(const tl_profile *p, uint32_t *order, tl_error *e);
/* The same for tracks. */
int tl_profile_track_order(const tl_profile *p, uint32_t *order, tl_error *e);
/* Places in depth-first order, siblings as in sorted[] (places 1 .. nplace-1, each once), which may be the same array
 * as order[]. */
int tl_profile_depth_first(const tl_profile *p, const uint32_t *sorted, uint32_t *order, tl_error *e);
/* Compares two tracks in the order above: < 0, 0, > 0. NULL and unknown come first. */
int tl_track_compare(const tl_track *a, const tl_track *b);

const char *tl_profile_intern(tl_profile *p, const char *s); /* NULL stays NULL */

/* The name to show: the function's name, or "#id", "0x5" or "?" written into buf. */
const char *tl_function_label(const tl_function *f, char buf[static 24]);

/* The number of threads: more than tracks if several used one tree, one after another (docs/format/profile.md). */
uint64_t tl_profile_threads(const tl_profile *p);

#endif
