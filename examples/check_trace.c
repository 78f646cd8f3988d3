/* Prints the problems of a trace, and where they are. Exit status 0: none; 1: damage; 2: it cannot be read at all.
 *     cc check_trace.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <traceloom/traceloom.h>

static void print_place(const char *kind, const tl_damage *d)
{
    const char *slash = d->file ? strrchr(d->file, '/') : NULL;
    printf("%s: %s%sbyte %" PRIu64 ": %s: %s\n", kind, slash ? slash + 1 : "", slash ? ": " : "", d->at, d->rule,
           d->what);
}

int main(int argc, char **argv)
{
    tl_source *source = NULL;
    tl_error error;
    tl_count count;
    int status = tl_source_open(&source, argc > 1 ? argv[1] : "-", NULL, &error);
    if (status == 0)
        status = tl_source_count(source, 1, &count, &error); /* reads everything: some damage is found only then */
    if (status < 0) {
        printf("%s: %s\n", tl_code_name(error.code), strrchr(error.message, ':') + 2);
        tl_source_close(source);
        return 2;
    }
    tl_count_free(&count);
    status = tl_source_check(source, 1, &error); /* what contradicts itself */
    const tl_trace *t = tl_source_trace(source);
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        print_place("damage", tl_trace_damage(t, i));
    for (uint32_t i = 0; i < tl_trace_notes(t); i++)
        print_place("note", tl_trace_note(t, i));
    printf("%" PRIu64 " damaged places, %" PRIu64 " events go back in time\n", tl_trace_damage_count(t),
           tl_trace_out_of_order(t));
    const int result = status < 0 ? 2 : tl_trace_damage_count(t) > 0;
    tl_source_close(source);
    return result;
}
