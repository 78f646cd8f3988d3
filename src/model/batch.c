/* Batches: allocated once, then appended to without allocation. */
#include "model/batch.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/trace_impl.h"

int tl_batch_init(tl_batch *b, const struct tl_trace *t, const tl_want *want, uint32_t capacity, tl_error *e)
{
    *b = (tl_batch){.trace = t, .capacity = capacity < TL_BATCH_MAX ? capacity : TL_BATCH_MAX};
    b->ts = tl_alloc(b->capacity, sizeof *b->ts);
    b->key = tl_alloc(b->capacity, sizeof *b->key);
    b->cls = tl_alloc(b->capacity, sizeof *b->cls);
    b->track = tl_alloc(b->capacity, sizeof *b->track);
    bool ok = b->ts && b->key && b->cls && b->track;
    if (t && t->has_aux)
        ok = (b->aux = tl_alloc(b->capacity, sizeof *b->aux)) && ok;
    if (t && t->ranked)
        ok = (b->rank = tl_alloc(b->capacity, sizeof *b->rank)) && ok;
    if (want->cpu)
        ok = (b->cpu = tl_alloc(b->capacity, sizeof *b->cpu)) && ok;
    if (want->fields) {
        b->val_capacity = b->capacity;
        b->val = calloc(b->capacity + 1, sizeof *b->val);
        b->v = tl_alloc(b->val_capacity, sizeof *b->v);
        b->arena = calloc(1, sizeof *b->arena);
        ok = ok && b->val && b->v && b->arena;
    }
    if (ok)
        return 0;
    tl_batch_fini(b);
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a batch of events");
}

void tl_batch_fini(tl_batch *b)
{
    free(b->ts);
    free(b->key);
    free(b->aux);
    free(b->rank);
    free(b->cls);
    free(b->track);
    free(b->cpu);
    free(b->val);
    free(b->v);
    if (b->arena)
        tl_arena_fini(b->arena);
    free(b->arena);
    *b = (tl_batch){0};
}

void tl_batch_clear(tl_batch *b)
{
    b->n = b->nval = 0;
    if (b->arena)
        tl_arena_reset(b->arena);
}

tl_value *tl_batch_slots(tl_batch *b, uint32_t n)
{
    if (!TL_GROW(b->v, b->nval, n, b->val_capacity))
        return NULL;
    tl_value *slots = b->v + b->nval;
    b->nval += n;
    return slots;
}
