/* Quantiles of values: count, exact sum, and percentiles by nearest rank. Equal values are stored once, so memory grows
 * with the distinct ones: 40 to 72 bytes each. */
#ifndef TL_ANALYSIS_QUANTILES_H
#define TL_ANALYSIS_QUANTILES_H

#include "base/hash.h"
#include "base/wide_sum.h"
#include "traceloom/error.h"

typedef struct tl_quantile_set {
    struct tl_quantile_value {
        uint64_t value, n;
    } * value;
    uint32_t n, capacity;
    tl_hash index; /* value -> index, until sorted */
    uint64_t count;
    tl_sum total;
} tl_quantile_set;

typedef struct tl_quantiles {
    uint64_t count;
    tl_sum total;
    uint64_t min, p50, p90, p99, max; /* 0 without values */
} tl_quantiles;

/* A zeroed set is empty. Errors: TL_ENOMEM. */
int tl_quantile_set_add(tl_quantile_set *s, uint64_t value, tl_error *e);
/* Sorts; nothing can be added afterwards. */
tl_quantiles tl_quantiles_of_set(tl_quantile_set *s);
/* The same for an array, which is sorted. */
tl_quantiles tl_quantiles_of(uint64_t *value, uint32_t n);
void tl_quantile_set_fini(tl_quantile_set *s);

#endif
