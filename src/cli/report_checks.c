/* Which tables and options of `report` go together, and with what the trace has. */
#include <string.h>

#include "cli/message.h"
#include "cli/report.h"
#include "cli/report_insn.h"

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

/* --sort has words for all tables; each has some of these columns. */
static int check_sort(const tl_cli *c, const char *path, const tl_profile *p)
{
    const tl_arguments *a = c->args;
    static const char *const durations[] = {"min", "p50", "p90", "p99", "max"};
    const bool sampled = tl_profile_weights(p) > 0;
    if (!a->sort || !is_one_of(a->sort, durations, TL_COUNT(durations)) || (!sampled && tl_profile_has_histogram(p)))
        return TL_EXIT_DONE;
    tl_say_error(path, "--sort %s needs durations of calls; %s", a->sort,
                 sampled ? "samples of stacks have none" : "this profile holds only sums of them");
    return TL_EXIT_USAGE;
}

int tl_report_check_table(const tl_cli *c, const char *path, const tl_profile *p)
{
    const tl_report_by by = c->args->by;
    if (by == TL_REPORT_HIST && tl_profile_weights(p)) {
        tl_say_error(path, "--by hist needs durations of calls; samples of stacks have none");
        return TL_EXIT_USAGE;
    }
    if (by == TL_REPORT_HIST && !tl_profile_has_histogram(p)) {
        tl_say_error(path, "--by hist needs durations of calls; this profile holds only sums of them");
        return TL_EXIT_USAGE;
    }
    if (by == TL_REPORT_THREAD && !p->per_thread) {
        tl_say_error(
            path,
            "--by thread needs threads; this profile does not tell them apart (report --per-thread -o writes one that "
            "does)");
        return TL_EXIT_USAGE;
    }
    if (by == TL_REPORT_LINE && !tl_profile_weights(p)) {
        tl_say_error(path, "--by line needs samples of stacks; calls are known by function (--by func)");
        return TL_EXIT_USAGE;
    }
    return check_sort(c, path, p);
}

/* Is --sort by a column that the table has? Those of threads, lines and modules are sums alone. */
static bool check_sums(const tl_arguments *a)
{
    static const char *const sums[] = {"self", "total", "calls", "name"};
    const bool threads = a->by == TL_REPORT_THREAD,
               of_sums = threads || a->by == TL_REPORT_LINE || a->by == TL_REPORT_MODULE;
    return !a->sort || !of_sums || is_one_of(a->sort, sums + threads, TL_COUNT(sums) - threads);
}

int tl_report_check_options(const tl_cli *c, bool table, bool to_file)
{
    const tl_arguments *a = c->args;
    if (a->per_thread && !to_file && a->by != TL_REPORT_TREE) {
        tl_say_error(NULL, "--per-thread goes with --by tree or with -o; --by thread shows the threads");
        return TL_EXIT_USAGE;
    }
    if (a->sort && !table) {
        tl_say_error(NULL, "--sort needs a table: add --by");
        return TL_EXIT_USAGE;
    }
    if (!check_sums(a)) {
        tl_say_error(NULL, "--sort %s does not go with --by %s, which sorts by one of: %stotal calls name", a->sort,
                     a->by == TL_REPORT_THREAD ? "thread"
                     : a->by == TL_REPORT_LINE ? "line"
                                               : "module",
                     a->by == TL_REPORT_THREAD ? "" : "self ");
        return TL_EXIT_USAGE;
    }
    return tl_insn_check_options(a);
}
