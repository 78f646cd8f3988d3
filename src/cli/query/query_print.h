/* Results of SQL: one row after another for programs, columns for databases, a table for people. */
#ifndef TL_CLI_QUERY_PRINT_H
#define TL_CLI_QUERY_PRINT_H

#include "base/io/output.h"
#include "cli/verbs.h"
#include "query/query_result.h"

typedef struct tl_result_to {
    tl_output *out;
    const tl_terminal *terminal;
    uint64_t most;     /* rows of a table to show; 0: all */
    uint64_t cut;      /* rows of JSON, which says if there were more; 0: all */
    bool first;        /* no result was written before it */
    const char *table; /* whose rows they are, with all columns; or NULL */
    /* What files say of the traces (model/trace_description.h), or NULL. */
    const char *traces;
    /* Ends a file of a table that is cut into several of at most `rows` rows, and begins the next; NULL: it is not. */
    int (*next_file)(void *arg, tl_output **out, tl_error *e);
    void *arg;
    uint64_t rows;
    bool is_compound; /* rows may come from SELECTs that the columns do not describe */
    /* ^C, which ends the printing of rows that were read. */
    bool (*is_stopped)(void);
    struct tl_row_sender *sender; /* of a worker, whose rows go there */
} tl_result_to;

/* How results are written. */
typedef struct tl_result_form {
    const char *name;   /* the word after --to */
    const char *suffix; /* of -o */
    /* Writes all rows of a result; *rows: how many. Errors: those of its next(). */
    int (*print)(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e);
    bool is_file; /* one result is a file, which is not text */
} tl_result_form;

/* All of them; ends with one without a name. */
extern const tl_result_form tl_result_forms[];
/* By name or, if it is NULL, by the suffix of a path. NULL: none. */
const tl_result_form *tl_result_form_of(const char *name, const char *path);

#endif
