/* The durations of a place of a profile as a histogram in bytes: docs/format/profile.md's list, in nanoseconds. */
#ifndef TL_OP_STAT_HIST_H
#define TL_OP_STAT_HIST_H

#include "model/hist_bytes.h"
#include "model/profile_impl.h"
#include "model/scan_block.h"
#include "op/scan/scan.h"

/* Sets d, which is zeros, in nanoseconds: each count goes to the bucket of the middle of its ticks, but the shortest
 * and the longest call keep their places. fini is needed in any case. False when memory runs out. */
bool tl_stat_durations(tl_durations *d, const tl_place_stat *s, const tl_scale *scale);
/* The same as bytes, into a column of TL_UNIT_BLOB. */
void tl_scan_put_hist(tl_scan_block *b, uint32_t column, uint32_t row, const tl_place_stat *s, const tl_scale *scale);

#endif
