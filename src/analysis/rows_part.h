/* The rows of a relation for those who read them in an order of their own. */
#ifndef TL_ANALYSIS_ROWS_PART_H
#define TL_ANALYSIS_ROWS_PART_H

#include "model/relation_impl.h"

/* The part that was chosen last. NULL: none. */
const tl_part *tl_rows_current(const tl_rows *rows);
/* Makes functions without a name have their number there: "#8", "0x401000". */
void tl_rows_label(tl_rows *rows);
/* A cell of type TL_INTEGER that is not null, as in tl_block_column.i64. */
int64_t tl_rows_integer(const tl_column_info *c, const tl_cell *v);

#endif
