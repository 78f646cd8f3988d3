/* Writes a stream of Apache Arrow (IPC): a description of the columns, batches of rows, an end. Little-endian on any
 * host. docs/format/arrow.md describes which part of the format it uses. */
#ifndef TL_BASE_ARROW_WRITE_H
#define TL_BASE_ARROW_WRITE_H

#include "base/columnar/column_batch.h"
#include "base/io/output.h"
#include "base/protobuf.h"

typedef struct tl_arrow {
    tl_output *out;
    const tl_stored_as *as; /* [n], borrowed */
    uint32_t n;
    tl_pb message, scratch;
} tl_arrow;

/* Writes the description; fini is needed in any case. Errors: TL_ENOMEM. */
int tl_arrow_begin(tl_arrow *w, tl_output *out, const tl_stored_as *as, uint32_t n, tl_error *e);
int tl_arrow_write(tl_arrow *w, const tl_column_batch *b, tl_error *e);
void tl_arrow_end(tl_arrow *w);
void tl_arrow_fini(tl_arrow *w);

#endif
