/* Tables of samples of stacks, and of allocations at the stacks that samples set: `samples`, `allocations`. */
#ifndef TL_OP_SAMPLE_TABLES_H
#define TL_OP_SAMPLE_TABLES_H

#include "op/scan/scan.h"

#define TL_SAMPLE_TABLES 2u

void tl_sample_table(uint32_t i, tl_scan_table *out, const tl_dataset *d);

#endif
