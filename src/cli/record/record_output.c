/* Tries beforehand what will be done with a recording after the program has ended. */
#include "base/compiler.h"
#include "cli/message.h"
#include "cli/record/record.h"
#include "traceloom/sink.h"

bool tl_record_makes_profile(const tl_record *r)
{
    return r->convert->profile_writer && (r->modes & TL_RECORD_PROFILE || !r->convert->event_writer);
}

/* Opens the output for a trace with nothing but entries and exits, and discards it. */
int tl_record_try(const tl_record *r)
{
    static const tl_class classes[] = {{.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "call"},
                                       {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "return"}};
    const tl_write_options options = {.to = r->convert->name, .overwrite = r->cli->args->force};
    tl_trace t = {0};
    tl_sink *sink = NULL;
    tl_error e = {0};
    if (tl_record_makes_profile(r))
        return TL_EXIT_DONE;
    tl_trace_init(&t);
    tl_trace_set_clock(&t, "ns", 1000000000u);
    int status = tl_trace_set_classes(&t, classes, TL_COUNT(classes), &e);
    if (status == 0)
        status = tl_sink_open(&sink, r->cli->args->output, &t, &options, &e);
    tl_sink_close(sink);
    tl_trace_fini(&t);
    if (status == 0)
        return TL_EXIT_DONE;
    if (e.code == TL_EUNSUPPORTED)
        tl_say_error(r->cli->args->output, "format %s cannot hold calls of functions, which is what is recorded",
                     r->convert->name);
    else
        tl_say_failure(r->cli->args->output, &e);
    return TL_EXIT_RECORD;
}
