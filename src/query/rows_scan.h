/* Tables of `report` as tables that are scanned: computed once for each trace, then kept. */
#ifndef TL_QUERY_ROWS_SCAN_H
#define TL_QUERY_ROWS_SCAN_H

#include "analysis/table_kind.h"
#include "model/scan_block.h"
#include "op/scan/scan.h"

#define TL_NO_PLACE UINT32_MAX

typedef struct tl_rows_table {
    const tl_table_kind *kind;
    const tl_dataset *dataset;
    tl_column_info *column; /* `trace`, then those of the kind */
    uint32_t ncolumn;
    uint32_t trace;   /* which of them is that: some kinds have it, of one trace */
    uint32_t **place; /* [sources][ncolumn] the column of the rows, or TL_NO_PLACE */
    tl_rows **rows;   /* [sources] NULL: the trace cannot have it */
    bool made;
} tl_rows_table;

/* The table's columns. After zeroing; fini is needed in any case. */
int tl_rows_table_init(tl_rows_table *t, const tl_table_kind *kind, const tl_dataset *d, tl_scan_table *out,
                       tl_error *e);
void tl_rows_table_fini(tl_rows_table *t);
/* Computes the rows, the first time; no cursor is open. */
int tl_rows_table_make(tl_rows_table *t, tl_error *e);

#endif
