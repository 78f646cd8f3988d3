/* Everything that is known of a trace as a whole:
 *     cc describe_trace.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE [BINARY] */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

static void print_facts(const tl_trace *t)
{
    const char *version = tl_trace_version(t), *order = tl_trace_byte_order(t), *id = tl_trace_build_id(t);
    const tl_clock *clock = tl_trace_clock(t);
    uint64_t begin, end;
    printf("%s: format %s, version %s, %s endian, %" PRIu64 " bytes\n", tl_trace_path(t), tl_trace_format(t),
           version ? version : "none", order ? order : "no", tl_trace_bytes(t));
    printf("clock %s at %" PRIu64 " Hz, times in %s\n", clock->name, clock->hz, tl_trace_unit(t));
    if (tl_trace_range(t, &begin, &end))
        printf("lasts %" PRIu64 " %s\n", tl_trace_time(t, end - begin), tl_trace_unit(t));
    if (tl_trace_exe(t))
        printf("binary with build-id %s\n", id ? id : "unknown");
    if (tl_trace_is_ranked(t))
        printf("streams are merged by rank\n");
    printf("lost while recording: %" PRIu64 " events, %" PRIu64 " packets\n", tl_trace_lost_events(t),
           tl_trace_lost_packets(t));
}

/* What the trace says about itself: properties, and fields of its header that are numbers. */
static void print_words(const tl_trace *t)
{
    for (uint32_t i = 0; i < tl_trace_properties(t); i++) {
        const tl_property *p = tl_trace_property(t, i);
        if (p->text)
            printf("property %s: %s\n", p->name, p->text);
        else
            printf("property %s: %" PRId64 "\n", p->name, p->number);
    }
    const tl_field *field;
    uint32_t n;
    const tl_value *v = tl_trace_header(t, &field, &n);
    for (uint32_t i = 0; i < n; i++)
        if (v[i].type == TL_U64)
            printf("header %s: %" PRIu64 "\n", field[i].name, v[i].as.u);
}

static void print_counts(const tl_trace *t, const tl_count *count)
{
    for (uint32_t i = 0; i < tl_trace_classes(t); i++)
        if (count->by_class[i])
            printf("class %s: %" PRIu64 "\n", tl_trace_class(t, i)->name, count->by_class[i]);
    for (uint32_t i = 0; i < tl_trace_tracks(t); i++)
        printf("track %s: %" PRIu64 "\n", tl_trace_track(t, i)->name, count->by_track[i]);
}

int main(int argc, char **argv)
{
    const tl_open_options options = {.exe = argc > 2 ? argv[2] : NULL};
    tl_source *source = NULL;
    tl_error error;
    tl_count count;
    int status = tl_source_open(&source, argc > 1 ? argv[1] : "-", &options, &error);
    if (status == 0)
        status = tl_source_count(source, 2, &count, &error);
    if (status == 0) {
        print_facts(tl_source_trace(source));
        print_words(tl_source_trace(source));
        print_counts(tl_source_trace(source), &count);
        tl_count_free(&count);
    } else {
        fprintf(stderr, "describe_trace: %s\n", error.message);
    }
    tl_source_close(source);
    return status < 0;
}
