/* The durations of a place as a histogram in bytes. */
#include "op/scan/stat_hist.h"

/* The shortest and longest call become ones that the histogram has. A single call may have two: it was being added when
 * the program ended, and they are the bounds of its bucket. */
static void keep_ends(tl_durations *d)
{
    uint32_t at = 0, last = 0;
    tl_hist_pair pair;
    bool has_first = false, has_last = false;
    while (tl_hist_each(&d->hist, &at, &pair)) {
        has_first = has_first || pair.bucket == tl_hist_bucket(d->min);
        has_last = has_last || pair.bucket == tl_hist_bucket(d->max);
        last = pair.bucket;
    }
    if (!has_first)
        d->min = tl_hist_low(tl_hist_next(&d->hist, 0));
    if (!has_last)
        d->max = last == tl_hist_bucket(d->min) ? d->min : tl_hist_low(last);
}

bool tl_stat_durations(tl_durations *d, const tl_place_stat *s, const tl_scale *scale)
{
    uint32_t at = 0;
    tl_hist_pair pair;
    d->min = tl_scale_ns(scale, s->min);
    d->max = tl_scale_ns(scale, s->max);
    const uint32_t first = tl_hist_bucket(s->min), last = tl_hist_bucket(s->max);
    bool ok = true;
    if (s->calls == 0)
        return true;
    while (ok && tl_hist_each(&s->hist, &at, &pair)) {
        uint64_t n = pair.count;
        d->calls = tl_add_saturated(d->calls, n);
        if (pair.bucket == first && n > 0) {
            ok = tl_hist_add_slow(&d->hist, tl_hist_bucket(d->min), 1);
            n--;
        }
        if (ok && pair.bucket == last && n > 0) {
            ok = tl_hist_add_slow(&d->hist, tl_hist_bucket(d->max), 1);
            n--;
        }
        uint64_t middle = tl_hist_middle(pair.bucket);
        middle = middle < s->min ? s->min : middle > s->max ? s->max : middle;
        if (ok && n > 0)
            ok = tl_hist_add_slow(&d->hist, tl_hist_bucket(tl_scale_ns(scale, middle)), n);
    }
    if (ok && d->calls > 0)
        keep_ends(d);
    uint64_t least, most; /* rounding must not leave them */
    if (__builtin_mul_overflow(d->min, d->calls, &least))
        least = UINT64_MAX;
    if (__builtin_mul_overflow(d->max, d->calls, &most))
        most = UINT64_MAX;
    d->sum = tl_scale_ns(scale, s->total);
    d->sum = d->sum < least ? least : d->sum > most ? most : d->sum;
    return ok;
}

void tl_scan_put_hist(tl_scan_block *b, uint32_t column, uint32_t row, const tl_place_stat *s, const tl_scale *scale)
{
    tl_durations d = {0};
    tl_pb bytes = {0};
    const bool ok = tl_stat_durations(&d, s, scale);
    if (ok)
        tl_hist_encode(&bytes, &d);
    b->failed = b->failed || !ok || bytes.failed;
    if (!b->failed)
        tl_scan_put_blob(b, column, row, bytes.data, bytes.n);
    tl_pb_fini(&bytes);
    tl_durations_fini(&d);
}
