/* Allocations by type, by place and over time; and the heap at the end.
 *
 * Memory: types, places and names (see their headers); nothing per allocation. */
#ifndef TL_ANALYSIS_ALLOC_TABLE_H
#define TL_ANALYSIS_ALLOC_TABLE_H

#include "analysis/runtime/alloc_places.h"
#include "analysis/runtime/over_time.h"
#include "analysis/runtime/type_rows.h"

typedef struct tl_alloc {
    bool several; /* set before the first of several inputs: types are merged by name; no live objects */
    tl_type_rows types;
    tl_sum count, bytes;
    uint64_t sampling; /* they are estimates: for so many bytes one object was recorded; of inputs the most; 0: all */
    bool has_live;
    uint64_t live_ts;
    tl_type_rows live;
    tl_alloc_places places;
    tl_over_time over_time; /* bytes; each input from its begin */
    bool has_span;
    uint64_t first, last; /* ns: of selected events, of any class; of the longest input */
    tl_strings strings;
} tl_alloc;

/* Adds an input. Allocations while recording was paused do not count. Errors: as tl_runtime_read(). */
int tl_alloc_read(void *table, tl_source *s, const tl_select *select, tl_error *e);
/* After the last input: sorts the types as asked, live ones and places by bytes. */
void tl_alloc_sort(tl_alloc *a, tl_type_order order);
void tl_alloc_fini(void *table);

#endif
