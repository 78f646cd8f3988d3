/* What the ways of showing a report share: choosing rows, and the texts and numbers in them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io/base_name.h"
#include "cli/report/report.h"

uint32_t tl_report_top(const tl_report *r, uint32_t on_terminal)
{
    if (r->cli->args->has_top)
        return r->cli->args->top;
    return r->terminal->tty ? on_terminal : 0;
}

uint32_t tl_report_sort(const tl_report *r, tl_table *t, uint32_t on_terminal)
{
    static const struct {
        const char *name;
        tl_row_order column;
    } by[] = {{"self", TL_BY_SELF}, {"total", TL_BY_TOTAL}, {"calls", TL_BY_CALLS},
              {"min", TL_BY_MIN},   {"p50", TL_BY_P50},     {"p90", TL_BY_P90},
              {"p99", TL_BY_P99},   {"max", TL_BY_MAX},     {"name", TL_BY_NAME}};
    const tl_arguments *a = r->cli->args;
    uint32_t all = t->n, top = tl_report_top(r, on_terminal);
    tl_row_order column = a->by == TL_REPORT_CALLERS || a->by == TL_REPORT_THREAD ? TL_BY_TOTAL : TL_BY_SELF;
    for (size_t i = 0; a->sort && i < TL_COUNT(by); i++)
        if (strcmp(by[i].name, a->sort) == 0)
            column = by[i].column;
    if (a->sort || top)
        tl_table_sort(t, r->profile, column, top);
    return all;
}

tl_measure tl_report_measure(const tl_report *r)
{
    const tl_weight *w = tl_profile_weight(r->profile, tl_profile_chosen_weight(r->profile));
    if (!w || strcmp(w->unit, "nanoseconds") == 0)
        return TL_MEASURE_TIME;
    return strcmp(w->unit, "bytes") == 0 ? TL_MEASURE_BYTES : TL_MEASURE_COUNT;
}

const char *tl_report_calls(const tl_report *r)
{
    const tl_weight *w = tl_profile_weight(r->profile, tl_profile_chosen_weight(r->profile));
    return !w ? "calls" : strncmp(w->name, "alloc", 5) == 0 ? "allocations" : "samples";
}

int tl_report_regroup(tl_report *r, tl_profile **copy, tl_error *e)
{
    const tl_report_by by = r->cli->args->by;
    const tl_profile *p = r->profile;
    const bool stacks = tl_profile_weights(p) || p->of_stacks;
    bool renamed = false;
    tl_profile *joined = NULL;
    *copy = NULL;
    if (by == TL_REPORT_TREE && p->per_thread && !r->cli->args->per_thread) { /* a file has threads, asked for or not */
        const int joining = tl_profile_join_threads(&joined, p, e);
        if (joining < 0)
            return joining;
        p = joined;
    }
    for (uint32_t i = 0; i < tl_profile_functions(p); i++)
        renamed = renamed || tl_profile_get_function(p, i)->renamed;
    int status = 0;
    if (by == TL_REPORT_MODULE)
        status = tl_profile_regroup(copy, p, TL_GROUP_BY_LIBRARY, e);
    else if (stacks && by == TL_REPORT_TREE)
        status = tl_profile_regroup(copy, p, TL_GROUP_BY_NAME, e);
    else if (stacks && r->cli->args->file.n > 1)
        status = tl_profile_regroup(copy, p, TL_GROUP_BY_LAST, e);
    else if (renamed)
        status = tl_profile_regroup(copy, p, TL_GROUP_BY_ID, e);
    if (status == 0 && joined && !*copy)
        *copy = joined;
    else
        tl_profile_free(joined);
    if (*copy)
        r->profile = *copy;
    return status;
}

void tl_report_put_samples(tl_json *j, const tl_profile *p)
{
    const tl_sample_counts n = tl_profile_samples(p);
    tl_json_key(j, "samples");
    tl_json_object(j);
    tl_json_key_u64(j, "counted", n.counted);
    tl_json_key_u64(j, "empty", n.empty);
    tl_json_key_u64(j, "paused", n.paused);
    tl_json_object_end(j);
}

char *tl_report_time(const tl_report *r, char *buf, size_t size, uint64_t ticks)
{
    const tl_profile *p = r->profile;
    const tl_measure measure = tl_report_measure(r);
    if (measure != TL_MEASURE_TIME)
        return measure == TL_MEASURE_BYTES ? tl_human_bytes(buf, size, ticks) : tl_human_grouped(buf, size, ticks);
    return tl_human_time(buf, size, tl_profile_time(p, ticks), tl_profile_clock(p)->hz != 0);
}

char *tl_report_duration(const tl_report *r, char *buf, size_t size, uint64_t ticks, uint64_t unwound)
{
    const size_t mark = unwound > 0;
    buf[0] = '~';
    tl_report_time(r, buf + mark, size - mark, ticks);
    return buf;
}

char *tl_report_share(char *buf, size_t size, double share)
{
    snprintf(buf, size, "%.1f %%", 100 * share);
    return buf;
}

char *tl_report_source(char *buf, size_t size, const tl_function *f)
{
    buf[0] = 0;
    if (f->file && f->line)
        snprintf(buf, size, "%s:%" PRIu32, tl_base_name(f->file), f->line);
    else if (f->file)
        snprintf(buf, size, "%s", tl_base_name(f->file));
    return buf;
}

void tl_report_more(const tl_report *r, tl_output *out, uint64_t left_out, const char *what)
{
    char number[32];
    if (left_out && !r->cli->args->has_top)
        tl_output_printf(out, "%s%s %s more %s; --top 0 shows all%s\n", tl_style_on(r->terminal, TL_FAINT),
                         r->terminal->unicode ? "…" : "...", tl_human_grouped(number, sizeof number, left_out), what,
                         tl_style_on(r->terminal, TL_PLAIN_TEXT));
}

/* The same in every table. */
void tl_report_put_numbers(tl_json *j, const tl_profile *p, const tl_row *row)
{
    const struct {
        const char *key;
        uint64_t ticks;
    } single[] = {
        {"min", row->stat.min}, {"p50", row->p50}, {"p90", row->p90}, {"p99", row->p99}, {"max", row->stat.max}};
    tl_json_key_u64(j, "calls", row->stat.calls);
    tl_json_key_u64(j, "total", tl_profile_time(p, row->stat.total));
    tl_json_key_u64(j, "self", tl_profile_time(p, row->stat.self));
    bool known = tl_profile_has_histogram(p) && row->stat.calls && !row->untimed;
    for (size_t i = 0; i < TL_COUNT(single); i++)
        if (known)
            tl_json_key_u64(j, single[i].key, tl_profile_time(p, single[i].ticks));
        else
            tl_json_key_null(j, single[i].key);
    if (row->unwound)
        tl_json_key_u64(j, "unwound", row->unwound);
}
