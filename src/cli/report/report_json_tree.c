/* `report --by tree --json`: every place of the tree with its whole stack, sorted by stack.
 *
 * Stacks compare name by name in the order of bytes. Places with the same names (two functions of one name) are taken
 * together: the places of a group are written in the order of their calls, then their children are sorted by name and
 * every run of one name is the next group. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "model/place_tree.h"

typedef struct group {
    uint32_t begin, end; /* in walk.waiting */
} group;

typedef struct walk {
    const tl_profile *profile;
    tl_json *json;
    const tl_table *table;
    const tl_track *track; /* of a tree per thread, else NULL */
    /* Arrays of as many entries as there are places, in one block. */
    uint32_t *row_of;                /* place -> row, or UINT32_MAX */
    uint32_t *first_child, *sibling; /* 0: none */
    uint32_t *path;                  /* of one row, innermost place first */
    uint32_t *waiting;               /* the places of all groups met so far; every place is in it once */
    uint32_t nwaiting;
    group *stack; /* groups to visit, next on top */
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
    return (a > b) - (a < b);
}

static void put_place(const walk *w, const tl_row *row)
{
    const tl_profile *p = w->profile;
    tl_json *j = w->json;
    char buf[24];
    uint32_t depth = 0;
    tl_json_object(j);
    if (w->track)
        tl_json_key_string(j, "thread", w->track->name);
    tl_json_key(j, "stack");
    tl_json_array(j);
    for (uint32_t at = row->place; at && p->place[at].function != TL_NO_FUNCTION; at = p->place[at].parent)
        w->path[depth++] = at;
    while (depth)
        tl_json_string(j, label_of(p, w->path[--depth], buf));
    tl_json_array_end(j);
    tl_report_put_numbers(j, p, row);
    tl_json_object_end(j);
}

/* Writes the places of a group, and puts their children, by name, on the stack. */
static void visit(walk *w, group g)
{
    const tl_profile *p = w->profile;
    const uint32_t begin = w->nwaiting;
    qsort_r(w->waiting + g.begin, g.end - g.begin, sizeof *w->waiting, compare_calls, w);
    for (uint32_t i = g.begin; i < g.end; i++) {
        uint32_t place = w->waiting[i];
        if (w->row_of[place] != UINT32_MAX)
            put_place(w, &w->table->row[w->row_of[place]]);
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

/* Every row has its whole stack: refuses what would grow with stacks times depth. */
static int check_size(const walk *w, tl_error *e)
{
    const tl_profile *p = w->profile;
    uint32_t *depth = w->path; /* not in use yet */
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
                   " are printed as JSON; --depth or --top makes them fewer",
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
    w->row_of = malloc((5 * n + 1) * sizeof *w->row_of);
    w->stack = malloc((n + 1) * sizeof *w->stack);
    if (!w->row_of || !w->stack)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort a tree of %zu places", n);
    w->first_child = w->row_of + n;
    w->sibling = w->first_child + n;
    w->path = w->sibling + n;
    w->waiting = w->path + n;
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

/* All rows, by thread if there is a tree for each, then by stack. */
static void put_by_stack(walk *w)
{
    const tl_profile *p = w->profile;
    for (uint32_t i = 1; p->per_thread && i < p->nplace; i++) {
        uint32_t track = p->place[i].track;
        if (p->place[i].function != TL_NO_FUNCTION || track >= p->ntrack)
            continue;
        w->track = &p->track[track];
        walk_from(w, i);
    }
    w->track = NULL;
    walk_from(w, 0);
}

/* Rows in the order of the table. */
static void put_in_order(walk *w)
{
    const tl_profile *p = w->profile;
    for (uint32_t i = 0; i < w->table->n; i++) {
        uint32_t track = p->per_thread ? tl_profile_place_track(p, w->table->row[i].place) : TL_NO_TRACK;
        w->track = track == TL_NO_TRACK ? NULL : &p->track[track];
        put_place(w, &w->table->row[i]);
    }
}

int tl_report_json_tree(const tl_report *r, tl_output *out, tl_error *e)
{
    const tl_arguments *a = r->cli->args;
    tl_table table = {0};
    tl_json json;
    walk w = {.profile = r->profile, .json = &json, .table = &table};
    int status = tl_table_tree(&table, r->profile, e);
    if (status == 0 && (a->sort || tl_report_top(r, 0)))
        tl_report_sort(r, &table, 0);
    if (status == 0)
        status = start_walk(&w, e);
    if (status == 0)
        status = check_size(&w, e);
    if (status == 0) {
        tl_json_init(&json, out);
        tl_json_object(&json);
        tl_json_key_u64(&json, "schema", 1);
        tl_json_key_string(&json, "unit", tl_profile_unit(r->profile));
        tl_json_key(&json, "nodes");
        tl_json_array(&json);
        if (a->sort)
            put_in_order(&w);
        else
            put_by_stack(&w);
        tl_json_array_end(&json);
        if (tl_profile_weights(r->profile) || r->profile->of_stacks)
            tl_report_put_samples(&json, r->profile);
        tl_json_object_end(&json);
        tl_output_puts(out, "\n");
    }
    free(w.row_of);
    free(w.stack);
    tl_table_free(&table);
    return status;
}
