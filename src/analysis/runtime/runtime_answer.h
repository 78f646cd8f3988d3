/* Shared by the answers about managed runtimes: columns of quantiles, ids, and names of rows. */
#ifndef TL_ANALYSIS_RUNTIME_ANSWER_H
#define TL_ANALYSIS_RUNTIME_ANSWER_H

#include "analysis/runtime/quantiles.h"
#include "analysis/runtime/type_rows.h"
#include "analysis/table_kind.h"

/* A member of a tl_quantiles; all but count and total are null without values. */
void tl_get_quantile(const tl_at *at, tl_cell *out);

#define TL_QUANTILE(path, rank, unit, text)                                                                            \
    {                                                                                                                  \
        TL_COL(path, NULL, INTEGER, unit, text), .get = tl_get_quantile, .which = offsetof(tl_quantiles, rank)         \
    }
/* As members of the object `path`. */
#define TL_QUANTILE_FACTS(path)                                                                                        \
    {TL_COL(path ".count", NULL, INTEGER, COUNT, "how many there are"), NULL, TL_AT(U64, tl_quantiles, count)},        \
        {TL_COL(path ".total", NULL, INTEGER, TIME, "their sum"), NULL, TL_AT(SUM, tl_quantiles, total)},              \
        TL_QUANTILE(path ".min", min, TIME, "the shortest"), TL_QUANTILE(path ".p50", p50, TIME, "half take at most"), \
        TL_QUANTILE(path ".p90", p90, TIME, "90 % take at most"),                                                      \
        TL_QUANTILE(path ".p99", p99, TIME, "99 % take at most"), TL_QUANTILE(path ".max", max, TIME, "the longest")

/* Facts of a table that has members `stray_ends` and `open`. */
#define TL_UNMATCHED_FACTS(table)                                                                                      \
    {TL_COL("unmatched.ends", NULL, INTEGER, COUNT, "ends without begin"), TL_AT(U64, table, stray_ends)},             \
    {                                                                                                                  \
        TL_COL("unmatched.open", NULL, INTEGER, COUNT, "begins without end"), TL_AT(U64, table, open)                  \
    }

/* The name of a tl_type_row, for people and for programs. */
void tl_get_type(const tl_at *at, tl_cell *out);
#define TL_TYPE_COLUMNS                                                                                                \
    {TL_COL(NULL, "class", TEXT, NONE, NULL), .get = tl_get_type, .role = TL_ROLE_NAME},                               \
        {TL_COL("type_id", NULL, INTEGER, HEX, "the runtime's id of the class"), "iid", TL_AT(U64, tl_type_row, type), \
         TL_ONLY_IF(tl_type_row, has_type)},                                                                           \
    {                                                                                                                  \
        TL_COL("type_name", NULL, TEXT, NONE, "the class, if its name is known"), "name",                              \
            TL_AT(TEXT, tl_type_row, name)                                                                             \
    }

/* "1,204 without end, 3 without begin: not counted", faint; nothing if both are 0. */
void tl_say_unmatched(const tl_prose *p, uint64_t open, uint64_t stray, const char *effect);
/* A time of the answer. */
const char *tl_answer_time(const tl_answer *a, char *buf, size_t size, uint64_t v);
/* A name, or the number in hexadecimal, or "?". */
void tl_cell_name(const tl_at *at, tl_cell *out, const char *name, bool has_number, uint64_t number);

#endif
