/* The relation `places`, for programs: every place of the tree with its whole stack, sorted by stack.
 *
 * Stacks compare name by name in the order of bytes. Places with the same names (two functions of one name) form a
 * group: its places are written in the order of their calls, then their children are sorted by name, and every run of
 * one name is the next group. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function/profile_answer.h"
#include "base/grow.h"
#include "model/place_tree.h"

typedef struct group {
    uint32_t begin, end; /* in walk.waiting */
} group;

typedef struct walk {
    const tl_profile *profile;
    const tl_table *table;
    uint32_t *order; /* rows in the order found */
    uint32_t n;
    /* Arrays with one entry per place, in one block. */
    uint32_t *row_of;                /* place -> row, or UINT32_MAX */
    uint32_t *first_child, *sibling; /* 0: none */
    uint32_t *depth;
    uint32_t *waiting; /* the places of all groups found so far, each once */
    uint32_t nwaiting;
    group *stack; /* groups to visit, the next on top */
    uint32_t nstack;
} walk;

/* The label of a place's function; short-lived for functions without a name. */
static const char *label_of(const tl_profile *p, uint32_t place, char buf[static 24])
{
    uint32_t f = p->place[place].function;
    return f == TL_NO_FUNCTION ? "" : tl_function_label(&p->function[f], buf);
}

static int compare_labels(const void *left, const void *right, void *arg)
{
    const walk *w = arg;
    char a[24], b[24];
    return strcmp(label_of(w->profile, *(const uint32_t *)left, a), label_of(w->profile, *(const uint32_t *)right, b));
}

static int compare_calls(const void *left, const void *right, void *arg)
{
    const walk *w = arg;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint64_t calls_a = w->profile->stat[a].calls, calls_b = w->profile->stat[b].calls;
    if (calls_a != calls_b)
        return calls_a < calls_b ? -1 : 1;
    return TL_COMPARE(a, b);
}

/* Visits the places of a group, and pushes their children, by name. */
static void visit(walk *w, group g)
{
    const tl_profile *p = w->profile;
    const uint32_t begin = w->nwaiting;
    qsort_r(w->waiting + g.begin, g.end - g.begin, sizeof *w->waiting, compare_calls, w);
    for (uint32_t i = g.begin; i < g.end; i++) {
        uint32_t place = w->waiting[i];
        if (w->row_of[place] != UINT32_MAX)
            w->order[w->n++] = w->row_of[place];
        for (uint32_t child = w->first_child[place]; child; child = w->sibling[child])
            if (p->place[child].function != TL_NO_FUNCTION)
                w->waiting[w->nwaiting++] = child;
    }
    qsort_r(w->waiting + begin, w->nwaiting - begin, sizeof *w->waiting, compare_labels, w);
    for (uint32_t end = w->nwaiting; end > begin;) { /* the last name first, so that the first is on top */
        uint32_t from = end - 1;
        while (from > begin && compare_labels(&w->waiting[from - 1], &w->waiting[end - 1], w) == 0)
            from--;
        w->stack[w->nstack++] = (group){from, end};
        end = from;
    }
}

/* Every row has its whole stack: refuses output that would grow with stacks times depth. */
static int check_size(const walk *w, tl_error *e)
{
    const tl_profile *p = w->profile;
    uint32_t *depth = w->depth;
    uint64_t frames = 0;
    depth[0] = 0;
    for (uint32_t i = 1; i < p->nplace; i++)
        depth[i] = depth[p->place[i].parent] + (p->place[i].function != TL_NO_FUNCTION);
    for (uint32_t i = 0; i < w->table->n; i++)
        frames += depth[w->table->row[i].place];
    if (frames <= TL_STACK_FRAMES_MAX)
        return 0;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                   "the stacks of this tree have %" PRIu64 " functions in all, at most %" PRIu64
                   " are printed as JSON; a smaller depth or top makes them fewer",
                   frames, TL_STACK_FRAMES_MAX);
}

static void walk_from(walk *w, uint32_t root)
{
    w->waiting[0] = root;
    w->nwaiting = 1;
    w->stack[0] = (group){0, 1};
    w->nstack = 1;
    while (w->nstack)
        visit(w, w->stack[--w->nstack]);
}

static int start_walk(walk *w, tl_error *e)
{
    const size_t n = w->profile->nplace;
    w->row_of = tl_alloc(5 * n + 1, sizeof *w->row_of);
    w->stack = tl_alloc(n + 1, sizeof *w->stack);
    if (!w->row_of || !w->stack)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort a tree of %zu places", n);
    w->first_child = w->row_of + n;
    w->sibling = w->first_child + n;
    w->depth = w->sibling + n;
    w->waiting = w->depth + n;
    memset(w->row_of, 0xff, n * sizeof *w->row_of);
    memset(w->first_child, 0, 2 * n * sizeof *w->first_child);
    for (uint32_t i = 0; i < w->table->n; i++)
        w->row_of[w->table->row[i].place] = i;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t parent = w->profile->place[i].parent;
        w->sibling[i] = w->first_child[parent];
        w->first_child[parent] = i;
    }
    return 0;
}

/* All rows, by thread if each has a tree, then by stack. */
static void walk_all(walk *w)
{
    const tl_profile *p = w->profile;
    for (uint32_t i = 1; p->per_thread && i < p->nplace; i++)
        if (p->place[i].function == TL_NO_FUNCTION && p->place[i].track < p->ntrack)
            walk_from(w, i);
    walk_from(w, 0);
}

/* ---- columns ---- */

static void get_thread(const tl_at *at, tl_cell *out)
{
    const tl_profile *p = tl_at_profile(at);
    const uint32_t track = p->per_thread ? tl_profile_place_track(p, ((const tl_row *)at->row)->place) : TL_NO_TRACK;
    if (track != TL_NO_TRACK)
        tl_cell_text(out, p->track[track].name);
}

static void get_stack(const tl_at *at, tl_cell *out)
{
    typedef char number[24];
    const tl_profile *p = tl_at_profile(at);
    const uint32_t place = ((const tl_row *)at->row)->place;
    tl_arena *scratch = &at->part->answer->scratch;
    size_t n = 0;
    for (uint32_t i = place; i && p->place[i].function != TL_NO_FUNCTION; i = p->place[i].parent)
        n++;
    const char **name = tl_arena_alloc(scratch, (n + 1) * sizeof *name);
    number *text = tl_arena_alloc(scratch, (n + 1) * sizeof *text);
    if (!name || !text) {
        at->part->answer->failed = true;
        return;
    }
    for (uint32_t i = place, left = (uint32_t)n; left; i = p->place[i].parent, left--)
        name[left - 1] = label_of(p, i, text[left - 1]);
    tl_cell_texts(at, out, name, n);
}

static const tl_column columns[] = {
    {TL_COL("thread", NULL, TEXT, NONE, "of trees by thread"), .get = get_thread, .flags = TL_LEFT_OUT},
    {TL_COL("stack", NULL, TEXT, JSON, "functions, the outermost first"), .get = get_stack},
    TL_CALLS(0, 0),
    TL_TICKS("total", stat.total, 0, 0, "time there and in what was called from there"),
    TL_TICKS("self", stat.self, 0, 0, "time there alone"),
    TL_DURATIONS,
};

static int larger_first(const void *left, const void *right, void *inclusive)
{
    const uint32_t a = ((const tl_row *)left)->place, b = ((const tl_row *)right)->place;
    const uint64_t *of = inclusive;
    return of[a] != of[b] ? (of[a] > of[b] ? -1 : 1) : TL_COMPARE(a, b); /* parents first */
}

/* Keeps the places that the tree for people shows. */
static int keep_largest(tl_table *rows, const tl_profile *p, uint32_t most, tl_error *e)
{
    uint64_t *inclusive = tl_tree_inclusive(p);
    if (!inclusive)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort a tree of %" PRIu32 " places", p->nplace);
    qsort_r(rows->row, rows->n, sizeof *rows->row, larger_first, inclusive);
    rows->n = rows->n < most ? rows->n : most;
    free(inclusive);
    return 0;
}

static int answer_programs(const tl_profile *p, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    tl_table rows = {0};
    walk w = {.profile = p, .table = &rows};
    int status = tl_tree_rows(&rows, p, e);
    if (status == 0 && ask->sort)
        tl_profile_sort(&rows, p, ask, TL_BY_SELF);
    else if (status == 0 && ask->has_top && ask->top)
        status = keep_largest(&rows, p, ask->top, e);
    if (status == 0)
        status = start_walk(&w, e);
    if (status == 0)
        status = check_size(&w, e);
    w.order = status == 0 && !ask->sort ? tl_alloc((size_t)rows.n + 1, sizeof *w.order) : NULL;
    if (w.order)
        walk_all(&w);
    free(w.row_of);
    free(w.stack);
    if (status < 0) {
        tl_table_free(&rows);
        return status;
    }
    tl_part *part = tl_profile_add(a, ask, "nodes", columns, TL_COUNT(columns), &rows, NULL, 0);
    if (!ask->sort) {
        tl_answer_own(a, w.order);
        part->order = w.order;
    }
    if (tl_profile_weights(p) || p->of_stacks)
        tl_profile_add_samples(a, ask);
    return 0;
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_profile *p = ((const tl_profile_table *)table)->profile;
    return ask->for_programs ? answer_programs(p, ask, a, e) : tl_tree_answer(p, ask, a, e);
}

const tl_table_kind tl_table_tree = {.info = {"tree", "the tree of calls, or of samples", TL_NEEDS_STACKS},
                                     .sql = "stack_stats",
                                     .sorts = TL_PROFILE_SORTS,
                                     .profile = TL_PROFILE_TREE | TL_PROFILE_TREES,
                                     .answer = answer,
                                     TL_TABLE_COLUMNS(columns)};
