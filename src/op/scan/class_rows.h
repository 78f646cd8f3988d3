/* The events of all classes in one pass, each as a row of the table of its class. */
#ifndef TL_OP_CLASS_ROWS_H
#define TL_OP_CLASS_ROWS_H

#include "op/scan/class_table.h"

typedef struct tl_class_rows tl_class_rows;

/* Of the ask only `ordered` and `stop` are used. Tables are made when there is the first row of each. */
int tl_class_rows_open(tl_class_rows **out, tl_class_tables *tables, const tl_dataset *d, const tl_scan_ask *ask,
                       tl_error *e);
void tl_class_rows_close(tl_class_rows *r); /* NULL is fine */
/* Begins with the next run of events. 1: *n events, of the tables at *table, borrowed until the next call; 0: end; < 0:
 * error. */
int tl_class_rows_next(tl_class_rows *r, const uint32_t **table, uint32_t *n, tl_error *e);
/* The rows of the run, table by table. 1: some rows of *table, in their order, borrowed until the next call; 0: these
 * were all; < 0: error. */
int tl_class_rows_part(tl_class_rows *r, uint32_t *table, tl_block *block, tl_error *e);

#endif
