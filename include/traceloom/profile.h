/* Profiles: a prefix tree of call stacks with exact sums and a latency histogram in every place.
 *
 * Times are ticks of the profile's clock; tl_profile_time() makes ns of them. Merging is associative and commutative:
 * the same profiles in any order and grouping give the same bytes when saved.
 * What is returned is borrowed: strings and the clock live as long as the profile, functions until it is changed.
 * Indices of places and functions must be below their numbers; this is only checked where stated. If several threads
 * made the profile, indices may differ from run to run; what is written does not.
 * Thread rule: a profile may be read by several threads at once; it is changed, by tl_profile_merge() and
 * tl_profile_rescale() alone, while no other thread uses it. Different profiles are independent. */
#ifndef TRACELOOM_PROFILE_H
#define TRACELOOM_PROFILE_H

#include <traceloom/error.h>
#include <traceloom/model.h>
#include <traceloom/source.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tl_profile tl_profile;

/* Which calls count. Zero means no restriction. A call counts if it passes every test. */
typedef struct tl_select {
    uint64_t time_from, time_to; /* ticks since the trace's begin; the call lies within [from, to) */
    bool has_from, has_to;
    const char *const *func,
        *const *not_func; /* globs of function names (or "#id"): any of the first must match, none of the second */
    size_t nfunc, nnot;
    const char *const *thread; /* globs of track names, or decimal thread ids */
    size_t nthread;
    const char *const *cls; /* globs of class names */
    size_t ncls;
    const int32_t *cpu; /* processor numbers */
    size_t ncpu;
    uint32_t depth;     /* deepest frame that counts (the outermost has 1); 0: any */
    uint64_t min_ticks; /* shortest call that counts */
    unsigned levels;    /* of instructions: 1 << tl_insn_level() of each level that counts; 0: all */
    uint64_t pc_from,
        pc_to; /* of instructions, if has_pc: pc_from <= pc < pc_to; those without a known pc do not count */
    bool has_pc;
    /* If NULL, a pattern that matches nothing in the trace is TL_ENOMATCH. Else that is not an error, and matched[i] is
     * set for each pattern that matches: [nfunc + nnot + nthread + ncls], in this order. For a selection from several
     * traces: tl_select_check() after the last. */
    bool *matched;
    /* If not NULL: with TL_ENOMATCH it is set to the number of the pattern that matches nothing, as in `matched`. */
    size_t *missed;
} tl_select;

/* For selections from several traces: 0, or the error TL_ENOMATCH for the first pattern not set in `matched`. */
int tl_select_check(const tl_select *s, tl_error *e);

typedef struct tl_profile_options {
    bool flat;               /* no tree: every function is a root. Enough for per-function tables, and faster */
    bool per_thread;         /* one tree per thread (see tl_profile_track()) instead of one for all */
    bool lines;              /* of samples: a function at different lines counts as different functions */
    const char *weight;      /* of samples: the tl_profile_weight() to add up; NULL: "time" */
    unsigned threads;        /* worker threads; 0: as many as there are processors */
    const tl_select *select; /* or NULL */
} tl_profile_options;

/* Makes a profile of all calls of a trace, or of its samples or instructions, or takes the one that the file holds.
 * options may be NULL (all zero); they are needed during the call only. *out belongs to the caller: tl_profile_free().
 * It borrows nothing from the source, which must have no open cursor.
 * Errors: as tl_source_open(), TL_ENOMATCH, TL_EINVAL (no such weight), TL_EUNSUPPORTED (a selection that this kind of
 * trace cannot answer). */
int tl_profile_from_source(tl_profile **out, tl_source *s, const tl_profile_options *options, tl_error *e);
/* Frees the profile. NULL is fine. */
void tl_profile_free(tl_profile *p);

/* Adds the calls of `from` to `into`; `from` stays as it was. 0; or < 0, errors: TL_EUNSUPPORTED if their clocks differ
 * (in frequency by more than 0.1 %), or if only one has durations of single calls, or a tree per thread. TL_ENOMEM may
 * leave places without calls, but changes no number. */
int tl_profile_merge(tl_profile *into, const tl_profile *from, tl_error *e);

/* Changes the clock to one of `hz` ticks a second, so that profiles of machines whose clocks differ can be added up:
 * rescale each, to the same hz, before the first merge. Every sum, the shortest and the longest call are rounded once,
 * half to even; other durations are those of the middle of their bucket. UINT64_MAX stays. The clock is called
 * "rescaled" then. 0; or < 0, errors: TL_EINVAL (hz is 0), TL_EUNSUPPORTED (the frequency of its clock is not known),
 * both change nothing; TL_ENOMEM: it can only be freed. */
int tl_profile_rescale(tl_profile *p, uint64_t hz, tl_error *e);

/* The clock that its times are ticks of: that of the trace. Never NULL. */
const tl_clock *tl_profile_clock(const tl_profile *p);
/* Ticks to tl_profile_unit(): ns, rounded as by tl_trace_time(); other units stay as they are. */
uint64_t tl_profile_time(const tl_profile *p, uint64_t ticks);
/* "ns", "ticks" or "instructions", see tl_trace_unit(); "bytes", "samples" or "allocations" if another weight than time
 * is counted in place of ticks. Static, never NULL. */
const char *tl_profile_unit(const tl_profile *p);

/* Exact numbers of a place or a function, in ticks. */
typedef struct tl_stat {
    uint64_t calls;
    uint64_t total; /* of a place: sum of durations; of a function: that of its outermost calls, so that recursion
                       counts once */
    uint64_t self;  /* total without callees */
    uint64_t min, max;
} tl_stat;

/* How many places there are. Place 0 is the root of all stacks: no function, no calls. Parents come before children. */
uint32_t tl_profile_places(const tl_profile *p);
/* The place of the caller; 0 for outermost functions, and for the root. */
uint32_t tl_profile_parent(const tl_profile *p, uint32_t place);
/* The index of a place's function; UINT32_MAX for the root of all stacks and that of a thread. */
uint32_t tl_profile_function(const tl_profile *p, uint32_t place);
/* The index of the track whose tree a place is in; UINT32_MAX for the root of all, or without trees per thread. */
uint32_t tl_profile_place_track(const tl_profile *p, uint32_t place);
/* The numbers of a place, into *out. min and max are 0 where unknown. */
void tl_profile_stat(const tl_profile *p, uint32_t place, tl_stat *out);

/* How many tracks have a tree of their own; 0 without trees per thread. */
uint32_t tl_profile_tracks(const tl_profile *p);
/* One of them. The root of its tree is a place without a function whose parent is 0. Borrowed until the profile is
 * changed; NULL past the end. */
const tl_track *tl_profile_track(const tl_profile *p, uint32_t index);

/* How many functions there are. */
uint32_t tl_profile_functions(const tl_profile *p);
/* One of them. Borrowed until the profile is changed; NULL past the end. */
const tl_function *tl_profile_get_function(const tl_profile *p, uint32_t index);
/* Sums over all places of a function, into *out. */
void tl_profile_function_stat(const tl_profile *p, uint32_t function, tl_stat *out);

/* False if the profile holds no durations of single calls: then min, max and percentiles are unknown. */
bool tl_profile_has_histogram(const tl_profile *p);
/* The duration in ticks below which `permille`/1000 of the calls of a place lie (1000 and above: the longest); relative
 * error at most 1 %. 0 if unknown. */
uint64_t tl_profile_percentile(const tl_profile *p, uint32_t place, unsigned permille);
/* The same over all places of a function. Takes up to 128 KiB of stack for their sum. */
uint64_t tl_profile_function_percentile(const tl_profile *p, uint32_t function, unsigned permille);

/* A profile made of sampled stacks, not of calls, has several sums for each place, one for each weight. tl_stat has
 * those of the chosen weight: self of the place itself, total with everything below it; calls is the number of samples
 * with the place on the stack (of allocations, if the weight counts these). For a function each stack counts once. */
typedef struct tl_weight {
    const char *name; /* as in pprof: "samples", "time", "alloc_space", "alloc_objects"; static */
    const char *unit; /* "count", "nanoseconds", "bytes", "count"; static */
} tl_weight;
/* How many weights there are; 0: the profile is made of calls. */
uint32_t tl_profile_weights(const tl_profile *p);
/* One of them. Static; NULL past the end. */
const tl_weight *tl_profile_weight(const tl_profile *p, uint32_t index);
/* The index of the weight in tl_stat; 0 if there are no weights. */
uint32_t tl_profile_chosen_weight(const tl_profile *p);
/* A place's own amount of a weight; "time" in ticks of the clock, whichever weight is chosen. 0 past the end of
 * either. */
uint64_t tl_profile_weight_self(const tl_profile *p, uint32_t place, uint32_t index);
typedef struct tl_sample_counts {
    uint64_t counted, empty, paused;
} tl_sample_counts;
/* Samples that counted; those of them with an empty stack; and those written while recording was paused, about the time
 * before. All 0 if the profile is made of calls. */
tl_sample_counts tl_profile_samples(const tl_profile *p);

/* Exits without entry: the function was called before recording began, or its entry was lost. */
uint64_t tl_profile_unmatched_exits(const tl_profile *p);
/* Entries without exit: the function had not returned when recording ended, or its exit was lost. */
uint64_t tl_profile_unmatched_open(const tl_profile *p);
/* Entries without exit that the exit of an outer call closed: an exception or longjmp left them, or their exit was
 * lost. They count as calls, but their end is unknown, so durations that depend on them are estimates. 0 where the file
 * does not say; only .tlp does. */
uint64_t tl_profile_unwound(const tl_profile *p);
/* The same for a place. */
uint64_t tl_profile_place_unwound(const tl_profile *p, uint32_t place);
/* The same over all places of a function. */
uint64_t tl_profile_function_unwound(const tl_profile *p, uint32_t function);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
