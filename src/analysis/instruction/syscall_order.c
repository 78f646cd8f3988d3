/* System calls, sorted. */
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/syscall_table.h"
#include "base/grow.h"

/* Sort keys: qsort() passes no argument for the table. */
typedef struct row_key {
    uint64_t count, number;
    uint32_t at;
} row_key;

typedef struct call_key {
    const tl_syscall *call;
    uint32_t at;
} call_key;

static int compare_rows(const void *left, const void *right)
{
    const row_key *a = left, *b = right;
    const int order = TL_COMPARE(b->count, a->count);
    return order ? order : TL_COMPARE(a->number, b->number);
}

/* Calls of one track at one time come from one worker, in their order. */
static int compare_calls(const void *left, const void *right)
{
    const call_key *x = left, *y = right;
    const tl_syscall *a = x->call, *b = y->call;
    int order = strcmp(a->path, b->path);
    if (!order)
        order = TL_COMPARE(a->rank, b->rank);
    if (!order)
        order = TL_COMPARE(a->track_index, b->track_index);
    if (!order)
        order = TL_COMPARE(a->ts, b->ts);
    return order ? order : TL_COMPARE(x->at, y->at);
}

uint32_t *tl_syscalls_sort(const tl_syscalls *s)
{
    row_key *key = tl_alloc(s->n + (size_t)1, sizeof *key);
    uint32_t *index = tl_alloc(s->n + (size_t)1, sizeof *index);
    if (!key || !index) {
        free(key);
        free(index);
        return NULL;
    }
    for (uint32_t i = 0; i < s->n; i++)
        key[i] = (row_key){.count = s->row[i].count, .number = s->row[i].number, .at = i};
    qsort(key, s->n, sizeof *key, compare_rows);
    for (uint32_t i = 0; i < s->n; i++)
        index[i] = key[i].at;
    free(key);
    return index;
}

uint32_t *tl_syscalls_sort_list(const tl_syscalls *s)
{
    call_key *key = tl_alloc(s->ncalls + (size_t)1, sizeof *key);
    uint32_t *index = tl_alloc(s->ncalls + (size_t)1, sizeof *index);
    if (!key || !index) {
        free(key);
        free(index);
        return NULL;
    }
    for (uint32_t i = 0; i < s->ncalls; i++)
        key[i] = (call_key){.call = &s->call[i], .at = i};
    qsort(key, s->ncalls, sizeof *key, compare_calls);
    for (uint32_t i = 0; i < s->ncalls; i++)
        index[i] = key[i].at;
    free(key);
    return index;
}
