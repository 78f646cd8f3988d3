/* The longest calls. */
#include "analysis/timeline/longest.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

void tl_longest_init(tl_longest *l, uint32_t most, uint32_t tracks, uint64_t from, uint64_t to)
{
    uint32_t pieces = TL_LONGEST_PIECES;
    *l = (tl_longest){.most_rest = most / 4};
    l->most_top = most - l->most_rest;
    l->tracks = tracks == 0 ? 1 : tracks < l->most_rest || !l->most_rest ? tracks : l->most_rest;
    while (pieces > 1 && (uint64_t)pieces * l->tracks > l->most_rest)
        pieces /= 2;
    /* Borders of fewer pieces are some of those of more, so that tl_longest_fewer() finds what it needs. */
    l->axis = tl_time_axis_join(tl_time_axis_of(from, to, TL_LONGEST_PIECES, true), TL_LONGEST_PIECES / pieces);
    l->strata = l->axis.n * l->tracks;
    l->share = l->most_rest / (pieces * l->tracks);
}

static void clear(tl_long_calls *c)
{
    free(c->call);
    *c = (tl_long_calls){0};
}

static void free_strata(tl_longest *l)
{
    for (uint32_t i = 0; l->stratum && i < l->strata; i++)
        clear(&l->stratum[i].calls);
    free(l->stratum);
    l->stratum = NULL;
}

void tl_longest_fini(tl_longest *l)
{
    clear(&l->top);
    clear(&l->rest);
    free_strata(l);
}

void tl_long_result_fini(tl_long_result *r)
{
    clear(&r->calls);
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
    const tl_long_call *x = a, *y = b;
    int order = compare(x->track, y->track);
    order = order ? order : compare(x->depth, y->depth);
    order = order ? order : compare(x->begin, y->begin);
    order = order ? order : compare(x->ticks, y->ticks);
    order = order ? order : compare(x->function, y->function);
    return order ? order : compare(x->is_open, y->is_open);
}

static int by_length(const void *a, const void *b)
{
    const tl_long_call *x = a, *y = b;
    const int order = compare(y->ticks, x->ticks);
    return order ? order : by_place(a, b);
}

static void swap(tl_long_call *a, tl_long_call *b)
{
    const tl_long_call kept = *a;
    *a = *b;
    *b = kept;
}

/* Are they in this order? As by_place() and by_length() have it. */
TL_ALWAYS_INLINE bool is_before(const tl_long_call *a, const tl_long_call *b)
{
    return a->track != b->track   ? a->track < b->track
           : a->depth != b->depth ? a->depth < b->depth
           : a->begin != b->begin ? a->begin < b->begin
                                  : by_place(a, b) < 0;
}

TL_ALWAYS_INLINE bool is_longer(const tl_long_call *a, const tl_long_call *b)
{
    return a->ticks != b->ticks ? a->ticks > b->ticks : is_before(a, b);
}

/* Divides calls of an order into those before one of them and those behind it: its place. The pivot is taken from a
 * place that does not depend on the content. */
TL_ALWAYS_INLINE uint32_t divide(tl_long_call *call, uint32_t from, uint32_t to, uint64_t *state, const bool longest)
{
    *state = tl_hash_mix(*state + 0x9e3779b97f4a7c15u);
    swap(&call[from], &call[from + *state % (to - from)]);
    const tl_long_call pivot = call[from];
    uint32_t i = from, k = to;
    for (;;) {
        do
            i++;
        while (i < to && (longest ? is_longer(&call[i], &pivot) : is_before(&call[i], &pivot)));
        do
            k--;
        while (longest ? is_longer(&pivot, &call[k]) : is_before(&pivot, &call[k]));
        if (i >= k)
            break;
        swap(&call[i], &call[k]);
    }
    swap(&call[from], &call[k]);
    return k;
}

/* Brings the first `most` of the order to the front, the last of them to the end of these. Where pivots divide badly
 * for long, sorting is the rest. */
static void select_longest(tl_long_call *call, uint32_t n, uint32_t most)
{
    uint32_t from = 0, to = n, luck = 64;
    uint64_t state = n;
    while (to - from > 16 && luck--) {
        const uint32_t at = divide(call, from, to, &state, true);
        if (at == most - 1)
            return;
        if (at < most - 1)
            from = at + 1;
        else
            to = at;
    }
    qsort(call + from, to - from, sizeof *call, by_length);
}

/* Sorts; twice as fast as qsort(), which does the rest of what is small, or divides badly. */
static void sort_by_place(tl_long_call *call, uint32_t n)
{
    struct {
        uint32_t from, to;
    } left[64];
    uint32_t nleft = 0, from = 0, to = n;
    uint64_t state = n;
    for (;;) {
        if (to - from <= 16 || nleft == TL_COUNT(left)) {
            if (to - from > 1)
                qsort(call + from, to - from, sizeof *call, by_place);
            if (nleft == 0)
                return;
            from = left[--nleft].from;
            to = left[nleft].to;
            continue;
        }
        const uint32_t at = divide(call, from, to, &state, false);
        left[nleft].from = at - from < to - at ? at + 1 : from; /* the larger part waits */
        left[nleft++].to = at - from < to - at ? to : at;
        if (at - from < to - at)
            to = at;
        else
            from = at + 1;
    }
}

static void append(tl_longest *l, tl_long_calls *to, const tl_long_call *c)
{
    if (TL_LIKELY(to->n < to->capacity) || TL_GROW(to->call, to->n, 1, to->capacity))
        to->call[to->n++] = *c;
    else
        l->failed = true;
}

static const tl_long_call none_is_longer = {.ticks = UINT64_MAX};

/* Keeps the longest of a stratum. */
static void cut_stratum(const tl_longest *l, struct tl_long_stratum *s)
{
    if (s->calls.n <= l->share)
        return;
    if (l->share)
        select_longest(s->calls.call, s->calls.n, l->share);
    s->calls.n = l->share;
    s->last = l->share ? s->calls.call[l->share - 1] : none_is_longer;
    s->least = s->last.ticks;
}

static void add_to_stratum(tl_longest *l, const tl_long_call *c)
{
    struct tl_long_stratum *s = &l->stratum[tl_longest_piece(l, c->begin) * l->tracks + c->track % l->tracks];
    if (s->least && !is_longer(c, &s->last))
        return;
    append(l, &s->calls, c);
    if (s->calls.n >= 2 * l->share)
        cut_stratum(l, s);
}

static void become_strict(tl_longest *l)
{
    l->strict = true;
    l->stratum = calloc((size_t)l->strata + 1, sizeof *l->stratum);
    if (!l->stratum)
        l->failed = true;
    for (uint32_t i = 0; i < l->rest.n && !l->failed; i++)
        add_to_stratum(l, &l->rest.call[i]);
    clear(&l->rest);
}

/* A call that is not among the longest of all. */
static void add_rest(tl_longest *l, const tl_long_call *c)
{
    if (l->failed)
        return;
    if (!l->strict && l->rest.n >= 2 * l->most_rest)
        become_strict(l);
    if (!l->strict)
        append(l, &l->rest, c);
    else if (!l->failed)
        add_to_stratum(l, c);
}

static void cut_top(tl_longest *l)
{
    if (l->top.n <= l->most_top)
        return;
    if (l->most_top)
        select_longest(l->top.call, l->top.n, l->most_top);
    for (uint32_t i = l->most_top; i < l->top.n; i++)
        add_rest(l, &l->top.call[i]);
    l->top.n = l->most_top;
    l->cut = true;
    l->last = l->most_top ? l->top.call[l->most_top - 1] : none_is_longer;
    l->least = l->last.ticks;
}

static void add_any(tl_longest *l, const tl_long_call *c)
{
    if (l->cut && !is_longer(c, &l->last)) {
        add_rest(l, c);
        return;
    }
    append(l, &l->top, c);
    if (l->top.n >= 2 * (uint64_t)l->most_top)
        cut_top(l);
}

void tl_longest_add(tl_longest *l, const tl_long_call *c)
{
    l->calls++;
    add_any(l, c);
}

void tl_longest_merge(tl_longest *l, tl_longest *from)
{
    l->calls += from->calls;
    l->failed = l->failed || from->failed;
    for (uint32_t i = 0; i < from->top.n && !l->failed; i++)
        add_any(l, &from->top.call[i]);
    for (uint32_t i = 0; i < from->rest.n && !l->failed; i++)
        add_rest(l, &from->rest.call[i]);
    if (from->strict && !l->strict && !l->failed)
        become_strict(l);
    for (uint32_t i = 0; from->stratum && i < from->strata; i++)
        for (uint32_t k = 0; k < from->stratum[i].calls.n && !l->failed; k++)
            add_rest(l, &from->stratum[i].calls.call[k]);
    tl_longest_fini(from);
}

bool tl_longest_finish(tl_longest *l, tl_long_result *out)
{
    *out = (tl_long_result){0};
    cut_top(l);
    if (!l->strict && l->rest.n > l->most_rest)
        become_strict(l);
    for (uint32_t i = 0; l->stratum && i < l->strata && !l->failed; i++) {
        cut_stratum(l, &l->stratum[i]);
        for (uint32_t k = 0; k < l->stratum[i].calls.n; k++)
            append(l, &l->top, &l->stratum[i].calls.call[k]);
    }
    for (uint32_t i = 0; i < l->rest.n && !l->failed; i++)
        append(l, &l->top, &l->rest.call[i]);
    if (l->failed)
        return false;
    out->calls = l->top;
    l->top = (tl_long_calls){0};
    out->left_out = l->calls - out->calls.n;
    out->all_from = out->left_out == 0 ? 0 : l->least == UINT64_MAX ? UINT64_MAX : l->least + 1;
    sort_by_place(out->calls.call, out->calls.n);
    return true;
}

bool tl_longest_fewer(const tl_long_result *r, tl_long_result *out, uint32_t most, uint32_t tracks, uint64_t from,
                      uint64_t to)
{
    tl_longest l;
    *out = (tl_long_result){0};
    tl_longest_init(&l, most, tracks, from, to);
    for (uint32_t i = 0; i < r->calls.n && !l.failed; i++)
        tl_longest_add(&l, &r->calls.call[i]);
    l.calls += r->left_out;
    const bool ok = tl_longest_finish(&l, out);
    tl_longest_fini(&l);
    return ok;
}
