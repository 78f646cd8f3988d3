/* Bins whose width doubles. */
#include "analysis/runtime/over_time.h"

/* Merges bins in pairs. */
static void widen(tl_over_time *t)
{
    for (unsigned i = 0; i < TL_BINS / 2; i++)
        t->amount[i] = t->amount[2 * i] + t->amount[2 * i + 1];
    for (unsigned i = TL_BINS / 2; i < TL_BINS; i++)
        t->amount[i] = 0;
    t->width *= 2;
}

void tl_over_time_add(tl_over_time *t, uint64_t time, double amount)
{
    if (!t->width)
        t->width = 1;
    while (time / t->width >= TL_BINS)
        widen(t);
    t->amount[time / t->width] += amount;
    t->last = time > t->last ? time : t->last;
}

double tl_over_time_sum(const tl_over_time *t, uint64_t from, uint64_t to)
{
    double sum = 0;
    if (!t->width || to <= from)
        return 0;
    for (uint64_t i = 0; i < TL_BINS; i++) {
        const uint64_t middle = i * t->width + t->width / 2; /* the time to which a whole bin is attributed */
        if (middle >= from && middle < to)
            sum += t->amount[i];
    }
    return sum;
}

uint64_t tl_round_interval(uint64_t span, unsigned most)
{
    const uint64_t need = span / most + (span % most != 0);
    for (uint64_t power = 1;; power *= 10) {
        for (unsigned step = 1; step <= 5; step = step == 1 ? 2 : step + 3)
            if (power <= UINT64_MAX / step && power * step >= need)
                return power * step;
        if (power > UINT64_MAX / 10)
            return UINT64_MAX;
    }
}
