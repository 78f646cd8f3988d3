/* The table `profile`: the durations of each place by bucket, which are sums over traces where others add them up. */
#ifndef TL_OP_PROFILE_TABLE_H
#define TL_OP_PROFILE_TABLE_H

#include "op/scan/trace_places.h"

/* places: [sources] filled before the first scan. */
void tl_profile_table(tl_scan_table *out, const tl_trace_places *places);

#endif
