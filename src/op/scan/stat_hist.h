/* The durations of a place of a profile as a histogram in bytes: docs/format/profile.md's list, in nanoseconds. */
#ifndef TL_OP_STAT_HIST_H
#define TL_OP_STAT_HIST_H

#include "model/profile_impl.h"
#include "op/scan/scan_block.h"

/* Into a column of TL_UNIT_BLOB. Each count goes to the bucket of the middle of its ticks, but the shortest and the
 * longest call keep their places. */
void tl_scan_put_hist(tl_scan_block *b, uint32_t column, uint32_t row, const tl_place_stat *s, const tl_scale *scale);

#endif
