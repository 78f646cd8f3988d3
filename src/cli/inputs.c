/* Opens inputs according to the options of the command line. */
#include "cli/inputs.h"

#include <string.h>

#include "base/pool.h"
#include "base/text/number.h"
#include "cli/exe_files.h"
#include "cli/formats_of.h"
#include "cli/message.h"
#include "cli/service.h"
#include "traceloom/format.h"

unsigned tl_threads(const tl_cli *c)
{
    return c->args->threads ? c->args->threads : tl_processors();
}

int tl_check_inputs(const tl_cli *c)
{
    if (c->args->file.n == 0) {
        tl_say_error(NULL, "%s: no input file; - is standard input", tl_called(c->args));
        return TL_EXIT_USAGE;
    }
    size_t from_stdin = 0;
    for (size_t i = 0; i < c->args->file.n; i++)
        from_stdin += strcmp(c->args->file.word[i], "-") == 0;
    if (from_stdin > 1) {
        tl_say_error(NULL, "%s: standard input (-) can be read only once", tl_called(c->args));
        return TL_EXIT_USAGE;
    }
    return c->args->from ? tl_check_format_name("--from", c->args->from, TL_CAN_READ_EVENTS | TL_CAN_READ_PROFILE)
                         : TL_EXIT_DONE;
}

tl_open_options tl_reading_options(const tl_cli *c, const tl_want *want)
{
    const tl_arguments *a = c->args;
    const bool check = a->verb->id == TL_VERB_CHECK; /* it does not use names */
    tl_open_options options = {
        .from = a->from,
        .exe = check ? NULL : a->exe,
        .object = c->files ? c->files->object : NULL,
        .nobject = c->files && !check ? c->files->n : 0,
        .no_names = a->verb->id == TL_VERB_INFO || a->verb->id == TL_VERB_CHECK,
        .no_demangle = a->no_demangle,
        .want = *want,
        .follow = a->follow,
    };
    options.want.resync = a->resync;
    return options;
}

int tl_reading_open(tl_reading *r, const tl_cli *c, const char *path, const tl_want *want)
{
    tl_open_options options = tl_reading_options(c, want);
    options.progress = &r->done;
    *r = (tl_reading){.path = path};
    tl_source *s = NULL;
    tl_error e = {0};
    uint64_t *count = &r->done;
    const int opened = c->service ? tl_source_pool_get(c->service->pool, c, path, want, &s, &count, &e)
                                  : tl_source_open(&s, path, &options, &e);
    if (opened < 0) {
        int status = tl_say_failure(path, &e);
        return e.code == TL_EUNSUPPORTED && !c->args->exe ? TL_EXIT_DAMAGED : status;
    }
    const uint64_t done = r->done;
    tl_reading_take(r, c, path, s);
    r->done = done;
    r->count = count;
    r->is_lent = c->service != NULL;
    return TL_EXIT_DONE;
}

void tl_reading_say_exe(const tl_reading *r, const tl_cli *c, bool used)
{
    const tl_arguments *a = c->args;
    const char *exe = tl_trace_exe(r->trace);
    used = used || !a->exe || (exe && strcmp(exe, a->exe) == 0);
    if (!used || (c->files && c->files->n && !r->trace->objects_read))
        tl_say(c, r->path, "format %s holds its own names; -e is not used for it", tl_trace_format(r->trace));
}

void tl_reading_take(tl_reading *r, const tl_cli *c, const char *path, tl_source *s)
{
    const tl_arguments *a = c->args;
    *r = (tl_reading){.path = path, .source = s, .trace = tl_source_trace(s), .count = &r->done};
    const bool later = a->verb->id == TL_VERB_REPORT && tl_source_is_profile(s); /* when it was read */
    if (a->verb->id != TL_VERB_CHECK && !later)
        tl_reading_say_exe(r, c, false);
    char bytes[32];
    tl_say_more(c, path, "%s %s, %s", tl_trace_format(r->trace), tl_trace_version(r->trace),
                tl_human_bytes(bytes, sizeof bytes, tl_trace_bytes(r->trace)));
}

void tl_reading_start(tl_reading *r, const tl_cli *c, const char *what)
{
    if (!c->args->quiet && !c->args->follow && !r->bar) /* the total is unknown */
        r->bar = tl_progress_start(what, r->count, tl_trace_bytes(r->trace));
}

void tl_reading_stop(tl_reading *r)
{
    tl_progress_stop(r->bar);
    r->bar = NULL;
}

void tl_reading_close(tl_reading *r)
{
    tl_reading_stop(r);
    if (!r->is_lent)
        tl_source_close(r->source);
    r->source = NULL;
    r->trace = NULL;
}
