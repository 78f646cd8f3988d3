/* The rows of a table as batches of columns: blocks of a scan are added to arrays of Arrow. */
#ifndef TL_MODEL_TABLE_COLUMNS_H
#define TL_MODEL_TABLE_COLUMNS_H

#include "base/arena.h"
#include "base/columnar/column_batch.h"
#include "traceloom/relation.h"

typedef struct tl_table_columns {
    uint32_t *from;   /* [n] which column of the table each is */
    tl_stored_as *as; /* [n] */
    uint32_t n;
    tl_column_batch batch;
    tl_arena arena;
    char *bytes; /* of a blob */
    size_t bytes_room;
} tl_table_columns;

/* n columns of a table, those that `from` names, which is copied. After zeroing; fini is needed in any case. rows: of a
 * batch, as in tl_arrow_options. Errors: TL_ENOMEM. */
int tl_table_columns_init(tl_table_columns *c, const tl_column_info *column, const uint32_t *from, uint32_t n,
                          bool is_ns, uint64_t rows, tl_error *e);
void tl_table_columns_fini(tl_table_columns *c);
/* Adds rows of a block, from `first` on: as many as the batch takes; how many. < 0: TL_ENOMEM, TL_ELIMIT. */
int tl_table_columns_put(tl_table_columns *c, const tl_block *block, uint32_t first, tl_error *e);
/* Makes a batch end as `rows` of tl_arrow_options says. */
void tl_column_batch_of(tl_column_batch *b, uint64_t rows);

#endif
