/* Numbers as cells, for the tables of instructions: as those of managed runtimes, whose sums may be larger. */
#ifndef TL_CLI_REPORT_INSN_PARTS_H
#define TL_CLI_REPORT_INSN_PARTS_H

#include "cli/report/report_runtime.h"

static inline void tl_insn_cell_count(tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t v)
{
    tl_runtime_cell_count(t, row, column, tl_sum_of(v));
}

static inline void tl_insn_cell_bytes(tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t v)
{
    tl_runtime_cell_bytes(t, row, column, tl_sum_of(v));
}

/* Also sets the length of the bar. */
static inline void tl_insn_cell_share(tl_text_table *t, tl_text_row *row, unsigned *column, double part, double whole)
{
    tl_runtime_cell_share(t, row, column, part, whole);
}

#endif
