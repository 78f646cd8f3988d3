/* The tree of calls for people, with its lines; on a terminal without small parts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function/profile_answer.h"
#include "base/grow.h"

#define SMALL_PART   1000u /* on a terminal, places with less than 1/SMALL_PART of the time are left out */
#define LEVELS_SHOWN 48u   /* levels of lines before a name; deeper ones lose their outer lines */
#define PREFIX_BYTES (LEVELS_SHOWN * 4 + 8) /* "│ " takes 4 bytes */

typedef struct tree {
    const tl_ask *ask;
    const tl_profile *profile;
    tl_answer *answer;
    /* Arrays with one entry per place. */
    uint64_t *inclusive;             /* time in and below the place, even where the call itself never ended */
    uint32_t *first_child, *sibling; /* of shown places, in the order to show; 0: none */
    uint32_t *order;                 /* scratch: sorted places */
    uint32_t *depth;
    uint32_t *levels; /* of recursion that became this place */
    bool *shown;
    tl_row_order column; /* order of siblings */
    uint64_t *key;       /* descending sort key of siblings; inclusive for TL_BY_NAME */
    uint32_t hidden;
    struct node *node; /* shown places, depth first */
    uint32_t nnode;
} tree;

/* A shown place. */
typedef struct node {
    uint32_t place;
    uint32_t levels; /* of recursion */
    bool unwound;    /* durations of its calls depend on the exits of outer ones */
    uint64_t total;  /* including what never ended */
    double share;
    const char *lines; /* before its name */
} node;

static void free_tree(tree *t)
{
    free(t->inclusive);
    free(t->first_child);
    free(t->shown);
    free(t->key);
    free(t->node);
}

uint64_t *tl_tree_inclusive(const tl_profile *p)
{
    uint64_t *inclusive = calloc((size_t)p->nplace + 1, sizeof *inclusive);
    for (uint32_t i = p->nplace; inclusive && i-- > 1;) { /* children come after their parents */
        tl_stat stat;
        tl_profile_stat(p, i, &stat);
        inclusive[i] = stat.total > inclusive[i] ? stat.total : inclusive[i];
        inclusive[p->place[i].parent] += inclusive[i];
    }
    return inclusive;
}

static int start_tree(tree *t, tl_error *e)
{
    const tl_profile *p = t->profile;
    const size_t n = p->nplace;
    t->inclusive = tl_tree_inclusive(p);
    t->first_child = calloc(5 * n + 1, sizeof *t->first_child);
    t->shown = calloc(n + 1, sizeof *t->shown);
    t->key = calloc(n + 1, sizeof *t->key);
    t->node = tl_alloc(n + 1, sizeof *t->node);
    if (!t->inclusive || !t->first_child || !t->shown || !t->key || !t->node)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a tree of %zu places", n);
    t->sibling = t->first_child + n;
    t->order = t->sibling + n;
    t->depth = t->order + n;
    t->levels = t->depth + n;
    return 0;
}

static void free_profile(void *p)
{
    tl_profile_free(p);
}

/* Makes one place of each chain of places of the same function. Its time is that of the outermost ones. */
static int fold(tree *t, tl_error *e)
{
    const tl_profile *p = t->profile;
    uint32_t *to = NULL, recurring = 0;
    tl_profile *folded;
    for (uint32_t i = 1; i < p->nplace && !t->ask->no_fold; i++)
        recurring += tl_place_recurs(p, i);
    if (recurring == 0)
        return 0;
    const int status = tl_profile_join(&folded, &to, p, TL_JOIN_RECURSION, e);
    if (status < 0)
        return status;
    uint64_t *inclusive = t->key;
    for (uint32_t i = 0; i < p->nplace; i++) {
        const bool recurs = tl_place_recurs(p, i);
        const uint32_t level = t->order[i] = recurs ? t->order[p->place[i].parent] + 1 : 1;
        inclusive[to[i]] += recurs ? 0 : t->inclusive[i];
        t->levels[to[i]] = level > t->levels[to[i]] ? level : t->levels[to[i]];
    }
    free(to);
    t->key = t->inclusive;
    t->inclusive = inclusive;
    t->profile = folded;
    tl_answer_own_by(t->answer, folded, free_profile);
    return t->answer->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a tree") : 0;
}

static int larger_first(const void *left, const void *right, void *arg)
{
    const tree *t = arg;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (t->inclusive[a] != t->inclusive[b])
        return t->inclusive[a] > t->inclusive[b] ? -1 : 1;
    return TL_COMPARE(a, b); /* parents first */
}

/* Chooses the largest places to show. A parent is never smaller than its children, so it is shown with them. */
static void choose(tree *t)
{
    const tl_profile *p = t->profile;
    const uint32_t top = tl_ask_rows(t->ask, UINT32_MAX, TL_PROFILE_ROWS, 0);
    const bool prune = t->ask->tty && !t->ask->has_top;
    uint32_t n = 0, shown = 0;
    for (uint32_t i = 1; i < p->nplace; i++)
        if (t->inclusive[i] || p->stat[i].calls)
            t->order[n++] = i;
    qsort_r(t->order, n, sizeof *t->order, larger_first, t);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = t->order[i];
        if (shown >= top || (prune && t->inclusive[place] < t->inclusive[0] / SMALL_PART))
            break;
        t->shown[place] = true;
        shown++;
    }
    /* Above a shown place, only one without time and calls can be missing. */
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
    return names ? names : TL_COMPARE(a, b);
}

/* Links the shown places into sorted lists of children. */
static void link_children(tree *t)
{
    const tl_profile *p = t->profile;
    uint32_t n = 0;
    t->column = column_of(t->ask->sort);
    for (uint32_t i = 1; i < p->nplace; i++) {
        t->depth[i] = t->depth[p->place[i].parent] + 1;
        if (!t->shown[i])
            continue;
        t->key[i] = key_of(t, i);
        t->order[n++] = i;
    }
    qsort_r(t->order, n, sizeof *t->order, in_sibling_order, t);
    while (n-- > 0) { /* from the last: each is put in front */
        uint32_t place = t->order[n], parent = p->place[place].parent;
        t->sibling[place] = t->first_child[parent];
        t->first_child[parent] = place;
    }
}

/* The lines before a name: for each level, whether more siblings follow. None for outermost places. */
static const char *lines_before(const tree *t, char buf[static PREFIX_BYTES], uint32_t place)
{
    static const char *const unicode[] = {"  ", "│ ", "├ ", "└ "}, *const ascii[] = {"  ", "| ", "|-", "`-"};
    const char *const *piece = t->ask->unicode ? unicode : ascii;
    uint32_t levels = t->depth[place] - 1, most = t->ask->tty ? t->ask->width / 6 : LEVELS_SHOWN;
    const char *part[LEVELS_SHOWN];
    most = most > LEVELS_SHOWN ? LEVELS_SHOWN : most;
    uint32_t n = levels < most ? levels : most, left = n;
    for (uint32_t at = place; left-- > 0; at = t->profile->place[at].parent)
        part[left] = piece[at == place ? (t->sibling[at] ? 2 : 3) : (t->sibling[at] ? 1 : 0)];
    size_t used = 0;
    if (levels > n && n) /* leaves out the outer lines */
        part[0] = t->ask->unicode ? "… " : "..";
    for (uint32_t i = 0; i < n; i++) {
        memcpy(buf + used, part[i], strlen(part[i]));
        used += strlen(part[i]);
    }
    buf[used] = 0;
    return buf;
}

static void add_node(tree *t, uint32_t place)
{
    const tl_profile *p = t->profile;
    char lines[PREFIX_BYTES];
    node *to = &t->node[t->nnode++];
    *to = (node){.place = place,
                 .levels = t->levels[place],
                 .unwound = tl_profile_place_unwound(p, place) > 0,
                 .total = t->inclusive[place],
                 .share = t->inclusive[0] ? (double)t->inclusive[place] / (double)t->inclusive[0] : 0};
    lines_before(t, lines, place);
    to->lines = tl_arena_strndup(&t->answer->arena, lines, strlen(lines));
    t->answer->failed = t->answer->failed || !to->lines;
}

/* Depth first, following the links. */
static void add_nodes(tree *t)
{
    uint32_t at = t->first_child[0];
    while (at) {
        add_node(t, at);
        if (t->first_child[at]) {
            at = t->first_child[at];
            continue;
        }
        while (at && !t->sibling[at])
            at = t->profile->place[at].parent;
        at = at ? t->sibling[at] : 0;
    }
}

/* ---- columns ---- */

static void get_total(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, tl_profile_time(tl_at_profile(at), ((const node *)at->row)->total));
}

enum { SELF = 1, CALLS = 2, MAX = 3 }; /* of a place; otherwise a percentile, in thousandths */

/* Numbers of a place's calls; null if it was never called. */
static void get_called(const tl_at *at, tl_cell *out)
{
    const tl_profile *p = tl_at_profile(at);
    const uint32_t place = ((const node *)at->row)->place, which = at->column->which;
    tl_stat stat;
    tl_profile_stat(p, place, &stat);
    if (stat.calls == 0)
        return;
    const uint64_t ticks = which == SELF    ? stat.self
                           : which == MAX   ? stat.max
                           : which == CALLS ? stat.calls
                                            : tl_profile_percentile(p, place, which);
    tl_cell_u64(out, which == CALLS ? ticks : tl_profile_time(p, ticks));
}

static bool is_approximate(const void *row)
{
    return ((const node *)row)->unwound;
}

static void get_name(const tl_at *at, tl_cell *out)
{
    char text[24];
    const node *n = at->row;
    const char *label = label_of(tl_at_profile(at), n->place, text);
    if (n->levels > 1)
        tl_cell_printf(at, out, "%s x%" PRIu32, label, n->levels);
    else if (label == text)
        tl_cell_printf(at, out, "%s", text);
    else
        tl_cell_text(out, label);
}

static void get_place_source(const tl_at *at, tl_cell *out)
{
    const tl_row row = {.function = tl_at_profile(at)->place[((const node *)at->row)->place].function};
    tl_at of = *at;
    of.row = &row;
    if (row.function != TL_NO_FUNCTION)
        tl_get_source(&of, out);
}

#define CALLED(title, kind, number, dropped, marked)                                                                   \
    {                                                                                                                  \
        TL_COL(NULL, title, INTEGER, kind, NULL), .get = get_called, .which = number, .drop = dropped, .flags = marked \
    }

static const tl_column columns[] = {
    {TL_COL(NULL, "total", INTEGER, TIME, NULL), .get = get_total},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(REAL, node, share), .flags = TL_WITH_BAR},
    CALLED("calls", COUNT, CALLS, 2, 0),
    CALLED("self", TIME, SELF, 1, 0),
    CALLED("p50", TIME, 500, 3, TL_APPROXIMATE),
    CALLED("p99", TIME, 990, 4, TL_APPROXIMATE),
    CALLED("max", TIME, MAX, 5, TL_APPROXIMATE),
    {TL_COL(NULL, "lines", TEXT, NONE, NULL), TL_AT(TEXT, node, lines), .role = TL_ROLE_PREFIX},
    {TL_COL(NULL, "call tree", TEXT, NONE, NULL), .get = get_name, .role = TL_ROLE_NAME},
    {TL_COL(NULL, "source", TEXT, NONE, NULL), .get = get_place_source, .role = TL_ROLE_SUFFIX},
};

static const tl_column *choose_columns(const tl_profile *p, tl_answer *a)
{
    enum { CALLS_COLUMN = 2, FIRST_DURATION = 4, LAST_DURATION = 6 };
    uint32_t ncolumn = TL_COUNT(columns);
    tl_column *c = tl_answer_columns(a, columns, &ncolumn, 0);
    const bool counts = tl_profile_counts(p);
    if (!c)
        return NULL;
    c[CALLS_COLUMN].info.title = counts ? NULL : tl_profile_calls(p);
    for (unsigned i = FIRST_DURATION; i <= LAST_DURATION; i++)
        if (counts || !tl_profile_has_histogram(p))
            c[i].info.title = NULL;
    return c;
}

static void add_tree(tree *t, tl_answer *a)
{
    tl_profile_table *table = tl_answer_alloc(a, 1, sizeof *table);
    if (!table)
        return;
    *table = *(const tl_profile_table *)a->table;
    table->profile = t->profile;
    choose(t);
    link_children(t);
    add_nodes(t);
    tl_part *part = tl_answer_add_rows(a, t->ask, NULL, choose_columns(t->profile, a), TL_COUNT(columns), t->node,
                                       sizeof *t->node, NULL, t->nnode);
    part->table = table;
    part->none = tl_profile_weights(t->profile) ? "no samples" : "no calls";
    part->approximate = is_approximate;
    part->left_out = t->hidden;
    part->of = "smaller places";
    part->name_wish = t->ask->width / 2;
    tl_answer_own(a, t->node);
    t->node = NULL;
}

int tl_tree_answer(const tl_profile *p, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    tree t = {.ask = ask, .profile = p, .answer = a};
    int status = start_tree(&t, e);
    if (status == 0)
        status = fold(&t, e);
    if (status == 0)
        add_tree(&t, a);
    free_tree(&t);
    return status;
}
