/* What `report` is about to show, and the ways of showing it. */
#ifndef TL_CLI_REPORT_H
#define TL_CLI_REPORT_H

#include "analysis/function/tables.h"
#include "base/io/output.h"
#include "base/text/json_write.h"
#include "cli/verbs.h"

#define TL_REPORT_ROWS 19u /* on a terminal, unless --top says otherwise: with head and prompt it fits 24 lines */

typedef struct tl_report {
    const tl_cli *cli;
    tl_profile *profile;
    const tl_terminal *terminal; /* of the output */
    char subject[256];           /* the file and its format, or "3 files" */
    uint32_t tracks;             /* 0: not known */
    uint32_t trees;              /* of threads: fewer, where some had one tree one after another. 0: as many */
    bool are_threads;            /* or streams of something else ... */
    bool are_cpus;               /* ... or all of them processors */
    uint64_t span;               /* ticks */
    bool has_span;
} tl_report;

/* What the numbers of a profile are. */
typedef enum tl_measure { TL_MEASURE_TIME, TL_MEASURE_BYTES, TL_MEASURE_COUNT } tl_measure;
tl_measure tl_report_measure(const tl_report *r);
/* "calls", "samples" or "allocations". */
const char *tl_report_calls(const tl_report *r);
/* Of a profile of samples, or for a table of modules: puts in place of r->profile a copy, *copy, whose functions are
 * what the rows of the table are. *copy is NULL where none is needed, else the caller's. */
int tl_report_regroup(tl_report *r, tl_profile **copy, tl_error *e);
/* Samples that counted, and those that did not: a member "samples". */
void tl_report_put_samples(tl_json *j, const tl_profile *p);

/* Whether the table --by `by` sorts by this word, one of `sorts` (NULL: it has one order); sort may be NULL. Says why
 * not; exit status. */
int tl_report_check_sort(const char *sort, const char *by, const char *sorts);
/* Whether the options go together: `table` is printed, a profile is written `to_file`. Says what does not; exit status.
 */
int tl_report_check_options(const tl_cli *c, bool table, bool to_file);
/* Whether the table can be made of this profile of `path`, which is of samples, or of calls. Says why not; exit status.
 */
int tl_report_check_table(const tl_cli *c, const char *path, const tl_profile *p);

/* Rows to show: --top, else `on_terminal` where the output is one; 0: all. */
uint32_t tl_report_top(const tl_report *r, uint32_t on_terminal);
/* Sorts a table as --sort says, or leaves it in its own order, and keeps the first tl_report_top() rows.
 * Returns how many there were. */
uint32_t tl_report_sort(const tl_report *r, tl_table *t, uint32_t on_terminal);
/* Adds up the histograms of all places of a row's function. */
void tl_report_histogram(const tl_profile *p, const tl_row *row, tl_hist_total *out);

/* Each prints what --by asks for. */
int tl_report_json(const tl_report *r, tl_output *out, tl_error *e);
int tl_report_text(const tl_report *r, tl_output *out, tl_error *e);

/* Parts of tl_report_json(). */
int tl_report_json_tree(const tl_report *r, tl_output *out, tl_error *e);
/* calls, total, self, min, p50, p90, p99, max. */
void tl_report_put_numbers(tl_json *j, const tl_profile *p, const tl_row *row);
/* Parts of tl_report_text(). */
int tl_report_text_tree(const tl_report *r, tl_output *out, tl_error *e);
int tl_report_text_histograms(const tl_report *r, tl_output *out, tl_error *e);
void tl_report_text_head(const tl_report *r, tl_output *out);
int tl_report_text_lines(const tl_report *r, tl_output *out, tl_error *e);
int tl_report_text_modules(const tl_report *r, tl_output *out, tl_error *e);

/* For the text: a number of the profile (a time, or what its samples are weighted by), a share, and a count, kept in a
 * buffer. */
char *tl_report_time(const tl_report *r, char *buf, size_t size, uint64_t ticks);
/* The same for what rests on durations of calls: marked if some of these were closed by the exit of an outer one. */
char *tl_report_duration(const tl_report *r, char *buf, size_t size, uint64_t ticks, uint64_t unwound);
char *tl_report_share(char *buf, size_t size, double share);
/* "inflate.c:622" or "". */
char *tl_report_source(char *buf, size_t size, const tl_function *f);
/* "and 35 more functions; --top 0 shows all", faint. */
void tl_report_more(const tl_report *r, tl_output *out, uint64_t left_out, const char *what);

#endif
