/* Writes one file for each track of a trace:
 *     cc split_trace.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE OUTPUT */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const tl_open_options options = {.want = {.fields = true, .cpu = true}};
    const tl_write_options how = {.overwrite = true};
    tl_source *source = NULL;
    tl_split *split = NULL;
    tl_events *events = NULL;
    tl_error error;
    const tl_run *run;
    uint32_t n;
    int status = tl_source_open(&source, argv[1], &options, &error);
    if (status == 0)
        status = tl_split_open(&split, argv[2], tl_source_trace(source), &how, TL_SPLIT_TRACK, 0, &error);
    if (status == 0)
        status = tl_events_open(&events, &source, 1, NULL, tl_split_wants_order(split, true), &error);
    while (status >= 0 && (status = tl_events_runs(events, &run, &n, &error)) > 0)
        status = tl_split_write_runs(split, run, n, &error);
    if (status == 0)
        status = tl_split_finish(split, &error);
    for (uint32_t i = 0; status == 0 && i < tl_split_parts(split); i++)
        printf("%s\n", tl_split_part(split, i));
    for (uint32_t i = 0; status == 0 && i < tl_split_drops(split); i++)
        printf("not written: %" PRIu64 " %s\n", tl_split_drop(split, i)->n, tl_split_drop(split, i)->what);
    if (status < 0)
        fprintf(stderr, "split_trace: %s\n", error.message);
    tl_events_close(events);
    tl_split_close(split);
    tl_source_close(source);
    return status < 0;
}
