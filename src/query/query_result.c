/* The rows of a statement, for writers of results. */
#include "query/query_result.h"

#include "query/query_names.h"

static const tl_column_info *column(const tl_result *r, uint32_t i)
{
    return tl_statement_column(((const tl_statement_rows *)(const void *)r)->statement, i);
}

static int next(tl_result *r, tl_error *e)
{
    return tl_statement_step(((tl_statement_rows *)(void *)r)->statement, e);
}

static const tl_sql_value *value(tl_result *r, uint32_t i)
{
    return tl_statement_value(((tl_statement_rows *)(void *)r)->statement, i);
}

tl_statement_rows tl_rows_of_statement(tl_statement *s, bool is_ns)
{
    return (tl_statement_rows){{tl_statement_columns(s), is_ns, column, next, value}, s};
}

bool tl_sql_is_compound(const char *sql)
{
    return tl_sql_mentions(sql, "UNION") || tl_sql_mentions(sql, "EXCEPT") || tl_sql_mentions(sql, "INTERSECT") ||
           tl_sql_mentions(sql, "VALUES");
}
