/* Prints the first events of a trace in the order of time, with their numbers and texts:
 *     cc print_events.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

enum { MOST = 20 };

static void print_field(const tl_field *field, const tl_value *v)
{
    if (v->type == TL_U64 || v->type == TL_HEX)
        printf(" %s=%" PRIu64, field->name, v->as.u);
    else if (v->type == TL_I64)
        printf(" %s=%" PRId64, field->name, v->as.i);
    else if (v->type == TL_F64)
        printf(" %s=%g", field->name, v->as.f);
    else if (v->type == TL_STRING)
        printf(" %s=%.*s", field->name, (int)v->n, (const char *)v->as.p);
}

static void print_event(const tl_events *events, const tl_batch *b, uint32_t i)
{
    const tl_trace *trace = tl_events_trace(events);
    const tl_class *class = tl_trace_class(trace, b->cls[i]);
    printf("%10" PRIu64 " %s  %-12s %s", tl_trace_time(trace, b->ts[i] - tl_events_begin(events)), tl_trace_unit(trace),
           tl_trace_track(trace, b->track[i])->name, class->name);
    if (class->key == TL_KEY_FUNCTION) {
        const tl_function *function = tl_trace_function(trace, (int64_t)b->key[i]);
        printf(" #%" PRId64 " %s", (int64_t)b->key[i], function && function->name ? function->name : "");
    }
    const tl_value *v = &b->v[b->val[i]];
    for (uint32_t k = 0; k < class->nfield && v->type != TL_LIST && v->type != TL_STRUCT; k++, v++)
        print_field(&class->field[k], v);
    printf("\n");
}

int main(int argc, char **argv)
{
    const tl_open_options options = {.exe = argc > 2 ? argv[2] : NULL, .want = {.fields = true}};
    tl_error error;
    tl_source *source = NULL;
    tl_events *events = NULL;
    const tl_batch *batch;
    uint32_t from, to, printed = 0;
    int status = tl_source_open(&source, argc > 1 ? argv[1] : "-", &options, &error);
    if (status == 0)
        status = tl_events_open(&events, &source, 1, NULL, true, &error);
    while (status >= 0 && printed < MOST && (status = tl_events_next(events, &batch, &from, &to, &error)) > 0)
        for (; from < to && printed < MOST; from++, printed++)
            print_event(events, batch, from);
    if (status < 0)
        fprintf(stderr, "print_events: %s\n", error.message);
    tl_events_close(events);
    tl_source_close(source);
    return status < 0;
}
