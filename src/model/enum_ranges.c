/* Which mappings of an enumeration a value matches: ranges in order, with the highest end of each part of them. */
#include "model/enum_ranges.h"

#include <stdlib.h>

#include "base/grow.h"

/* A mapping, and the begin of its range. */
typedef struct begin {
    uint64_t low, high;
    uint32_t group, mapping;
} begin;

/* The mappings that hold the current value, the first mapping on top. */
typedef struct heap {
    begin *item;
    uint32_t n;
} heap;

static int compare_begins(const void *a_, const void *b_)
{
    const begin *a = a_, *b = b_;
    return a->group != b->group ? TL_COMPARE(a->group, b->group) : TL_COMPARE(a->low, b->low);
}

static int compare_ranges(const void *a_, const void *b_)
{
    const tl_enum_range *a = a_, *b = b_;
    return TL_COMPARE(a->low, b->low);
}

static void push(heap *h, begin x)
{
    uint32_t i = h->n++;
    for (; i > 0 && x.mapping < h->item[(i - 1) / 2].mapping; i = (i - 1) / 2)
        h->item[i] = h->item[(i - 1) / 2];
    h->item[i] = x;
}

static void pop(heap *h)
{
    const begin x = h->item[--h->n];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < h->n; i = child) {
        child += child + 1 < h->n && h->item[child + 1].mapping < h->item[child].mapping;
        if (h->item[child].mapping >= x.mapping)
            break;
        h->item[i] = h->item[child];
    }
    h->item[i] = x;
}

/* Makes the ranges of one label from its n mappings, in order of their begin. Each step begins or ends a mapping: there
 * are at most twice as many ranges. */
static uint32_t cut(const begin *b, uint32_t n, heap *h, tl_enum_range *out)
{
    uint32_t made = 0;
    uint64_t at = 0;
    h->n = 0;
    for (uint32_t i = 0; i < n || h->n > 0;) {
        if (h->n == 0)
            at = b[i].low;
        while (i < n && b[i].low <= at)
            push(h, b[i++]);
        while (h->n > 0 && h->item[0].high < at)
            pop(h);
        if (h->n == 0)
            continue;
        const begin *top = h->item;
        const uint64_t end = i < n && b[i].low <= top->high ? b[i].low - 1 : top->high;
        out[made++] = (tl_enum_range){.low = at, .high = end, .mapping = top->mapping};
        if (end == UINT64_MAX)
            break;
        at = end + 1;
    }
    return made;
}

/* Stores the highest end of each part of the array in its middle element, from the smallest parts up. */
static uint64_t measure(tl_enum_range *r, uint32_t n)
{
    if (n == 0)
        return 0;
    const uint32_t middle = n / 2;
    const uint64_t before = measure(r, middle), behind = measure(r + middle + 1, n - middle - 1);
    uint64_t most = r[middle].high;
    most = before > most ? before : most;
    most = behind > most ? behind : most;
    return r[middle].most = most;
}

static uint32_t find_begins(begin *b, const tl_mapping *mapping, const uint32_t *group, uint32_t n, uint64_t bias,
                            uint64_t highest)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t low = mapping[i].low ^ bias, high = mapping[i].high ^ bias;
        if (low <= high && low <= highest)
            b[count++] = (begin){low, high < highest ? high : highest, group[i], i};
    }
    qsort(b, count, sizeof *b, compare_begins);
    return count;
}

/* The number of mappings of the label whose first one is b[0]. */
static uint32_t size_of(const begin *b, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && b[i].group == b[0].group)
        i++;
    return i;
}

static bool make_ranges(tl_enum_ranges *r, tl_arena *a, const begin *b, uint32_t n)
{
    uint32_t largest = 0, most = 0;
    for (uint32_t i = 0, size; i < n; i += size) {
        size = size_of(b + i, n - i);
        largest = size > largest ? size : largest;
        most += size > 1 ? 2 * size : 1;
    }
    heap h = {.item = tl_alloc(largest + 1, sizeof *h.item)};
    r->range = h.item ? tl_arena_alloc(a, (size_t)most * sizeof *r->range) : NULL;
    r->n = 0;
    for (uint32_t i = 0, size; r->range && i < n; i += size) {
        size = size_of(b + i, n - i);
        r->n += cut(b + i, size, &h, r->range + r->n);
    }
    free(h.item);
    return r->range != NULL;
}

bool tl_enum_ranges_make(tl_enum_ranges *r, tl_arena *a, const tl_mapping *mapping, const uint32_t *group, uint32_t n,
                         uint64_t bias, uint64_t highest)
{
    begin *b = tl_alloc((size_t)n, sizeof *b);
    const bool ok = b && make_ranges(r, a, b, find_begins(b, mapping, group, n, bias, highest));
    free(b);
    if (!ok)
        return false;
    qsort(r->range, r->n, sizeof *r->range, compare_ranges);
    measure(r->range, r->n);
    return true;
}

static uint32_t find(const tl_enum_range *r, uint32_t n, uint64_t value, void (*found)(void *, uint32_t), void *arg)
{
    uint32_t looked = 0;
    while (n > 0) {
        const uint32_t middle = n / 2;
        looked++;
        if (r[middle].most < value)
            break;
        looked += find(r, middle, value, found, arg);
        if (r[middle].low > value)
            break;
        if (value <= r[middle].high)
            found(arg, r[middle].mapping);
        r += middle + 1;
        n -= middle + 1;
    }
    return looked;
}

uint32_t tl_enum_ranges_find(const tl_enum_ranges *r, uint64_t value, void (*found)(void *arg, uint32_t mapping),
                             void *arg)
{
    return find(r->range, r->n, value, found, arg);
}
