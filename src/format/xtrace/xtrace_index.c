/* Makes the bytes of the index of a compressed stream. */
#include "format/xtrace/xtrace_index.h"

#include <stdlib.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/xtrace/xtrace_layout.h"

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xtrace: no memory for the index of the stream");
}

int xtrace_index_add(xtrace_index *x, const xtrace_frame *f, tl_error *e)
{
    if (!TL_GROW(x->frame, x->n, 1, x->capacity))
        return no_memory(e);
    x->frame[x->n++] = *f;
    return 0;
}

static uint8_t *put_frame(uint8_t *p, const xtrace_frame *f)
{
    tl_store64(p, f->offset, false);
    tl_store64(p + 8, f->insns, false);
    tl_store64(p + 16, f->user_insns, false);
    tl_store64(p + 24, f->pc, false);
    tl_store64(p + 32, f->has_pc ? XTRACE_INDEX_HAS_PC : 0, false);
    return p + XTRACE_INDEX_ENTRY;
}

int xtrace_index_encode(const xtrace_index *x, uint8_t **out, size_t *n, tl_error *e)
{
    uint8_t *bytes = NULL;
    *out = NULL;
    if (!__builtin_mul_overflow((size_t)x->n, XTRACE_INDEX_ENTRY, n) &&
        !__builtin_add_overflow(*n, XTRACE_INDEX_HEAD, n))
        bytes = tl_alloc(*n, 1);
    if (!bytes)
        return no_memory(e);
    tl_store32(bytes, XTRACE_INDEX_MAGIC, false);
    tl_store32(bytes + 4, XTRACE_INDEX_VERSION, false);
    tl_store64(bytes + 8, x->n, false);
    uint8_t *p = bytes + XTRACE_INDEX_HEAD;
    for (uint32_t i = 0; i < x->n; i++)
        p = put_frame(p, &x->frame[i]);
    *out = bytes;
    return 0;
}

void xtrace_index_fini(xtrace_index *x)
{
    free(x->frame);
    *x = (xtrace_index){0};
}
