/* A table in the making: options, sources, then its answer. */
#ifndef TL_ANALYSIS_TABLE_RUN_H
#define TL_ANALYSIS_TABLE_RUN_H

#include "analysis/table_kind.h"

typedef struct tl_table_run {
    const tl_table_kind *kind;
    const tl_insn_table *pass; /* or NULL */
    void *table, *options;
    const struct tl_code_map *code;
    bool no_demangle;
    bool begun;    /* the table must be finished */
    char unit[16]; /* of times, as tl_trace_unit() */
} tl_table_run;

/* Errors: TL_EINVAL with the mistake in an option, TL_ENOMEM. Call tl_table_run_fini() after any result. */
int tl_table_run_init(tl_table_run *r, const tl_table_kind *kind, const tl_table_options *o, tl_error *e);
/* The first of the options given that the table (NULL: none) does not take: "line-size"; or NULL. */
const char *tl_table_stray_option(const tl_table_kind *kind, const tl_table_options *o);
/* How the source must be opened. */
tl_want tl_table_run_want(const tl_table_run *r);
/* Adds the selected part of a source. Errors: TL_EINVAL if its times have another unit than those of earlier sources,
 * those of reading. */
int tl_table_run_add(tl_table_run *r, tl_source *s, const tl_select *select, unsigned threads, tl_error *e);
/* The same for several tables made from instructions (`pass`), in one pass. */
int tl_table_runs_add(tl_table_run *const *r, uint32_t n, tl_source *s, const tl_select *select, unsigned threads,
                      tl_error *e);
bool tl_table_run_is_empty(const tl_table_run *r);
/* The answer lives as long as the table. Call tl_answer_fini() in any case. Errors: TL_ENOMEM. */
int tl_table_run_answer(tl_table_run *r, const tl_ask *ask, const char *subject, tl_answer *a, tl_error *e);
void tl_table_run_fini(tl_table_run *r);

#endif
