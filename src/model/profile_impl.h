/* The inside of a tl_profile: an interned prefix tree (parent, function) with exact sums and a histogram a place.
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

#define TL_NO_FUNCTION UINT32_MAX
#define TL_NO_TRACK    UINT32_MAX
#define TL_PLACES_MAX  (1u << 26) /* more is TL_ENOMEM: the tree no longer helps anybody, and ids must fit */

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
    uint32_t indexed;    /* places below this one are in `child`; the others are entered when it is asked */
    uint32_t *same_next; /* [place_capacity] another place of the same function, 0: none */

    tl_function *function;
    uint32_t nfunction, function_capacity;
    uint32_t *same_first; /* [function_capacity] a place of the function, 0: none; goes on in same_next */
    tl_hash by_detail;    /* a hash of what tells functions apart, next free number on collision -> function */
    tl_id_map by_id;      /* of a trace -> function */

    tl_track *track;
    uint32_t ntrack, track_capacity;
    tl_hash by_track; /* a hash of what tells tracks apart, next free number on collision -> root place */

    tl_clock clock;
    tl_scale scale;
    bool of_stacks;     /* of calls that changes of stacks told: `samples` is known, too */
    bool has_histogram; /* durations of single calls are known */
    bool per_thread;
    uint64_t unmatched_exits, unmatched_open;
    uint32_t nweight;      /* 0: made of calls */
    uint32_t weight;       /* the chosen one: what `stat` holds */
    const tl_weight *kind; /* [nweight], static */
    uint64_t *weight_self; /* [place_capacity * nweight]: by place, then by weight */
    uint64_t *outer_calls; /* [place_capacity] of `calls` those whose stack does not hold the function further up */
    uint64_t *unwound;     /* [place_capacity] calls that the exit of an outer one closed; NULL: none */
    tl_sample_counts samples;
    bool has_span; /* of samples: the ticks that all events of the trace lie within are known */
    uint64_t begin, end;
    uint64_t lost_events, damaged_bytes;
    const char *build_id, *exe; /* interned in strings; of all calls: NULL if unknown of some, or not the same of all */
};

/* An empty profile: has_histogram, not per_thread, no build-id. The clock's name is copied. */
int tl_profile_new(tl_profile **out, const tl_clock *clock, tl_error *e);
/* Exchanges all that two profiles hold; what points into one points into the other then. */
void tl_profile_swap(tl_profile *a, tl_profile *b);
/* Makes room, so that this many places and functions in all can be made without growing again. */
bool tl_profile_reserve(tl_profile *p, uint32_t places, uint32_t functions);

/* The profile's function for a trace's function id; its details are copied from the trace (NULL: only the id is known).
 * TL_HASH_NONE when memory runs out. */
uint32_t tl_profile_intern_function(tl_profile *p, const tl_trace *t, int64_t id);
/* The function with exactly these details (strings copied), made if need be. For readers of profile files and merging.
 */
uint32_t tl_profile_add_function(tl_profile *p, const tl_function *f);
/* The same if all strings of *f are interned in the profile already. */
uint32_t tl_profile_add_interned_function(tl_profile *p, const tl_function *f);
/* Finds functions anew, after what tells them apart was changed in place; they must differ still. */
bool tl_profile_index_functions(tl_profile *p);
/* The place below parent for a function, made if need be; TL_HASH_NONE when memory runs out or TL_PLACES_MAX is
 * reached. */
uint32_t tl_profile_child_slow(tl_profile *p, uint32_t parent, uint32_t function);
/* The same for a place that is known not to be there: nothing is looked up. */
uint32_t tl_profile_append_child(tl_profile *p, uint32_t parent, uint32_t function);

TL_ALWAYS_INLINE uint32_t tl_profile_child(tl_profile *p, uint32_t parent, uint32_t function)
{
    uint32_t last = p->place[parent].last_child;
    if (TL_LIKELY(last && p->place[last].function == function))
        return last;
    return tl_profile_child_slow(p, parent, function);
}

/* The root of a thread's own tree, made if need be (name, pid and tid tell threads apart); the profile is per_thread
 * then. TL_HASH_NONE when memory runs out or TL_PLACES_MAX is reached. */
uint32_t tl_profile_thread_root(tl_profile *p, const tl_track *track);
/* The same if the name is interned in the profile already. */
uint32_t tl_profile_interned_thread_root(tl_profile *p, const tl_track *track);

/* For sources that know only calls and self time of each place: sets total and outer of all places from them, and that
 * there is no histogram. */
int tl_profile_sum_up(tl_profile *p, tl_error *e);
/* Sets outer (and outer_calls, of samples) of all places from their totals. */
int tl_profile_set_outer(tl_profile *p, tl_error *e);

bool tl_profile_add_unwound(tl_profile *p, uint32_t place, uint64_t n); /* false when memory runs out */

/* Makes one place of all places of each function, for those who ask for nothing else: of calls, without trees of
 * threads. TL_ENOMEM; the profile is of no use then. */
int tl_profile_flatten(tl_profile *p, tl_error *e);

/* The weights of samples that were read from events. */
enum { TL_WEIGHT_SAMPLES, TL_WEIGHT_TIME, TL_WEIGHT_ALLOC_SPACE, TL_WEIGHT_ALLOC_OBJECTS, TL_SAMPLE_WEIGHTS };
extern const tl_weight tl_sample_weight[TL_SAMPLE_WEIGHTS];

/* Makes a new profile one of samples: without histogram, and with a row of n weights for each place. kind[] is static.
 * Its numbers are zero until tl_profile_choose_weight(). */
int tl_profile_make_sampled(tl_profile *p, const tl_weight *kind, uint32_t n, tl_error *e);
/* Makes `stat` of one weight; NULL: "time", or the first if there is none. May be called again. TL_EINVAL if there is
 * no such weight; of a profile of calls there is only "time". */
int tl_profile_choose_weight(tl_profile *p, const char *name, tl_error *e);
/* A profile of samples whose `stat` holds calls becomes one of calls: of the samples, their number and time are added.
 * If it is `flat`, recursion counts once in the number. Weights are gone. TL_ENOMEM. */
int tl_profile_become_calls(tl_profile *p, bool flat, tl_error *e);
/* Of samples: the weight that counts what the chosen one measures: samples, or allocations. */
uint32_t tl_profile_counting_weight(const tl_profile *p);
/* An amount of a weight in the weight's unit: of time as ns (ticks where the clock has no frequency). */
uint64_t tl_profile_weight_value(const tl_profile *p, uint32_t index, uint64_t amount);
/* The amount of all places together. */
uint64_t tl_profile_weight_sum(const tl_profile *p, uint32_t index);

/* Adds to what a place has itself of a weight. */
TL_ALWAYS_INLINE void tl_profile_weigh(tl_profile *p, uint32_t place, uint32_t index, uint64_t amount)
{
    uint64_t *self = &p->weight_self[(size_t)place * p->nweight + index];
    *self = tl_add_saturated(*self, amount);
}

/* What the trace says of functions at its end: library, module, address, and their last name as `renamed`. */
int tl_profile_settle_functions(tl_profile *p, const tl_trace *t, tl_error *e);

/* A copy whose functions are told apart otherwise, without durations of single calls. Belongs to the caller. */
typedef enum tl_grouping {
    TL_GROUP_BY_NAME,     /* by what they are called when seen: one function a name */
    TL_GROUP_BY_ID,       /* by all but that: a function that got another name is one, with the last */
    TL_GROUP_BY_LAST,     /* by all but that and, where it has a name, its id: of several traces, each with its own ids.
                             An id that all have in common stays */
    TL_GROUP_BY_FUNCTION, /* by all but the line: of samples that were told apart by it */
    TL_GROUP_BY_LIBRARY   /* by library, or else module; its name is the function's, NULL if it is not known */
} tl_grouping;
int tl_profile_regroup(tl_profile **out, const tl_profile *p, tl_grouping by, tl_error *e);
/* A copy in which the trees of all threads are one. Belongs to the caller. */
int tl_profile_join_threads(tl_profile **out, const tl_profile *p, tl_error *e);

/* Places in canonical order, parents first and children by function (module, id, name, file, line), roots by track
 * (pid, tid, name): the same profile always gives the same order. order[] has nplace entries. */
int tl_profile_canonical_order(const tl_profile *p, uint32_t *order, tl_error *e);
/* The same for functions. */
int tl_profile_function_order(const tl_profile *p, uint32_t *order, tl_error *e);
/* The same for tracks. */
int tl_profile_track_order(const tl_profile *p, uint32_t *order, tl_error *e);
/* Places in depth-first order, siblings in the order that they have in sorted[] (places 1 .. nplace-1, each once),
 * which may be the same array as order[]. */
int tl_profile_depth_first(const tl_profile *p, const uint32_t *sorted, uint32_t *order, tl_error *e);
/* The order above of two tracks: < 0, 0, > 0. NULL and unknown come first. */
int tl_track_compare(const tl_track *a, const tl_track *b);

const char *tl_profile_intern(tl_profile *p, const char *s); /* NULL stays NULL */

/* Name to show: the function's name, or "#id", "0x5" or "?" written into buf. */
const char *tl_function_label(const tl_function *f, char buf[static 24]);

/* How many threads there are: more than tracks where some had one tree, one after another (docs/format/profile.md). */
uint64_t tl_profile_threads(const tl_profile *p);

#endif
