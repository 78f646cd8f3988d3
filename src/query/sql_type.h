/* Types of columns as SQL declares them. */
#ifndef TL_QUERY_SQL_TYPE_H
#define TL_QUERY_SQL_TYPE_H

#include "traceloom/relation.h"

/* "INTEGER NS": the type by which engines compare, and a unit for people. Static. */
const char *tl_sql_type(const tl_column_info *c);
/* Type and unit of a declared type; false: another. */
bool tl_sql_type_read(const char *declared, tl_column_type *type, tl_column_unit *unit);

#endif
