/* The rows of a statement, wherever it runs: what writers of results read. */
#ifndef TL_QUERY_QUERY_RESULT_H
#define TL_QUERY_QUERY_RESULT_H

#include "traceloom/query.h"

typedef struct tl_result tl_result;
struct tl_result {
    uint32_t columns;
    bool is_ns; /* times of the row are nanoseconds; before the first row: those that the columns are described by */
    const tl_column_info *(*column)(const tl_result *r, uint32_t i);
    int (*next)(tl_result *r, tl_error *e);                 /* as tl_statement_step() */
    const tl_sql_value *(*value)(tl_result *r, uint32_t i); /* borrowed until the next row */
};

/* Rows of a statement of this process. */
typedef struct tl_statement_rows {
    tl_result result; /* the first member */
    tl_statement *statement;
} tl_statement_rows;

tl_statement_rows tl_rows_of_statement(tl_statement *s, bool is_ns);
/* May rows come from several SELECTs, of which the columns describe the first? */
bool tl_sql_is_compound(const char *sql);

#endif
