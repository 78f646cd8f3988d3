/* Functions of SQL over histograms: bytes as in model/hist_bytes.h, in which nothing is trusted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/hist_bytes.h"
#include "query/sql_call.h"

static void fail(tl_sql_call *c, const char *function, const tl_error *e)
{
    char text[sizeof e->message + 32];
    c->no_memory = e->code == TL_ENOMEM;
    snprintf(text, sizeof text, "%s: %s", function, e->message);
    tl_sql_call_fail(c, text);
}

/* 1: *d is the argument's histogram; 0: it is null; < 0: the result is an error. */
static int get(tl_sql_call *c, const char *function, const tl_sql_value *v, tl_durations *d)
{
    tl_error e = {0};
    if (v->kind == TL_VALUE_NULL)
        return 0;
    int status = TL_EINVAL;
    if (v->kind == TL_VALUE_BLOB)
        status = tl_hist_decode(d, (const uint8_t *)v->text, v->size, &e);
    else
        tl_fail(&e, TL_EINVAL, TL_NO_OFFSET, "not a histogram, which is a BLOB");
    if (status < 0)
        fail(c, function, &e);
    return status < 0 ? status : 1;
}

static void give(tl_sql_call *c, const tl_durations *d)
{
    c->kind = TL_VALUE_BLOB;
    tl_hist_encode(&c->bytes, d);
}

/* ---- of a group ---- */

typedef struct sum {
    tl_durations durations;
    bool any, failed;
} sum;

const size_t tl_sql_hist_size = sizeof(sum), tl_sql_hist_merge_size = sizeof(sum);

void tl_sql_hist_add(tl_sql_call *c, void *state)
{
    sum *s = state;
    if (s->failed || !tl_value_is_number(&c->argument[0]))
        return;
    const int64_t value = tl_value_whole(&c->argument[0]);
    s->any = true;
    s->failed = value < 0;
    if (s->failed) {
        tl_sql_call_fail(c, "hist: a negative duration");
    } else if (!tl_durations_add(&s->durations, (uint64_t)value)) {
        s->failed = true;
        c->no_memory = true;
    }
}

void tl_sql_hist_merge_add(tl_sql_call *c, void *state)
{
    tl_durations one = {0};
    sum *s = state;
    if (s->failed)
        return;
    const int status = get(c, "hist_merge", &c->argument[0], &one);
    s->any = s->any || status > 0;
    s->failed = status < 0;
    if (status > 0 && !tl_durations_merge(&s->durations, &one)) {
        s->failed = true;
        c->no_memory = true;
    }
    tl_durations_fini(&one);
}

void tl_sql_hist_merge(tl_sql_call *c, void *into, const void *from)
{
    sum *s = into;
    const sum *other = from;
    s->any = s->any || other->any;
    s->failed = s->failed || other->failed;
    if (!s->failed && !tl_durations_merge(&s->durations, &other->durations)) {
        s->failed = true;
        c->no_memory = true;
    }
}

void tl_sql_hist_give(tl_sql_call *c, void *state)
{
    const sum *s = state;
    if (s->any && !s->failed)
        give(c, &s->durations);
}

void tl_sql_hist_drop(void *state)
{
    tl_durations_fini(&((sum *)state)->durations);
}

void tl_sql_hist_merge_merge(tl_sql_call *c, void *into, const void *from)
{
    tl_sql_hist_merge(c, into, from);
}

void tl_sql_hist_merge_give(tl_sql_call *c, void *state)
{
    tl_sql_hist_give(c, state);
}

void tl_sql_hist_merge_drop(void *state)
{
    tl_sql_hist_drop(state);
}

/* ---- scalars ---- */

void tl_sql_hist_count(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    tl_durations d = {0};
    if (get(c, "hist_count", &v[0], &d) > 0)
        tl_give_int(c, d.calls > INT64_MAX ? INT64_MAX : (int64_t)d.calls);
    tl_durations_fini(&d);
}

void tl_sql_hist_sum(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    tl_durations d = {0};
    if (get(c, "hist_sum", &v[0], &d) > 0)
        tl_give_int(c, d.sum > INT64_MAX ? INT64_MAX : (int64_t)d.sum);
    tl_durations_fini(&d);
}

/* Nearest rank: number ceil(p n / 100), from 1; as tl_hist_percentile(), of any p. */
static uint64_t at_percent(const tl_durations *d, double p)
{
    if (p * 10 == (double)(unsigned)(p * 10)) /* exact, as the columns p50, p90 ... */
        return tl_durations_percentile(d, (unsigned)(p * 10));
    const double rank = p * (double)d->calls / 100;
    uint64_t number = rank >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)rank, below = 0;
    uint32_t at = 0;
    tl_hist_pair pair = {0};
    number += (double)number < rank;
    number = number == 0 ? 1 : number > d->calls ? d->calls : number;
    if (number == 1)
        return d->min;
    if (number == d->calls)
        return d->max;
    while (tl_hist_each(&d->hist, &at, &pair) && (below = tl_add_saturated(below, pair.count)) < number)
        ;
    const uint64_t middle = tl_hist_middle(pair.bucket);
    return middle < d->min ? d->min : middle > d->max ? d->max : middle;
}

void tl_sql_hist_percentile(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    tl_durations d = {0};
    const double p = tl_value_real(&v[1]);
    if (get(c, "hist_percentile", &v[0], &d) > 0) {
        if (!tl_value_is_number(&v[1]) || !(p >= 0 && p <= 100)) {
            tl_sql_call_fail(c, "hist_percentile: the second argument is not between 0 and 100");
        } else if (d.calls > 0) {
            const uint64_t value = at_percent(&d, p);
            tl_give_int(c, value > INT64_MAX ? INT64_MAX : (int64_t)value);
        }
    }
    tl_durations_fini(&d);
}

/* What a has more than b. Ends that are not known any more are those of their buckets, the sum that of the difference,
 * as far as the ends allow it. False when memory runs out. */
static bool subtract(tl_durations *out, const tl_durations *a, const tl_durations *b)
{
    uint32_t at = 0, first = 0, last = 0;
    tl_hist_pair pair;
    bool ok = true;
    while (ok && tl_hist_each(&a->hist, &at, &pair)) {
        const uint64_t less = tl_hist_get(&b->hist, pair.bucket);
        if (pair.count <= less)
            continue;
        ok = tl_hist_add_slow(&out->hist, pair.bucket, pair.count - less);
        first = out->calls == 0 ? pair.bucket : first;
        last = pair.bucket;
        out->calls = tl_add_saturated(out->calls, pair.count - less);
    }
    if (!ok || out->calls == 0)
        return ok;
    uint64_t least, most;
    out->min = first == tl_hist_bucket(a->min) ? a->min : tl_hist_low(first);
    out->max = last == tl_hist_bucket(a->max) ? a->max : tl_hist_high(last);
    if (__builtin_mul_overflow(out->min, out->calls, &least))
        least = UINT64_MAX;
    if (__builtin_mul_overflow(out->max, out->calls, &most))
        most = UINT64_MAX;
    out->sum = a->sum > b->sum ? a->sum - b->sum : 0;
    out->sum = out->sum < least ? least : out->sum > most ? most : out->sum;
    return true;
}

void tl_sql_hist_diff(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    tl_durations a = {0}, b = {0}, out = {0};
    int status = get(c, "hist_diff", &v[0], &a);
    if (status > 0)
        status = get(c, "hist_diff", &v[1], &b);
    if (status > 0 && !subtract(&out, &a, &b))
        c->no_memory = true;
    else if (status > 0)
        give(c, &out);
    tl_durations_fini(&a);
    tl_durations_fini(&b);
    tl_durations_fini(&out);
}
