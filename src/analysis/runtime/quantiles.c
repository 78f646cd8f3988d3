/* Percentiles by nearest rank: the value at rank ceil(n * percent / 100), counted from 1. */
#include "analysis/runtime/quantiles.h"

#include <stdlib.h>

#include "base/grow.h"

int tl_quantile_set_add(tl_quantile_set *s, uint64_t value, tl_error *e)
{
    uint32_t i = tl_hash_get(&s->index, value);
    if (i == TL_HASH_NONE) {
        if (!TL_GROW(s->value, s->n, 1, s->capacity) || !tl_hash_put(&s->index, value, s->n))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for percentiles");
        i = s->n++;
        s->value[i] = (struct tl_quantile_value){.value = value};
    }
    s->value[i].n++;
    s->count++;
    tl_sum_add(&s->total, value);
    return 0;
}

static int by_value(const void *left, const void *right)
{
    const struct tl_quantile_value *a = left, *b = right;
    return TL_COMPARE(a->value, b->value);
}

/* ceil(n * percent / 100), at least 1, without overflow. */
static uint64_t rank_of(uint64_t n, unsigned percent)
{
    const uint64_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
    return rank ? rank : 1;
}

static uint64_t value_at(const tl_quantile_set *s, unsigned percent)
{
    const uint64_t rank = rank_of(s->count, percent);
    uint64_t seen = 0;
    uint32_t i = 0;
    while (i + 1 < s->n && (seen += s->value[i].n) < rank)
        i++;
    return s->value[i].value;
}

tl_quantiles tl_quantiles_of_set(tl_quantile_set *s)
{
    tl_quantiles q = {.count = s->count, .total = s->total};
    if (s->n == 0)
        return q;
    tl_hash_fini(&s->index);
    qsort(s->value, s->n, sizeof *s->value, by_value);
    q.min = s->value[0].value;
    q.p50 = value_at(s, 50);
    q.p90 = value_at(s, 90);
    q.p99 = value_at(s, 99);
    q.max = s->value[s->n - 1].value;
    return q;
}

tl_quantiles tl_quantiles_of(uint64_t *value, uint32_t n)
{
    tl_quantiles q = {.count = n};
    if (n == 0)
        return q;
    qsort(value, n, sizeof *value, tl_compare_u64);
    for (uint32_t i = 0; i < n; i++)
        tl_sum_add(&q.total, value[i]);
    q.min = value[0];
    q.p50 = value[rank_of(n, 50) - 1];
    q.p90 = value[rank_of(n, 90) - 1];
    q.p99 = value[rank_of(n, 99) - 1];
    q.max = value[n - 1];
    return q;
}

void tl_quantile_set_fini(tl_quantile_set *s)
{
    free(s->value);
    tl_hash_fini(&s->index);
    *s = (tl_quantile_set){0};
}
