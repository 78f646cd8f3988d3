/* Buckets of histograms: which values go into which. Shared by the library and the recorder. */
#ifndef TL_MODEL_HIST_LAYOUT_H
#define TL_MODEL_HIST_LAYOUT_H

#include <stdint.h>

/* Why so many: durations are also shown in whole ns, and with a clock of up to 8 GHz those must be within 1 % of the
 * rounded truth. Below 512 ticks they are exact; above, 0.2 % and the rounding of 62 ns or more stay below it. */
#define TL_HIST_SUB_BITS 8
#define TL_HIST_SUB      (1u << TL_HIST_SUB_BITS)                               /* buckets for each power of two */
#define TL_HIST_BUCKETS  ((64u - TL_HIST_SUB_BITS) * TL_HIST_SUB + TL_HIST_SUB) /* 14592 */

/* The bucket of a value: v itself below 512. Branch-free, because durations of calls are unpredictable. */
static inline __attribute__((always_inline)) uint32_t tl_hist_bucket_of(uint64_t v)
{
    unsigned exponent = 63u - (unsigned)__builtin_clzll(v | TL_HIST_SUB) - TL_HIST_SUB_BITS; /* 0 below 512 */
    return (exponent << TL_HIST_SUB_BITS) + (uint32_t)(v >> exponent);
}

#endif
