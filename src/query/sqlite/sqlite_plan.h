/* How a table is read for a statement: its constraints become the terms of a scan.
 *
 * A plan is the number of xFilter's arguments and a text: "<used columns in hex> <order> <column of that> <may repeat>
 * <column> <op> ...", a column and tl_term_op for each argument; its number is that of the table, for sqlite_explain.c.
 * SQLite tests every constraint again (`omit` is never set), so a scan that leaves out too few rows is only slower. */
#ifndef TL_QUERY_SQLITE_PLAN_H
#define TL_QUERY_SQLITE_PLAN_H

#include <sqlite3.h>

#include "query/query_impl.h"

/* A value that is not a constant may be a parameter, or a column of an outer statement: SQLite does not say which. One
 * of another table of the same FROM it does tell: such a constraint is not usable in every plan that is asked for. So
 * a statement that loses an order because of the former is prepared twice: the first time finds the latter. An order
 * that is claimed also holds where the statement is run for each row of an outer one: tl_kept_rows_arrange().
 *
 * How a scan gives rows in the order that ORDER BY or GROUP BY asks for. */
typedef enum tl_sqlite_order {
    TL_UNORDERED,
    TL_BY_SCAN,   /* it reads them so */
    TL_BY_SORTING /* they are collected and sorted: less than what SQLite's own sorting costs */
} tl_sqlite_order;

/* What a plan and its arguments stand for. */
typedef struct tl_sqlite_request {
    tl_scan_ask ask;
    tl_sqlite_order by;
    uint32_t column; /* to sort by */
    tl_term *all;    /* [nall] also those whose values say nothing */
    uint32_t nall;
    bool may_repeat; /* a value is not constant: the statement may be one that is run for each row of another */
    bool never;      /* one of them is compared with null: no row fulfils that */
    tl_arena arena;
} tl_sqlite_request;

/* sqlite3_prepare_v2(), twice if an order can be claimed only then. */
int tl_sqlite_prepare(tl_query *q, const char *sql, struct sqlite3_stmt **out, const char **tail);
/* xBestIndex. */
int tl_sqlite_plan(tl_sql_table *t, sqlite3_index_info *info);
/* The plan and the arguments of xFilter; r->ask has functions already. The arena is the caller's to free. Returns a
 * code of SQLite. */
int tl_sqlite_read_plan(const tl_scan_table *s, const char *plan, int argc, sqlite3_value **argv, tl_sqlite_request *r);

#endif
