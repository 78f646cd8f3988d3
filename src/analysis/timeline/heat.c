/* Durations over time. */
#include "analysis/timeline/heat.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

bool tl_heat_init(tl_heat *h, const tl_time_axis *axis, uint32_t rows)
{
    *h = (tl_heat){.axis = *axis, .rows = rows};
    h->block = calloc((size_t)rows * axis->n * TL_HEAT_BLOCKS + 1, sizeof *h->block);
    return h->block != NULL;
}

void tl_heat_fini(tl_heat *h)
{
    free(h->block);
    free(h->calls);
    *h = (tl_heat){0};
}

TL_COLD bool tl_heat_add_block(tl_heat *h, uint32_t *block)
{
    if (h->nblock == h->capacity) {
        const uint32_t capacity = h->capacity ? 2 * h->capacity : 64;
        if (!TL_RESIZE(h->calls, (size_t)TL_HEAT_BLOCK * capacity))
            return false;
        h->capacity = capacity;
    }
    memset(h->calls + (size_t)h->nblock * TL_HEAT_BLOCK, 0, TL_HEAT_BLOCK * sizeof *h->calls);
    *block = ++h->nblock;
    return true;
}

bool tl_heat_add(tl_heat *h, uint32_t row, uint64_t begin, uint64_t ticks)
{
    uint64_t at = begin, end = begin;
    return !tl_time_axis_clip(&h->axis, &at, &end) ||
           tl_heat_put(h, row, tl_time_axis_piece(&h->axis, at), tl_heat_bucket(ticks), 1);
}

uint64_t tl_heat_get(const tl_heat *h, uint32_t row, uint32_t column, uint32_t bucket)
{
    const uint32_t block = h->block[((size_t)row * h->axis.n + column) * TL_HEAT_BLOCKS + bucket / TL_HEAT_BLOCK];
    return block ? h->calls[(size_t)(block - 1) * TL_HEAT_BLOCK + bucket % TL_HEAT_BLOCK] : 0;
}

bool tl_heat_merge(tl_heat *h, const tl_heat *from)
{
    for (size_t i = 0; i < (size_t)from->rows * from->axis.n * TL_HEAT_BLOCKS; i++)
        for (uint32_t k = 0; from->block[i] && k < TL_HEAT_BLOCK; k++) {
            const uint64_t calls = from->calls[(size_t)(from->block[i] - 1) * TL_HEAT_BLOCK + k];
            const uint32_t row = (uint32_t)(i / TL_HEAT_BLOCKS / h->axis.n),
                           column = (uint32_t)(i / TL_HEAT_BLOCKS % h->axis.n);
            if (calls && !tl_heat_put(h, row, column, (uint32_t)(i % TL_HEAT_BLOCKS) * TL_HEAT_BLOCK + k, calls))
                return false;
        }
    return true;
}
