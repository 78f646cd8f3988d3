/* JUnit's XML of the relation of gates: a test case for each gate, a failure with what was measured, and a skipped one
 * where nothing was shown. */
#include "view/junit_view.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/compare/compare_answer.h"
#include "view/markup_text.h"

typedef struct gates {
    const tl_part *part;
    uint32_t text, status, message; /* columns */
} gates;

/* The column of a name; there is one. */
static uint32_t column_of(const tl_part *p, const char *name)
{
    uint32_t i = 0;
    while (i + 1 < p->ncolumn && !(p->column[i].info.name && strcmp(p->column[i].info.name, name) == 0))
        i++;
    return i;
}

static const char *cell_text(const gates *g, uint64_t row, uint32_t column)
{
    tl_cell v;
    tl_part_cell(g->part, row, column, &v);
    return v.kind == TL_CELL_TEXT ? v.text : "";
}

/* The rows of the gate of the first row. */
static uint64_t rows_of_gate(const gates *g, uint64_t first)
{
    uint64_t n = 1;
    while (first + n < g->part->n && cell_text(g, first + n, g->text) == cell_text(g, first, g->text))
        n++;
    return n;
}

static void put_cell(const gates *g, uint64_t row, uint32_t column, tl_output *out)
{
    const char *text = cell_text(g, row, column);
    tl_put_markup(out, text, strlen(text));
}

static void put_gate(const gates *g, uint64_t first, uint64_t n, tl_output *out)
{
    const char *status = cell_text(g, first, g->status); /* the worst one */
    const bool failed = strcmp(status, TL_GATE_FAIL) == 0, skipped = strcmp(status, TL_GATE_UNKNOWN) == 0;
    tl_output_puts(out, "  <testcase classname=\"traceloom.diff\" name=\"");
    put_cell(g, first, g->text, out);
    if (!failed && !skipped) {
        tl_output_puts(out, "\"/>\n");
        return;
    }
    tl_output_printf(out, "\">\n    <%s message=\"", failed ? "failure" : "skipped");
    put_cell(g, first, g->message, out);
    tl_output_puts(out, "\">");
    for (uint64_t i = first; i < first + n && strcmp(cell_text(g, i, g->status), status) == 0; i++) {
        put_cell(g, i, g->message, out);
        tl_output_puts(out, "\n");
    }
    tl_output_printf(out, "</%s>\n  </testcase>\n", failed ? "failure" : "skipped");
}

static int show_junit(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    gates g = {.part = a->first};
    uint64_t tests = 0, failures = 0, skipped = 0;
    while (g.part && !(g.part->key && strcmp(g.part->key, TL_GATES_PART) == 0))
        g.part = g.part->next;
    if (!g.part)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "there are no gates to write as JUnit");
    g.text = column_of(g.part, TL_GATE_TEXT);
    g.status = column_of(g.part, TL_GATE_STATUS);
    g.message = column_of(g.part, TL_GATE_MESSAGE);
    for (uint64_t i = 0; i < g.part->n; i += rows_of_gate(&g, i), tests++) {
        failures += strcmp(cell_text(&g, i, g.status), TL_GATE_FAIL) == 0;
        skipped += strcmp(cell_text(&g, i, g.status), TL_GATE_UNKNOWN) == 0;
    }
    tl_output_printf(s->out,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"traceloom diff\" tests=\"%" PRIu64
                     "\" failures=\"%" PRIu64 "\" errors=\"0\" skipped=\"%" PRIu64 "\">\n",
                     tests, failures, skipped);
    for (uint64_t i = 0, n; i < g.part->n; i += n) {
        n = rows_of_gate(&g, i);
        put_gate(&g, i, n, s->out);
        tl_arena_reset(&g.part->answer->scratch);
    }
    tl_output_puts(s->out, "</testsuite>\n");
    return tl_answer_check(a, e);
}

const tl_view tl_view_junit = {.name = "junit",
                               .suffix = ".xml",
                               .for_programs = true,
                               .show = show_junit,
                               .what = "gates as test cases, for servers of continuous integration"};
