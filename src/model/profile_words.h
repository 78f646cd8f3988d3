/* Words for the numbers of a profile, for writers of text and pictures: times of calls, or what the chosen weight of
 * samples measures. */
#ifndef TL_MODEL_PROFILE_WORDS_H
#define TL_MODEL_PROFILE_WORDS_H

#include "model/profile_impl.h"

typedef struct tl_profile_words {
    const char *one, *many; /* what tl_stat.calls counts: "call", "calls"; "sample"; "allocation" */
    const char *whole;      /* what percentages are of: "time", "bytes", "samples", "allocations" */
} tl_profile_words;

tl_profile_words tl_profile_words_of(const tl_profile *p);

/* An amount with its unit: "1.24 ms", "12.3 M ticks", "16.0 KiB", "1,204 samples". Returns buf. */
enum { TL_AMOUNT_SIZE = 48 };
char *tl_profile_amount(const tl_profile *p, char buf[static TL_AMOUNT_SIZE], uint64_t amount);

/* "unmatched: 2 exits without entry, 1 entry without exit", and that calls were closed by the exit of an outer one; ""
 * if there are none. Return buf. */
enum { TL_UNMATCHED_SIZE = 160 };
char *tl_profile_unmatched_text(const tl_profile *p, char buf[static TL_UNMATCHED_SIZE]);
char *tl_profile_unwound_text(const tl_profile *p, char buf[static TL_UNMATCHED_SIZE]);

/* What formats for one weight drop from a profile of samples: the other weights unless they are zero ... */
#define TL_DROP_WEIGHTS "other weights"
uint64_t tl_profile_other_weights(const tl_profile *p);
/* ... and what trees of stacks cannot hold: counted samples with an empty stack. 0 if the chosen weight is of
 * allocations. */
#define TL_DROP_EMPTY_STACKS "samples with an empty stack"
uint64_t tl_profile_empty_stacks(const tl_profile *p);

#endif
