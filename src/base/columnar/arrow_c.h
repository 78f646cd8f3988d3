/* Columns in the structs of the Arrow C data interface: the arrays of a batch change their owner, and are not copied.
 */
#ifndef TL_BASE_ARROW_C_H
#define TL_BASE_ARROW_C_H

#include "base/columnar/column_batch.h"
#include "traceloom/arrow.h"

/* A struct with a member for each column. *out is the caller's to release. Errors: TL_ENOMEM. */
int tl_arrow_c_schema(struct ArrowSchema *out, const tl_stored_as *as, uint32_t n, tl_error *e);
/* The rows of a batch, which has none after that. Errors: TL_ENOMEM: then they are lost. */
int tl_arrow_c_array(struct ArrowArray *out, tl_column_batch *b, tl_error *e);

#endif
