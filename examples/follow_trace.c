/* Prints the events of a trace that is still being written, as they come:
 *     cc follow_trace.c $(pkg-config --cflags --libs traceloom) && ./writer | ./a.out - */
#include <stdio.h>
#include <traceloom/traceloom.h>

int main(int argc, char **argv)
{
    const tl_open_options options = {.follow = true, .want = {.fields = true}};
    tl_source *source = NULL;
    tl_events *events = NULL;
    tl_sink *sink = NULL;
    tl_error error;
    const tl_batch *batch;
    uint32_t from, to;
    int status = tl_source_open(&source, argc > 1 ? argv[1] : "-", &options, &error);
    if (status == 0)
        status = tl_events_open(&events, &source, 1, NULL, true, &error);
    if (status == 0)
        status = tl_sink_open(&sink, "-", tl_events_trace(events), &(tl_write_options){.to = "text"}, &error);
    while (status >= 0 && (status = tl_events_next(events, &batch, &from, &to, &error)) > 0) {
        if (from < to)
            status = tl_sink_write(sink, batch, from, to, &error);
        if (status >= 0) /* no event: nothing new at the moment, a time to look at other things */
            status = tl_sink_flush(sink, &error);
    }
    if (status == 0)
        status = tl_sink_finish(sink, &error);
    if (status < 0)
        fprintf(stderr, "follow_trace: %s\n", error.message);
    tl_sink_close(sink);
    tl_events_close(events);
    tl_source_close(source);
    return status < 0;
}
