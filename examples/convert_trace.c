/* Writes the events of a trace in the format that the suffix of the output names, in order only if that wants it:
 *     cc convert_trace.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE OUTPUT */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

/* Each stream keeps its order; merging them costs about as much as decoding. */
static int copy_merged(tl_source *source, tl_sink *sink, tl_error *e)
{
    tl_merge *merge = NULL;
    const tl_run *run;
    uint32_t n;
    int status = tl_merge_open(&merge, source, e);
    while (status >= 0 && (status = tl_merge_runs(merge, &run, &n, e)) > 0)
        status = tl_sink_write_runs(sink, run, n, e);
    tl_merge_close(merge);
    return status;
}

static int copy_streams(tl_source *source, tl_sink *sink, tl_error *e)
{
    const tl_batch *batch;
    int status = 0;
    while (status >= 0 && (status = tl_source_next(source, &batch, e)) > 0)
        status = tl_sink_write(sink, batch, 0, batch->n, e);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const tl_open_options options = {.want = {.fields = true, .cpu = true, .threads = 2}};
    tl_write_options how = {.overwrite = true};
    tl_source *source = NULL;
    tl_sink *sink = NULL;
    tl_error error;
    uint64_t end;
    int status = tl_source_open(&source, argv[1], &options, &error);
    if (status == 0)
        tl_trace_range(tl_source_trace(source), &how.begin,
                       &end); /* times count from the first event, if it is known */
    if (status == 0)
        status = tl_sink_open(&sink, argv[2], tl_source_trace(source), &how, &error);
    if (status == 0)
        status = tl_sink_wants_order(sink) ? copy_merged(source, sink, &error) : copy_streams(source, sink, &error);
    if (status == 0)
        status = tl_sink_finish(sink, &error);
    if (status == 0) {
        printf("%" PRIu64 " bytes\n", tl_sink_bytes(sink));
        for (uint32_t i = 0; i < tl_sink_drops(sink); i++)
            printf("not written: %" PRIu64 " %s\n", tl_sink_drop(sink, i)->n, tl_sink_drop(sink, i)->what);
    } else {
        fprintf(stderr, "convert_trace: %s\n", error.message);
    }
    tl_sink_close(sink);
    tl_source_close(source);
    return status < 0;
}
