/* Live objects: a snapshot each time that the trace lists them, and their growth from the first to the last.
 *
 * Memory: 40 bytes per snapshot, and the types of the first and the last. */
#ifndef TL_ANALYSIS_HEAP_TABLE_H
#define TL_ANALYSIS_HEAP_TABLE_H

#include "analysis/runtime/runtime_events.h"
#include "analysis/runtime/type_rows.h"

typedef struct tl_snapshot {
    uint64_t ts; /* ns (or ticks, see tl_runtime_time()) */
    tl_sum count, bytes;
} tl_snapshot;

typedef struct tl_heap {
    tl_snapshot *snapshot; /* in the order of the input */
    uint32_t n, capacity;
    tl_type_rows types; /* of the last, and of the first (count_before, bytes_before; 0 if there is only one) */
    tl_strings strings;
} tl_heap;

/* Reads one input into a zeroed table. Errors: as tl_runtime_read(). */
int tl_heap_read(void *table, tl_source *s, const tl_select *select, tl_error *e);
void tl_heap_fini(void *table);

#endif
