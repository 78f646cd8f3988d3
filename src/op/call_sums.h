/* Sums of a source's calls by any of function, place, thread, processor and depth, and by steps of time: one pass, with
 * the matcher and the rules of profiles. */
#ifndef TL_OP_CALL_SUMS_H
#define TL_OP_CALL_SUMS_H

#include "op/call_places.h"
#include "op/call_slots.h"
#include "op/source_impl.h"

typedef struct tl_call_sums_options {
    unsigned by;   /* tl_call_by; 0: all calls of a step */
    uint64_t step; /* ns, or ticks of a clock without frequency; a call belongs to the step it begins in; 0: no steps */
    uint64_t begin;               /* the tick where the first step begins; what is earlier belongs to it */
    uint64_t memory;              /* most bytes that all threads together take for the sums; 0: no limit */
    unsigned threads;             /* as in tl_profile_options */
    const tl_select *select;      /* or NULL */
    const tl_call_places *places; /* needed by place */
} tl_call_sums_options;

/* Calls of one key. `function` of the key is an index in `profile` below, `place` a number in canonical order
 * (TL_HASH_NONE: unknown), `track` that of the trace. */
typedef struct tl_call_sum {
    tl_call_key key;
    const tl_place_stat *stat; /* ticks. total: of all calls; outer: of those in no other call of their function, which
                                  is the total that reports show of a function. calls may be 0 if only `outer` is not */
} tl_call_sum;

/* Ordered by step, place, function (as tl_profile_function_order()), track, depth, processor: the same for any number
 * of threads. */
typedef struct tl_call_sums {
    tl_profile *profile; /* functions, unmatched entries and exits */
    tl_call_sum *row;
    uint32_t n;
} tl_call_sums;

/* Reads the source, which must have no other reader. Processors are known only if it was opened with tl_want.cpu.
 * Errors: as tl_profile_from_source(); TL_ENOMEM with a message that says so if the sums take more than `memory`. */
int tl_call_sums_new(tl_call_sums **out, tl_source *s, const tl_call_sums_options *o, tl_error *e);
void tl_call_sums_free(tl_call_sums *s); /* NULL is fine */

#endif
