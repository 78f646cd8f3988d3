/* Tables of lines of time: spans, from a begin to its end; counters; slices, which are calls and spans. */
#ifndef TL_OP_LINE_TABLES_H
#define TL_OP_LINE_TABLES_H

#include "op/scan/scan.h"

/* Bytes of the fields of all spans that are open, as text. */
#define TL_SPAN_TEXT_MAX (8u << 20)

void tl_spans_table(tl_scan_table *out, const tl_dataset *d);
void tl_counters_table(tl_scan_table *out, const tl_dataset *d);

/* What slices are made of. */
#define TL_SLICE_PARTS 2u
typedef struct tl_slices {
    const tl_scan_table *part[TL_SLICE_PARTS]; /* tables of calls and of spans, borrowed */
} tl_slices;

/* slices: filled; borrowed. Before a scan, as before one of calls, tl_call_scan_prepare() is called. */
void tl_slices_table(tl_scan_table *out, const tl_slices *slices);

#endif
