/* Cuts a piece of time out of one or several traces, given in ns from their begin, and writes it as lines of text:
 *     cc cut_time.c $(pkg-config --cflags --libs traceloom) && ./a.out FROM TO TRACE... */
#include <stdio.h>
#include <stdlib.h>
#include <traceloom/traceloom.h>

enum { MOST = 16 };

/* A number of ns in ticks. */
static uint64_t ticks_of(const tl_trace *t, const char *ns)
{
    const uint64_t hz = tl_trace_clock(t)->hz;
    return (uint64_t)(strtod(ns, NULL) * (hz ? (double)hz / 1e9 : 1));
}

static int cut(tl_source *const *source, uint32_t n, const tl_select *piece, tl_error *e)
{
    tl_events *events = NULL;
    tl_sink *sink = NULL;
    const tl_run *run;
    uint32_t runs;
    int status = tl_events_open(&events, source, n, piece, true, e);
    if (status == 0) {
        const tl_write_options how = {.to = "text", .begin = tl_events_begin(events)};
        status = tl_sink_open(&sink, "-", tl_events_trace(events), &how, e);
    }
    while (status >= 0 && (status = tl_events_runs(events, &run, &runs, e)) > 0)
        status = tl_sink_write_runs(sink, run, runs, e);
    if (status == 0)
        status = tl_sink_finish(sink, e);
    tl_sink_close(sink);
    tl_events_close(events);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 3 + MOST)
        return 2;
    const tl_open_options options = {.want = {.fields = true}};
    tl_source *source[MOST] = {NULL};
    tl_error error;
    uint32_t n = 0;
    int status = 0;
    for (; status == 0 && 3 + (int)n < argc; n += status == 0)
        status = tl_source_open(&source[n], argv[3 + n], &options, &error);
    if (status == 0) {
        const tl_trace *t = tl_source_trace(source[0]);
        const tl_select piece = {
            .has_from = true, .time_from = ticks_of(t, argv[1]), .has_to = true, .time_to = ticks_of(t, argv[2])};
        status = cut(source, n, &piece, &error);
    }
    if (status < 0)
        fprintf(stderr, "cut_time: %s\n", error.message);
    while (n > 0)
        tl_source_close(source[--n]);
    return status < 0;
}
