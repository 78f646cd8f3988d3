/* Sorts the distinct strings of a profile: first by pointer, to drop the many repetitions cheaply, then by text. */
#include "model/string_rank.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/patched.h"

struct tl_string_rank {
    const char *s;
    uint32_t rank;
};

static int by_pointer(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct tl_string_rank *)a)->s;
    uintptr_t y = (uintptr_t)((const struct tl_string_rank *)b)->s;
    return TL_COMPARE(x, y);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct tl_string_rank *)a)->s, ((const struct tl_string_rank *)b)->s);
}

static void add(tl_string_ranks *r, const char *s)
{
    if (s)
        r->by_pointer[r->npointer++].s = s;
}

static void collect(tl_string_ranks *r, const tl_profile *p)
{
    for (uint32_t i = 0; i < p->nfunction; i++) {
        add(r, p->function[i].module);
        add(r, p->function[i].name);
        add(r, p->function[i].file);
        add(r, p->function[i].linkage_name);
        add(r, p->function[i].library);
        add(r, p->function[i].renamed);
    }
    for (uint32_t i = 0; i < p->ntrack; i++)
        add(r, p->track[i].name);
    add(r, p->clock.name);
    add(r, p->build_id);
    add(r, p->exe);
    for (uint32_t i = 0; i < p->npatched; i++) {
        add(r, p->patched[i].path);
        add(r, p->patched[i].why);
    }
}

int tl_string_ranks_init(tl_string_ranks *r, const tl_profile *p, tl_error *e)
{
    *r = (tl_string_ranks){0};
    uint64_t most = 6 * (uint64_t)p->nfunction + p->ntrack + 2 * (uint64_t)p->npatched + 3;
    if (most > UINT32_MAX || most > SIZE_MAX / sizeof *r->by_pointer)
        goto no_memory;
    r->by_pointer = tl_alloc((size_t)most, sizeof *r->by_pointer);
    if (!r->by_pointer)
        goto no_memory;
    collect(r, p);
    qsort(r->by_pointer, r->npointer, sizeof *r->by_pointer, by_pointer);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->npointer; i++)
        if (n == 0 || r->by_pointer[n - 1].s != r->by_pointer[i].s)
            r->by_pointer[n++] = r->by_pointer[i];
    r->npointer = n;

    r->text = tl_alloc((size_t)n + 1, sizeof *r->text);
    if (!r->text)
        goto no_memory;
    qsort(r->by_pointer, n, sizeof *r->by_pointer, by_text);
    for (uint32_t i = 0; i < n; i++) {
        if (r->n == 0 || strcmp(r->text[r->n - 1], r->by_pointer[i].s) != 0)
            r->text[r->n++] = r->by_pointer[i].s;
        r->by_pointer[i].rank = r->n;
    }
    qsort(r->by_pointer, n, sizeof *r->by_pointer, by_pointer);
    return 0;
no_memory:
    tl_string_ranks_fini(r);
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort the strings of %" PRIu32 " functions", p->nfunction);
}

void tl_string_ranks_fini(tl_string_ranks *r)
{
    free(r->by_pointer);
    free(r->text);
    *r = (tl_string_ranks){0};
}

uint32_t tl_string_rank(const tl_string_ranks *r, const char *s)
{
    if (!s)
        return 0;
    struct tl_string_rank key = {.s = s};
    const struct tl_string_rank *found = bsearch(&key, r->by_pointer, r->npointer, sizeof key, by_pointer);
    assert(found);
    return found->rank;
}
