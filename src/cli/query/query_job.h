/* A session of `query`: its inputs, and statements that are run or explained. */
#ifndef TL_CLI_QUERY_JOB_H
#define TL_CLI_QUERY_JOB_H

#include "cli/inputs.h"
#include "cli/query/query_print.h"
#include "cli/query/query_text.h"
#include "cli/selection.h"

typedef struct tl_query_job {
    const tl_cli *cli;
    tl_query_text text;
    const char *trace;   /* of --each: the path of the only one, which messages begin with; else NULL */
    tl_reading *reading; /* [n] */
    tl_source **source;  /* [n] */
    uint32_t n;
    tl_selection selection;
    tl_query *query;
    const tl_result_form *form;
    tl_result_to to;
    char *traces;             /* for `to` */
    bool is_ns;               /* times are nanoseconds */
    bool explains;            /* statements are explained in place of being run */
    uint64_t rows;            /* of all results so far */
    bool is_wrong_everywhere; /* a statement failed that would fail with any trace */
} tl_query_job;

/* Opens the inputs that the text names, and a session over them. Returns a tl_exit, after a message; close is needed in
 * any case. */
int tl_query_job_open(tl_query_job *j);
/* Says what was lost; returns the worse of `status` and that. */
int tl_query_job_close(tl_query_job *j, int status);
/* Runs the statements of the text, or explains them. Returns a tl_exit, after a message. */
int tl_query_job_run(tl_query_job *j);
/* Does the name of a table match a pattern? Without patterns all do. */
bool tl_query_is_wanted(const char *const *pattern, size_t n, const char *table);
/* Lists tables with their columns: those that match a pattern, or all if n is 0. Returns a tl_exit, after a message. */
int tl_query_job_schema(const tl_query_job *j, const char *const *pattern, size_t n);

#endif
