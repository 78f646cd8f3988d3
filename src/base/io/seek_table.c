/* Builds the table of a seekable zstd file. */
#include "base/io/seek_table.h"

#include <stdlib.h>

#include "base/endian.h"
#include "base/grow.h"

bool tl_seek_table_add(tl_seek_table *t, uint64_t packed, uint64_t content)
{
    t->broken = t->broken || packed > UINT32_MAX || content > UINT32_MAX || t->n == TL_SEEK_TABLE_MOST;
    if (t->broken)
        return true;
    if (!TL_GROW(t->frame, t->n, 1, t->capacity))
        return false;
    t->frame[t->n++] = (tl_seek_frame){.packed = (uint32_t)packed, .content = (uint32_t)content};
    return true;
}

uint8_t *tl_seek_table_make(const tl_seek_table *t, size_t *n)
{
    size_t payload; /* fits in 32 bits: see TL_SEEK_TABLE_MOST */
    if (__builtin_mul_overflow((size_t)t->n, TL_SEEK_TABLE_ENTRY, &payload) ||
        __builtin_add_overflow(payload, TL_SEEK_TABLE_FOOTER, &payload) || payload > SIZE_MAX - TL_SKIPPABLE_HEADER)
        return NULL;
    uint8_t *bytes = malloc(TL_SKIPPABLE_HEADER + payload), *p = bytes;
    if (!bytes)
        return NULL;
    tl_store32(p, TL_SEEK_TABLE_MAGIC, false);
    tl_store32(p + 4, (uint32_t)payload, false);
    p += TL_SKIPPABLE_HEADER;
    for (uint32_t i = 0; i < t->n; i++, p += TL_SEEK_TABLE_ENTRY) {
        tl_store32(p, t->frame[i].packed, false);
        tl_store32(p + 4, t->frame[i].content, false);
    }
    tl_store32(p, t->n, false);
    p[4] = 0;
    tl_store32(p + 5, TL_SEEK_TABLE_FOOTER_MAGIC, false);
    *n = TL_SKIPPABLE_HEADER + payload;
    return bytes;
}

void tl_seek_table_fini(tl_seek_table *t)
{
    free(t->frame);
    *t = (tl_seek_table){0};
}
