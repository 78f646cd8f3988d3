/* Tables of SQL whose rows an analysis keeps one by one, made on first use. */
#ifndef TL_QUERY_ANALYSIS_KINDS_H
#define TL_QUERY_ANALYSIS_KINDS_H

#include "op/scan/made_scan.h"

extern const tl_made_kind tl_syscalls_kind, tl_cache_misses_kind, tl_predictions_kind;
extern const tl_made_kind tl_compilations_kind, tl_cpu_usage_kind, tl_pauses_kind;

#endif
