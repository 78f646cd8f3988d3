/* Writes a report as a page. */
#include "cli/report/report_page.h"

#include <stdio.h>
#include <string.h>

#include "base/io/base_name.h"
#include "base/protobuf.h"
#include "base/text/ends_in.h"
#include "base/text/number.h"
#include "base/text/shell_word.h"
#include "cli/formats_of.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/report/report.h"
#include "cli/report/report_table.h"
#include "cli/selection.h"
#include "cli/service.h"

#define TEXT_SIZE 512u

bool tl_report_wants_page(const tl_arguments *a)
{
    static const char *const suffix[] = {".html", ".html.gz", ".html.zst"};
    if (a->to || tl_to_stdout(a))
        return a->to && strcmp(a->to, "html") == 0;
    for (size_t i = 0; i < TL_COUNT(suffix); i++)
        if (tl_has_suffix(a->output, suffix[i]))
            return true;
    return false;
}

int tl_report_check_page(const tl_cli *c, const tl_table_kind *kind, bool page)
{
    const tl_arguments *a = c->args;
    if (!page && (a->title || a->page_limit)) {
        tl_say_error(NULL, "%s goes with -o FILE.html or --to html", a->title ? "--title" : "--page-limit");
        return TL_EXIT_USAGE;
    }
    if (page && !(kind && (kind->profile || tl_html_tables_know(kind->info.name)))) {
        tl_say_error(NULL, "--by %s is not a table of the page", a->by);
        return TL_EXIT_USAGE;
    }
    if (page && !kind->profile && a->json) {
        tl_say_error(NULL, "--json with -o FILE.html is for tables of calls and samples, not for --by %s", a->by);
        return TL_EXIT_USAGE;
    }
    if (page && a->json && tl_to_stdout(a)) {
        tl_say_error(NULL, "--json does not go with --to html on standard output");
        return TL_EXIT_USAGE;
    }
    if (page && a->page_limit && a->page_limit < TL_HTML_SIZE_LEAST) {
        tl_say_error(NULL, "--page-limit: a page has at least 1M");
        return TL_EXIT_USAGE;
    }
    return page && a->sort ? tl_report_check_sort(a->sort, kind->info.name, kind->profile ? kind->sorts : NULL)
                           : TL_EXIT_DONE;
}

/* What the page is about: the format and its version, or "3 files". */
static void name_inputs(const tl_html_inputs *in, char text[static TEXT_SIZE])
{
    if (in->n == 1)
        snprintf(text, TEXT_SIZE, "%s%s%s", in->input[0].format, in->input[0].version ? " " : "",
                 in->input[0].version ? in->input[0].version : "");
    else
        snprintf(text, TEXT_SIZE, "%llu files", (unsigned long long)in->n);
}

/* The selection, without the brackets that messages put around it; NULL: everything. */
static const char *describe(const tl_arguments *a, char text[static TEXT_SIZE])
{
    text[0] = 0;
    tl_selection_describe(a, text, TEXT_SIZE);
    const size_t n = strlen(text);
    if (n < 3)
        return NULL;
    if (text[n - 1] == ')')
        text[n - 1] = 0;
    return text + 2;
}

static void add_option(void *line, const char *option, const char *value)
{
    tl_put_shell_option(line, option, value);
}

/* The command that reports the same; folders stay private. False when memory runs out. */
static bool make_again(tl_pb *line, const tl_arguments *a)
{
    tl_pb_text(line, "traceloom report");
    for (size_t i = 0; i < a->file.n && i < TL_HTML_INPUTS_MAX; i++)
        tl_put_shell_word(line, tl_base_name(a->file.word[i]));
    for (size_t i = 0; i < a->exe_word.n; i++)
        add_option(line, "-e", tl_base_name(a->exe_word.word[i]));
    tl_selection_each(a, add_option, line);
    if (a->weight)
        add_option(line, "--weight", a->weight);
    if (a->per_thread)
        tl_put_shell_word(line, "--per-thread");
    tl_pb_raw(line, "", 1);
    return !line->failed;
}

static bool can_select(void *arguments, const tl_table_kind *kind)
{
    const char *stray = tl_report_table_stray(arguments, kind);
    return !stray || strcmp(stray, "--weight") == 0 || strcmp(stray, "--per-thread") == 0;
}

static int start_tables(const tl_cli *c, tl_html_tables **tables, tl_error *e)
{
    const tl_arguments *a = c->args;
    const tl_html_tables_options o = {.by = a->by,
                                      .exe = a->exe,
                                      .options = tl_report_own_options(a),
                                      .several = tl_has_several(a),
                                      .threads = tl_threads(c),
                                      .limit = a->page_limit ? a->page_limit : TL_HTML_SIZE_USUAL,
                                      .can_select = can_select,
                                      .arg = (void *)(uintptr_t)a};
    return tl_html_tables_new(tables, &o, e);
}

int tl_report_page_add(const tl_cli *c, tl_html_tables **tables, tl_reading *r, const tl_select *select)
{
    tl_error e = {0};
    if (c->service && c->service->only_profile)
        return TL_EXIT_DONE;
    int status = *tables ? 0 : start_tables(c, tables, &e);
    if (status < 0)
        return tl_say_failure(NULL, &e);
    tl_reading_start(r, c, "reading");
    status = tl_html_tables_add(*tables, r->source, select, &e);
    tl_reading_stop(r);
    if (status == TL_EINVAL)
        return tl_say_option_failure(NULL, "--", &e);
    return status < 0 ? tl_say_failure(r->path, &e) : TL_EXIT_DONE;
}

int tl_report_page(const tl_cli *c, tl_profile_table *t, const tl_html_inputs *inputs, const tl_catalog *damage,
                   tl_html_tables *tables, const tl_report_time *time)
{
    const tl_arguments *a = c->args;
    const char *path = a->output ? a->output : "-";
    char subject[TEXT_SIZE], selected[TEXT_SIZE];
    const tl_html_section *section = NULL;
    size_t nsection = 0;
    tl_profile *copy = NULL;
    tl_pb again = {0};
    tl_error e = {0};
    const bool only_profile = c->service && c->service->only_profile;
    if (c->service && c->service->has_sums)
        *c->service->has_sums = !tl_profile_is_empty(t->profile);
    if (inputs->n > 1)
        t->has_span = false;
    t->are_chosen = a->func.n != 0;
    name_inputs(inputs, subject);
    int status = tl_profile_group(&tl_table_tree, t, a->per_thread, inputs->n > 1, &copy, &e);
    if (status == 0 && !make_again(&again, a))
        status = tl_fail(&e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the page");
    if (status == 0 && tables)
        status = tl_html_tables_make(tables, subject, &section, &nsection, &e);
    if (status == 0) {
        const tl_html_page page = {.table = t,
                                   .instead = tables && tl_profile_is_empty(t->profile) ? tables : NULL,
                                   .more = section,
                                   .nmore = nsection,
                                   .inputs = inputs,
                                   .damage = damage,
                                   .time = {.source = only_profile ? NULL : time->source,
                                            .unknown = only_profile     ? "only sums were asked for"
                                                       : time->source   ? NULL
                                                       : time->of_files ? "several files are added up"
                                                                        : "a profile has sums of calls only",
                                            .profile = time->profile,
                                            .select = time->select,
                                            .threads = tl_threads(c)},
                                   .title = a->title         ? a->title
                                            : inputs->n == 1 ? inputs->input[0].name
                                                             : subject,
                                   .facts = subject,
                                   .by = a->by,
                                   .sort = a->sort,
                                   .has_top = a->has_top,
                                   .top = a->top,
                                   .selection = describe(a, selected),
                                   .again = (const char *)again.data,
                                   .limit = a->page_limit ? a->page_limit : TL_HTML_SIZE_USUAL,
                                   .overwrite = a->force,
                                   .served = c->service ? c->service->served : NULL,
                                   .drops = tl_say_drop,
                                   .arg = (void *)(uintptr_t)c};
        status = c->service ? tl_html_page_put(&page, c->service->out, &e) : tl_html_page_write(&page, path, &e);
    }
    tl_profile_free(copy);
    tl_pb_fini(&again);
    if (status < 0)
        return tl_say_failure(NULL, &e);
    if (!c->service)
        tl_say_written(c, path);
    return TL_EXIT_DONE;
}
