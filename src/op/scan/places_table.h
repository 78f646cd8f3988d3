/* The table of places: the tree of calls, or of sampled stacks, with times and percentiles. */
#ifndef TL_OP_PLACES_TABLE_H
#define TL_OP_PLACES_TABLE_H

#include "op/scan/list_scan.h"
#include "op/scan/trace_places.h"

/* places: [sources] filled before the first scan. `list` lives as long as the table. */
void tl_places_table(tl_scan_table *out, tl_list *list, const tl_trace_places *places);

#endif
