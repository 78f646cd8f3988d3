/* The rows of a table of a session, read without an engine. */
#include "query/session_rows.h"

#include "query/query_impl.h"
#include "query/query_sharing.h"

int tl_session_rows_open(tl_scan **out, tl_query *q, uint32_t table, tl_error *e)
{
    static const tl_scan_ask all = {0};
    return tl_session_scan_open(out, q, table, &all, e);
}

static bool uses_places(const tl_sql_table *t, const uint8_t *used)
{
    uint32_t i = t->place;
    while (used && i < t->table->ncolumn && !used[i])
        i++;
    return i < t->table->ncolumn;
}

int tl_session_scan_open(tl_scan **out, tl_query *q, uint32_t table, const tl_scan_ask *ask, tl_error *e)
{
    tl_sql_table *t = &q->table[table];
    *out = NULL;
    for (uint32_t i = 0; i < q->ntable; i++)
        q->table[i].is_used = q->table[i].wants_places = false;
    t->is_used = true;
    t->wants_places = t->place != UINT32_MAX && uses_places(t, ask->used);
    q->wants_places = false;
    if (tl_query_table_note(q, table))
        return 0;
    int status = tl_query_table_open(t, e);
    if (status == 0)
        status = tl_query_begin(q, e);
    return status == 0 ? tl_scan_open(out, t->table, &q->dataset, ask, e) : status;
}

uint32_t tl_table_arguments(const tl_query *q, uint32_t table)
{
    return q->table[table].table->nargument;
}

bool tl_table_is_of_class(const tl_query *q, uint32_t table)
{
    return q->table[table].origin == TL_TABLE_CLASS;
}
