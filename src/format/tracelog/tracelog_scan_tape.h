/* The state of scanning a line, and values for the tape. Part of tracelog_scan.c. */
#ifndef TL_FORMAT_TRACELOG_SCAN_TAPE_H
#define TL_FORMAT_TRACELOG_SCAN_TAPE_H

#include <string.h>

#include "base/text/utf8.h"
#include "format/tracelog/tracelog_scan.h"

#define VALUES_OF_A_LINE 16u /* on the tape, without those of lists */

typedef struct scan {
    tracelog_part *part;
    tracelog_note *note;
    tl_value *v;        /* next slot of the tape */
    const uint8_t *end; /* of the lines */
    uint64_t ms;
    unsigned ms_digits; /* of the previous time */
} scan;

/* Makes room for n values after v, and returns its new place; NULL when memory runs out. It does not take a pointer to
 * the state, which so can stay in registers. */
TL_NOINLINE static tl_value *grow_tape(tracelog_part *part, const tl_value *v, uint32_t n)
{
    tl_batch *b = &part->batch;
    b->nval = (uint32_t)(v - b->v);
    if (!tl_batch_slots(b, n)) {
        part->no_memory = true;
        return NULL;
    }
    b->nval -= n;
    return b->v + b->nval;
}

TL_ALWAYS_INLINE bool need(scan *s, uint32_t n)
{
    const tl_batch *b = &s->part->batch;
    if (TL_LIKELY(b->val_capacity - (uint32_t)(s->v - b->v) >= n))
        return true;
    tl_value *v = grow_tape(s->part, s->v, n);
    s->v = v ? v : s->v;
    return v != NULL;
}

TL_ALWAYS_INLINE void put_u64(scan *s, uint64_t u, const bool store)
{
    if (store)
        *s->v++ = (tl_value){.type = TL_U64, .as.u = u};
}

TL_ALWAYS_INLINE void put_hex(scan *s, uint64_t u, unsigned digits, const bool store)
{
    if (store)
        *s->v++ = (tl_value){.type = TL_HEX, .flags = (uint8_t)digits, .as.u = u};
}

TL_ALWAYS_INLINE void put_null(scan *s, const bool store)
{
    if (store)
        *s->v++ = (tl_value){.type = TL_NULL};
}

/* Puts text, converted to UTF-8, into the memory of the batch. */
static bool put_text(scan *s, const uint8_t *p, size_t n, const bool store)
{
    const char *text = (const char *)p;
    size_t bad = 0;
    for (size_t i = 0; i < n;) {
        const size_t k = p[i] < 0x80 ? 1 : tl_utf8_length(text + i, n - i);
        bad += k == 0;
        i += k ? k : 1;
    }
    s->note->bad_text += (uint32_t)bad;
    if (!store)
        return true;
    char *copy = tl_arena_alloc(s->part->batch.arena, n + bad + 1);
    if (!copy) {
        s->part->no_memory = true;
        return false;
    }
    if (bad)
        n = tl_utf8_repair(copy, text, n);
    else if (n > 0)
        memcpy(copy, text, n);
    copy[n] = '\0';
    *s->v++ = (tl_value){.type = TL_STRING, .n = (uint32_t)n, .as.p = copy};
    return true;
}

#endif
