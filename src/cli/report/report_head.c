/* The line above a report: what was read, how much of it counts, and how long it took. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/report.h"

static void put_amount(tl_output *out, uint64_t n, const char *one, const char *many)
{
    char text[32];
    tl_output_printf(out, ", %s %s", tl_human_grouped(text, sizeof text, n), n == 1 ? one : many);
}

/* ", 6,656,751 calls of 312 functions", or what the rows are of */
static void put_calls(const tl_report *r, tl_output *out)
{
    const tl_profile *p = r->profile;
    const bool modules = r->cli->args->by == TL_REPORT_MODULE;
    char text[32];
    uint64_t calls = 0;
    uint32_t functions = 0;
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        calls += stat.calls;
        functions += stat.calls != 0;
    }
    put_amount(out, calls, "call", "calls");
    tl_output_printf(out, " of %s %s%s", tl_human_grouped(text, sizeof text, functions),
                     modules ? "module" : "function", functions == 1 ? "" : "s");
}

/* ", 2,363 samples", or ", 191 MiB allocated" */
static void put_samples(const tl_report *r, tl_output *out)
{
    const tl_profile *p = r->profile;
    const tl_sample_counts n = tl_profile_samples(p);
    char text[32];
    if (tl_report_measure(r) == TL_MEASURE_BYTES)
        tl_output_printf(out, ", %s allocated",
                         tl_human_bytes(text, sizeof text, tl_profile_weight_sum(p, tl_profile_chosen_weight(p))));
    else if (strcmp(tl_report_calls(r), "allocations") == 0)
        put_amount(out, tl_profile_weight_sum(p, tl_profile_chosen_weight(p)), "allocation", "allocations");
    else
        put_amount(out, n.counted, "sample", "samples");
}

/* "; 12 of an empty stack; 40 written while recording was paused": parts of the samples */
static void put_exceptions(const tl_report *r, tl_output *out)
{
    const tl_sample_counts n = tl_profile_samples(r->profile);
    char text[32];
    if (strcmp(tl_report_calls(r), "allocations") == 0)
        return;
    if (n.empty)
        tl_output_printf(out, "; %s of an empty stack", tl_human_grouped(text, sizeof text, n.empty));
    if (n.paused)
        tl_output_printf(out, "; %s written while recording was paused", tl_human_grouped(text, sizeof text, n.paused));
}

void tl_report_text_head(const tl_report *r, tl_output *out)
{
    const tl_profile *p = r->profile;
    const tl_clock *clock = tl_profile_clock(p);
    const bool sampled = tl_profile_weights(p) > 0;
    char subject[256], text[32];
    tl_output_printf(out, "%s%s%s", tl_style_on(r->terminal, TL_STRONG),
                     tl_text_clean(subject, sizeof subject, r->subject), tl_style_on(r->terminal, TL_PLAIN_TEXT));
    if (r->tracks)
        put_amount(out, r->tracks,
                   r->are_cpus      ? "processor"
                   : r->are_threads ? "thread"
                                    : "stream",
                   r->are_cpus      ? "processors"
                   : r->are_threads ? "threads"
                                    : "streams");
    if (r->trees && r->trees < r->tracks)
        tl_output_printf(out, " in %" PRIu32 " trees", r->trees);
    if (sampled)
        put_samples(r, out);
    else
        put_calls(r, out);
    if (r->has_span)
        tl_output_printf(out, " in %s",
                         tl_human_time(text, sizeof text, tl_scale_ns(&p->scale, r->span), clock->hz != 0));
    if (sampled)
        put_exceptions(r, out);
    if (clock->hz == 0 && !(sampled && tl_report_measure(r) != TL_MEASURE_TIME))
        tl_output_printf(out, "; times in %s", tl_profile_unit(p));
    tl_output_puts(out, "\n\n");
}
