/* Reads the index of a compressed stream. */
#include "format/xtrace/xtrace_places.h"

#include <stdlib.h>

#include "base/endian.h"
#include "base/grow.h"

/* The pc is not needed: the instruction at the place has it. */
static xtrace_place entry(const uint8_t *p)
{
    return (xtrace_place){.offset = tl_load64(p, false), .count = tl_load64(p + 8, false)};
}

/* Are these the bytes of an index with ascending entries? */
static int take(xtrace_places *p, const uint8_t *data, size_t n, uint64_t size, tl_error *e)
{
    if (n < XTRACE_INDEX_HEAD || tl_load32(data, false) != XTRACE_INDEX_MAGIC ||
        tl_load32(data + 4, false) != XTRACE_INDEX_VERSION)
        return 0;
    const uint64_t entries = tl_load64(data + 8, false);
    if (entries == 0 || entries != (n - XTRACE_INDEX_HEAD) / XTRACE_INDEX_ENTRY || entries > UINT32_MAX)
        return 0;
    p->at = tl_alloc((size_t)entries, sizeof *p->at);
    if (!p->at)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the index of a stream");
    for (uint32_t i = 0; i < entries; i++) {
        const xtrace_place at = entry(data + XTRACE_INDEX_HEAD + (size_t)i * XTRACE_INDEX_ENTRY);
        const xtrace_place *before = i ? &p->at[i - 1] : NULL;
        if (before ? at.offset <= before->offset || at.count < before->count || at.offset >= size
                   : at.offset || at.count) {
            free(p->at);
            p->at = NULL;
            return 0;
        }
        p->at[i] = at;
    }
    p->n = (uint32_t)entries;
    return 0;
}

int xtrace_places_read(xtrace_places *p, const tl_input *in, tl_error *e)
{
    void *data = NULL;
    size_t n;
    *p = (xtrace_places){0};
    int status = tl_input_note(in, XTRACE_INDEX_FRAME_MAGIC, &data, &n, e);
    if (status <= 0)
        return status;
    status = take(p, data, n, tl_input_size(in), e);
    free(data);
    return status;
}

uint32_t xtrace_places_find(const xtrace_places *p, uint64_t count)
{
    uint32_t low = 0, high = p->n;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->at[middle].count <= count)
            low = middle;
        else
            high = middle;
    }
    return low;
}
