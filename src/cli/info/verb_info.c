/* traceloom info: what a trace is, how long, what it contains, what was lost. */
#include "cli/info/verb_info.h"

#include <stdlib.h>

#include "base/io/output.h"
#include "cli/info/info_at.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "model/trace_impl.h"
#include "op/source_impl.h"

/* Takes the counts of a profile's reader. */
static void take_profile_counts(tl_facts *f)
{
    const tl_trace *t = f->trace;
    f->is_profile = true;
    f->profile_threads = t->profile_threads;
    f->profile_trees = t->profile_trees ? t->profile_trees : t->profile_threads;
    f->profile_paths = t->profile_paths;
    f->profile_calls = t->profile_calls;
    f->profile_self = t->profile_self;
    f->profile_sampled = t->profile_sampled;
    f->profile_inclusive = t->profile_inclusive;
    f->profile_clamped = t->profile_clamped;
}

/* Collects what will be shown. */
static int find_facts(tl_facts *f, const tl_cli *c, tl_source *s, tl_error *e)
{
    int status;
    if (tl_source_is_profile(s)) {
        take_profile_counts(f);
        return 0;
    }
    f->not_counted = !tl_info_counts(c->args, f->trace);
    if (f->not_counted)
        status = tl_count_known(f->trace, &f->count, e);
    else
        status = tl_source_count(s, tl_threads(c), &f->count, e);
    if (status == 0 && !tl_facts_sum_classes(f))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a list of classes");
    return status;
}

static int info_file(const tl_cli *c, const char *path, tl_output *out)
{
    tl_reading r;
    const tl_want want = {.strict = c->args->strict, .threads = tl_threads(c)};
    int status = tl_reading_open(&r, c, path, &want);
    if (status != TL_EXIT_DONE)
        return status;
    tl_error e = {0};
    tl_facts facts = {.trace = r.trace};
    tl_reading_start(&r, c, "counting");
    int failed = find_facts(&facts, c, r.source, &e);
    tl_reading_stop(&r);
    if (failed < 0) {
        status = tl_say_failure(path, &e);
    } else {
        bool whole = true;
        tl_pager_start(c);
        if (c->args->json)
            tl_info_json(&facts, out);
        else
            whole = tl_info_text(&facts, c, out);
        status = tl_say_losses(c, r.trace, facts.count.events);
        if (!whole) {
            tl_say_error(path, "no memory for its tables");
            status = TL_EXIT_DAMAGED;
        }
    }
    tl_facts_fini(&facts);
    tl_reading_close(&r);
    return status;
}

int tl_verb_info(tl_cli *c)
{
    tl_error e = {0};
    tl_output *out = NULL;
    int status = tl_check_inputs(c);
    if (status != TL_EXIT_DONE)
        return status;
    if ((c->args->thread.n || c->args->cpu.n) && !c->args->has_at) {
        tl_say_error(NULL, "--%s goes with --at; info shows all %s", c->args->thread.n ? "thread" : "cpu",
                     c->args->thread.n ? "threads" : "processors");
        return TL_EXIT_USAGE;
    }
    if (tl_output_open(&out, "-", false, TL_PLAIN, 0, &e) < 0)
        return tl_say_failure(NULL, &e);
    for (size_t i = 0; i < c->args->file.n; i++) {
        if (i > 0 && !c->args->json)
            tl_output_puts(out, "\n");
        const char *path = c->args->file.word[i];
        status = tl_exit_worse(status, c->args->has_at ? tl_info_at(c, path, out) : info_file(c, path, out));
    }
    if (tl_output_finish(out, &e) < 0)
        status = tl_say_failure(NULL, &e);
    tl_output_close(out);
    return status;
}
