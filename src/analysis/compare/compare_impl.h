/* Internals of a tl_compare. In order:
 *
 *   sides      the functions of each side, one for each name in whatever file and library, and which calls which
 *   match      pairs of functions of both sides: subjects, numbered 0, 1, ...; some of them guesses
 *   index      for each run, the places of each subject, and of each path: places of the union of all trees
 *   rows       the numbers of each subject or path in each run, the changes, and the verdicts
 *
 * Profiles are read in the order of the runs, so numbers do not depend on hashes. */
#ifndef TL_ANALYSIS_COMPARE_IMPL_H
#define TL_ANALYSIS_COMPARE_IMPL_H

#include "analysis/compare/change.h"
#include "base/hash.h"
#include "base/pair_map.h"
#include "model/profile_impl.h"

#define TL_NO_SUBJECT UINT32_MAX

/* A function of one side. */
typedef struct tl_side_function {
    const char *name, *linkage, *file, *library; /* interned; NULL where unknown, but for the name */
    uint32_t line;
    bool unnamed;     /* the name is a number, which says nothing in another build */
    uint32_t subject; /* its number in both sides */
    double calls, total, self;
} tl_side_function;

/* Calls from one function to another, of all runs. Number 0 is the begin of stacks, others are functions + 1. */
typedef struct tl_side_edge {
    double calls, total;
} tl_side_edge;

/* Places of subjects, and of paths, in one run. */
typedef struct tl_run_index {
    uint32_t *subject_first; /* [subjects] a place, 0: none; continues in subject_next */
    uint32_t *subject_next;  /* [places] */
    uint32_t *path_first, *path_next;
    uint64_t *subject_extra, *path_extra; /* self time of functions that are inlined on the other side */
    double root;                          /* self time of all places */
} tl_run_index;

typedef struct tl_side {
    const tl_compare_run *run; /* [n], a copy */
    uint32_t n;
    tl_side_function *function;
    uint32_t nfunction, function_capacity;
    tl_hash by_identity; /* interned text -> function */
    tl_pair_map edge_of; /* (caller, callee) -> edge */
    tl_side_edge *edge;  /* [edge_of.n] */
    uint32_t edge_capacity;
    uint32_t **function_of; /* [n][functions of the profile] */
    tl_run_index *index;    /* [n] */
    double root;            /* of all runs */
} tl_side;

/* A function of both sides, or of one. */
typedef struct tl_subject {
    uint32_t function[2]; /* TL_NO_SUBJECT: not on that side */
    bool maybe_renamed;
    uint32_t inlined; /* into this subject, on the side where it is missing; or TL_NO_SUBJECT */
} tl_subject;

struct tl_compare {
    tl_arena arena;
    tl_strings strings;
    tl_compare_options options;
    tl_side side[2];
    bool has_durations; /* of single calls, in all runs */
    bool is_sampled;
    double ns_per_tick;
    tl_subject *subject;
    uint32_t nsubject, subject_capacity;
    tl_pair_map path; /* (path of the caller + 1 or 0, subject) -> path */
    tl_change_room room;
    tl_compare_row *row; /* in the order of importance */
    size_t nrow, row_capacity;
    const char **warning;
    uint32_t nwarning, warning_capacity;
};

/* What is measured. */
typedef enum tl_metric_kind {
    TL_METRIC_CALLS,
    TL_METRIC_TOTAL,
    TL_METRIC_SELF,
    TL_METRIC_PERCALL,
    TL_METRIC_MEAN,
    TL_METRIC_SHORTEST,
    TL_METRIC_LONGEST,
    TL_METRIC_SHARE,
    TL_METRIC_SELF_SHARE,
    TL_METRIC_PERCENTILE
} tl_metric_kind;

typedef struct tl_metric {
    tl_metric_kind kind;
    uint32_t ppm; /* of a percentile: 990000 is p99 */
} tl_metric;

#define TL_METRIC_NAME 16u
/* "p99.9". Returns buf. */
const char *tl_metric_name(tl_metric m, char buf[static TL_METRIC_NAME]);
/* The metric whose name is s[0 .. n-1]; false: there is none. */
bool tl_metric_parse(const char *s, size_t n, tl_metric *m);
/* Those of the words above whose amount is a duration, or a share. */
bool tl_metric_is_time(tl_metric m);
bool tl_metric_is_share(tl_metric m);
/* Needs durations of single calls? */
bool tl_metric_needs_durations(tl_metric m);

/* Steps of tl_compare_new(). Errors: TL_ENOMEM, and as stated there. */
int tl_compare_read_sides(tl_compare *c, tl_error *e);
int tl_compare_match(tl_compare *c, tl_error *e);
int tl_compare_guess_renames(tl_compare *c, tl_error *e);
int tl_compare_find_inlined(tl_compare *c, tl_error *e);
int tl_compare_index(tl_compare *c, tl_error *e);
int tl_compare_make_rows(tl_compare *c, tl_error *e);
int tl_compare_doubt(tl_compare *c, tl_error *e);

void tl_side_fini(tl_side *s);
void tl_run_index_fini(tl_run_index *x);
/* The edge between two functions (+ 1, or 0); NULL: there is none. */
const tl_side_edge *tl_side_find_edge(const tl_side *s, uint32_t from, uint32_t to);
/* The subject that stands for a function of a side and its partner; TL_NO_SUBJECT without memory. */
uint32_t tl_compare_add_subject(tl_compare *c, uint32_t of_base, uint32_t of_new);

/* A subject, or a path. */
typedef struct tl_item {
    uint32_t subject;
    uint32_t path; /* TL_NO_SUBJECT: the function, wherever it is called */
} tl_item;
/* The numbers of an item in one run: out[i] of metric[i], at most TL_METRICS_MOST, percentiles ascending; NaN where it
 * has none. */
#define TL_METRICS_MOST 5u
void tl_measure(const tl_compare *c, int side, uint32_t run, tl_item item, const tl_metric *metric, size_t n,
                double *out);
/* The share of an item's total of all runs of a side: 0 .. 1. */
double tl_item_share(const tl_compare *c, int side, tl_item item);
/* Whether it is called in no run of a side, or in all of them. */
bool tl_item_is_missing(const tl_compare *c, int side, tl_item item);
bool tl_item_is_always(const tl_compare *c, int side, tl_item item);
/* Its name on a side, NULL: not there; and as shown: of NEW, or of BASE if it is gone. */
const char *tl_subject_name(const tl_compare *c, uint32_t subject, int side);
const char *tl_subject_shown(const tl_compare *c, uint32_t subject);
/* "main;serve": the names on the way to a path, in the arena; NULL without memory. */
const char *tl_path_shown(tl_compare *c, uint32_t path);
/* The subject of a path, and the path of its caller, or TL_NO_SUBJECT. */
uint32_t tl_path_subject(const tl_compare *c, uint32_t path);
uint32_t tl_path_caller(const tl_compare *c, uint32_t path);
/* How many items there are: functions, or paths. */
uint32_t tl_compare_items(const tl_compare *c, bool paths);
tl_item tl_compare_item(const tl_compare *c, bool paths, uint32_t i);

#endif
