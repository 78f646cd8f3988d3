/* Numbers as cells, for the tables of instructions. */
#ifndef TL_CLI_REPORT_INSN_PARTS_H
#define TL_CLI_REPORT_INSN_PARTS_H

#include <stdio.h>

#include "base/text/number.h"
#include "view/text_table.h"

/* Each is kept by the table, and put into the next cell of the row. */
static inline void tl_runtime_cell(tl_text_table *t, tl_text_row *row, unsigned *column, const char *text)
{
    row->cell[(*column)++] = tl_text_table_keep_raw(t, text);
}

static inline void tl_insn_cell_count(tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t v)
{
    char text[32];
    tl_runtime_cell(t, row, column, tl_human_grouped(text, sizeof text, v));
}

static inline void tl_insn_cell_bytes(tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t v)
{
    char text[32];
    tl_runtime_cell(t, row, column, tl_human_bytes(text, sizeof text, v));
}

/* Also sets the length of the bar. */
static inline void tl_insn_cell_share(tl_text_table *t, tl_text_row *row, unsigned *column, double part, double whole)
{
    char text[32];
    row->share = whole > 0 ? part / whole : 0;
    snprintf(text, sizeof text, "%.1f %%", 100 * row->share);
    tl_runtime_cell(t, row, column, text);
}

static inline char *tl_runtime_spark(const tl_terminal *terminal, char *buf, const double *value, unsigned n)
{
    return tl_text_spark(terminal, buf, value, n);
}

#endif
