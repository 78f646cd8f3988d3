/* Tables about what there is: classes of events, their fields, functions, and the tables themselves. */
#ifndef TL_QUERY_CATALOG_TABLES_H
#define TL_QUERY_CATALOG_TABLES_H

#include "op/scan/list_scan.h"

struct tl_query;

#define TL_CATALOG_TABLES  6u
#define TL_CATALOG_COLUMNS 5u /* the one of columns */

/* Makes table number i; `list` lives as long as the table. */
void tl_catalog_table(uint32_t i, const struct tl_query *q, tl_list *list, tl_scan_table *out);

#endif
