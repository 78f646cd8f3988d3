/* An answer as text for the terminal: its sentences, and its tables laid out for the available width. */
#include "view/text_table.h"
#include "view/view.h"

/* The roles of the part's columns. */
typedef struct layout {
    uint32_t cell[TL_TEXT_COLUMNS]; /* of the part's columns */
    tl_text_column column[TL_TEXT_COLUMNS];
    int64_t share, prefix, name, suffix; /* < 0: none */
} layout;

static void take_column(const tl_column *c, uint32_t i, layout *l, tl_text_table *t)
{
    if (c->role == TL_ROLE_PREFIX)
        l->prefix = i;
    else if (c->role == TL_ROLE_SUFFIX)
        l->suffix = i;
    else if (c->role == TL_ROLE_NAME && c->info.title)
        l->name = i;
    else if (c->role == TL_ROLE_NUMBER && c->info.title && t->ncolumn < TL_TEXT_COLUMNS) {
        l->cell[t->ncolumn] = i;
        l->column[t->ncolumn++] = (tl_text_column){c->info.title, c->drop};
    }
    if (c->role == TL_ROLE_BAR || (c->flags & TL_WITH_BAR && c->info.title)) {
        l->share = i;
        t->bar_after = t->ncolumn - 1;
    }
}

static void take_columns(const tl_part *part, layout *l, tl_text_table *t)
{
    *l = (layout){.share = -1, .prefix = -1, .name = -1, .suffix = -1};
    for (uint32_t i = tl_part_next_column(part, part->ncolumn); i < part->ncolumn; i = tl_part_next_column(part, i))
        take_column(&part->column[i], i, l, t);
    t->column = l->column;
    if (l->share < 0)
        t->bar_after = t->ncolumn;
    t->name_title = l->name < 0 ? "" : part->column[l->name].info.title;
}

/* The text of a cell, for as long as the table lives. Numbers need no cleaning, and the lines of a tree are our own. */
static const char *keep(tl_text_table *t, const tl_part *part, uint64_t row, int64_t column)
{
    char buf[64];
    if (column < 0)
        return "";
    const char *text = tl_cell_shown(part, row, (uint32_t)column, buf, sizeof buf);
    if (part->column[column].role == TL_ROLE_PREFIX)
        return text;
    return text == buf ? tl_text_table_keep_raw(t, text) : tl_text_table_keep(t, text);
}

static void add_row(tl_text_table *t, const layout *l, const tl_part *part, uint64_t i)
{
    tl_text_row *row = tl_text_table_add(t);
    tl_cell share;
    for (unsigned k = 0; k < t->ncolumn; k++)
        row->cell[k] = keep(t, part, i, l->cell[k]);
    row->prefix = keep(t, part, i, l->prefix);
    row->name = keep(t, part, i, l->name);
    row->suffix = keep(t, part, i, l->suffix);
    if (l->share >= 0) {
        tl_part_cell(part, i, (uint32_t)l->share, &share);
        row->share = share.kind == TL_CELL_REAL ? share.real : 0;
    }
    tl_arena_reset(&part->answer->scratch);
}

static bool is_table(const tl_part *part)
{
    for (uint32_t i = 0; i < part->ncolumn; i++)
        if (part->column[i].info.title)
            return true;
    return false;
}

static void print_table(const tl_part *part, const tl_showing *s)
{
    const tl_terminal *terminal = s->terminal;
    tl_output *out = s->out;
    tl_text_table t = {.none = part->none, .name_wish = part->name_wish};
    layout l;
    take_columns(part, &l, &t);
    for (uint64_t i = 0; i < part->n; i++)
        add_row(&t, &l, part, i);
    part->answer->failed = part->answer->failed || t.failed;
    tl_text_table_print(&t, terminal, out);
    if (!s->ask->has_top)
        tl_say_left_out(&(tl_prose){.out = out, .terminal = terminal}, part->left_out, part->of, part->rest);
    tl_text_table_fini(&t);
}

static int show_text(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    tl_output *out = s->out;
    const tl_prose prose = {.out = out, .terminal = s->terminal};
    bool first = true;
    if (a->head) {
        a->head(a, &prose);
        first = false;
    }
    for (const tl_part *p = a->first; p; p = p->next) {
        if (!p->for_people)
            continue;
        tl_output_puts(out, first ? "" : "\n");
        first = false;
        if (p->before)
            p->before(p, &prose);
        if (is_table(p))
            print_table(p, s);
        if (p->after)
            p->after(p, &prose);
    }
    return tl_answer_check(a, e);
}

const tl_view tl_view_table = {
    .name = "table", .suffix = ".txt", .show = show_text, .what = "text for people, as without --to"};
