/* Which columns identify a row of a table, and which rows of other tables columns mean. */
#ifndef TL_QUERY_TABLE_KEYS_H
#define TL_QUERY_TABLE_KEYS_H

#include <stdbool.h>

/* Columns of the keys of tables. */
#define TL_KEY_COLUMNS 2u

/* The columns that identify a row, never null; NULL-terminated, at most TL_KEY_COLUMNS. NULL: the table has no key.
 * Static. */
const char *const *tl_table_key(const char *table);
/* Is the column one of them? Also `trace` of any table. */
bool tl_table_requires(const char *table, const char *column);
/* "functions.function_id": the column of which a column has a value, or null; NULL: it refers to nothing. Static. */
const char *tl_column_refers(const char *table, const char *column);

#endif
