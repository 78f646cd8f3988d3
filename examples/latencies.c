/* How long the calls of each function take: median, 99 of 100, longest.
 *     cc latencies.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE [BINARY] */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

int main(int argc, char **argv)
{
    const tl_open_options options = {.exe = argc > 2 ? argv[2] : NULL, .no_lines = true};
    tl_source *source = NULL;
    tl_profile *p = NULL;
    tl_error error;
    int status = tl_source_open(&source, argc > 1 ? argv[1] : "-", &options, &error);
    if (status == 0)
        status = tl_profile_from_source(&p, source, &(tl_profile_options){.flat = true, .threads = 1}, &error);
    tl_source_close(source); /* the profile stands for itself */
    if (status < 0) {
        fprintf(stderr, "latencies: %s\n", error.message);
        return 1;
    }
    if (!tl_profile_has_histogram(p)) {
        printf("only sums are known\n");
        tl_profile_free(p);
        return 0;
    }
    printf("in %s of clock %s\n%10s %10s %10s  function\n", tl_profile_unit(p), tl_profile_clock(p)->name, "p50", "p99",
           "max");
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        const uint64_t p50 = tl_profile_function_percentile(p, i, 500), p99 = tl_profile_function_percentile(p, i, 990);
        const char *name = tl_profile_get_function(p, i)->name;
        if (stat.calls)
            printf("%10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  %s%s\n", tl_profile_time(p, p50),
                   tl_profile_time(p, p99), tl_profile_time(p, stat.max), name ? name : "?",
                   tl_profile_function_unwound(p, i) ? " (estimated)" : "");
    }
    printf("%" PRIu64 " exits without entry, %" PRIu64 " entries without exit, %" PRIu64
           " of them closed by the exit of an outer call\n",
           tl_profile_unmatched_exits(p), tl_profile_unmatched_open(p), tl_profile_unwound(p));
    tl_profile_free(p);
    return 0;
}
