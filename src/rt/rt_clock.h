/* The recorder's clock: the processor's counter, calibrated against CLOCK_MONOTONIC_RAW, or that clock itself. */
#ifndef TL_RT_CLOCK_H
#define TL_RT_CLOCK_H

#include <stdbool.h>

#include "rt/rt_sys.h"

typedef struct rt_clock {
    bool counter;    /* ticks are the processor's; otherwise ns of CLOCK_MONOTONIC_RAW through the kernel */
    uint64_t hz;     /* best estimate so far */
    uint64_t ticks0; /* one moment: on this clock, */
    uint64_t raw0;   /* in ns of CLOCK_MONOTONIC_RAW, */
    uint64_t unix0;  /* in ns since 1970 */
} rt_clock;

extern rt_clock tl_rt_clock __attribute__((visibility("hidden")));

/* Chooses and calibrates a clock, which takes 0.2 ms with the counter. which: "auto", "tsc" or "monotonic"; returns the
 * name: "tsc", "cntvct" or "monotonic_raw". Not from hooks. */
const char *tl_rt_clock_start(const char *which);
/* Improves and returns hz, using all the time since the start; any thread, not from hooks. */
uint64_t tl_rt_clock_refine(void);
uint64_t tl_rt_clock_slow(void); /* reads CLOCK_MONOTONIC_RAW, from anywhere */
uint64_t tl_rt_clock_unix(void); /* ns since 1970, from anywhere */

/* The processor's counter. */
RT_INLINE uint64_t rt_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#endif
}

/* The current time, in ticks. */
RT_INLINE uint64_t rt_now(void)
{
    return RT_LIKELY(tl_rt_clock.counter) ? rt_counter() : tl_rt_clock_slow();
}

#endif
