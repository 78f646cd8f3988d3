/* The tables that every session has, for documents. */
#ifndef TL_QUERY_QUERY_SCHEMA_H
#define TL_QUERY_QUERY_SCHEMA_H

#include "traceloom/query.h"

/* A session without traces and without an engine: it has no tables of classes, and cannot prepare anything. NULL if
 * memory runs out. */
tl_query *tl_query_schema_open(void);
void tl_query_schema_close(tl_query *q);

#endif
