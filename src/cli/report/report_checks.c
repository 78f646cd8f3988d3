/* Checks that tables and options of `report` are compatible with each other and with the trace. */
#include "analysis/table_run.h"
#include "cli/message.h"
#include "cli/report/report.h"

int tl_report_check_sort(const char *sort, const char *by, const char *sorts)
{
    if (!sort || (sorts && tl_word_place(sort, sorts) >= 0))
        return TL_EXIT_DONE;
    if (sorts)
        tl_say_error(NULL, "--sort %s does not go with --by %s, which sorts by one of: %s", sort, by, sorts);
    else
        tl_say_error(NULL, "--sort does not go with --by %s, whose order is that of time or size", by);
    return TL_EXIT_USAGE;
}

int tl_report_check_fits(const tl_table_kind *kind, const tl_reading *r, const tl_profile *p, size_t *unfit)
{
    tl_error e = {0};
    const int status = tl_table_fits(kind, r->source, p, &e);
    if (status == 0)
        return TL_EXIT_DONE;
    if (status != TL_EUNSUPPORTED)
        return tl_say_failure(r->path, &e);
    tl_say_option_failure(r->path, "--by ", &e);
    ++*unfit;
    return TL_EXIT_NO;
}

tl_table_options tl_report_own_options(const tl_arguments *a)
{
    return (tl_table_options){.interval = a->interval,
                              .sample = a->sample,
                              .line_size = a->line_size,
                              .cache = a->cache,
                              .predictor = a->predictor,
                              .calls = a->calls,
                              .several = tl_has_several(a),
                              .no_demangle = a->no_demangle};
}

/* Whether the table takes the given options that are for some tables only. */
static int check_own_options(const tl_arguments *a)
{
    const tl_table_options own = tl_report_own_options(a);
    const char *stray = tl_table_stray_option(a->by ? tl_table_find(a->by, NULL) : NULL, &own);
    size_t n, k = 0;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    if (!stray)
        return TL_EXIT_DONE;
    while (k < n && !(kind[k]->takes && tl_word_place(stray, kind[k]->takes) >= 0))
        k++;
    tl_say_error(NULL, "--%s goes with --by %s", stray, k < n ? kind[k]->info.name : "another table");
    return TL_EXIT_USAGE;
}

int tl_report_check_options(const tl_cli *c, const tl_table_kind *kind, bool table, bool to_file)
{
    const tl_arguments *a = c->args;
    if (a->per_thread && !to_file && !(kind && kind->profile & TL_PROFILE_TREES)) {
        tl_say_error(NULL, "--per-thread goes with --by tree or with -o; --by thread shows the threads");
        return TL_EXIT_USAGE;
    }
    if ((a->clock || a->glob) && table && kind && !kind->profile) {
        tl_say_error(NULL, "--%s goes with tables that are made of a profile, and --by %s is made of events",
                     a->clock ? "clock" : "glob", kind->info.name);
        return TL_EXIT_USAGE;
    }
    if (a->no_fold && !(table && kind == &tl_table_tree)) {
        tl_say_error(NULL, "--no-fold goes with --by tree");
        return TL_EXIT_USAGE;
    }
    if (a->sort && !table) {
        tl_say_error(NULL, "--sort needs a table: add --by");
        return TL_EXIT_USAGE;
    }
    int status = TL_EXIT_DONE;
    if (kind && kind->profile && kind->sorts)
        status = tl_report_check_sort(a->sort, kind->info.name, kind->sorts);
    return status == TL_EXIT_DONE ? check_own_options(a) : status;
}
