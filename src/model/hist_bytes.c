/* Histograms as bytes. */
#include "model/hist_bytes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/text/number.h"

/* ---- durations ---- */

bool tl_durations_add(tl_durations *d, uint64_t ticks)
{
    if (!tl_hist_add(&d->hist, ticks))
        return false;
    d->min = d->calls == 0 || ticks < d->min ? ticks : d->min;
    d->max = ticks > d->max ? ticks : d->max;
    d->calls = tl_add_saturated(d->calls, 1);
    d->sum = tl_add_saturated(d->sum, ticks);
    return true;
}

bool tl_durations_merge(tl_durations *into, const tl_durations *from)
{
    if (from->calls == 0)
        return true;
    if (!tl_hist_merge(&into->hist, &from->hist))
        return false;
    into->min = into->calls == 0 || from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    into->calls = tl_add_saturated(into->calls, from->calls);
    into->sum = tl_add_saturated(into->sum, from->sum);
    return true;
}

uint64_t tl_durations_percentile(const tl_durations *d, unsigned permille)
{
    return tl_hist_percentile(&d->hist, permille, d->min, d->max);
}

void tl_durations_fini(tl_durations *d)
{
    tl_hist_fini(&d->hist);
    *d = (tl_durations){0};
}

/* ---- the list ---- */

void tl_hist_put_buckets(tl_pb *to, const tl_hist *h, uint64_t min, uint64_t max)
{
    uint32_t b = tl_hist_bucket(min), last = tl_hist_bucket(max);
    if (b == last)
        return; /* it has all calls */
    tl_pb_varint(to, tl_hist_get(h, b));
    while (b != last) {
        const uint32_t next = tl_hist_next(h, b + 1);
        assert(next <= last);
        tl_pb_varint(to, next - b);
        tl_pb_varint(to, tl_hist_get(h, next));
        b = next;
    }
}

/* False, with the fault, if the number is malformed. */
TL_ALWAYS_INLINE bool get(uint64_t *v, const uint8_t **at, const uint8_t *end, const char *what, tl_hist_fault *fault)
{
    const tl_varint_fault why = tl_varint_read(at, end, v);
    if (TL_LIKELY(why == TL_VARINT_FINE))
        return true;
    *fault = (tl_hist_fault){.at = *at, .number = what, .why = why};
    return false;
}

int tl_hist_get_buckets(tl_hist *h, uint64_t min, uint64_t max, uint64_t calls, const uint8_t **at, const uint8_t *end,
                        tl_hist_pair *scratch, tl_hist_fault *fault)
{
    uint32_t bucket = tl_hist_bucket(min), n = 0;
    const uint32_t last = tl_hist_bucket(max);
    if (bucket == last) /* it has all calls */
        return tl_hist_assign(h, &(tl_hist_pair){.count = calls, .bucket = bucket}, 1) ? 1 : TL_ENOMEM;
    const uint8_t *const begin = *at;
    uint64_t sum, count, step;
    if (!get(&sum, at, end, "a bucket's count", fault))
        return 0;
    bool is_empty = sum == 0;
    scratch[n++] = (tl_hist_pair){.count = sum, .bucket = bucket};
    while (bucket != last) {
        if (!get(&step, at, end, "a bucket's distance", fault))
            return 0;
        if (step == 0 || step > last - bucket) {
            *fault = (tl_hist_fault){.at = begin};
            snprintf(fault->text, sizeof fault->text,
                     "goes from bucket %" PRIu32 " on by %" PRIu64 ", but its last is %" PRIu32, bucket, step, last);
            return 0;
        }
        bucket += (uint32_t)step;
        if (!get(&count, at, end, "a bucket's count", fault))
            return 0;
        is_empty = is_empty || count == 0;
        scratch[n++] = (tl_hist_pair){.count = count, .bucket = bucket};
        sum = tl_add_saturated(sum, count);
    }
    if (is_empty || sum != calls) {
        *fault = (tl_hist_fault){.at = begin};
        if (is_empty)
            snprintf(fault->text, sizeof fault->text, "has an empty bucket");
        else
            snprintf(fault->text, sizeof fault->text, "has %" PRIu64 " calls, but %" PRIu64 " in its histogram", calls,
                     sum);
        return 0;
    }
    return tl_hist_assign(h, scratch, n) ? 1 : TL_ENOMEM;
}

/* ---- durations as bytes ---- */

void tl_hist_encode(tl_pb *to, const tl_durations *d)
{
    tl_pb_varint(to, d->calls);
    if (d->calls == 0)
        return;
    tl_pb_varint(to, d->sum);
    tl_pb_varint(to, d->min);
    tl_pb_varint(to, d->max - d->min);
    tl_hist_put_buckets(to, &d->hist, d->min, d->max);
}

static const char *const why_malformed[] = {
    [TL_VARINT_ENDED] = "the bytes end inside",
    [TL_VARINT_TOO_LARGE] = "larger than 64 bits:",
    [TL_VARINT_SUPERFLUOUS] = "a superfluous zero byte ends",
};

/* Reads what stands before the list. */
static bool get_sums(tl_durations *d, const uint8_t **at, const uint8_t *end, tl_hist_fault *fault)
{
    uint64_t above = 0;
    const uint8_t *const begin = *at;
    if (!get(&d->calls, at, end, "the number of calls", fault))
        return false;
    if (d->calls == 0)
        return true;
    if (!get(&d->sum, at, end, "the sum", fault) || !get(&d->min, at, end, "a shortest call", fault) ||
        !get(&above, at, end, "a longest call", fault))
        return false;
    *fault = (tl_hist_fault){.at = begin};
    uint64_t least, most;
    if (__builtin_add_overflow(d->min, above, &d->max)) {
        snprintf(fault->text, sizeof fault->text, "has a longest call that is larger than 64 bits");
        return false;
    }
    if (__builtin_mul_overflow(d->min, d->calls, &least))
        least = UINT64_MAX;
    if (__builtin_mul_overflow(d->max, d->calls, &most))
        most = UINT64_MAX;
    if (d->sum < least || d->sum > most) {
        snprintf(fault->text, sizeof fault->text,
                 "has %" PRIu64 " calls of %" PRIu64 " to %" PRIu64 " that sum up to %" PRIu64, d->calls, d->min,
                 d->max, d->sum);
        return false;
    }
    return true;
}

int tl_hist_decode(tl_durations *d, const uint8_t *bytes, size_t n, tl_error *e)
{
    const uint8_t *at = bytes, *const end = bytes + n;
    tl_hist_fault fault = {.at = bytes};
    const size_t most = n / 2 + 1;
    tl_hist_pair *scratch = tl_alloc(most < TL_HIST_BUCKETS ? most : TL_HIST_BUCKETS, sizeof *scratch);
    if (!scratch)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a histogram");
    int status = get_sums(d, &at, end, &fault);
    if (status > 0 && d->calls)
        status = tl_hist_get_buckets(&d->hist, d->min, d->max, d->calls, &at, end, scratch, &fault);
    free(scratch);
    if (status < 0) {
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a histogram");
    } else if (status == 0 && fault.number) {
        status = tl_fail(e, TL_EDAMAGED, (uint64_t)(fault.at - bytes), "histogram: %s %s", why_malformed[fault.why],
                         fault.number);
    } else if (status == 0) {
        status = tl_fail(e, TL_EDAMAGED, (uint64_t)(fault.at - bytes), "histogram: %s", fault.text);
    } else if (at != end) {
        status = tl_fail(e, TL_EDAMAGED, (uint64_t)(at - bytes), "histogram: %zu bytes after it", (size_t)(end - at));
    } else {
        return 0;
    }
    tl_durations_fini(d);
    return status;
}
