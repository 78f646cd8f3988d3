/* Rows of an answer of a server, in ClickHouse's format TabSeparatedWithNamesAndTypes, as a result. */
#ifndef TL_QUERY_SERVER_ROWS_H
#define TL_QUERY_SERVER_ROWS_H

#include "base/protobuf.h"
#include "query/query_result.h"

#define TL_SERVER_FORMAT "TabSeparatedWithNamesAndTypes"

typedef struct tl_server_rows {
    tl_result result; /* the first member */
    /* Reads more of the answer behind what is in `text`. 1: done; 0: that was all of it; < 0: error. */
    int (*more)(void *arg, tl_pb *text, tl_error *e);
    void *arg;
    tl_pb text, head; /* of the answer, from `at` on; the lines of names and types */
    size_t at;
    bool is_over;
    tl_column_info *column; /* [result.columns] */
    tl_sql_value *row;      /* [result.columns] */
    uint64_t rows;
} tl_server_rows;

/* Reads the names and types of the columns, after setting `more` and `arg` in zeros. fini is needed in any case.
 * Errors: those of more(), TL_EIO (this is no such answer), TL_ENOMEM, TL_ELIMIT (a row is too long). */
int tl_server_rows_begin(tl_server_rows *r, tl_error *e);
void tl_server_rows_fini(tl_server_rows *r);

#endif
