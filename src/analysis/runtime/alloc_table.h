/* What was allocated: by type, by place, over time; and what lived in the heap at the end.
 *
 * Memory: types, places and names (see the headers of these); nothing for each allocation. */
#ifndef TL_ANALYSIS_ALLOC_TABLE_H
#define TL_ANALYSIS_ALLOC_TABLE_H

#include "analysis/runtime/alloc_places.h"
#include "analysis/runtime/over_time.h"
#include "analysis/runtime/type_rows.h"

typedef struct tl_alloc {
    bool several; /* set before the first of several inputs: types are the same if their names are; no live objects */
    tl_type_rows types;
    tl_sum count, bytes;
    bool has_live;
    uint64_t live_ts;
    tl_type_rows live;
    tl_alloc_places places;
    tl_over_time over_time; /* bytes; each input from its begin */
    bool has_span;
    uint64_t first, last; /* ns: of the events that were chosen, of whatever class; of the longest input */
    tl_strings strings;
} tl_alloc;

/* Adds an input. What was allocated while recording was paused does not count. Errors: as tl_runtime_read(). */
int tl_alloc_read(tl_alloc *a, tl_source *s, const tl_select *select, tl_error *e);
/* Sorts the types as asked, live ones and places by bytes; after the last input. */
void tl_alloc_sort(tl_alloc *a, tl_type_order order);
void tl_alloc_fini(tl_alloc *a);

#endif
