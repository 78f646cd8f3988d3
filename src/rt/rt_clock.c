/* The recorder's clock: which counter, its rate, and the time of day at one of its ticks. */
#include "rt/rt_clock.h"

#include <errno.h>
#include <time.h>

#include "rt/rt_say.h"

rt_clock tl_rt_clock;

enum {
    FIRST_NS = 200000, /* duration of the first calibration, which the program waits for: accurate to about 100 ppm */
    TRIES = 5,         /* readings of both clocks; the fastest one counts */
    SECOND = 1000000000
};

static uint64_t kernel_clock(clockid_t which)
{
    struct timespec t = {0, 0};
    RT_SYS2(SYS_clock_gettime, which, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Through the kernel, not the vDSO, which libc would have to find and which may use vector registers. */
uint64_t tl_rt_clock_slow(void)
{
    return kernel_clock(CLOCK_MONOTONIC_RAW);
}

uint64_t tl_rt_clock_unix(void)
{
    return kernel_clock(CLOCK_REALTIME);
}

/* Does the counter run at one rate, in every state of the processor? */
static bool counter_is_steady(void)
{
#if defined(__x86_64__)
    uint32_t a = 0x80000000, b, c, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    if (a < 0x80000007)
        return false;
    a = 0x80000007;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    return (d >> 8 & 1) != 0; /* invariant TSC */
#else
    return true; /* by definition of the architecture */
#endif
}

/* Reads both clocks at the same moment. */
static void moment(uint64_t *ticks, uint64_t *raw)
{
    uint64_t best = UINT64_MAX;
    *ticks = *raw = 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = rt_counter(), ns = kernel_clock(CLOCK_MONOTONIC_RAW), after = rt_counter();
        if (after - before < best) {
            best = after - before;
            *ticks = before + best / 2;
            *raw = ns;
        }
    }
}

/* ticks * 10^9 / ns without overflow: a recording may take years. */
static uint64_t rate(uint64_t ticks, uint64_t ns)
{
    while (ticks > UINT64_MAX / SECOND) {
        ticks >>= 1;
        ns >>= 1;
    }
    return ns ? (ticks * SECOND + ns / 2) / ns : 0;
}

const char *tl_rt_clock_start(const char *which)
{
    rt_clock *c = &tl_rt_clock;
    bool asked = tl_rt_same(which, "tsc");
    c->counter = asked || (!tl_rt_same(which, "monotonic") && counter_is_steady());
    c->unix0 = kernel_clock(CLOCK_REALTIME);
    if (!c->counter) {
        c->hz = SECOND;
        c->ticks0 = c->raw0 = kernel_clock(CLOCK_MONOTONIC_RAW);
        return "monotonic_raw";
    }
    moment(&c->ticks0, &c->raw0);
    c->unix0 = kernel_clock(CLOCK_REALTIME);
#if defined(__aarch64__)
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(c->hz)); /* from firmware; checked as time goes by */
    if (c->hz)
        return "cntvct";
#endif
    uint64_t ticks, raw;
    do
        moment(&ticks, &raw);
    while (raw - c->raw0 < FIRST_NS);
    c->hz = rate(ticks - c->ticks0, raw - c->raw0);
    if (c->hz == 0) { /* it stands still */
        c->counter = false;
        c->hz = SECOND;
        c->ticks0 = c->raw0;
        return "monotonic_raw";
    }
#if defined(__x86_64__)
    return "tsc";
#else
    return "cntvct";
#endif
}

uint64_t tl_rt_clock_refine(void)
{
    rt_clock *c = &tl_rt_clock;
    if (c->counter) {
        uint64_t ticks, raw;
        moment(&ticks, &raw);
        uint64_t hz = raw - c->raw0 > FIRST_NS ? rate(ticks - c->ticks0, raw - c->raw0) : 0;
        if (hz)
            c->hz = hz;
    }
    return c->hz;
}
