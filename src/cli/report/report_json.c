/* `report --json`: tables as one line of JSON. */
#include <stdlib.h>

#include "base/text/json_write.h"
#include "cli/report/report.h"

/* The id of a function, null where not even that is known. */
static void put_id(tl_json *j, const char *key, const tl_function *f)
{
    if (!f || f->flags & TL_FUNCTION_UNKNOWN)
        tl_json_key_null(j, key);
    else if (f->flags & TL_FUNCTION_HEX_ID)
        tl_json_key_u64(j, key, (uint64_t)f->id);
    else
        tl_json_key_i64(j, key, f->id);
}

static void put_function(tl_json *j, const tl_function *f)
{
    put_id(j, "id", f);
    tl_json_key_string(j, "name", f->name);
    tl_json_key_string(j, "file", f->file);
    if (f->line)
        tl_json_key_u64(j, "line", f->line);
    else
        tl_json_key_null(j, "line");
}

static void put_functions(tl_json *j, const tl_report *r, const tl_table *t)
{
    const tl_profile *p = r->profile;
    tl_json_key(j, "functions");
    tl_json_array(j);
    for (uint32_t i = 0; i < t->n; i++) {
        tl_json_object(j);
        put_function(j, tl_profile_get_function(p, t->row[i].function));
        tl_report_put_numbers(j, p, &t->row[i]);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_json_key(j, "unmatched");
    tl_json_object(j);
    tl_json_key_u64(j, "exits", tl_profile_unmatched_exits(p));
    tl_json_key_u64(j, "open", tl_profile_unmatched_open(p));
    tl_json_object_end(j);
    if (tl_profile_weights(p) || p->of_stacks)
        tl_report_put_samples(j, p);
}

/* calls, total, self. */
static void put_sums(tl_json *j, const tl_profile *p, const tl_row *row)
{
    tl_json_key_u64(j, "calls", row->stat.calls);
    tl_json_key_u64(j, "total", tl_profile_time(p, row->stat.total));
    tl_json_key_u64(j, "self", tl_profile_time(p, row->stat.self));
}

static void put_number_if(tl_json *j, const char *key, bool known, uint64_t v)
{
    if (known)
        tl_json_key_u64(j, key, v);
    else
        tl_json_key_null(j, key);
}

static void put_lines(tl_json *j, const tl_report *r, const tl_table *t)
{
    const tl_profile *p = r->profile;
    tl_json_key(j, "lines");
    tl_json_array(j);
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_function *f = tl_profile_get_function(p, t->row[i].function);
        tl_json_object(j);
        tl_json_key_string(j, "function", f->name);
        put_id(j, "id", f);
        tl_json_key_string(j, "file", f->file);
        put_number_if(j, "line", f->line != 0, f->line);
        put_number_if(j, "il_offset", f->flags & TL_FUNCTION_OFFSET, f->offset);
        put_sums(j, p, &t->row[i]);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_report_put_samples(j, p);
}

static void put_modules(tl_json *j, const tl_report *r, const tl_table *t)
{
    const tl_profile *p = r->profile;
    tl_json_key(j, "modules");
    tl_json_array(j);
    for (uint32_t i = 0; i < t->n; i++) {
        tl_json_object(j);
        tl_json_key_string(j, "module", tl_profile_get_function(p, t->row[i].function)->name);
        put_sums(j, p, &t->row[i]);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

/* Of a callers row: the callee's id and name, or the caller's, which may be nobody. */
static void put_party(tl_json *j, const tl_profile *p, const char *name_key, const char *id_key, uint32_t function)
{
    const tl_function *f = function == TL_NO_FUNCTION ? NULL : tl_profile_get_function(p, function);
    tl_json_key_string(j, name_key, f ? f->name : NULL);
    put_id(j, id_key, f);
}

static void put_callers(tl_json *j, const tl_report *r, const tl_table *t)
{
    const tl_profile *p = r->profile;
    tl_json_key(j, "edges");
    tl_json_array(j);
    for (uint32_t i = 0; i < t->n; i++) {
        tl_json_object(j);
        put_party(j, p, "caller", "caller_id", t->row[i].caller);
        put_party(j, p, "callee", "callee_id", t->row[i].function);
        tl_report_put_numbers(j, p, &t->row[i]);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

static void put_threads(tl_json *j, const tl_report *r, const tl_table *t)
{
    const tl_profile *p = r->profile;
    tl_json_key(j, "threads");
    tl_json_array(j);
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_row *row = &t->row[i];
        const tl_track *track = row->track < p->ntrack ? &p->track[row->track] : NULL;
        tl_json_object(j);
        tl_json_key_string(j, "name", track ? track->name : NULL);
        tl_json_key(j, "pid");
        if (track && track->has_pid)
            tl_json_i64(j, track->pid);
        else
            tl_json_null(j);
        tl_json_key(j, "tid");
        if (track && track->has_tid)
            tl_json_i64(j, track->tid);
        else
            tl_json_null(j);
        put_sums(j, p, row);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

static void put_buckets(tl_json *j, const tl_profile *p, const tl_hist *h)
{
    tl_json_key(j, "histogram");
    tl_json_array(j);
    tl_hist_pair pair;
    for (uint32_t at = 0; tl_hist_each(h, &at, &pair);) {
        tl_json_object(j);
        tl_json_key_u64(j, "low", tl_profile_time(p, tl_hist_low(pair.bucket)));
        tl_json_key_u64(j, "high", tl_profile_time(p, tl_hist_high(pair.bucket)));
        tl_json_key_u64(j, "calls", pair.count);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

static int put_histograms(tl_json *j, const tl_report *r, const tl_table *t, tl_error *e)
{
    const tl_profile *p = r->profile;
    tl_hist_total *sum = malloc(sizeof *sum);
    if (!sum)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for histograms");
    tl_json_key(j, "functions");
    tl_json_array(j);
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_row *row = &t->row[i];
        tl_json_object(j);
        put_function(j, tl_profile_get_function(p, row->function));
        tl_report_put_numbers(j, p, row);
        if (tl_profile_has_histogram(p)) {
            tl_report_histogram(p, row, sum);
            put_buckets(j, p, &sum->hist);
        } else {
            tl_json_key_null(j, "histogram");
        }
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    free(sum);
    return 0;
}

int tl_report_json(const tl_report *r, tl_output *out, tl_error *e)
{
    const tl_arguments *a = r->cli->args;
    if (a->by == TL_REPORT_TREE)
        return tl_report_json_tree(r, out, e);
    tl_table t = {0};
    int status = a->by == TL_REPORT_CALLERS  ? tl_table_callers(&t, r->profile, e)
                 : a->by == TL_REPORT_THREAD ? tl_table_threads(&t, r->profile, e)
                                             : tl_table_functions(&t, r->profile, e);
    if (status < 0)
        return status;
    tl_report_sort(r, &t, 0);
    tl_json json, *j = &json;
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_u64(j, "schema", 1);
    tl_json_key_string(j, "unit", tl_profile_unit(r->profile));
    if (a->by == TL_REPORT_CALLERS)
        put_callers(j, r, &t);
    else if (a->by == TL_REPORT_THREAD)
        put_threads(j, r, &t);
    else if (a->by == TL_REPORT_HIST)
        status = put_histograms(j, r, &t, e);
    else if (a->by == TL_REPORT_LINE)
        put_lines(j, r, &t);
    else if (a->by == TL_REPORT_MODULE)
        put_modules(j, r, &t);
    else
        put_functions(j, r, &t);
    tl_json_object_end(j);
    tl_output_puts(out, "\n");
    tl_table_free(&t);
    return status;
}
