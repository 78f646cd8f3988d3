/* Tables for people: right-aligned columns, a bar, and a name at the end, laid out for the available width.
 *
 * In a narrow window the bar shrinks and is dropped, then columns are dropped (the highest `drop` first), and last
 * names are shortened. Without a terminal, and with --wide, names are never shortened. */
#ifndef TL_VIEW_TEXT_TABLE_H
#define TL_VIEW_TEXT_TABLE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/io/output.h"
#include "view/terminal.h"

#define TL_TEXT_COLUMNS 12u /* most columns before the name */

typedef struct tl_text_column {
    const char *title;
    unsigned drop; /* 0: stays; otherwise columns with a higher number are dropped first */
} tl_text_column;

typedef struct tl_text_row {
    const char *cell[TL_TEXT_COLUMNS];
    double share;       /* length of the bar, 0 .. 1 */
    const char *prefix; /* before the name, never cut: the lines of a tree; "" */
    const char *name;
    const char *suffix; /* after the name, if there is room: a source line; "" */
} tl_text_row;

typedef struct tl_text_table {
    const tl_text_column *column;
    unsigned ncolumn;
    const char *name_title;
    const char *none;   /* "no functions": shown in place of an empty table; NULL: "nothing to show" */
    unsigned bar_after; /* the bar follows this column; ncolumn: none */
    unsigned name_wish; /* columns that the name should get, if it needs them, before others are dropped */
    tl_text_row *row;
    uint32_t nrow, capacity;
    tl_arena arena;
    bool failed; /* memory ran out */
} tl_text_table;

/* A new row with cells "" and share 0. Never NULL: after memory ran out it is a dummy. Valid until the next. */
tl_text_row *tl_text_table_add(tl_text_table *t);
/* A copy of text, made safe for a terminal, that lives as long as the table. */
const char *tl_text_table_keep(tl_text_table *t, const char *text);
/* The same for text that is known to be safe. */
const char *tl_text_table_keep_raw(tl_text_table *t, const char *text);
void tl_text_table_print(const tl_text_table *t, const tl_terminal *terminal, tl_output *out);
void tl_text_table_fini(tl_text_table *t);

#endif
