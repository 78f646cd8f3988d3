/* Lays out a table: first the widths, then line by line. */
#include "view/text_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/name_fit.h"

#define GAP        2u  /* blanks between columns */
#define BAR_BEST   20u /* columns of the bar if there is room */
#define BAR_LEAST  8u  /* the narrowest bar before it is dropped */
#define NAME_LEAST 8u
#define FIT_SIZE   4096u /* room for a bar or a shortened name: both are shorter than a window is wide */

tl_text_row *tl_text_table_add(tl_text_table *t)
{
    static tl_text_row spare;
    if (!TL_GROW(t->row, t->nrow, 1, t->capacity)) {
        t->failed = true;
        return &spare;
    }
    tl_text_row *r = &t->row[t->nrow++];
    *r = (tl_text_row){.prefix = "", .name = "", .suffix = ""};
    for (unsigned i = 0; i < TL_TEXT_COLUMNS; i++)
        r->cell[i] = "";
    return r;
}

const char *tl_text_table_keep_raw(tl_text_table *t, const char *text)
{
    const char *copy = tl_arena_strndup(&t->arena, text, strlen(text));
    if (!copy)
        t->failed = true;
    return copy ? copy : "";
}

const char *tl_text_table_keep(tl_text_table *t, const char *text)
{
    size_t n = strlen(text);
    char *copy = tl_arena_alloc(&t->arena, n + 1);
    if (!copy) {
        t->failed = true;
        return "";
    }
    return tl_text_clean(copy, n + 1, text);
}

void tl_text_table_fini(tl_text_table *t)
{
    free(t->row);
    tl_arena_fini(&t->arena);
    *t = (tl_text_table){0};
}

typedef struct layout {
    unsigned width[TL_TEXT_COLUMNS]; /* 0: dropped */
    unsigned bar, name;
} layout;

static unsigned width_of(const char *s)
{
    return tl_text_width(s, strlen(s));
}

/* Columns before the name, with gaps. */
static unsigned used(const tl_text_table *t, const layout *l)
{
    unsigned sum = l->bar ? l->bar + GAP : 0;
    for (unsigned i = 0; i < t->ncolumn; i++)
        sum += l->width[i] ? l->width[i] + GAP : 0;
    return sum;
}

/* Drops the least important column; false if all must stay. */
static bool drop_column(const tl_text_table *t, layout *l)
{
    unsigned worst = TL_TEXT_COLUMNS;
    for (unsigned i = 0; i < t->ncolumn; i++)
        if (l->width[i] && t->column[i].drop && (worst == TL_TEXT_COLUMNS || t->column[i].drop > t->column[worst].drop))
            worst = i;
    if (worst == TL_TEXT_COLUMNS)
        return false;
    l->width[worst] = 0;
    return true;
}

static void lay_out(const tl_text_table *t, const tl_terminal *terminal, layout *l)
{
    unsigned longest = width_of(t->name_title);
    *l = (layout){.bar = t->bar_after < t->ncolumn ? BAR_BEST : 0};
    for (unsigned i = 0; i < t->ncolumn; i++)
        l->width[i] = width_of(t->column[i].title);
    for (uint32_t r = 0; r < t->nrow; r++) {
        const tl_text_row *row = &t->row[r];
        for (unsigned i = 0; i < t->ncolumn; i++) {
            unsigned w = width_of(row->cell[i]);
            l->width[i] = w > l->width[i] ? w : l->width[i];
        }
        unsigned w = width_of(row->prefix) + width_of(row->name);
        longest = w > longest ? w : longest;
    }
    unsigned wish = longest < t->name_wish ? longest : t->name_wish, width = terminal->width;
    if (!terminal->fit) { /* the columns do not depend on the names, and nothing is cut */
        l->name = UINT32_MAX;
        return;
    }
    while (used(t, l) + wish > width) {
        if (l->bar)
            l->bar = l->bar > BAR_LEAST ? l->bar - 1 : 0;
        else if (!drop_column(t, l))
            break;
    }
    l->name = width > used(t, l) + NAME_LEAST ? width - used(t, l) : NAME_LEAST;
}

/* A line under construction. Blanks are held back until something follows, so that no line ends with them. */
typedef struct text_line {
    tl_output *out;
    unsigned blanks;
} text_line;

static void put(text_line *l, const char *text)
{
    if (!*text)
        return;
    for (; l->blanks; l->blanks--)
        tl_output_write(l->out, " ", 1);
    tl_output_puts(l->out, text);
}

static void put_styled(text_line *l, const tl_terminal *terminal, tl_style style, const char *text)
{
    if (!*text)
        return;
    put(l, tl_style_on(terminal, style));
    put(l, text);
    put(l, tl_style_on(terminal, TL_PLAIN_TEXT));
}

static void put_right(text_line *l, const char *text, unsigned width)
{
    unsigned w = width_of(text);
    l->blanks += width > w ? width - w : 0;
    put(l, text);
    l->blanks += GAP;
}

static void print_header(const tl_text_table *t, const tl_terminal *terminal, const layout *l, tl_output *out)
{
    text_line line = {.out = out};
    put(&line, tl_style_on(terminal, TL_HEADER));
    for (unsigned i = 0; i < t->ncolumn; i++) {
        if (l->width[i])
            put_right(&line, t->column[i].title, l->width[i]);
        if (i == t->bar_after && l->bar)
            line.blanks += l->bar + GAP;
    }
    put(&line, t->name_title);
    tl_output_puts(out, tl_style_on(terminal, TL_PLAIN_TEXT));
    tl_output_puts(out, "\n");
}

static void print_row(const tl_text_table *t, const tl_terminal *terminal, const layout *l, const tl_text_row *row,
                      tl_output *out)
{
    char buffer[FIT_SIZE];
    text_line line = {.out = out};
    for (unsigned i = 0; i < t->ncolumn; i++) {
        if (l->width[i])
            put_right(&line, row->cell[i], l->width[i]);
        if (i == t->bar_after && l->bar) {
            tl_text_bar(terminal, buffer, sizeof buffer, row->share, l->bar);
            put_styled(&line, terminal, TL_ACCENT, buffer);
            line.blanks += l->bar - width_of(buffer) + GAP;
        }
    }
    unsigned prefix = width_of(row->prefix), room = l->name > prefix + NAME_LEAST ? l->name - prefix : NAME_LEAST;
    put_styled(&line, terminal, TL_FAINT, row->prefix);
    const char *name = tl_name_fit(terminal, buffer, sizeof buffer, row->name, room);
    put(&line, name);
    unsigned name_width = width_of(name), suffix = width_of(row->suffix);
    if (suffix && (l->name == UINT32_MAX || name_width + GAP + suffix <= room)) {
        line.blanks += GAP;
        put_styled(&line, terminal, TL_FAINT, row->suffix);
    }
    tl_output_puts(out, "\n");
}

void tl_text_table_print(const tl_text_table *t, const tl_terminal *terminal, tl_output *out)
{
    layout l;
    if (t->nrow == 0) {
        tl_output_printf(out, "%s\n", t->none ? t->none : "nothing to show");
        return;
    }
    lay_out(t, terminal, &l);
    print_header(t, terminal, &l, out);
    for (uint32_t i = 0; i < t->nrow; i++)
        print_row(t, terminal, &l, &t->row[i], out);
}
