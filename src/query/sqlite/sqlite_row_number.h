/* The number of a row, by which SQLite knows that it is the same one in two scans of a table: it reads a table once for
 * each side of an OR, and puts the rows together by their numbers.
 *
 * Scans leave out other rows for other terms, so a row's place in one says nothing. What all of them agree on is its
 * content: rows with the same content in the columns of the statement fulfil the same terms, and each scan that
 * delivers one of them delivers all. So a number is made of the content, and of how many rows with that were before. */
#ifndef TL_QUERY_SQLITE_ROW_NUMBER_H
#define TL_QUERY_SQLITE_ROW_NUMBER_H

#include "base/hash.h"
#include "base/hasher.h"

typedef struct tl_row_numbers {
    tl_hash seen; /* hash of the content -> how many rows */
} tl_row_numbers;

/* The number of the next row with a content. False when memory runs out: more than `most` bytes. */
bool tl_row_number(tl_row_numbers *r, const tl_hasher *content, uint64_t most, int64_t *number);
/* Before another scan. */
void tl_row_numbers_fini(tl_row_numbers *r);

#endif
