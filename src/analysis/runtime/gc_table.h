/* Garbage collections: a list of them in the order of the input, and sums. Times are ns (or ticks, see
 * tl_runtime_time()) since each input began.
 *
 * Memory: 56 bytes per collection, 24 per record of heap sizes, 24 for each generation in it. */
#ifndef TL_ANALYSIS_GC_TABLE_H
#define TL_ANALYSIS_GC_TABLE_H

#include "analysis/runtime/open_begins.h"
#include "analysis/runtime/quantiles.h"
#include "analysis/runtime/runtime_events.h"

typedef struct tl_collection {
    uint64_t begin, pause; /* a pause is at least 0 */
    uint64_t end;
    bool ended;
    const char *track;       /* name */
    const char *reason;      /* or NULL */
    const char *generations; /* "tfff": a letter for each generation, 't' if it was collected */
} tl_collection;

typedef struct tl_heap_size {
    const char *name;
    uint64_t used, reserved; /* bytes */
} tl_heap_size;

typedef struct tl_heap_sizes {
    uint64_t ts;
    uint32_t first, n; /* of tl_gc.size */
} tl_heap_sizes;

/* Collections of the same generations for the same reason. */
typedef struct tl_gc_kind {
    const char *reason, *generations;
    uint64_t collections;
    tl_quantiles pause; /* of those that ended */
} tl_gc_kind;

typedef struct tl_gc {
    tl_collection *collection;
    uint32_t n, capacity;
    tl_heap_sizes *heap;
    uint32_t nheap, heap_capacity;
    tl_heap_size *size;
    uint32_t nsize, size_capacity;
    uint64_t induced, by_generation[4];
    uint64_t stray_ends; /* ends without begin */
    uint64_t open;       /* begins without end */
    uint64_t span;       /* of all inputs together: from the earliest to the latest selected event */
    tl_strings strings;
} tl_gc;

/* Adds an input to a zeroed or filled table. An end outside of the selected time counts as missing; one whose begin was
 * not selected does not count. Errors: as tl_runtime_read(). */
int tl_gc_read(void *table, tl_source *s, const tl_select *select, tl_error *e);
/* Quantiles of all pauses. Errors: TL_ENOMEM. */
int tl_gc_pauses(const tl_gc *g, tl_quantiles *out, tl_error *e);
/* By generations and reason, in the order of their first collection; the caller frees them; has room for one more.
 * Errors: TL_ENOMEM. */
int tl_gc_kinds(const tl_gc *g, tl_gc_kind **out, uint32_t *n, tl_error *e);
/* The collections with the longest pauses, longest first, at most `most` (0: all): indexes, freed by the caller. */
int tl_gc_longest(const tl_gc *g, uint32_t most, uint32_t **out, uint32_t *n, tl_error *e);
void tl_gc_fini(void *table);

#endif
