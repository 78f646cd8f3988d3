/* `report --by tree` as text: the tree with its lines, small parts left out on a terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "view/text_table.h"

#define SMALL_PART   1000u /* on a terminal a place of less than one in so many of the time is left out */
#define LEVELS_MAX   48u   /* levels of lines before a name; deeper ones lose their outer lines */
#define PREFIX_BYTES (LEVELS_MAX * 4 + 8) /* "│ " takes 4 bytes */

typedef struct tree {
    const tl_report *report;
    const tl_profile *profile;
    /* Arrays of as many entries as there are places. */
    uint64_t *inclusive;             /* time in the place and below it, also where the call itself never ended */
    uint32_t *first_child, *sibling; /* of shown places, in the order to show; 0: none */
    uint32_t *order;                 /* scratch: places sorted by something */
    uint32_t *depth;
    bool *shown;
    tl_row_order column; /* order of siblings */
    uint64_t *key;       /* what siblings are ordered by, descending; inclusive for TL_BY_NAME */
    uint32_t hidden;
    tl_text_table text;
} tree;

static void free_tree(tree *t)
{
    free(t->inclusive);
    free(t->first_child);
    free(t->shown);
    free(t->key);
    tl_text_table_fini(&t->text);
}

static int start_tree(tree *t, tl_error *e)
{
    const tl_profile *p = t->profile;
    const size_t n = p->nplace;
    t->inclusive = calloc(n + 1, sizeof *t->inclusive);
    t->first_child = calloc(4 * n + 1, sizeof *t->first_child);
    t->shown = calloc(n + 1, sizeof *t->shown);
    t->key = calloc(n + 1, sizeof *t->key);
    if (!t->inclusive || !t->first_child || !t->shown || !t->key)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a tree of %zu places", n);
    t->sibling = t->first_child + n;
    t->order = t->sibling + n;
    t->depth = t->order + n;
    for (uint32_t i = p->nplace; i-- > 1;) { /* children come after their parents */
        tl_stat stat;
        tl_profile_stat(p, i, &stat);
        t->inclusive[i] = stat.total > t->inclusive[i] ? stat.total : t->inclusive[i];
        t->inclusive[p->place[i].parent] += t->inclusive[i];
    }
    return 0;
}

static int larger_first(const void *left, const void *right, void *arg)
{
    const tree *t = arg;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (t->inclusive[a] != t->inclusive[b])
        return t->inclusive[a] > t->inclusive[b] ? -1 : 1;
    return (a > b) - (a < b); /* parents first */
}

/* Chooses the places to show: the largest. A parent is never smaller than its children, so it is shown with them. */
static void choose(tree *t)
{
    const tl_profile *p = t->profile;
    const uint32_t top = tl_report_top(t->report, TL_REPORT_ROWS);
    const bool prune = t->report->terminal->tty && !t->report->cli->args->has_top;
    uint32_t n = 0, shown = 0;
    for (uint32_t i = 1; i < p->nplace; i++)
        if (t->inclusive[i] || p->stat[i].calls)
            t->order[n++] = i;
    qsort_r(t->order, n, sizeof *t->order, larger_first, t);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = t->order[i];
        if ((top && shown >= top) || (prune && t->inclusive[place] < t->inclusive[0] / SMALL_PART))
            break;
        t->shown[place] = true;
        shown++;
    }
    /* Only a place of no time and no calls can be missing above a shown one. */
    for (uint32_t i = p->nplace; i-- > 1;)
        if (t->shown[i])
            t->shown[p->place[i].parent] = true;
    t->hidden = n > shown ? n - shown : 0;
}

static const char *label_of(const tl_profile *p, uint32_t place, char buf[static 24])
{
    const tl_place *at = &p->place[place];
    if (at->function != TL_NO_FUNCTION)
        return tl_function_label(&p->function[at->function], buf);
    return at->track < p->ntrack ? p->track[at->track].name : "(unknown thread)";
}

static tl_row_order column_of(const char *sort)
{
    static const char *const name[] = {"self", "total", "calls", "min", "p50", "p90", "p99", "max", "name"};
    for (unsigned i = 0; sort && i < TL_COUNT(name); i++)
        if (strcmp(sort, name[i]) == 0)
            return (tl_row_order)i; /* the same order as tl_row_order */
    return TL_BY_TOTAL;
}

static uint64_t key_of(const tree *t, uint32_t place)
{
    const tl_profile *p = t->profile;
    tl_stat stat;
    tl_profile_stat(p, place, &stat);
    switch (t->column) {
    case TL_BY_SELF:
        return stat.self;
    case TL_BY_CALLS:
        return stat.calls;
    case TL_BY_MIN:
        return stat.calls ? stat.min : 0;
    case TL_BY_MAX:
        return stat.max;
    case TL_BY_P50:
        return tl_profile_percentile(p, place, 500);
    case TL_BY_P90:
        return tl_profile_percentile(p, place, 900);
    case TL_BY_P99:
        return tl_profile_percentile(p, place, 990);
    default:
        return t->inclusive[place];
    }
}

static int in_sibling_order(const void *left, const void *right, void *arg)
{
    const tree *t = arg;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    char text_a[24], text_b[24];
    if (t->column != TL_BY_NAME && t->key[a] != t->key[b])
        return t->key[a] > t->key[b] ? -1 : 1;
    int names = strcmp(label_of(t->profile, a, text_a), label_of(t->profile, b, text_b));
    return names ? names : (a > b) - (a < b);
}

/* Links the shown places as lists of children, each in order. */
static void link_children(tree *t)
{
    const tl_profile *p = t->profile;
    uint32_t n = 0;
    t->column = column_of(t->report->cli->args->sort);
    for (uint32_t i = 1; i < p->nplace; i++) {
        t->depth[i] = t->depth[p->place[i].parent] + 1;
        if (!t->shown[i])
            continue;
        t->key[i] = key_of(t, i);
        t->order[n++] = i;
    }
    qsort_r(t->order, n, sizeof *t->order, in_sibling_order, t);
    while (n-- > 0) { /* the last first: each goes in front */
        uint32_t place = t->order[n], parent = p->place[place].parent;
        t->sibling[place] = t->first_child[parent];
        t->first_child[parent] = place;
    }
}

/* The lines before a name: for each level whether more siblings follow. Outermost places have none. */
static const char *lines_before(const tree *t, char buf[static PREFIX_BYTES], uint32_t place)
{
    static const char *const unicode[] = {"  ", "│ ", "├ ", "└ "}, *const ascii[] = {"  ", "| ", "|-", "`-"};
    const tl_terminal *terminal = t->report->terminal;
    const char *const *piece = terminal->unicode ? unicode : ascii;
    uint32_t levels = t->depth[place] - 1, most = terminal->tty ? terminal->width / 6 : LEVELS_MAX;
    const char *part[LEVELS_MAX];
    most = most > LEVELS_MAX ? LEVELS_MAX : most;
    uint32_t n = levels < most ? levels : most, left = n;
    for (uint32_t at = place; left-- > 0; at = t->profile->place[at].parent)
        part[left] = piece[at == place ? (t->sibling[at] ? 2 : 3) : (t->sibling[at] ? 1 : 0)];
    size_t used = 0;
    if (levels > n && n) /* the outer lines are left out */
        part[0] = terminal->unicode ? "… " : "..";
    for (uint32_t i = 0; i < n; i++) {
        memcpy(buf + used, part[i], strlen(part[i]));
        used += strlen(part[i]);
    }
    buf[used] = 0;
    return buf;
}

static const char *keep_time(tree *t, uint64_t ticks)
{
    char text[32];
    return tl_text_table_keep_raw(&t->text, tl_report_time(t->report, text, sizeof text, ticks));
}

static const char *keep_duration(tree *t, uint32_t place, uint64_t ticks)
{
    char text[32];
    return tl_text_table_keep_raw(
        &t->text, tl_report_duration(t->report, text, sizeof text, ticks, tl_profile_place_unwound(t->profile, place)));
}

static void add_row(tree *t, uint32_t place)
{
    const tl_profile *p = t->profile;
    tl_text_row *row = tl_text_table_add(&t->text);
    char text[64], source[256], prefix[PREFIX_BYTES];
    tl_stat stat;
    tl_profile_stat(p, place, &stat);
    row->share = t->inclusive[0] ? (double)t->inclusive[place] / (double)t->inclusive[0] : 0;
    row->cell[0] = keep_time(t, t->inclusive[place]);
    row->cell[1] = tl_text_table_keep_raw(&t->text, tl_report_share(text, sizeof text, row->share));
    unsigned at = 2;
    if (t->text.ncolumn > 3)
        row->cell[at++] =
            stat.calls ? tl_text_table_keep_raw(&t->text, tl_human_grouped(text, sizeof text, stat.calls)) : "-";
    row->cell[at] = stat.calls ? keep_time(t, stat.self) : "-";
    if (t->text.ncolumn > 4) {
        row->cell[4] = stat.calls ? keep_duration(t, place, tl_profile_percentile(p, place, 500)) : "-";
        row->cell[5] = stat.calls ? keep_duration(t, place, tl_profile_percentile(p, place, 990)) : "-";
        row->cell[6] = stat.calls ? keep_duration(t, place, stat.max) : "-";
    }
    row->prefix = tl_text_table_keep_raw(&t->text, lines_before(t, prefix, place));
    row->name = tl_text_table_keep(&t->text, label_of(p, place, text));
    if (p->place[place].function != TL_NO_FUNCTION)
        row->suffix = tl_text_table_keep(
            &t->text, tl_report_source(source, sizeof source, &p->function[p->place[place].function]));
}

/* Depth first, by the links alone. */
static void add_rows(tree *t)
{
    uint32_t at = t->first_child[0];
    while (at) {
        add_row(t, at);
        if (t->first_child[at]) {
            at = t->first_child[at];
            continue;
        }
        while (at && !t->sibling[at])
            at = t->profile->place[at].parent;
        at = at ? t->sibling[at] : 0;
    }
}

int tl_report_text_tree(const tl_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column counts_only[] = {{"total", 0}, {"share", 0}, {"self", 1}};
    const tl_text_column column[] = {{"total", 0}, {"share", 0}, {tl_report_calls(r), 2}, {"self", 1}, {"p50", 3},
                                     {"p99", 4},   {"max", 5}};
    tree t = {.report = r,
              .profile = r->profile,
              .text = {.column = column,
                       .ncolumn = tl_profile_has_histogram(r->profile) ? 7 : 4,
                       .name_title = "call tree",
                       .none = tl_profile_weights(r->profile) ? "no samples" : "no calls",
                       .bar_after = 1,
                       .name_wish = r->terminal->width / 2}};
    if (tl_report_measure(r) == TL_MEASURE_COUNT) {
        t.text.column = counts_only;
        t.text.ncolumn = TL_COUNT(counts_only);
    }
    int status = start_tree(&t, e);
    if (status == 0) {
        choose(&t);
        link_children(&t);
        add_rows(&t);
        tl_text_table_print(&t.text, r->terminal, out);
        tl_report_more(r, out, t.hidden, "smaller places");
        if (t.text.failed)
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to show a tree");
    }
    free_tree(&t);
    return status;
}
