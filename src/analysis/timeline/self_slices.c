/* Self time by place and slice of time. */
#include "analysis/timeline/self_slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Pieces that wait on a track. More than can be open calls and slices: only a clock that goes back needs more, and then
 * self time is in an earlier slice of its call. */
#define WAIT_MOST (1u << 21)

static uint32_t blocks_of(const tl_self_slices *s)
{
    return s->axis.n / TL_SLICE_BLOCK + 1;
}

bool tl_self_slices_init(tl_self_slices *s, const tl_time_axis *axis, uint32_t slots)
{
    *s = (tl_self_slices){.axis = *axis, .slots = slots};
    s->block = calloc((size_t)slots * blocks_of(s) + 1, sizeof *s->block);
    s->scratch = tl_alloc((size_t)axis->n + 1, sizeof *s->scratch);
    return s->block && s->scratch;
}

void tl_self_slices_fini(tl_self_slices *s)
{
    free(s->block);
    free(s->cell);
    free(s->scratch);
    *s = (tl_self_slices){0};
}

/* First use of a block of slices. */
TL_COLD static bool add_block(tl_self_slices *s, uint32_t *block)
{
    const size_t cells = TL_SLICE_BLOCK;
    if (s->nblock == s->capacity) {
        const uint32_t capacity = s->capacity ? 2 * s->capacity : 64;
        if (!TL_RESIZE(s->cell, cells * capacity))
            return false;
        s->capacity = capacity;
    }
    memset(s->cell + s->nblock * cells, 0, cells * sizeof *s->cell);
    *block = ++s->nblock;
    return true;
}

bool tl_self_slices_put(tl_self_slices *s, uint32_t slot, uint32_t slice, uint64_t self, uint64_t calls)
{
    uint32_t *block = &s->block[(size_t)slot * blocks_of(s) + slice / TL_SLICE_BLOCK];
    if (TL_UNLIKELY(*block == 0) && !add_block(s, block))
        return false;
    tl_slice_cell *cell = &s->cell[(size_t)(*block - 1) * TL_SLICE_BLOCK + slice % TL_SLICE_BLOCK];
    cell->self = tl_add_saturated(cell->self, self);
    cell->calls = tl_add_saturated(cell->calls, calls);
    return true;
}

tl_slice_cell tl_self_slices_get(const tl_self_slices *s, uint32_t slot, uint32_t slice)
{
    const uint32_t block = s->block[(size_t)slot * blocks_of(s) + slice / TL_SLICE_BLOCK];
    return block ? s->cell[(size_t)(block - 1) * TL_SLICE_BLOCK + slice % TL_SLICE_BLOCK] : (tl_slice_cell){0};
}

bool tl_self_slices_merge(tl_self_slices *s, const tl_self_slices *from)
{
    for (uint32_t slot = 0; slot < from->slots; slot++)
        for (uint32_t i = 0; i < from->axis.n; i++) {
            const tl_slice_cell cell = tl_self_slices_get(from, slot, i);
            if ((cell.self || cell.calls) && !tl_self_slices_put(s, slot, i, cell.self, cell.calls))
                return false;
        }
    return true;
}

TL_COLD bool tl_slice_wait_push_slow(tl_slice_wait *w, const tl_slice_piece *p)
{
    if (TL_UNLIKELY(w->n == WAIT_MOST))
        return true;
    if (!TL_GROW(w->piece, w->n, 1, w->capacity))
        return false;
    w->piece[w->n++] = *p;
    return true;
}

/* What is left of the ticks of each slice without the calls that it made, whose pieces are from `at` on; the sum. */
static uint64_t split(tl_self_slices *s, const tl_slice_wait *w, uint32_t at, uint64_t id, uint64_t begin, uint64_t end,
                      uint32_t first, uint32_t last)
{
    uint64_t sum = 0;
    for (uint32_t i = first; i <= last; i++)
        s->scratch[i] = tl_time_axis_overlap(&s->axis, i, begin, end);
    for (; at < w->n; at++) {
        const tl_slice_piece *p = &w->piece[at];
        uint64_t *left = &s->scratch[p->slice];
        if (p->caller == id && p->slice >= first && p->slice <= last)
            *left = *left > p->ticks ? *left - p->ticks : 0;
    }
    for (uint32_t i = first; i <= last; i++)
        sum += s->scratch[i];
    return sum;
}

/* Where a clock went back, or a part was outside of the range, the pieces do not add up to what the call had. */
static void settle(uint64_t *left, uint32_t n, uint64_t sum, uint64_t self)
{
    if (sum < self)
        left[0] += self - sum;
    for (uint32_t i = 0; i < n && sum > self; i++) {
        const uint64_t less = left[i] < sum - self ? left[i] : sum - self;
        left[i] -= less;
        sum -= less;
    }
}

static bool add_long(tl_self_slices *s, tl_slice_wait *w, const tl_slice_call *c, uint32_t at, uint64_t begin,
                     uint64_t end)
{
    const uint32_t first = tl_time_axis_piece(&s->axis, begin), last = tl_time_axis_last(&s->axis, begin, end);
    bool ok = true;
    if (c->slot != UINT32_MAX) {
        const uint64_t sum = split(s, w, at, c->id, begin, end, first, last);
        if (s->axis.whole)
            settle(s->scratch + first, last - first + 1, sum, c->self);
        const bool begins = s->axis.whole || begin == c->begin;
        for (uint32_t i = first; ok && i <= last; i++)
            if (s->scratch[i] || (begins && i == first))
                ok = tl_self_slices_put(s, c->slot, i, s->scratch[i], begins && i == first);
    }
    w->n = at;
    for (uint32_t i = first; ok && i <= last && c->caller != UINT64_MAX; i++)
        ok = tl_slice_wait_push(w, c->caller, c->depth, i, tl_time_axis_overlap(&s->axis, i, begin, end));
    return ok;
}

bool tl_self_slices_add(tl_self_slices *s, tl_slice_wait *w, const tl_slice_call *c)
{
    uint64_t begin = c->begin, end = c->end;
    uint32_t at = w->n;
    while (at && w->piece[at - 1].depth > c->depth)
        at--;
    if (c->is_open || !tl_time_axis_clip(&s->axis, &begin, &end)) {
        w->n = at;
        return true;
    }
    const uint32_t slice = tl_time_axis_piece(&s->axis, begin);
    if (TL_UNLIKELY(!s->axis.whole || slice != tl_time_axis_last(&s->axis, begin, end)))
        return add_long(s, w, c, at, begin, end);
    return (c->slot == UINT32_MAX || tl_self_slices_put(s, c->slot, slice, c->self, 1)) &&
           tl_slice_wait_short(w, c->caller, c->depth, slice, end - begin);
}
