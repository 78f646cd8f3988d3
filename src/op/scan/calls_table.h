/* The table of calls: entries and exits that belong together. */
#ifndef TL_OP_CALLS_TABLE_H
#define TL_OP_CALLS_TABLE_H

#include "op/scan/trace_places.h"

/* Columns that need the places of the traces: the first of them, and all after it. */
#define TL_CALLS_FIRST_PLACE 19u
#define TL_CALLS_COLUMNS     21u

/* places: [sources] filled before the first scan that asks for columns of places. */
void tl_calls_table(tl_scan_table *out, const tl_dataset *d, const tl_trace_places *places);

#endif
