/* Writing call graphs for Graphviz: the DOT language.
 *
 *   digraph calls {
 *     label="...";                               what this is, and what was left out
 *     n1 [label="main\nself ...", fillcolor=..., tooltip="exact numbers"];
 *     n1 -> n2 [label="12 x 3.4 ms", penwidth=...];
 *   }
 *
 * A picture of all functions of a program is useless. It shows those with the largest totals: at most NODES_MAX, and
 * only those with 1/SHARE of the time or more (if there is any time); and the calls between them with 1/EDGE_SHARE of
 * the time or of the number of all calls, at most EDGES_MAX. Time within recursive calls counts once, see
 * model/callgraph.h. Of samples the chosen weight is in the place of time, and samples (or allocations) in that of
 * calls; an arrow then says how many samples have it on the stack. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "model/callgraph.h"
#include "model/format_impl.h"
#include "model/profile_words.h"

enum {
    NODES_MAX = 100, /* what fits a screen after zooming, and what dot lays out in seconds */
    EDGES_MAX = 400,
    SHARE = 200,       /* 0.5 % */
    EDGE_SHARE = 1000, /* 0.1 % */
    LABEL_MAX = 60     /* bytes of a name shown; the tooltip has all of it */
};

typedef struct writer {
    const tl_profile *p;
    const tl_callgraph *g;
    tl_output *out;
    tl_profile_words words;
    uint64_t whole;   /* ticks that are 100 % */
    uint64_t largest; /* self time of a function */
    uint32_t *node;   /* functions shown, largest total first */
    uint32_t nnode;
    uint32_t *number; /* [functions] place in node + 1; 0: not shown */
    const tl_graph_edge **edge;
    uint32_t nedge, within; /* shown ones, of those between shown functions */
} writer;

/* At most n bytes of text inside double quotes: quotes and backslashes escaped, control characters as spaces. */
static void put_text(tl_output *out, const char *s, size_t n)
{
    for (size_t length; n > 0; s += length, n -= length) {
        char repaired[8];
        length = tl_utf8_length(s, n);
        unsigned char c = (unsigned char)*s;
        if (length == 0) {
            length = 1;
            tl_output_write(out, repaired, tl_utf8_repair(repaired, s, 1));
        } else if (c == '"' || c == '\\') {
            tl_output_write(out, (char[]){'\\', (char)c}, 2);
        } else {
            tl_output_write(out, c < 0x20 || c == 0x7f ? " " : s, length);
        }
    }
}

/* A name cut to LABEL_MAX bytes, not within a character. */
static void put_short(tl_output *out, const char *s)
{
    size_t n = strlen(s);
    if (n <= LABEL_MAX) {
        put_text(out, s, n);
        return;
    }
    for (n = LABEL_MAX; n > LABEL_MAX - 4 && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
        ;
    put_text(out, s, n);
    tl_output_puts(out, "...");
}

/* part * scale / whole, rounded to nearest, for shares: exact enough, and without overflow. */
static unsigned share(uint64_t part, uint64_t whole, unsigned scale)
{
    if (part >= whole)
        return whole ? scale : 0;
    while (whole > UINT32_MAX) {
        whole >>= 1;
        part >>= 1;
    }
    return (unsigned)((part * scale + whole / 2) / whole);
}

static void put_time(writer *w, uint64_t ticks)
{
    char buf[TL_AMOUNT_SIZE];
    tl_output_puts(w->out, tl_profile_amount(w->p, buf, ticks));
}

static void put_percent(writer *w, uint64_t ticks)
{
    unsigned tenths = share(ticks, w->whole, 1000);
    tl_output_printf(w->out, " (%u.%u %%)", tenths / 10, tenths % 10);
}

static const char *name_of(const writer *w, uint32_t function, char buf[static 24])
{
    return tl_function_label(&w->p->function[function], buf);
}

static void put_node(writer *w, uint32_t function)
{
    const tl_graph_node *node = &w->g->node[function];
    const char *unit = tl_profile_unit(w->p);
    char buf[32];
    const char *name = name_of(w, function, buf);
    tl_output_printf(w->out, "  n%" PRIu32 " [label=\"", w->number[function]);
    put_short(w->out, name);
    tl_output_puts(w->out, "\\nself ");
    put_time(w, node->self);
    put_percent(w, node->self);
    tl_output_puts(w->out, "\\ntotal ");
    put_time(w, node->total);
    put_percent(w, node->total);
    tl_output_printf(w->out, "\\n%s %s\", tooltip=\"", tl_human_count((char[32]){0}, 32, node->calls),
                     node->calls == 1 ? w->words.one : w->words.many);
    put_text(w->out, name, strlen(name));
    tl_output_printf(w->out, "\\n%s %" PRIu64 "\\nself %" PRIu64 " %s\\ntotal %" PRIu64 " %s\"", w->words.many,
                     node->calls, tl_profile_time(w->p, node->self), unit, tl_profile_time(w->p, node->total), unit);
    /* From white to a warm tone as the self time grows: hue, saturation, value. */
    unsigned warmth = share(node->self, w->largest, 650);
    tl_output_printf(w->out, ", fillcolor=\"0.080 0.%03u 1.000\"];\n", warmth);
}

static void put_edge(writer *w, const tl_graph_edge *edge)
{
    const char *unit = tl_profile_unit(w->p);
    char caller[24], callee[24];
    tl_output_printf(w->out, "  n%" PRIu32 " -> n%" PRIu32 " [label=\" ", w->number[edge->caller],
                     w->number[edge->callee]);
    if (!w->p->nweight)
        tl_output_printf(w->out, "%s x", tl_human_count((char[32]){0}, 32, edge->calls));
    if (edge->total > 0) { /* not for recursive calls */
        tl_output_puts(w->out, w->p->nweight ? "" : "\\n ");
        put_time(w, edge->total);
    }
    tl_output_puts(w->out, "\", tooltip=\"");
    const char *name = name_of(w, edge->caller, caller);
    put_text(w->out, name, strlen(name));
    tl_output_puts(w->out, " -> ");
    name = name_of(w, edge->callee, callee);
    put_text(w->out, name, strlen(name));
    tl_output_printf(w->out, "\\n%s %" PRIu64 "\\ntotal %" PRIu64 " %s\"", w->words.many, edge->calls,
                     tl_profile_time(w->p, edge->total), unit);
    unsigned tenths = 5 + share(edge->total, w->whole, 60);
    tl_output_printf(w->out, ", penwidth=%u.%u, weight=%u];\n", tenths / 10, tenths % 10,
                     1 + share(edge->total, w->whole, 100));
}

/* Largest first; ties in canonical order, given by `index`. */
typedef struct candidate {
    uint64_t time, calls;
    uint32_t index;
} candidate;

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return TL_COMPARE(x->index, y->index);
}

static void choose_nodes(writer *w, candidate *c)
{
    const tl_callgraph *g = w->g;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->p->nfunction; i++) {
        const tl_graph_node *node = &g->node[g->order[i]];
        if (node->self > w->largest)
            w->largest = node->self;
        if (node->total > 0 || node->calls > 0)
            c[n++] = (candidate){node->total, node->calls, i};
    }
    qsort(c, n, sizeof *c, compare_candidates);
    for (uint32_t i = 0; i < n && i < NODES_MAX; i++) {
        if (c[i].time < w->whole / SHARE)
            break;
        w->node[w->nnode++] = g->order[c[i].index];
        w->number[g->order[c[i].index]] = w->nnode;
    }
}

static void choose_edges(writer *w, candidate *c)
{
    const tl_callgraph *g = w->g;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nedge; i++) {
        const tl_graph_edge *edge = &g->edge[i];
        if (edge->caller == TL_NO_FUNCTION || !w->number[edge->caller] || !w->number[edge->callee])
            continue;
        w->within++;
        /* Recursive calls have no time of their own, but loops in the picture show the recursion. */
        if (edge->total >= w->whole / EDGE_SHARE || edge->calls >= g->calls / EDGE_SHARE ||
            edge->caller == edge->callee)
            c[n++] = (candidate){edge->total, edge->calls, i};
    }
    qsort(c, n, sizeof *c, compare_candidates);
    for (uint32_t i = 0; i < n && i < EDGES_MAX; i++)
        w->edge[w->nedge++] = &g->edge[c[i].index];
}

static void put_graph_label(writer *w, const char *title, uint32_t functions)
{
    uint64_t self = 0;
    for (uint32_t i = 0; i < w->nnode; i++)
        self = tl_add_saturated(self, w->g->node[w->node[i]].self);
    tl_output_puts(w->out, "  label=\"");
    if (title) {
        put_text(w->out, title, strlen(title));
        tl_output_puts(w->out, "\\n");
    }
    put_time(w, w->whole);
    if (!w->p->nweight || tl_profile_counting_weight(w->p) != w->p->weight)
        tl_output_printf(w->out, " in %s %s", tl_human_count((char[32]){0}, 32, w->g->calls), w->words.many);
    tl_output_puts(w->out, "; ");
    if (w->nnode == functions && w->nedge == w->within) {
        tl_output_puts(w->out, "nothing left out\";\n");
        return;
    }
    tl_output_printf(w->out, "shown: %" PRIu32 " of %" PRIu32 " functions", w->nnode, functions);
    put_percent(w, self);
    tl_output_printf(w->out,
                     " and %" PRIu32 " of %" PRIu32
                     " kinds of calls between them\\n(left out: functions below 0.5 %% of the "
                     "%s or beyond the %d largest, calls below 0.1 %% of %s and number or beyond the %d largest)\";\n",
                     w->nedge, w->within, w->words.whole, NODES_MAX, w->words.whole, EDGES_MAX);
}

static void write_graph(writer *w, const char *title)
{
    uint32_t functions = 0;
    for (uint32_t i = 0; i < w->p->nfunction; i++)
        functions += w->g->node[i].total > 0 || w->g->node[i].calls > 0;
    tl_output_puts(w->out, "digraph calls {\n");
    put_graph_label(w, title, functions);
    tl_output_puts(w->out, "  labelloc=t;\n  fontname=\"monospace\";\n  fontsize=11;\n"
                           "  node [shape=box, style=filled, color=\"#888888\", fontname=\"monospace\", fontsize=10];\n"
                           "  edge [color=\"#666666\", fontname=\"monospace\", fontsize=9];\n");
    for (uint32_t i = 0; i < w->nnode; i++)
        put_node(w, w->node[i]);
    for (uint32_t i = 0; i < w->nedge; i++)
        put_edge(w, w->edge[i]);
    tl_output_puts(w->out, "}\n");
}

static void report_drops(tl_drops *drops, const writer *w)
{
    uint64_t functions = 0;
    for (uint32_t i = 0; i < w->p->nfunction; i++)
        functions += !w->number[i] && (w->g->node[i].total > 0 || w->g->node[i].calls > 0);
    tl_drops_add(drops, "small functions", functions);
    tl_drops_add(drops, "small calls between functions", w->within - w->nedge);
    tl_drops_add(drops, "stacks, folded into pairs of caller and callee", w->p->nplace - 1);
    tl_drops_add(drops, "latency histograms", tl_profile_histograms(w->p));
    tl_drops_add(drops, TL_DROP_WEIGHTS, tl_profile_other_weights(w->p));
    tl_drops_add(drops, TL_DROP_EMPTY_STACKS, tl_profile_empty_stacks(w->p));
}

static int write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    tl_place_tree tree;
    tl_callgraph graph;
    int status = tl_place_tree_init(&tree, p, e);
    if (status < 0)
        return status;
    status = tl_callgraph_init(&graph, &tree, e);
    const uint64_t whole = tree.weight[0];
    tl_place_tree_fini(&tree);
    if (status < 0)
        return status;
    const size_t functions = (size_t)p->nfunction + 1, most = functions > graph.nedge ? functions : graph.nedge;
    candidate *candidates = calloc(most, sizeof *candidates);
    writer w = {.p = p,
                .g = &graph,
                .out = context->out,
                .words = tl_profile_words_of(p),
                .whole = whole,
                .node = calloc(NODES_MAX, sizeof *w.node),
                .number = calloc(functions, sizeof *w.number),
                .edge = calloc(EDGES_MAX, sizeof *w.edge)};
    if (candidates && w.node && w.number && w.edge) {
        choose_nodes(&w, candidates);
        choose_edges(&w, candidates);
        write_graph(&w, context->options->title);
        report_drops(context->drops, &w);
    } else {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write the call graph");
    }
    free(candidates);
    free(w.node);
    free(w.number);
    free(w.edge);
    tl_callgraph_fini(&graph);
    return status;
}

const tl_format tl_format_dot = {
    .name = "dot",
    .summary = "picture of the call graph, for Graphviz",
    .suffixes = ".dot .gv",
    .profile_writer = &(const tl_profile_writer){.write = write_profile},
};
