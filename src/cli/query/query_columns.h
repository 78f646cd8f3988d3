/* Results of SQL as files of columns. */
#ifndef TL_CLI_QUERY_COLUMNS_H
#define TL_CLI_QUERY_COLUMNS_H

#include "cli/query/query_print.h"

/* As tl_result_form.print(). */
int tl_print_parquet(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e);
int tl_print_arrow(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e);

#endif
