/* Tables of SQL whose rows an analysis keeps one by one, made on first use. */
#ifndef TL_QUERY_ANALYSIS_KINDS_H
#define TL_QUERY_ANALYSIS_KINDS_H

#include "analysis/table_kind.h"
#include "op/scan/made_scan.h"

extern const tl_made_kind tl_syscalls_kind, tl_cache_misses_kind, tl_predictions_kind, tl_page_intervals_kind;
extern const tl_made_kind tl_compilations_kind, tl_cpu_usage_kind, tl_pauses_kind;

/* Tables of report whose options are arguments in SQL. */
bool tl_report_has_arguments(const tl_table_kind *of);
/* Makes such a table; its columns are in the arena. False when memory runs out. */
bool tl_report_made_kind(tl_made_kind *out, const tl_table_kind *of, tl_arena *arena);

#endif
