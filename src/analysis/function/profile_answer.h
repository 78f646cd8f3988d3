/* Shared by the answers made from a profile: their source, their columns, and the line above them. */
#ifndef TL_ANALYSIS_PROFILE_ANSWER_H
#define TL_ANALYSIS_PROFILE_ANSWER_H

#include "analysis/function/tables.h"
#include "analysis/table_kind.h"

#define TL_PROFILE_ROWS 19u /* on a terminal: with head and prompt it fits 24 lines */

#define TL_PROFILE_SORTS "self total calls min p50 p90 p99 max name"

/* The source of such an answer. */
typedef struct tl_profile_table {
    const tl_profile *profile;
    uint32_t tracks;  /* 0: unknown */
    uint32_t trees;   /* of threads: fewer than threads if several used one, one after another. 0: as many */
    bool are_threads; /* tracks are threads, or streams of something else ... */
    bool are_cpus;    /* ... or all of them processors */
    uint64_t span;    /* ticks */
    bool has_span;
    bool of_modules;  /* the profile's functions are modules */
    bool are_chosen;  /* functions were selected by name */
    bool is_unsorted; /* the tree has its own order */
} tl_profile_table;

/* Makes the answer for a tl_profile_table; ask->sort is one of the words of its kind. */
int tl_profile_answer(const tl_table_kind *kind, tl_profile_table *t, const tl_ask *ask, const char *subject,
                      tl_answer *a, tl_error *e);

/* The line above the table, without its end: "app.xray: xray-fdr 5, 3 threads, 166 calls of 12 functions in 26.4 us".
 */
void tl_profile_head(const tl_profile_table *t, const char *subject, const tl_prose *p);

/* Adds what the line above the table says of one more trace: its tracks, and the span of the last. of_events: no input
 * so far is a profile. */
void tl_profile_table_add(tl_profile_table *t, const tl_trace *trace, const tl_profile *p, bool of_events);

/* Replaces t->profile by a copy, *copy, whose functions are the rows of the table: lines of samples, merged inputs, or
 * modules. *copy belongs to the caller, NULL if not needed. per_thread: trees of threads stay separate. Errors:
 * TL_ENOMEM. */
int tl_profile_group(const tl_table_kind *kind, tl_profile_table *t, bool per_thread, bool several, tl_profile **copy,
                     tl_error *e);

/* Whether the profile has what the order `sort` (NULL: the table's own) needs. Errors: TL_EINVAL. */
int tl_profile_sorts(const tl_profile *p, const char *sort, tl_error *e);

/* What the profile's numbers are. */ /* Has it neither calls nor samples, nor a sign that there were any? */
bool tl_profile_is_empty(const tl_profile *p);
/* Has no function a name that a binary could give it? */
bool tl_profile_lacks_names(const tl_profile *p, const tl_trace *t);
/* How many functions of samples the trace lacks, though it names others, if they are most of all; else 0. */
uint32_t tl_profile_strangers(const tl_profile *p, const tl_trace *t);

bool tl_profile_counts(const tl_profile *p);       /* its rows have only calls, or samples */
const char *tl_profile_calls(const tl_profile *p); /* "calls", "samples" or "allocations" */

/* Sorts rows as asked, or by `usual` for a table that is cut, and keeps those to be shown: others are left out. */
void tl_profile_sort(tl_table *rows, const tl_profile *p, const tl_ask *ask, tl_row_order usual);
/* Adds rows as a part, which takes them over. `of` and `wish` as in tl_answer_add_top(). */
tl_part *tl_profile_add(tl_answer *a, const tl_ask *ask, const char *key, const tl_column *column, uint32_t ncolumn,
                        const tl_table *rows, const char *of, unsigned wish);
/* The columns that suit the profile: titled after what is counted, without empty or duplicate ones. */
const tl_column *tl_profile_columns(tl_answer *a, const tl_column *column, size_t n, const tl_table *rows);

/* Time in and below each place, even where its call never ended; to be freed. NULL when memory runs out. */
uint64_t *tl_tree_inclusive(const tl_profile *p);
/* The tree for people: large places, with lines. Errors: TL_ENOMEM. */
int tl_tree_answer(const tl_profile *p, const tl_ask *ask, tl_answer *a, tl_error *e);

/* Facts: unmatched exits and entries, and samples by their outcome. */
void tl_profile_add_unmatched(tl_answer *a, const tl_ask *ask);
void tl_profile_add_samples(tl_answer *a, const tl_ask *ask);

static inline const tl_profile *tl_at_profile(const tl_at *at)
{
    return ((const tl_profile_table *)at->table)->profile;
}

/* Getters for members of a tl_row. */
void tl_get_ticks(const tl_at *at, tl_cell *out);    /* the member at `which`, as a time */
void tl_get_duration(const tl_at *at, tl_cell *out); /* the same, null without calls or durations */
void tl_get_unwound(const tl_at *at, tl_cell *out);
void tl_get_function_id(const tl_at *at, tl_cell *out);
void tl_get_function(const tl_at *at, tl_cell *out); /* its name; for people a number if it has none */
void tl_get_caller(const tl_at *at, tl_cell *out);   /* null: the trace begins with the call */
void tl_get_caller_id(const tl_at *at, tl_cell *out);
void tl_get_pair(const tl_at *at, tl_cell *out); /* "main -> parse" */
void tl_get_file(const tl_at *at, tl_cell *out);
void tl_get_line(const tl_at *at, tl_cell *out);
void tl_get_source(const tl_at *at, tl_cell *out); /* "inflate.c:622" */
/* Its name; of one without a name its number, for people and if the answer has labels. */
void tl_cell_function(const tl_at *at, const tl_function *f, tl_cell *out);
void tl_cell_function_id(const tl_function *f, tl_cell *out);
const tl_function *tl_row_function(const tl_at *at);
bool tl_is_approximate(const void *row);

#define TL_TICKS(name, member, at, dropped, what)                                                                      \
    {                                                                                                                  \
        TL_COL(name, name, INTEGER, TIME, what), .get = tl_get_ticks, .which = offsetof(tl_row, member), .place = at,  \
                                                 .drop = dropped                                                       \
    }
#define TL_DURATION(name, key, member, at, dropped, what)                                                              \
    {                                                                                                                  \
        TL_COL(name, key, INTEGER, TIME, what), .json = key, .get = tl_get_duration,                                   \
                                                .which = offsetof(tl_row, member), .place = at, .drop = dropped,       \
                                                .flags = TL_APPROXIMATE                                                \
    }
#define TL_CALLS(at, dropped)                                                                                          \
    {                                                                                                                  \
        TL_COL("calls", "calls", INTEGER, COUNT, "how often it was called; of samples, in how many of them it was"),   \
            TL_AT(U64, tl_row, stat.calls), .place = at, .drop = dropped                                               \
    }
/* Pairs of caller and callee. */
#define TL_PAIR                                                                                                        \
    {TL_COL("caller", NULL, TEXT, NONE, "the function that calls; null: the begin of the trace"),                      \
     .get = tl_get_caller},                                                                                            \
        {TL_COL("caller_id", NULL, INTEGER, NONE, "its number"), .get = tl_get_caller_id},                             \
        {TL_COL("callee", NULL, TEXT, NONE, "the function that is called"), .get = tl_get_function},                   \
    {                                                                                                                  \
        TL_COL("callee_id", NULL, INTEGER, NONE, "its number"), .get = tl_get_function_id                              \
    }
#define TL_PAIR_NAME                                                                                                   \
    {                                                                                                                  \
        TL_COL(NULL, "caller and callee", TEXT, NONE, NULL), .get = tl_get_pair, .role = TL_ROLE_NAME                  \
    }
/* In places from the fifth on. */
#define TL_DURATIONS                                                                                                   \
    TL_DURATION("min_dur", "min", stat.min, 5, 8, "the shortest call"),                                                \
        TL_DURATION("p50", "p50", p50, 6, 4, "half of the calls take at most that"),                                   \
        TL_DURATION("p90", "p90", p90, 7, 7, "90 % of the calls"), TL_DURATION("p99", "p99", p99, 8, 5, "99 %"),       \
        TL_DURATION("max_dur", "max", stat.max, 9, 6, "the longest call"),                                             \
    {                                                                                                                  \
        TL_COL("unwound", "unwound", INTEGER, COUNT,                                                                   \
               "calls that an outer one's exit closed: durations depend on them"),                                     \
            .get = tl_get_unwound, .flags = TL_NOT_0, .place = 10, .drop = 3                                           \
    }

#endif
