/* The rows of a result as batches of columns that have one type each: what files of columns are made of.
 *
 * SQL has a type for each value. The type of a column is its declared one, unless the first rows have values of
 * another: whole numbers among real ones are real, everything among text is text, as CSV has it. A value further down
 * that does not fit is an error. */
#ifndef TL_QUERY_RESULT_COLUMNS_H
#define TL_QUERY_RESULT_COLUMNS_H

#include "base/arena.h"
#include "base/columnar/column_batch.h"
#include "query/query_result.h"

typedef struct tl_result_columns {
    tl_result *from;
    tl_stored_as *as; /* [n] */
    uint32_t n;
    tl_column_batch batch;
    uint64_t rows; /* that were put into batches */
    tl_arena arena;
    tl_sql_value *held; /* [nheld * n] the first rows, which decided */
    uint32_t nheld, given;
    int after; /* what next() returned behind the first rows */
} tl_result_columns;

/* Reads the first rows. is_compound: rows may come from SELECTs that the columns do not describe. fini is needed in any
 * case. Errors: those of the result's next(), TL_ENOMEM. */
int tl_result_columns_init(tl_result_columns *c, tl_result *from, bool is_compound, tl_error *e);
/* Fills the batch. 1: it has rows; 0: end; < 0: as above, and TL_EINVAL (a value does not fit), TL_ELIMIT. */
int tl_result_columns_next(tl_result_columns *c, tl_error *e);
void tl_result_columns_fini(tl_result_columns *c);

#endif
