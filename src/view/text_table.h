/* Tables for eyes: right-aligned columns, a bar, and a name at the end, laid out for the width at hand.
 *
 * Where the window is narrow the bar shrinks and goes, then columns go (the one with the highest `drop` first), and
 * last parts of the names. Where there is no terminal, and with --wide, nothing is ever cut from a name. */
#ifndef TL_VIEW_TEXT_TABLE_H
#define TL_VIEW_TEXT_TABLE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/io/output.h"
#include "view/terminal.h"

#define TL_TEXT_COLUMNS 12u /* most columns before the name */

typedef struct tl_text_column {
    const char *title;
    unsigned drop; /* 0: stays; else columns with a higher number go first */
} tl_text_column;

typedef struct tl_text_row {
    const char *cell[TL_TEXT_COLUMNS];
    double share;       /* length of the bar, 0 .. 1 */
    const char *prefix; /* before the name, never cut: the lines of a tree; "" */
    const char *name;
    const char *suffix; /* after the name, where there is room: a source line; "" */
} tl_text_row;

typedef struct tl_text_table {
    const tl_text_column *column;
    unsigned ncolumn;
    const char *name_title;
    const char *none;   /* "no functions": said in place of a table without rows; NULL: "nothing to show" */
    unsigned bar_after; /* the bar stands behind this column; ncolumn: there is none */
    unsigned name_wish; /* columns that a name gets before others are dropped for it, if it needs them */
    tl_text_row *row;
    uint32_t nrow, capacity;
    tl_arena arena;
    bool failed; /* memory ran out */
} tl_text_table;

/* A new row with cells "" and share 0. Never NULL: after memory ran out it is a spare one. Valid until the next. */
tl_text_row *tl_text_table_add(tl_text_table *t);
/* A copy of text that lives as long as the table, fit for a terminal. */
const char *tl_text_table_keep(tl_text_table *t, const char *text);
/* The same for text that is known to be fit. */
const char *tl_text_table_keep_raw(tl_text_table *t, const char *text);
/* Three of such texts as one. */
const char *tl_text_table_join(tl_text_table *t, const char *first, const char *between, const char *second);
void tl_text_table_print(const tl_text_table *t, const tl_terminal *terminal, tl_output *out);
void tl_text_table_fini(tl_text_table *t);

#endif
