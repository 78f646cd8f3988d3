/* Shared by the answers made from a profile. */
#include "analysis/function/profile_answer.h"

#include <inttypes.h>
#include <string.h>

#include "base/io/base_name.h"
#include "base/text/number.h"

static const tl_weight *chosen_weight(const tl_profile *p)
{
    return tl_profile_weight(p, tl_profile_chosen_weight(p));
}

static tl_column_unit unit_of(const tl_profile *p)
{
    const tl_weight *w = chosen_weight(p);
    if (!w || strcmp(w->unit, "nanoseconds") == 0)
        return TL_UNIT_TIME;
    return strcmp(w->unit, "bytes") == 0 ? TL_UNIT_BYTES : TL_UNIT_COUNT;
}

bool tl_profile_counts(const tl_profile *p)
{
    return unit_of(p) == TL_UNIT_COUNT;
}

const char *tl_profile_calls(const tl_profile *p)
{
    const tl_weight *w = chosen_weight(p);
    return !w ? "calls" : strncmp(w->name, "alloc", 5) == 0 ? "allocations" : "samples";
}

/* ---- the first line: what was read, how much of it counts, and its duration ---- */

static void say_amount(const tl_prose *p, uint64_t n, const char *one, const char *many)
{
    tl_output_puts(p->out, ", ");
    tl_say_count(p, n, one, many);
}

/* ", 6,656,751 calls of 312 functions" */
static void say_calls(const tl_profile_table *t, const tl_prose *p)
{
    uint64_t calls = 0;
    uint32_t functions = 0;
    for (uint32_t i = 0; i < tl_profile_functions(t->profile); i++) {
        tl_stat stat;
        tl_profile_function_stat(t->profile, i, &stat);
        calls += stat.calls;
        functions += stat.calls != 0;
    }
    say_amount(p, calls, "call", "calls");
    tl_output_puts(p->out, " of ");
    tl_say_count(p, functions, t->of_modules ? "module" : "function", t->of_modules ? "modules" : "functions");
}

/* ", 2,363 samples", or ", 191 MiB allocated" */
static void say_samples(const tl_profile *profile, const tl_prose *p)
{
    const uint64_t sum = tl_profile_weight_sum(profile, tl_profile_chosen_weight(profile));
    char text[32];
    if (unit_of(profile) == TL_UNIT_BYTES)
        tl_output_printf(p->out, ", %s allocated", tl_human_bytes(text, sizeof text, sum));
    else if (strcmp(tl_profile_calls(profile), "allocations") == 0)
        say_amount(p, sum, "allocation", "allocations");
    else
        say_amount(p, tl_profile_samples(profile).counted, "sample", "samples");
}

/* "; 12 with an empty stack; 40 written while recording was paused": parts of the samples */
static void say_exceptions(const tl_profile *profile, const tl_prose *p)
{
    const tl_sample_counts n = tl_profile_samples(profile);
    char text[32];
    if (strcmp(tl_profile_calls(profile), "allocations") == 0)
        return;
    if (n.empty)
        tl_output_printf(p->out, "; %s with an empty stack", tl_human_grouped(text, sizeof text, n.empty));
    if (n.paused)
        tl_output_printf(p->out, "; %s written while recording was paused",
                         tl_human_grouped(text, sizeof text, n.paused));
}

void tl_profile_head(const tl_profile_table *t, const char *subject, const tl_prose *p)
{
    const tl_profile *profile = t->profile;
    const bool sampled = tl_profile_weights(profile) > 0;
    char text[32];
    tl_say_styled(p, TL_STRONG, subject);
    if (t->tracks && t->are_cpus)
        say_amount(p, t->tracks, "processor", "processors");
    else if (t->tracks)
        say_amount(p, t->tracks, t->are_threads ? "thread" : "stream", t->are_threads ? "threads" : "streams");
    if (t->trees && t->trees < t->tracks)
        tl_output_printf(p->out, " in %" PRIu32 " trees", t->trees);
    if (sampled)
        say_samples(profile, p);
    else
        say_calls(t, p);
    const bool is_ns = tl_profile_clock(profile)->hz != 0;
    if (t->has_span)
        tl_output_printf(p->out, " in %s",
                         tl_human_time(text, sizeof text, tl_scale_ns(&profile->scale, t->span), is_ns));
    if (sampled)
        say_exceptions(profile, p);
    if (!is_ns && !(sampled && unit_of(profile) != TL_UNIT_TIME))
        tl_output_printf(p->out, "; times in %s", tl_profile_unit(profile));
}

static void head(const tl_answer *a, const tl_prose *p)
{
    tl_profile_head(a->table, a->subject, p);
    tl_output_puts(p->out, "\n");
}

int tl_profile_answer(const tl_table_kind *kind, tl_profile_table *t, const tl_ask *ask, const char *subject,
                      tl_answer *a, tl_error *e)
{
    const tl_column_unit unit = unit_of(t->profile);
    *a = (tl_answer){.unit = tl_profile_unit(t->profile),
                     .is_ns = tl_profile_clock(t->profile)->hz != 0,
                     .times = unit == TL_UNIT_TIME ? TL_UNIT_NONE : unit,
                     .subject = subject,
                     .table = t,
                     .head = head,
                     .unicode = ask->unicode};
    return kind->answer(t, ask, a, e);
}

/* ---- rows and columns ---- */

void tl_profile_sort(tl_table *rows, const tl_profile *p, const tl_ask *ask, tl_row_order usual)
{
    static const char *const word[] = {[TL_BY_SELF] = "self", [TL_BY_TOTAL] = "total", [TL_BY_CALLS] = "calls",
                                       [TL_BY_MIN] = "min",   [TL_BY_P50] = "p50",     [TL_BY_P90] = "p90",
                                       [TL_BY_P99] = "p99",   [TL_BY_MAX] = "max",     [TL_BY_NAME] = "name"};
    const uint32_t all = rows->n, most = tl_ask_rows(ask, all, TL_PROFILE_ROWS, 0);
    tl_row_order order = usual;
    for (size_t i = 0; ask->sort && i < TL_COUNT(word); i++)
        if (strcmp(word[i], ask->sort) == 0)
            order = (tl_row_order)i;
    if (ask->sort || most < all || (ask->has_top ? ask->top != 0 : !ask->for_programs && ask->tty))
        tl_table_sort(rows, p, order, most);
    rows->left_out = all - rows->n;
}

tl_part *tl_profile_add(tl_answer *a, const tl_ask *ask, const char *key, const tl_column *column, uint32_t ncolumn,
                        const tl_table *rows, const char *of, unsigned wish)
{
    const tl_profile_table *t = a->table;
    tl_answer_own(a, rows->row);
    tl_part *p = tl_answer_add_rows(a, ask, key, column, ncolumn, rows->row, sizeof *rows->row, NULL, rows->n);
    p->approximate = tl_is_approximate;
    p->left_out = rows->left_out;
    p->of = of;
    p->name_wish = wish;
    p->none = tl_profile_weights(t->profile) ? "no samples" : "no calls";
    return p;
}

static bool any_unwound(const tl_table *rows)
{
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->row[i].unwound)
            return true;
    return false;
}

const tl_column *tl_profile_columns(tl_answer *a, const tl_column *column, size_t n, const tl_table *rows)
{
    const tl_profile *p = ((const tl_profile_table *)a->table)->profile;
    uint32_t ncolumn = (uint32_t)n;
    tl_column *c = tl_answer_columns(a, column, &ncolumn, 0);
    const bool counts = tl_profile_counts(p), unwound = any_unwound(rows);
    for (size_t i = 0; c && i < n; i++) {
        tl_column_info *info = &c[i].info;
        const bool is_calls = info->title && strcmp(info->title, "calls") == 0;
        if (is_calls)
            info->title = counts ? NULL : tl_profile_calls(p);
        if (c[i].get == tl_get_duration && (counts || !tl_profile_has_histogram(p)))
            info->title = NULL;
        if (c[i].get == tl_get_unwound && (counts || !unwound || !tl_profile_has_histogram(p)))
            info->title = NULL;
    }
    return c;
}

static uint64_t ticks_at(const tl_at *at)
{
    return *(const uint64_t *)(const void *)((const char *)at->row + at->column->which);
}

void tl_get_ticks(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, tl_profile_time(tl_at_profile(at), ticks_at(at)));
}

void tl_get_duration(const tl_at *at, tl_cell *out)
{
    const tl_row *row = at->row;
    const bool known = at->part->for_people || (tl_profile_has_histogram(tl_at_profile(at)) && !row->untimed);
    if (known && row->stat.calls)
        tl_get_ticks(at, out);
}

void tl_get_unwound(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, ((const tl_row *)at->row)->unwound);
}

bool tl_is_approximate(const void *row)
{
    return ((const tl_row *)row)->unwound > 0;
}

const tl_function *tl_row_function(const tl_at *at)
{
    return tl_profile_get_function(tl_at_profile(at), ((const tl_row *)at->row)->function);
}

void tl_cell_function_id(const tl_function *f, tl_cell *out)
{
    if (f->flags & TL_FUNCTION_UNKNOWN)
        return;
    if (f->flags & TL_FUNCTION_HEX_ID)
        tl_cell_u64(out, (uint64_t)f->id);
    else
        tl_cell_i64(out, f->id);
}

void tl_get_function_id(const tl_at *at, tl_cell *out)
{
    tl_cell_function_id(tl_row_function(at), out);
}

void tl_cell_function(const tl_at *at, const tl_function *f, tl_cell *out)
{
    char number[24];
    if (f->name || !(at->part->for_people || at->part->answer->labels))
        tl_cell_text(out, f->name);
    else
        tl_cell_printf(at, out, "%s", tl_function_label(f, number));
}

void tl_get_function(const tl_at *at, tl_cell *out)
{
    tl_cell_function(at, tl_row_function(at), out);
}

void tl_get_file(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, tl_row_function(at)->file);
}

void tl_get_line(const tl_at *at, tl_cell *out)
{
    const tl_function *f = tl_row_function(at);
    if (f->line)
        tl_cell_u64(out, f->line);
}

void tl_get_source(const tl_at *at, tl_cell *out)
{
    const tl_function *f = tl_row_function(at);
    if (f->file && f->line)
        tl_cell_printf(at, out, "%s:%" PRIu32, tl_base_name(f->file), f->line);
    else if (f->file)
        tl_cell_text(out, tl_base_name(f->file));
}

/* ---- facts ---- */

static void get_exits(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, tl_profile_unmatched_exits(tl_at_profile(at)));
}

static void get_open(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, tl_profile_unmatched_open(tl_at_profile(at)));
}

static const tl_column unmatched[] = {
    {TL_COL("unmatched.exits", NULL, INTEGER, COUNT, "exits without entry"), .get = get_exits},
    {TL_COL("unmatched.open", NULL, INTEGER, COUNT, "entries without exit"), .get = get_open},
};

void tl_profile_add_unmatched(tl_answer *a, const tl_ask *ask)
{
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, unmatched, (const tl_profile_table *)a->table);
}

static const tl_column samples[] = {
    {TL_COL("samples.counted", NULL, INTEGER, COUNT, "samples that count"), TL_AT(U64, tl_sample_counts, counted)},
    {TL_COL("samples.empty", NULL, INTEGER, COUNT, "of these, with an empty stack"),
     TL_AT(U64, tl_sample_counts, empty)},
    {TL_COL("samples.paused", NULL, INTEGER, COUNT, "samples while recording was paused"),
     TL_AT(U64, tl_sample_counts, paused)},
};

void tl_profile_add_samples(tl_answer *a, const tl_ask *ask)
{
    const tl_profile *p = ((const tl_profile_table *)a->table)->profile;
    tl_sample_counts *n = ask->for_programs ? tl_answer_alloc(a, 1, sizeof *n) : NULL;
    if (!n)
        return;
    *n = tl_profile_samples(p);
    TL_ADD_FACTS(a, ask, samples, n);
}
