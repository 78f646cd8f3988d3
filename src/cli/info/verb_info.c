/* traceloom info: the kind of a trace, its length, its contents, and its losses. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/trace/catalog.h"
#include "cli/answer_target.h"
#include "cli/formats_of.h"
#include "cli/info/info_at.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/pager.h"

/* An input of more bytes is not read by `info` for people if its reader knows the times without. */
#define TL_INFO_READ_MAX (UINT64_C(1) << 30)

/* Must all events be read? */
static bool has_to_count(const tl_cli *c, const tl_target *to, const tl_trace *t)
{
    uint64_t begin, end;
    return to->view != &tl_view_table || c->args->count || tl_trace_bytes(t) <= TL_INFO_READ_MAX ||
           !tl_trace_range(t, &begin, &end);
}

/* Adds an input; *added: there is something to show of it. */
static int add_input(const tl_cli *c, const tl_target *to, const char *path, tl_catalog *catalog, bool *added)
{
    tl_reading r;
    tl_error e = {0};
    const tl_want want = {.strict = c->args->strict, .threads = tl_threads(c)};
    int status = tl_reading_open(&r, c, path, &want);
    *added = false;
    if (status != TL_EXIT_DONE)
        return status;
    tl_reading_start(&r, c, "counting");
    *added = tl_catalog_add(catalog, r.source, has_to_count(c, to, r.trace), tl_threads(c), &e) == 0;
    tl_reading_stop(&r);
    if (tl_to_stdout(c->args))
        tl_pager_start(c);
    status = *added ? tl_say_losses(c, r.trace, catalog->trace[catalog->ntrace - 1].events) : tl_say_failure(path, &e);
    tl_reading_close(&r);
    return status;
}

/* Everything about each input, as text or JSON; or a row for each. */
static int show_inputs(const tl_cli *c, const tl_target *to, tl_output *out)
{
    const bool whole = to->view == &tl_view_table || to->view == &tl_view_json;
    tl_catalog catalog = {0};
    tl_answer answer = {0};
    tl_error e = {0};
    int status = TL_EXIT_DONE;
    for (size_t i = 0; i < c->args->file.n; i++) {
        const char *path = c->args->file.word[i];
        bool added = false;
        if (i > 0 && to->view == &tl_view_table)
            tl_output_puts(out, "\n");
        catalog.number = i;
        status = tl_exit_worse(status, c->args->has_at ? tl_info_at(c, path, to->view == &tl_view_json, out)
                                                       : add_input(c, to, path, &catalog, &added));
        if (!whole || !added)
            continue;
        const int made = tl_info_answer(&catalog, &to->ask, &answer, &e);
        status = tl_exit_worse(status, tl_answer_write(to, path, &answer, made, &e, out));
        tl_catalog_fini(&catalog);
        catalog = (tl_catalog){0};
    }
    if (!whole && catalog.ntrace > 0) {
        answer.is_ns = true;
        char subject[32];
        snprintf(subject, sizeof subject, "%" PRIu32 " %s", catalog.ntrace, catalog.ntrace == 1 ? "trace" : "traces");
        answer.subject = subject;
        const int made = tl_table_trace.answer(&catalog, &to->ask, &answer, &e);
        status = tl_exit_worse(status, tl_answer_write(to, NULL, &answer, made, &e, out));
    }
    tl_catalog_fini(&catalog);
    return status;
}

/* How, and where. */
static int choose_target(const tl_cli *c, tl_target *to)
{
    const tl_arguments *a = c->args;
    const tl_view *view;
    char names[TL_VIEW_NAMES];
    const int status = tl_asked_view(c, &view);
    if (status != TL_EXIT_DONE)
        return status;
    if (!view && (a->to || !tl_to_stdout(a)))
        tl_say_error(NULL, "%s %s: info writes %s", a->to ? "--to" : "-o", a->to ? a->to : a->output,
                     tl_view_names(names));
    else if (a->has_at && view && view != &tl_view_table && view != &tl_view_json)
        tl_say_error(NULL, "--at goes with --json, or text");
    else if ((a->thread.n || a->cpu.n) && !a->has_at)
        tl_say_error(NULL, "--%s goes with --at; info shows all %s", a->thread.n ? "thread" : "cpu",
                     a->thread.n ? "threads" : "processors");
    else {
        *to = tl_target_of(c, view ? view : &tl_view_table, a->output ? a->output : "-");
        return tl_to_stdout(a) ? TL_EXIT_DONE : tl_check_output(c);
    }
    return TL_EXIT_USAGE;
}

int tl_verb_info(tl_cli *c)
{
    tl_target to;
    tl_output *out = NULL;
    int status = tl_check_inputs(c);
    if (status == TL_EXIT_DONE)
        status = choose_target(c, &to);
    if (status == TL_EXIT_DONE)
        status = tl_answer_open(c, &to, &out);
    if (status != TL_EXIT_DONE)
        return status;
    status = show_inputs(c, &to, out);
    return tl_exit_worse(status, tl_answer_close(c, &to, out, false));
}
