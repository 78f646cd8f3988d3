/* What streams of Arrow and reading of all classes have in common. */
#ifndef TL_QUERY_QUERY_ARROW_H
#define TL_QUERY_QUERY_ARROW_H

#include "query/query_impl.h"

/* Whether times of the session's tables are nanoseconds. */
bool tl_query_is_ns(const tl_query *q);
/* The error of reading a table: that of the limit which ended it, if there is one. */
int tl_query_read_error(tl_query *q, int status, tl_error *e);

#endif
