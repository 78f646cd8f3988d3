/* The table hist_buckets(hist, parts): what a histogram in bytes says. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/hist_bytes.h"
#include "op/scan/made_scan.h"

#define PARTS 256 /* buckets of a power of two */

enum { LOW, HIGH, CALLS, HISTOGRAM, PARTS_OF, COLUMNS };

static const tl_column_info columns[COLUMNS] = {
    [LOW] = {"low", "low", TL_INTEGER, TL_UNIT_TIME, "the lowest value of the bucket"},
    [HIGH] = {"high", "high", TL_INTEGER, TL_UNIT_TIME, "the highest"},
    [CALLS] = {"calls", "calls", TL_INTEGER, TL_UNIT_COUNT, "how many durations are between them; not 0"},
    [HISTOGRAM] = {"hist", "hist", TL_TEXT, TL_UNIT_BLOB, "argument 1: the histogram"},
    [PARTS_OF] = {"parts", "parts", TL_INTEGER, TL_UNIT_NONE,
                  "argument 2: buckets for each power of two: 1, 2, 4 ... 256; null: 256"},
};

typedef struct bucket {
    uint64_t low, high, calls;
} bucket;

typedef struct buckets {
    bucket *bucket;
    uint32_t n;
} buckets;

static void free_buckets(void *rows)
{
    buckets *b = rows;
    free(b->bucket);
    free(b);
}

/* The values from `low` on that are one bucket if a power of two has so many of them. */
static bucket bucket_of(uint64_t low, uint64_t parts)
{
    const unsigned power = low ? 63u - (unsigned)__builtin_clzll(low) : 0;
    uint64_t width = (UINT64_C(1) << power) / parts;
    width = width ? width : 1;
    const uint64_t first = low / width * width;
    return (bucket){.low = first, .high = first + (width - 1)};
}

static int fill(buckets *out, const tl_hist *h, uint64_t parts, tl_error *e)
{
    uint32_t at = 0, n = 0;
    tl_hist_pair pair;
    while (tl_hist_each(h, &at, &pair))
        n++;
    out->bucket = tl_alloc((size_t)n + 1, sizeof *out->bucket);
    if (!out->bucket)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a histogram");
    for (at = 0; tl_hist_each(h, &at, &pair);) {
        const bucket b = bucket_of(tl_hist_low(pair.bucket), parts);
        if (out->n == 0 || out->bucket[out->n - 1].low != b.low)
            out->bucket[out->n++] = b;
        bucket *last = &out->bucket[out->n - 1];
        last->calls = tl_add_saturated(last->calls, pair.count);
    }
    return 0;
}

static uint8_t digit_of(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes of pairs of hexadecimal digits. */
static int decode(tl_durations *d, const char *hex, tl_error *e)
{
    const size_t n = strlen(hex) / 2;
    uint8_t *bytes = tl_alloc(n + 1, 1);
    if (!bytes)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a histogram");
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(digit_of(hex[2 * i]) << 4 | digit_of(hex[2 * i + 1]));
    const int status = tl_hist_decode(d, bytes, n, e);
    free(bytes);
    return status;
}

static int make(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    tl_durations d = {0};
    const int64_t parts = argument[1].kind == TL_CELL_INT ? argument[1].i64 : PARTS;
    (void)t;
    if (parts < 1 || parts > PARTS || (parts & (parts - 1)) != 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "hist_buckets: parts is not a power of two, 1 to 256");
    if (source > 0 || argument[0].kind == TL_CELL_NULL)
        return 0;
    buckets *b = calloc(1, sizeof *b);
    if (!b)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a histogram");
    int status = decode(&d, argument[0].text, e);
    if (status == 0)
        status = fill(b, &d.hist, (uint64_t)parts, e);
    tl_durations_fini(&d);
    if (status < 0)
        free_buckets(b);
    else
        *out = b;
    return status;
}

static uint64_t count(const void *rows)
{
    return ((const buckets *)rows)->n;
}

static void put(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const bucket *x = &((const buckets *)rows)->bucket[i];
    (void)t;
    (void)source;
    tl_list_int(b, LOW, row, true, x->low > INT64_MAX ? INT64_MAX : (int64_t)x->low);
    tl_list_int(b, HIGH, row, true, x->high > INT64_MAX ? INT64_MAX : (int64_t)x->high);
    tl_list_int(b, CALLS, row, true, x->calls > INT64_MAX ? INT64_MAX : (int64_t)x->calls);
}

const tl_made_kind tl_hist_buckets_kind = {
    .info = {"hist_buckets", "the buckets of a histogram: hist_buckets(hist, parts)", TL_NEEDS_NOTHING},
    .column = columns,
    .ncolumn = COLUMNS,
    .nargument = 2,
    .of_any = true,
    .make = make,
    .free_rows = free_buckets,
    .count = count,
    .put = put};
