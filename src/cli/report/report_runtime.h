/* `report --by gc, jit, alloc, heap, cpu`: tables of what a managed runtime reports. They are made straight from the
 * events of the inputs, not from a profile. */
#ifndef TL_CLI_REPORT_RUNTIME_H
#define TL_CLI_REPORT_RUNTIME_H

#include "analysis/runtime/alloc_table.h"
#include "analysis/runtime/cpu_table.h"
#include "analysis/runtime/gc_table.h"
#include "analysis/runtime/heap_table.h"
#include "analysis/runtime/jit_table.h"
#include "base/io/output.h"
#include "base/text/json_write.h"
#include "cli/text_table.h"
#include "cli/verbs.h"

/* Does --by name one of these tables? */
static inline bool tl_report_is_runtime(const tl_arguments *a)
{
    return a->by >= TL_REPORT_GC && a->by <= TL_REPORT_CPU;
}

/* Reads the inputs and prints the table to a file ("-": standard output). with_profile: a profile was to be written,
 * too. Returns a tl_exit. */
int tl_report_runtime(const tl_cli *c, const char *path, bool with_profile);

/* The table that is being made; of the members at the end only that of --by is used. */
typedef struct tl_runtime_report {
    const tl_cli *cli;
    const tl_terminal *terminal; /* of the output */
    char subject[256];           /* [TL_SUBJECT_SIZE]: the file and its format, or "3 files" */
    char unit[16];               /* as tl_trace_unit() */
    bool is_ns;
    tl_gc gc;
    tl_jit jit;
    tl_alloc alloc;
    tl_heap heap;
    tl_cpu cpu;
} tl_runtime_report;

/* One kind of table. */
typedef struct tl_runtime_table {
    const char *what;      /* "garbage collections": what an empty table has none of */
    const char *sorts;     /* words of --sort that it knows, or NULL */
    bool several;          /* inputs can be added up */
    const char *no_thread; /* why threads cannot be chosen, or NULL */
    int (*read)(tl_runtime_report *r, tl_source *s, const tl_select *select, tl_error *e);
    bool (*empty)(const tl_runtime_report *r);
    int (*json)(tl_runtime_report *r, tl_json *j, tl_error *e); /* the members of the object after "unit" */
    int (*text)(tl_runtime_report *r, tl_output *out, tl_error *e);
} tl_runtime_table;
extern const tl_runtime_table tl_runtime_gc, tl_runtime_jit, tl_runtime_alloc, tl_runtime_heap, tl_runtime_cpu;

/* JSON: whole numbers of any size, DIST, ids as "0x5" or null. */
void tl_runtime_put_sum(tl_json *j, const char *key, tl_sum s);
void tl_runtime_put_quantiles(tl_json *j, const char *key, const tl_quantiles *q);
void tl_runtime_put_id(tl_json *j, const char *key, bool has_id, uint64_t id);
/* Rows in JSON: as many as --top says, else all. */
uint32_t tl_runtime_json_rows(const tl_runtime_report *r, uint32_t n);

/* Text: each is kept by the table, and put into the next cell of the row. */
void tl_runtime_cell(tl_text_table *t, tl_text_row *row, unsigned *column, const char *text);
void tl_runtime_cell_time(const tl_runtime_report *r, tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t v);
void tl_runtime_cell_sum_time(const tl_runtime_report *r, tl_text_table *t, tl_text_row *row, unsigned *column,
                              tl_sum v);
void tl_runtime_cell_count(tl_text_table *t, tl_text_row *row, unsigned *column, tl_sum v);
void tl_runtime_cell_bytes(tl_text_table *t, tl_text_row *row, unsigned *column, tl_sum v);
/* "+1.2 MiB", "-3", "0". */
void tl_runtime_cell_growth(tl_text_table *t, tl_text_row *row, unsigned *column, tl_sum now, tl_sum before,
                            bool is_bytes);
/* Also sets the length of the bar. */
void tl_runtime_cell_share(tl_text_table *t, tl_text_row *row, unsigned *column, double part, double whole);
const char *tl_runtime_time_text(const tl_runtime_report *r, char *buf, size_t size, uint64_t v);
/* Name of a row: its name, else its number, else "?". */
const char *tl_runtime_name(tl_text_table *t, const char *name, bool has_number, uint64_t number);
/* The subject, in strong letters, as a line. */
void tl_runtime_subject(const tl_runtime_report *r, tl_output *out);

/* Rows to show: --top, else `on_terminal` or, where there is no terminal, `elsewhere`; 0: all. At most n. */
uint32_t tl_runtime_rows(const tl_runtime_report *r, uint32_t n, uint32_t on_terminal, uint32_t elsewhere);
/* Prints the table, and how many rows of what are not in it, and frees it. Errors: TL_ENOMEM. */
int tl_runtime_print(const tl_runtime_report *r, tl_text_table *t, uint64_t left_out, const char *what, tl_output *out,
                     tl_error *e);

/* One line that shows how n values go up and down, each between 0 and 1; below 0: nothing is known there, and at or
 * below -2: a gap. buf needs 4 * n + 1 bytes. Returns buf. */
char *tl_runtime_spark(const tl_terminal *terminal, char *buf, const double *value, unsigned n);

#endif
