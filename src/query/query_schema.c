/* The tables that every session has, for documents. */
#include "query/query_schema.h"

#include <stdlib.h>

#include "query/query_impl.h"

tl_query *tl_query_schema_open(void)
{
    tl_query *q = calloc(1, sizeof *q);
    tl_error ignored = {0};
    if (q && tl_query_tables_init(q, &ignored) == 0)
        return q;
    tl_query_schema_close(q);
    return NULL;
}

void tl_query_schema_close(tl_query *q)
{
    if (q)
        tl_query_tables_fini(q);
    free(q);
}
