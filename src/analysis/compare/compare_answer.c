/* The relations of a comparison: its rows, the cases of gates, the runs of both sides, and reasons for doubt. */
#include "analysis/compare/compare_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/compare/compare_impl.h"
#include "analysis/compare/compare_text.h"

#define ROWS_ON_TERMINAL 16u
#define FAILURES_SHOWN   20u /* of a gate, for people */

static const tl_compare_show *show_at(const tl_at *at)
{
    return at->table;
}

static const char *unit_at(const tl_at *at)
{
    return tl_compare_unit(show_at(at)->compare);
}

/* A double that may be no number. */
static void put_real(tl_cell *out, double v)
{
    if (isfinite(v))
        tl_cell_real(out, v);
}

/* ---- rows */

enum { BASE, NEW };

static void get_median(const tl_at *at, tl_cell *out)
{
    const tl_compare_row *r = at->row;
    put_real(out, at->column->which == BASE ? r->base_median : r->new_median);
}

static void get_median_text(const tl_at *at, tl_cell *out)
{
    const tl_compare_row *r = at->row;
    char text[TL_AMOUNT_TEXT];
    tl_cell_printf(at, out, "%s",
                   tl_amount_shown(text, at->column->which == BASE ? r->base_median : r->new_median,
                                   tl_amount_of_row(r->is_time, r->is_share), unit_at(at)));
}

/* The numbers of all runs, as JSON. */
static void get_runs(const tl_at *at, tl_cell *out)
{
    const tl_compare_row *r = at->row;
    const double *value = at->column->which == BASE ? r->base : r->newer;
    const size_t n = tl_compare_runs(show_at(at)->compare, (int)at->column->which), room = n * 32 + 3;
    char *text = tl_arena_alloc(&at->part->answer->scratch, room), *p = text;
    at->part->answer->failed = at->part->answer->failed || !text;
    if (!text)
        return;
    *p++ = '[';
    for (size_t i = 0; i < n; i++)
        p += snprintf(p, 32, isfinite(value[i]) ? "%s%.17g" : "%snull", i ? "," : "", value[i]);
    *p++ = ']';
    *p = 0;
    tl_cell_text(out, text);
}

static void get_real(const tl_at *at, tl_cell *out)
{
    put_real(out, *(const double *)((const char *)at->row + at->column->which));
}

static void get_change_text(const tl_at *at, tl_cell *out)
{
    char text[TL_CHANGE_TEXT];
    tl_cell_printf(at, out, "%s", tl_change_shown(text, ((const tl_compare_row *)at->row)->change));
}

static void get_interval(const tl_at *at, tl_cell *out)
{
    const tl_compare_row *r = at->row;
    char low[TL_CHANGE_TEXT], high[TL_CHANGE_TEXT];
    if (r->exact)
        tl_cell_text(out, "exact");
    else if (isnan(r->low) || isnan(r->high))
        tl_cell_text(out, "-");
    else
        tl_cell_printf(at, out, "%s .. %s", tl_change_shown(low, r->low), tl_change_shown(high, r->high));
}

static void get_q_text(const tl_at *at, tl_cell *out)
{
    const double q = ((const tl_compare_row *)at->row)->q;
    if (isnan(q))
        tl_cell_text(out, "-");
    else
        tl_cell_printf(at, out, q < 0.001 ? "<0.001" : "%.3f", q);
}

static void get_verdict(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, tl_compare_verdict_text(at->row));
}

static void get_verdict_for_people(const tl_at *at, tl_cell *out)
{
    const tl_compare_row *r = at->row;
    if (r->verdict == TL_VERDICT_SAME)
        tl_cell_printf(at, out, "same within %.3g %%", 100 * show_at(at)->compare->options.noise);
    else
        get_verdict(at, out);
}

static void get_unit(const tl_at *at, tl_cell *out)
{
    const tl_compare_row *r = at->row;
    tl_cell_text(out, r->is_time ? unit_at(at) : r->is_share ? "share" : "count");
}

static void get_flag(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, *(const bool *)((const char *)at->row + at->column->which));
}

/* The path, or the function. */
static void get_name(const tl_at *at, tl_cell *out)
{
    const tl_compare_row *r = at->row;
    tl_cell_text(out, r->path ? r->path : r->function);
}

/* What else there is to say of a row. */
static void get_note(const tl_at *at, tl_cell *out)
{
    const tl_compare_row *r = at->row;
    char runs[32];
    if (r->inlined_into)
        tl_cell_printf(at, out, "inlined into %s?", r->inlined_into);
    else if (r->was)
        tl_cell_printf(at, out, r->maybe_renamed ? "renamed? was %s" : "was %s", r->was);
    else if (r->mix_changed && r->verdict != TL_VERDICT_EXACT)
        tl_cell_text(out, "mix of calls changed");
    else if (r->runs)
        tl_cell_printf(at, out, "about %s runs a side would tell", tl_human_grouped(runs, sizeof runs, r->runs));
}

#define REAL(name, member, what)                                                                                       \
    {                                                                                                                  \
        TL_COL(name, NULL, REAL, NONE, what), .get = get_real, .which = offsetof(tl_compare_row, member)               \
    }
#define FLAG(name, member, what)                                                                                       \
    {                                                                                                                  \
        TL_COL(name, NULL, INTEGER, BOOL, what), .get = get_flag, .which = offsetof(tl_compare_row, member)            \
    }

static const tl_column row_columns[] = {
    {TL_COL("name", NULL, TEXT, NONE, "the function, in NEW unless it is gone"), .json = "function",
     TL_AT(TEXT, tl_compare_row, function)},
    {TL_COL("was", NULL, TEXT, NONE, "its name in BASE, if that is another"), TL_AT(TEXT, tl_compare_row, was)},
    {TL_COL("path", NULL, TEXT, NONE, "its callers and itself, from the outermost"), TL_AT(TEXT, tl_compare_row, path)},
    {TL_COL("metric", "metric", TEXT, NONE, "what is compared"), TL_AT(TEXT, tl_compare_row, metric)},
    {TL_COL("unit", NULL, TEXT, NONE, "the unit of its amounts"), .get = get_unit},
    {TL_COL("base_median", NULL, REAL, NONE, "the median of the runs of BASE"), .get = get_median, .which = BASE},
    {TL_COL("new_median", NULL, REAL, NONE, "the median of the runs of NEW"), .get = get_median, .which = NEW},
    {TL_COL(NULL, "base", TEXT, NONE, NULL), .get = get_median_text, .which = BASE, .drop = 3},
    {TL_COL(NULL, "new", TEXT, NONE, NULL), .get = get_median_text, .which = NEW, .drop = 2},
    REAL("change", change, "the relative change, an estimate of Hodges and Lehmann: 0.05 is 5 % more"),
    {TL_COL(NULL, "change", TEXT, NONE, NULL), .get = get_change_text},
    REAL("low", low, "the lower end of its interval of 95 %"),
    REAL("high", high, "the upper end"),
    {TL_COL(NULL, "95 % interval", TEXT, NONE, NULL), .get = get_interval, .drop = 4},
    REAL("p", p, "of Mann and Whitney, two-sided"),
    REAL("q", q, "p adjusted for all rows (Benjamini and Hochberg)"),
    {TL_COL(NULL, "q", TEXT, NONE, NULL), .get = get_q_text, .drop = 5},
    {TL_COL("verdict", NULL, TEXT, NONE, "what it is called"), .get = get_verdict},
    {TL_COL(NULL, "verdict", TEXT, NONE, NULL), .get = get_verdict_for_people},
    FLAG("exact", exact, "whether all runs of a side have the same count"),
    FLAG("mix_changed", mix_changed, "whether the number of calls changed, too"),
    FLAG("maybe_renamed", maybe_renamed, "whether `was` is a guess"),
    {TL_COL("inlined_into", NULL, TEXT, NONE, "its caller, of which it is a part on the other side"),
     TL_AT(TEXT, tl_compare_row, inlined_into)},
    {TL_COL("runs_needed", NULL, INTEGER, COUNT, "if unclear: about how many runs a side would tell"),
     TL_AT(U32, tl_compare_row, runs), .flags = TL_NOT_0},
    {TL_COL("base_runs", NULL, TEXT, JSON, "the amounts of the runs of BASE"), .json = "base", .get = get_runs,
     .which = BASE},
    {TL_COL("new_runs", NULL, TEXT, JSON, "the amounts of the runs of NEW"), .json = "new", .get = get_runs,
     .which = NEW},
    {TL_COL(NULL, "function", TEXT, NONE, NULL), .get = get_name, .role = TL_ROLE_NAME},
    {TL_COL(NULL, "note", TEXT, NONE, NULL), .get = get_note, .role = TL_ROLE_SUFFIX},
};

/* ---- gates */

/* A case of a gate. */
typedef struct gate_row {
    const tl_gate *gate;
    const tl_gate_case *item;
} gate_row;

static void get_gate(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, ((const gate_row *)at->row)->gate->text);
}

static void get_status(const tl_at *at, tl_cell *out)
{
    static const char *const text[] = {
        [TL_GATE_PASSED] = TL_GATE_PASS, [TL_GATE_NOT_SHOWN] = TL_GATE_UNKNOWN, [TL_GATE_FAILED] = TL_GATE_FAIL};
    tl_cell_text(out, text[((const gate_row *)at->row)->item->status]);
}

static void get_gate_name(const tl_at *at, tl_cell *out)
{
    const tl_gate_case *x = ((const gate_row *)at->row)->item;
    tl_cell_text(out, x->path ? x->path : x->function);
}

/* A member of the case. */
#define CASE(type, at, member) (*(const type *)((const char *)((const gate_row *)(at)->row)->item + (member)))

static void get_case_text(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, CASE(char *, at, at->column->which));
}

static void get_case_real(const tl_at *at, tl_cell *out)
{
    put_real(out, CASE(double, at, at->column->which));
}

static void get_case_flag(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, CASE(bool, at, at->column->which));
}

/* "+5.0 %" of a change, or an amount of the metric. */
static const char *case_shown(const tl_at *at, double v, char buf[static TL_AMOUNT_TEXT])
{
    const tl_gate_case *x = ((const gate_row *)at->row)->item;
    return x->of_change ? tl_change_shown(buf, v)
                        : tl_amount_shown(buf, v, tl_amount_of_row(x->is_time, x->is_share), unit_at(at));
}

static void get_estimate_text(const tl_at *at, tl_cell *out)
{
    char text[TL_AMOUNT_TEXT];
    tl_cell_printf(at, out, "%s", case_shown(at, ((const gate_row *)at->row)->item->estimate, text));
}

static void get_case_interval(const tl_at *at, tl_cell *out)
{
    const tl_gate_case *x = ((const gate_row *)at->row)->item;
    char low[TL_AMOUNT_TEXT], high[TL_AMOUNT_TEXT];
    if (isnan(x->low))
        tl_cell_text(out, "-");
    else if (!(x->low < x->high))
        tl_cell_text(out, "exact");
    else
        tl_cell_printf(at, out, "%s .. %s", case_shown(at, x->low, low), case_shown(at, x->high, high));
}

static void get_message(const tl_at *at, tl_cell *out)
{
    const tl_gate_case *x = ((const gate_row *)at->row)->item;
    char estimate[TL_AMOUNT_TEXT], amount[TL_AMOUNT_TEXT], low[TL_AMOUNT_TEXT], high[TL_AMOUNT_TEXT];
    const char *name = x->path ? x->path : x->function;
    case_shown(at, x->estimate, estimate);
    case_shown(at, x->amount, amount);
    if (!(x->low < x->high))
        tl_cell_printf(at, out, "%s of %s: %s, limit %s", x->metric, name, estimate, amount);
    else
        tl_cell_printf(at, out, "%s of %s: %s (%s .. %s), limit %s", x->metric, name, estimate,
                       case_shown(at, x->low, low), case_shown(at, x->high, high), amount);
}

#define OF_CASE(kind, member) .get = get_case_##kind, .which = offsetof(tl_gate_case, member)

static const tl_column gate_columns[] = {
    {TL_COL(TL_GATE_TEXT, NULL, TEXT, NONE, "the gate, as given"), .get = get_gate},
    {TL_COL(TL_GATE_STATUS, "gate", TEXT, NONE, "failed, not shown or passed"), .get = get_status},
    {TL_COL("name", NULL, TEXT, NONE, "the function"), .json = "function", OF_CASE(text, function)},
    {TL_COL("path", NULL, TEXT, NONE, "its callers and itself"), OF_CASE(text, path)},
    {TL_COL("metric", "metric", TEXT, NONE, "what is compared"), OF_CASE(text, metric)},
    {TL_COL("relative", NULL, INTEGER, BOOL, "whether amounts are changes: 0.05 is 5 % more"),
     OF_CASE(flag, of_change)},
    {TL_COL("amount", NULL, REAL, NONE, "what the gate allows"), OF_CASE(real, amount)},
    {TL_COL("estimate", NULL, REAL, NONE, "what was measured"), OF_CASE(real, estimate)},
    {TL_COL(NULL, "measured", TEXT, NONE, NULL), .get = get_estimate_text},
    {TL_COL("low", NULL, REAL, NONE, "the lower end of its interval of 95 %"), OF_CASE(real, low)},
    {TL_COL("high", NULL, REAL, NONE, "the upper end"), OF_CASE(real, high)},
    {TL_COL(NULL, "95 % interval", TEXT, NONE, NULL), .get = get_case_interval, .drop = 1},
    {TL_COL(TL_GATE_MESSAGE, NULL, TEXT, NONE, "all of that in a line"), .get = get_message},
    {TL_COL(NULL, "limit", TEXT, NONE, NULL), .get = get_gate},
    {TL_COL(NULL, "function", TEXT, NONE, NULL), .get = get_gate_name, .role = TL_ROLE_NAME},
};

/* For people, of a gate that passed only the case that is nearest to failing. */
static size_t cases_shown(const tl_gate *g, const tl_ask *ask)
{
    size_t n = 1;
    if (ask->for_programs)
        return g->n;
    while (n < g->n && n < FAILURES_SHOWN && g->item[n].status == TL_GATE_FAILED)
        n++;
    return n;
}

static void add_gates(const tl_compare_show *show, const tl_ask *ask, tl_answer *a)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < show->ngate; i++)
        n += cases_shown(show->gate[i], ask);
    gate_row *row = n ? tl_answer_alloc(a, n, sizeof *row) : NULL;
    if (!row)
        return;
    for (tl_gate_status s = TL_GATE_FAILED + 1; s-- > TL_GATE_PASSED;) /* failures first */
        for (size_t i = 0; i < show->ngate; i++)
            for (size_t k = 0; show->gate[i]->status == s && k < cases_shown(show->gate[i], ask); k++)
                row[at++] = (gate_row){show->gate[i], &show->gate[i]->item[k]};
    TL_ADD_ROWS(a, ask, TL_GATES_PART, gate_columns, row, NULL, at)->name_wish = ask->width / 3;
}

/* ---- runs and warnings */

typedef struct run_row {
    const tl_compare_run *run;
    const tl_run_index *index;
    const tl_compare *compare;
} run_row;

static void get_run_name(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, ((const run_row *)at->row)->run->name);
}

static void get_run_calls(const tl_at *at, tl_cell *out)
{
    const tl_profile *p = ((const run_row *)at->row)->run->profile;
    uint64_t sum = 0;
    for (uint32_t i = 1; i < p->nplace; i++)
        sum = tl_add_saturated(sum, p->stat[i].calls);
    tl_cell_u64(out, p->nweight ? p->samples.counted : sum);
}

static void get_run_total(const tl_at *at, tl_cell *out)
{
    const run_row *r = at->row;
    tl_cell_real(out, r->index->root * r->compare->ns_per_tick);
}

static void get_run_lost(const tl_at *at, tl_cell *out)
{
    const tl_profile *p = ((const run_row *)at->row)->run->profile;
    tl_cell_u64(out, at->column->which ? p->damaged_bytes : p->lost_events);
}

static void get_run_build(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, ((const run_row *)at->row)->run->profile->build_id);
}

static const tl_column run_columns[] = {
    {TL_COL("name", NULL, TEXT, NONE, "the file"), .get = get_run_name},
    {TL_COL("calls", NULL, INTEGER, COUNT, "calls, or samples"), .get = get_run_calls},
    {TL_COL("total", NULL, REAL, NONE, "time in all functions"), .get = get_run_total},
    {TL_COL("lost_events", NULL, INTEGER, COUNT, "events that were lost"), .get = get_run_lost, .which = 0},
    {TL_COL("damaged_bytes", NULL, INTEGER, BYTES, "bytes that could not be read"), .get = get_run_lost, .which = 1},
    {TL_COL("build_id", NULL, TEXT, NONE, "of the binary"), .get = get_run_build},
};

static const tl_column warning_columns[] = {
    {TL_COL("message", NULL, TEXT, NONE, "a reason to doubt the comparison"), .member = TL_MEMBER_TEXT}};

static void add_runs(const tl_compare_show *show, const tl_ask *ask, tl_answer *a, int side)
{
    const tl_side *s = &show->compare->side[side];
    run_row *row = tl_answer_alloc(a, s->n, sizeof *row);
    for (uint32_t i = 0; row && i < s->n; i++)
        row[i] = (run_row){&s->run[i], &s->index[i], show->compare};
    if (row)
        TL_ADD_ROWS(a, ask, side ? "new.runs" : "base.runs", run_columns, row, NULL, s->n);
}

/* ---- the head */

static const char *build_of(const tl_side *s)
{
    const char *id = s->run[0].profile->build_id;
    for (uint32_t i = 1; i < s->n; i++) {
        const char *other = s->run[i].profile->build_id;
        if (!id || !other || strcmp(id, other) != 0)
            return NULL;
    }
    return id;
}

static void say_side(const tl_compare_show *show, int side, const tl_prose *p)
{
    const tl_compare *c = show->compare;
    const tl_side *s = &c->side[side];
    double calls = 0;
    char text[32];
    for (uint32_t i = 0; i < s->nfunction; i++)
        calls += s->function[i].calls;
    tl_output_puts(p->out, side ? "NEW   " : "BASE  ");
    tl_say_styled(p, TL_STRONG, show->side[side]);
    tl_output_puts(p->out, ": ");
    tl_say_count(p, s->n, "run", "runs");
    if (!c->is_sampled)
        tl_output_printf(p->out, " of %s calls", tl_human_grouped(text, sizeof text, (uint64_t)(calls / s->n + 0.5)));
    tl_output_puts(p->out, "\n");
}

static void say_head(const tl_answer *a, const tl_prose *p)
{
    const tl_compare_show *show = a->table;
    const tl_compare *c = show->compare;
    const char *base = build_of(&c->side[0]), *newer = build_of(&c->side[1]);
    say_side(show, 0, p);
    say_side(show, 1, p);
    if (base && newer)
        tl_output_printf(p->out, "the binaries %s\n", strcmp(base, newer) == 0 ? "are the same" : "differ");
    for (size_t i = 0; i < tl_compare_warnings(c); i++)
        tl_output_printf(p->out, "note: %s\n", tl_compare_warning(c, i));
}

static void say_again(const tl_part *part, const tl_prose *p)
{
    const tl_compare_show *show = part->table;
    tl_output_puts(p->out, "again: ");
    tl_say_styled(p, TL_FAINT, show->again);
    tl_output_puts(p->out, "\n");
}

double tl_compare_noise(const tl_compare *c)
{
    return c->options.noise;
}

int tl_compare_answer(const tl_compare_show *show, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_compare *c = show->compare;
    const uint32_t all = c->nrow < UINT32_MAX ? (uint32_t)c->nrow : UINT32_MAX;
    const char *unit = tl_compare_unit(c);
    *a = (tl_answer){.unit = unit,
                     .is_ns = strcmp(unit, "ns") == 0,
                     .subject = "",
                     .head = say_head,
                     .table = show,
                     .unicode = ask->unicode};
    if (!ask->for_programs)
        add_gates(show, ask, a); /* failures come first */
    tl_part *rows =
        TL_ADD_TOP(a, ask, "rows", row_columns, c->row, NULL, all, ROWS_ON_TERMINAL, "rows", ask->width / 3);
    rows->none = "no functions to compare";
    if (show->again)
        rows->after = say_again;
    if (ask->for_programs) {
        add_gates(show, ask, a);
        add_runs(show, ask, a, 0);
        add_runs(show, ask, a, 1);
        TL_ADD_ROWS(a, ask, "warnings", warning_columns, c->warning, NULL, c->nwarning);
    }
    return a->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table") : 0;
}
