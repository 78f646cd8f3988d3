/* Tables about what there is: classes of events, their fields, functions, and the tables themselves. */
#ifndef TL_QUERY_CATALOG_TABLES_H
#define TL_QUERY_CATALOG_TABLES_H

#include "op/scan/list_scan.h"

struct tl_query;

#define TL_CATALOG_TABLES  6u
/* The ones of fields and of columns, which need the columns of all classes. */
#define TL_CATALOG_FIELDS  1u
#define TL_CATALOG_LABELS  2u
#define TL_CATALOG_COLUMNS 5u

/* What such a table is. */
typedef struct tl_catalog_entry {
    tl_table_info info;
    const tl_column_info *column;
    uint32_t ncolumn;
    uint64_t (*count)(const void *query, uint32_t source);
    tl_list_put *put;
    tl_list_put_at *put_at; /* in place of that */
} tl_catalog_entry;

/* Makes table number i; `list` lives as long as the table. */
void tl_catalog_table(uint32_t i, const struct tl_query *q, tl_list *list, tl_scan_table *out);

#endif
