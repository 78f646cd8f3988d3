/* Writes a file of Parquet: columns in, bytes out. The file is written from front to back; a row group is in memory,
 * compressed, until it is whole. docs/format/parquet.md describes which part of the format it uses. */
#ifndef TL_BASE_PARQUET_WRITE_H
#define TL_BASE_PARQUET_WRITE_H

#include "base/columnar/column_batch.h"
#include "base/io/output.h"

#define TL_PARQUET_ROWS   (1u << 20)  /* of a row group */
#define TL_PARQUET_BYTES  (64u << 20) /* of a row group in memory, before compression */
#define TL_PARQUET_VALUES (1u << 20)  /* in the dictionaries of a row group */

typedef struct tl_parquet tl_parquet;

/* n >= 1 columns, which are borrowed until close, as `to` is. level: of zstd, 0: 3. */
int tl_parquet_open(tl_parquet **out, tl_output *to, const tl_stored_as *as, uint32_t n, unsigned level, tl_error *e);
/* Notes a text in the description of the file; both are borrowed until finish. At most TL_PARQUET_NOTES. */
#define TL_PARQUET_NOTES 8u
void tl_parquet_note(tl_parquet *w, const char *key, const char *value);
/* Writes the rows of a batch with these columns. Errors: TL_ENOMEM, TL_ELIMIT. Those of the output come with its
 * finish. */
int tl_parquet_write(tl_parquet *w, const tl_column_batch *b, tl_error *e);
/* Writes the end of the file; the output is still to be finished. */
int tl_parquet_finish(tl_parquet *w, tl_error *e);
void tl_parquet_close(tl_parquet *w); /* NULL is fine */

#endif
