/* Writing profiles for KCachegrind and callgrind_annotate: the Callgrind format, version 1.
 *
 *   events: ns Calls         the meaning of a cost line's numbers
 *   summary: 1000 4          their sums over all functions
 *
 *   ob=(1) ./app             the binary; "(1) name" once, "(1)" from then on
 *   fl=(1) app.c             file and function that the following lines are about
 *   fn=(2) main
 *   10 300 1                 line, self time, calls
 *   cfn=(3) parse            a callee, with cfi= in front if its file is another one
 *   calls=2 20               how often, line of the callee
 *   10 700 3                 line of the call, time and calls within: exactly one such line
 *
 * The format is a graph of functions, not a tree of stacks. Time within recursive calls counts for the outermost one
 * only (see model/callgraph.h), so that a function's callers add up to its total. A function "(root)" calls the
 * outermost functions, whose calls and time would have no place otherwise.
 *
 * Samples are not calls. Costs are then the chosen weight and how many samples (or allocations) it is of, self and
 * within. The number of calls is unknown: each "calls=" says how many samples have the call on the stack,
 * since callgrind_annotate takes the costs of 0 calls for the caller's own. Calls that cost nothing are left out. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/callgraph.h"
#include "model/format_impl.h"
#include "model/profile_words.h"

enum {
    FILE_UNKNOWN = 1,  /* number of the file name "???", as Callgrind itself writes it */
    FUNCTION_ROOT = 1, /* number of "(root)" */
};

typedef struct writer {
    const tl_profile *p;
    const tl_callgraph *g;
    tl_output *out;
    tl_hash file;       /* address of an interned name -> number */
    uint32_t nfile;     /* numbers given */
    uint32_t *number;   /* [functions] 0: its name has not been written yet */
    uint32_t nfunction; /* numbers given */
    bool counts;        /* there is a second cost: calls, samples or allocations */
    bool failed;
} writer;

/* Writes one line: control characters, which would end it, become spaces. */
static void put_name(writer *w, const char *name)
{
    while (*name) {
        size_t plain = 0;
        while ((unsigned char)name[plain] >= 0x20)
            plain++;
        tl_output_write(w->out, name, plain);
        name += plain;
        if (*name) {
            tl_output_write(w->out, " ", 1);
            name++;
        }
    }
    tl_output_write(w->out, "\n", 1);
}

static void put_file(writer *w, const char *key, const char *file)
{
    uint32_t number = file ? tl_hash_get(&w->file, (uintptr_t)file) : FILE_UNKNOWN;
    if (number != TL_HASH_NONE) {
        tl_output_printf(w->out, "%s=(%" PRIu32 ")\n", key, number);
        return;
    }
    number = ++w->nfile;
    if (!tl_hash_put(&w->file, (uintptr_t)file, number))
        w->failed = true;
    tl_output_printf(w->out, "%s=(%" PRIu32 ") ", key, number);
    put_name(w, file);
}

/* Numbered at first use: the order of p->function depends on threads, and differs from run to run. */
static void put_function(writer *w, const char *key, uint32_t function)
{
    char label[24];
    if (w->number[function]) {
        tl_output_printf(w->out, "%s=(%" PRIu32 ")\n", key, w->number[function]);
        return;
    }
    w->number[function] = ++w->nfunction;
    tl_output_printf(w->out, "%s=(%" PRIu32 ") ", key, w->nfunction);
    put_name(w, tl_function_label(&w->p->function[function], label));
}

/* The end of a line: its costs. */
static void put_costs(writer *w, uint64_t amount, uint64_t count)
{
    tl_output_printf(w->out, " %" PRIu64, tl_profile_time(w->p, amount));
    if (w->counts)
        tl_output_printf(w->out, " %" PRIu64, count);
    tl_output_puts(w->out, "\n");
}

static void put_edge(writer *w, const tl_graph_edge *edge, const char *file, uint32_t line)
{
    const tl_function *callee = &w->p->function[edge->callee];
    const uint64_t calls = edge->calls || !w->p->nweight ? edge->calls : 1;
    if (w->p->nweight && !edge->total && !edge->calls)
        return;
    if (callee->file != file) /* interned: equal text is the same address */
        put_file(w, "cfi", callee->file);
    put_function(w, "cfn", edge->callee);
    tl_output_printf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32, calls, callee->line, line);
    put_costs(w, edge->total, edge->within);
}

static void put_node(writer *w, uint32_t function, uint32_t *edge)
{
    const tl_function *f = &w->p->function[function];
    const tl_graph_node *node = &w->g->node[function];
    tl_output_puts(w->out, "\n");
    put_file(w, "fl", f->file);
    put_function(w, "fn", function);
    tl_output_printf(w->out, "%" PRIu32, f->line);
    put_costs(w, node->self, node->own);
    for (; *edge < w->g->nedge && w->g->edge[*edge].caller == function; ++*edge)
        put_edge(w, &w->g->edge[*edge], f->file, f->line);
}

/* The kinds of costs. "events:" ends the head for callgrind_annotate. */
static void put_events(writer *w)
{
    const char *unit = tl_profile_unit(w->p);
    const char *many = tl_profile_words_of(w->p).many;
    const char first = (char)(many[0] - 'a' + 'A');
    const char *what = strcmp(unit, "bytes") == 0 ? "Memory allocated" : "Time";
    tl_output_puts(w->out, "positions: line\n");
    if (w->counts && strcmp(unit, "instructions") == 0) {
        unit = "Ir"; /* Callgrind's own name */
        tl_output_puts(w->out, "event: Ir : Instructions\n");
    } else if (w->counts) {
        tl_output_printf(w->out, "event: %s : %s in %s\n", unit, what, unit);
    }
    tl_output_printf(w->out, "event: %c%s : %c%s\nevents: %s%s%c%s\n", first, many + 1, first, many + 1,
                     w->counts ? unit : "", w->counts ? " " : "", first, many + 1);
}

static void put_head(writer *w, const char *title)
{
    const tl_profile *p = w->p;
    uint64_t time = 0; /* the sum of what is written below, with each number rounded on its own */
    for (uint32_t i = 0; i < p->nfunction; i++)
        time = tl_add_saturated(time, tl_profile_time(p, w->g->node[i].self));
    tl_output_puts(w->out, "# callgrind format\nversion: 1\ncreator: traceloom\n");
    if (title) {
        tl_output_puts(w->out, "desc: ");
        put_name(w, title);
    }
    if (p->exe) {
        tl_output_puts(w->out, "cmd: ");
        put_name(w, p->exe);
    }
    put_events(w);
    tl_output_printf(w->out, "summary: %" PRIu64, time);
    if (w->counts)
        tl_output_printf(w->out, " %" PRIu64, w->g->calls);
    tl_output_puts(w->out, "\n\nob=(1) ");
    put_name(w, p->exe ? p->exe : "traceloom");
}

static void put_body(writer *w)
{
    const tl_callgraph *g = w->g;
    tl_output_printf(w->out, "fl=(%d) ???\n", FILE_UNKNOWN);
    uint32_t edge = 0;
    for (uint32_t i = 0; i < w->p->nfunction; i++)
        put_node(w, g->order[i], &edge);
    if (edge < g->nedge) {
        tl_output_printf(w->out, "\nfl=(%d)\nfn=(%d) (root)\n0 0%s\n", FILE_UNKNOWN, FUNCTION_ROOT,
                         w->counts ? " 0" : "");
        for (; edge < g->nedge; edge++)
            put_edge(w, &g->edge[edge], NULL, 0);
    }
}

static int write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    tl_place_tree tree;
    tl_callgraph graph;
    int status = tl_place_tree_init(&tree, p, e);
    if (status < 0)
        return status;
    status = tl_callgraph_init(&graph, &tree, e);
    tl_place_tree_fini(&tree);
    if (status < 0)
        return status;
    writer w = {.p = p,
                .g = &graph,
                .out = context->out,
                .nfile = FILE_UNKNOWN,
                .number = calloc((size_t)p->nfunction + 1, sizeof *w.number),
                .nfunction = FUNCTION_ROOT,
                .counts = !p->nweight || tl_profile_counting_weight(p) != p->weight};
    if (w.number) {
        put_head(&w, context->options->title);
        put_body(&w);
    }
    if (!w.number || w.failed)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write the profile");

    tl_drops_add(context->drops, "stacks, folded into pairs of caller and callee", p->nplace - 1);
    tl_drops_add(context->drops, "latency histograms", tl_profile_histograms(p));
    tl_drops_add(context->drops, TL_DROP_WEIGHTS, tl_profile_other_weights(p));
    tl_drops_add(context->drops, TL_DROP_EMPTY_STACKS, tl_profile_empty_stacks(p));
    free(w.number);
    tl_hash_fini(&w.file);
    tl_callgraph_fini(&graph);
    return status;
}

const tl_format tl_format_callgrind = {
    .name = "callgrind",
    .summary = "call graph for KCachegrind and callgrind_annotate",
    .suffixes = ".callgrind callgrind.out",
    .profile_writer = &(const tl_profile_writer){.write = write_profile},
};
