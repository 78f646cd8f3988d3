/* The ways of showing an answer. */
#ifndef TL_VIEW_VIEW_H
#define TL_VIEW_VIEW_H

#include "model/prose.h"
#include "model/relation_impl.h"

typedef struct tl_showing {
    const tl_answer *answer;
    const tl_ask *ask;
    const tl_terminal *terminal;
    tl_output *out;
} tl_showing;

/* Each writes the whole answer, or the rows of its first relation. Errors: TL_ENOMEM; tl_output_finish() reports those
 * of the output. */
typedef struct tl_view {
    const char *name;   /* "csv": the word after --to */
    const char *suffix; /* ".csv", for -o */
    bool for_programs;  /* needs an answer made for programs */
    int (*show)(const tl_showing *s, tl_error *e);
    const char *what; /* "comma-separated values with a line of names" */
} tl_view;

extern const tl_view tl_view_table, tl_view_json, tl_view_jsonl, tl_view_csv, tl_view_markdown;
/* All of them, in the order of the manual. */
const tl_view *const *tl_views(size_t *n);
/* By name, or NULL. */
const tl_view *tl_view_find(const char *name);
/* By the suffix of a path, or NULL. */
const tl_view *tl_view_of_path(const char *path);

/* Shared by views. */

/* A value as people read it, made clean: "1,204", "1.24 ms", "17.8 %", "-". */
const char *tl_cell_shown(const tl_part *part, uint64_t row, uint32_t column, char *buf, size_t size);
/* TL_ENOMEM if the answer is incomplete, else 0. */
int tl_answer_check(const tl_answer *a, tl_error *e);

#endif
