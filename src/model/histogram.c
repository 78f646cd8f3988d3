/* Histograms of call durations: buckets, the two representations of counts, adding, merging, percentiles. */
#include "model/histogram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define WINDOW_STEP 16u /* buckets; windows begin and end on multiples of it */
#define DENSE       8u  /* most window buckets per used one: then a window takes at most twice as much as the list */
#define HOT         64u /* with this many calls a window of any size pays: searching the list for each costs more */

uint64_t tl_hist_low(uint32_t bucket)
{
    if (bucket < 2 * TL_HIST_SUB)
        return bucket;
    uint64_t leading = TL_HIST_SUB + (bucket & (TL_HIST_SUB - 1));
    return leading << ((bucket >> TL_HIST_SUB_BITS) - 1);
}

/* Values in a bucket, less one. */
static uint64_t width_less_one(uint32_t bucket)
{
    return bucket < 2 * TL_HIST_SUB ? 0 : ((uint64_t)1 << ((bucket >> TL_HIST_SUB_BITS) - 1)) - 1;
}

uint64_t tl_hist_high(uint32_t bucket)
{
    return tl_hist_low(bucket) + width_less_one(bucket);
}

uint64_t tl_hist_middle(uint32_t bucket)
{
    return tl_hist_low(bucket) + width_less_one(bucket) / 2;
}

static bool is_alone(const tl_hist *h)
{
    return !h->n && !h->capacity_log2;
}

static void release(tl_hist *h)
{
    if (!is_alone(h))
        free(h->count);
}

/* ---- the window ---- */

static uint64_t *wide_counts(const tl_hist *h)
{
    return (uint64_t *)(void *)h->count;
}

static bool widen(tl_hist *h)
{
    uint64_t *wide = tl_alloc(h->n, sizeof *wide);
    if (!wide)
        return false;
    for (uint32_t i = 0; i < h->n; i++)
        wide[i] = h->count[i];
    free(h->count);
    h->count = (uint32_t *)(void *)wide;
    h->wide = true;
    return true;
}

/* Adds to a bucket inside the window; cannot fail if the window is wide or the sum fits 32 bits. */
static bool window_add(tl_hist *h, uint32_t bucket, uint64_t n)
{
    uint32_t at = bucket - h->first;
    if (!h->wide && n > UINT32_MAX - h->count[at] && !widen(h))
        return false;
    if (h->wide)
        wide_counts(h)[at] = tl_add_saturated(wide_counts(h)[at], n);
    else
        h->count[at] += (uint32_t)n;
    return true;
}

/* The window that holds the buckets low .. high. */
static void window_bounds(uint32_t low, uint32_t high, uint32_t *first, uint32_t *n)
{
    *first = low / WINDOW_STEP * WINDOW_STEP;
    *n = (high / WINDOW_STEP + 1) * WINDOW_STEP - *first;
}

static bool window_covers(const tl_hist *h, uint32_t bucket)
{
    return bucket - h->first < h->n;
}

/* Replaces the current representation by a window that also has room for the buckets low .. high. */
static bool to_window(tl_hist *h, uint32_t low, uint32_t high)
{
    uint32_t first, n;
    bool wide = h->wide;
    if (h->n && h->first < low)
        low = h->first;
    if (h->n && h->first + h->n - 1u > high)
        high = h->first + h->n - 1u;
    for (uint32_t i = 0; i < h->used; i++) {
        const tl_hist_pair p = tl_hist_list_entry(h, i);
        low = p.bucket < low ? p.bucket : low;
        high = p.bucket > high ? p.bucket : high;
        wide |= p.count > UINT32_MAX;
    }
    window_bounds(low, high, &first, &n);
    size_t each = wide ? sizeof(uint64_t) : sizeof(uint32_t);
    tl_hist window = {.first = (uint16_t)first, .n = (uint16_t)n, .wide = wide};
    window.count = calloc(n, each);
    if (!window.count)
        return false;
    if (h->n)
        memcpy((char *)window.count + (h->first - first) * each, h->count, h->n * each);
    for (uint32_t i = 0; i < h->used; i++)
        window_add(&window, tl_hist_list_entry(h, i).bucket, tl_hist_list_entry(h, i).count);
    release(h);
    *h = window;
    return true;
}

/* ---- the list ---- */

/* Index of the first entry whose bucket is not below `bucket`. */
static uint32_t list_find(const tl_hist *h, uint32_t bucket)
{
    uint32_t from = 0, to = h->used;
    while (from < to) {
        uint32_t middle = (from + to) / 2;
        if (tl_hist_list_entry(h, middle).bucket < bucket)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Room for n entries. */
static bool list_reserve(tl_hist *h, uint32_t n)
{
    uint8_t log2 = h->capacity_log2;
    while ((1u << log2) < n)
        log2++;
    if (log2 == h->capacity_log2)
        return true;
    tl_hist_pair *pair = is_alone(h) ? NULL : h->pair;
    if (!TL_RESIZE(pair, (size_t)1 << log2))
        return false;
    if (is_alone(h))
        *pair = tl_hist_list_entry(h, 0);
    h->pair = pair;
    h->capacity_log2 = log2;
    return true;
}

/* Inserts an entry at index `at`; there must be room. */
static void list_add(tl_hist *h, uint32_t at, uint32_t bucket, uint64_t n)
{
    if (at < h->used && tl_hist_list_entry(h, at).bucket == bucket) {
        uint64_t *count = is_alone(h) ? &h->alone : &h->pair[at].count;
        *count = tl_add_saturated(*count, n);
        return;
    }
    h->used++;
    if (is_alone(h)) {
        h->first = (uint16_t)bucket;
        h->alone = n;
        return;
    }
    memmove(h->pair + at + 1, h->pair + at, (h->used - at - 1u) * sizeof *h->pair);
    h->pair[at] = (tl_hist_pair){.count = n, .bucket = bucket};
}

/* Replaces a window by a list with room for `room` entries, at least the used buckets. */
static bool to_list(tl_hist *h, uint32_t room)
{
    tl_hist list = {0};
    if (!list_reserve(&list, room))
        return false;
    for (uint32_t i = 0; i < h->n; i++)
        if (tl_hist_window_count(h, i))
            list_add(&list, list.used, h->first + i, tl_hist_window_count(h, i));
    free(h->count);
    *h = list;
    return true;
}

/* ---- both ---- */

static uint32_t count_used(const tl_hist *h)
{
    uint32_t used = h->used;
    for (uint32_t i = 0; i < h->n; i++)
        used += tl_hist_window_count(h, i) != 0;
    return used;
}

static bool is_dense(uint32_t low, uint32_t high, uint32_t used)
{
    uint32_t first, n;
    window_bounds(low, high, &first, &n);
    return n <= DENSE * used;
}

/* Turns a list into a window if that pays. It stays a list when memory runs out: slower, not wrong. */
static void settle(tl_hist *h, bool hot)
{
    uint32_t low = tl_hist_list_entry(h, 0).bucket, high = tl_hist_list_entry(h, h->used - 1u).bucket;
    if (hot || is_dense(low, high, h->used))
        (void)to_window(h, low, high);
}

bool tl_hist_add_slow(tl_hist *h, uint32_t bucket, uint64_t n)
{
    assert(bucket < TL_HIST_BUCKETS);
    if (n == 0)
        return true;
    if (h->n && !window_covers(h, bucket)) {
        uint32_t low = bucket < h->first ? bucket : h->first;
        uint32_t high = bucket < h->first ? h->first + h->n - 1u : bucket;
        uint32_t used = count_used(h) + 1;
        bool keep = is_dense(low, high, used) || tl_hist_sum(h) >= HOT;
        if (!(keep ? to_window(h, low, high) : to_list(h, used)))
            return false;
    }
    if (h->n)
        return window_add(h, bucket, n);
    if (!list_reserve(h, h->used + 1u))
        return false;
    uint32_t before = h->used;
    list_add(h, list_find(h, bucket), bucket, n);
    if (h->used != before)
        settle(h, false);
    else if (n == 1 && tl_hist_get(h, bucket) >= HOT)
        settle(h, true);
    return true;
}

bool tl_hist_assign(tl_hist *h, const tl_hist_pair *pair, uint32_t n)
{
    assert(!h->n && !h->used && n <= TL_HIST_BUCKETS);
    if (n == 0)
        return true;
    if (!list_reserve(h, n))
        return false;
    if (n == 1) {
        list_add(h, 0, pair->bucket, pair->count);
        return true;
    }
    memcpy(h->pair, pair, n * sizeof *pair);
    h->used = (uint16_t)n;
    settle(h, false);
    return true;
}

/* The last used bucket of a non-empty histogram. */
static uint32_t last_used(const tl_hist *h)
{
    if (h->used)
        return tl_hist_list_entry(h, h->used - 1u).bucket;
    uint32_t at = h->n;
    while (at > 0 && !tl_hist_window_count(h, at - 1))
        at--;
    return h->first + at - 1;
}

/* Used buckets of `from` that `into` does not use. */
static uint32_t count_new(const tl_hist *into, const tl_hist *from)
{
    tl_hist_pair p;
    uint32_t n = 0, in_list = 0;
    for (uint32_t at = 0; tl_hist_each(from, &at, &p);) {
        while (in_list < into->used && tl_hist_list_entry(into, in_list).bucket < p.bucket)
            in_list++;
        if (into->n)
            n += !window_covers(into, p.bucket) || tl_hist_window_count(into, p.bucket - into->first) == 0;
        else
            n += in_list == into->used || tl_hist_list_entry(into, in_list).bucket != p.bucket;
    }
    return n;
}

/* Can an entry be added without making room? */
static bool has_room(const tl_hist *into, tl_hist_pair p)
{
    if (into->n)
        return window_covers(into, p.bucket) &&
               (into->wide || p.count <= UINT32_MAX - into->count[p.bucket - into->first]);
    const uint32_t at = list_find(into, p.bucket);
    return into->used == 0 || (at < into->used && tl_hist_list_entry(into, at).bucket == p.bucket);
}

/* Would a count of the window, which covers all of `from`, overflow 32 bits? */
static bool sum_needs_wide(const tl_hist *into, const tl_hist *from)
{
    tl_hist_pair p;
    for (uint32_t at = 0; tl_hist_each(from, &at, &p);)
        if (p.count > UINT32_MAX - tl_hist_window_count(into, p.bucket - into->first))
            return true;
    return false;
}

bool tl_hist_reserve(tl_hist *into, const tl_hist *from)
{
    tl_hist_pair p;
    uint32_t at = 0;
    if (!tl_hist_each(from, &at, &p) || (is_alone(from) && has_room(into, p)))
        return true;
    uint32_t low = p.bucket, high = last_used(from);
    if (!into->n || !window_covers(into, low) || !window_covers(into, high)) {
        uint32_t used = count_used(into) + count_new(into, from);
        at = 0;
        if (tl_hist_each(into, &at, &p)) {
            low = p.bucket < low ? p.bucket : low;
            high = last_used(into) > high ? last_used(into) : high;
        }
        if (!is_dense(low, high, used))
            return into->n ? to_list(into, used) : list_reserve(into, used);
        if (!to_window(into, low, high))
            return false;
    }
    return into->wide || !sum_needs_wide(into, from) || widen(into);
}

static void add_to_list(tl_hist *into, const tl_hist *from)
{
    tl_hist_pair p;
    uint32_t in_list = 0;
    for (uint32_t at = 0; tl_hist_each(from, &at, &p); in_list++) {
        while (in_list < into->used && tl_hist_list_entry(into, in_list).bucket < p.bucket)
            in_list++;
        list_add(into, in_list, p.bucket, p.count);
    }
}

void tl_hist_add_all(tl_hist *into, const tl_hist *from)
{
    tl_hist_pair p;
    uint32_t at = 0;
    if (into->n) {
        while (tl_hist_each(from, &at, &p))
            window_add(into, p.bucket, p.count);
    } else if (!is_alone(from)) {
        add_to_list(into, from);
    } else if (tl_hist_each(from, &at, &p)) {
        list_add(into, list_find(into, p.bucket), p.bucket, p.count);
    }
}

bool tl_hist_merge(tl_hist *into, const tl_hist *from)
{
    if (!tl_hist_reserve(into, from))
        return false;
    tl_hist_add_all(into, from);
    return true;
}

void tl_hist_fini(tl_hist *h)
{
    release(h);
    *h = (tl_hist){0};
}

size_t tl_hist_bytes(const tl_hist *h)
{
    if (h->n)
        return h->n * (h->wide ? sizeof(uint64_t) : sizeof(uint32_t));
    return is_alone(h) ? 0 : sizeof(tl_hist_pair) << h->capacity_log2;
}

uint64_t tl_hist_get(const tl_hist *h, uint32_t bucket)
{
    if (h->n)
        return window_covers(h, bucket) ? tl_hist_window_count(h, bucket - h->first) : 0;
    uint32_t at = list_find(h, bucket);
    return at < h->used && tl_hist_list_entry(h, at).bucket == bucket ? tl_hist_list_entry(h, at).count : 0;
}

uint64_t tl_hist_sum(const tl_hist *h)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->used; i++)
        sum = tl_add_saturated(sum, tl_hist_list_entry(h, i).count);
    for (uint32_t i = 0; i < h->n; i++)
        sum = tl_add_saturated(sum, tl_hist_window_count(h, i));
    return sum;
}

uint32_t tl_hist_next(const tl_hist *h, uint32_t from)
{
    if (!h->n) {
        uint32_t at = list_find(h, from);
        return at < h->used ? tl_hist_list_entry(h, at).bucket : TL_HIST_BUCKETS;
    }
    for (uint32_t at = from < h->first ? 0 : from - h->first; at < h->n; at++)
        if (tl_hist_window_count(h, at))
            return h->first + at;
    return TL_HIST_BUCKETS;
}

void tl_hist_quantiles(const tl_hist *h, const uint32_t *part, size_t n, uint32_t whole, uint64_t min, uint64_t max,
                       uint64_t *out)
{
    const uint64_t sum = tl_hist_sum(h);
    uint64_t below = 0;
    tl_hist_pair p = {0};
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t rank =
            sum / whole * part[i] + (sum % whole * part[i] + whole - 1) / whole; /* ceil, without overflow */
        if (rank <= 1 || rank >= sum) {
            out[i] = sum == 0 ? 0 : rank <= 1 ? min : max;
            continue;
        }
        while (below < rank && tl_hist_each(h, &at, &p))
            below = tl_add_saturated(below, p.count);
        const uint64_t value = tl_hist_middle(p.bucket);
        out[i] = value < min ? min : value > max ? max : value;
    }
}

uint64_t tl_hist_quantile(const tl_hist *h, uint32_t part, uint32_t whole, uint64_t min, uint64_t max)
{
    uint64_t value;
    tl_hist_quantiles(h, &part, 1, whole, min, max, &value);
    return value;
}

uint64_t tl_hist_percentile(const tl_hist *h, unsigned permille, uint64_t min, uint64_t max)
{
    return tl_hist_quantile(h, permille < 1000 ? permille : 1000, 1000, min, max);
}

void tl_hist_total_start(tl_hist_total *s, uint64_t min, uint64_t max)
{
    uint32_t first, n;
    window_bounds(tl_hist_bucket(min), tl_hist_bucket(max < min ? min : max), &first, &n);
    memset(s->count, 0, n * sizeof *s->count);
    s->hist = (tl_hist){.first = (uint16_t)first, .n = (uint16_t)n, .wide = true};
    s->hist.count = (uint32_t *)(void *)s->count;
    s->min = min;
    s->max = max;
}

void tl_hist_total_add(tl_hist_total *s, const tl_hist *h)
{
    tl_hist_pair p;
    for (uint32_t at = 0; tl_hist_each(h, &at, &p);)
        if (window_covers(&s->hist, p.bucket))
            s->count[p.bucket - s->hist.first] = tl_add_saturated(s->count[p.bucket - s->hist.first], p.count);
}
