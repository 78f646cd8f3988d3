/* Tables of events: all of them, and one of each class, with its fields as columns. */
#ifndef TL_OP_EVENT_SCAN_H
#define TL_OP_EVENT_SCAN_H

#include "model/event_parts.h"
#include "op/scan/scan.h"

/* How the fields of a class of one source fall into columns: a tree like that of the fields. */
typedef struct tl_field_column {
    uint32_t column, label; /* or TL_NO_COLUMN: it is not a column, or has no column of labels */
    uint32_t nmember;       /* a struct whose members are columns */
    const struct tl_field_column *member;
} tl_field_column;
#define TL_NO_COLUMN UINT32_MAX

typedef struct tl_class_columns {
    uint8_t *only;                  /* [classes of the source] 1: in the table */
    const tl_field_column **fields; /* [classes of the source] the columns of its fields; NULL: not in the table */
} tl_class_columns;

/* What a table of events is; tl_scan_table.arg. */
typedef struct tl_event_table {
    const uint8_t *part;            /* [ncolumn] tl_event_part */
    const tl_class_columns *source; /* [sources]; NULL: events of all classes */
    uint32_t kinds;                 /* 1 << tl_kind of each that is in the table; 0: all */
} tl_event_table;

int tl_event_scan_open(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e);
uint32_t tl_event_scan_parts(const tl_scan_table *t, const tl_dataset *d, tl_scan_part *out, uint32_t most);
double tl_event_scan_keeps(const tl_scan_table *t, uint32_t column, tl_term_op op);
/* The column that a scan of a dataset can order events by: its `ts` column, or TL_NO_ORDER. */
uint32_t tl_event_scan_order(const tl_dataset *d, uint32_t ts);
/* About how many events a dataset has. */
uint64_t tl_event_scan_guess(const tl_dataset *d);

/* Puts the fields of n events into the rows from `row` on. */
void tl_class_fields_put(const tl_class_columns *c, const tl_event_view *v, const tl_batch *b, const uint32_t *at,
                         uint32_t n, tl_scan_block *block, const tl_scan_table *t, uint32_t row);

/* Tables of the events of some kinds, each with the columns that these have: `events`, `instructions`, `accesses`: how
 * many, and one of them, with its columns in `arena`. False when memory runs out. */
#define TL_EVENT_TABLES 3u
bool tl_event_table_make(uint32_t i, tl_scan_table *out, const tl_dataset *d, tl_arena *arena);

#endif
