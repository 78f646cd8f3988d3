/* Rows of calls: memory. */
#include "op/call_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* A batch gives at most one row an event, unless many open calls end at once. */
#define KEPT (2 * TL_CALL_ROWS_MOST + 24)

bool tl_call_rows_grow(tl_call_rows *r)
{
#define SIZE(type, name) +sizeof(type)
    static const size_t row = 0 TL_CALL_COLUMNS(SIZE);
#undef SIZE
    const uint32_t capacity = r->capacity ? 2 * r->capacity : KEPT;
    tl_call_rows larger = {.n = r->n, .capacity = capacity, .without = r->without, .all = r->all};
    char *at = capacity > r->capacity ? tl_alloc(capacity, row) : NULL;
    if (!at)
        return false;
    larger.memory = at;
#define MOVE(type, name)                                                                                               \
    larger.name = (type *)(void *)at;                                                                                  \
    if (r->n)                                                                                                          \
        memcpy(larger.name, r->name, r->n * sizeof(type));                                                             \
    at += capacity * sizeof(type);
    TL_CALL_COLUMNS(MOVE)
#undef MOVE
    free(r->memory);
    *r = larger;
    return true;
}

tl_call_rows tl_call_rows_part(const tl_call_rows *r, uint32_t from, uint32_t n)
{
    tl_call_rows part = {.n = n, .capacity = n, .without = r->without};
#define BORROW(type, name) part.name = r->name + from;
    TL_CALL_COLUMNS(BORROW)
#undef BORROW
    return part;
}

void tl_call_rows_clear(tl_call_rows *r)
{
    const tl_call_rows empty = {.without = r->without, .all = r->all};
    r->n = 0;
    if (r->capacity > KEPT) {
        tl_call_rows_fini(r);
        *r = empty;
    }
}

void tl_call_rows_fini(tl_call_rows *r)
{
    free(r->memory);
    *r = (tl_call_rows){0};
}
