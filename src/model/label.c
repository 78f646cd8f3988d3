/* Prepared text, kept in an arena and found by number. */
#include "model/label.h"

#include <stdlib.h>

#include "base/grow.h"

enum { CAPACITY_LEAST = 64 };

void tl_labels_init(tl_labels *l, tl_label_make *make, void *arg)
{
    l->make = make;
    l->arg = arg;
}

void tl_labels_fini(tl_labels *l)
{
    tl_hash_fini(&l->index);
    tl_arena_fini(&l->arena);
    tl_pb_fini(&l->scratch);
    free(l->label);
    *l = (tl_labels){0};
}

/* Drops all labels when there are too many. */
static void keep_bound(tl_labels *l)
{
    if (l->n < TL_LABELS_MAX && l->arena.total < TL_LABEL_BYTES_MAX)
        return;
    tl_hash_fini(&l->index);
    tl_arena_fini(&l->arena);
    l->n = 0;
}

TL_NOINLINE tl_label tl_labels_make(tl_labels *l, uint64_t number)
{
    tl_label label = {0};
    keep_bound(l);
    tl_pb_clear(&l->scratch);
    l->make(l->arg, number, &l->scratch);
    if (l->scratch.failed || !TL_GROW(l->label, l->n, 1, l->capacity))
        return label;
    char *copy = tl_arena_alloc(&l->arena, l->scratch.n + 1);
    if (!copy || !tl_hash_put(&l->index, number, l->n))
        return label;
    if (l->scratch.n > 0)
        memcpy(copy, l->scratch.data, l->scratch.n);
    label = (tl_label){copy, l->scratch.n};
    l->label[l->n++] = label;
    return label;
}
