/* Counts the calls of each function in a trace of any format:
 *     cc count_functions.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE [BINARY] */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: count_functions TRACE [BINARY]\n");
        return 2;
    }
    tl_error error;
    tl_source *source = NULL;
    tl_profile *profile = NULL;
    const tl_open_options options = {.exe = argc > 2 ? argv[2] : NULL};
    if (tl_source_open(&source, argv[1], &options, &error) < 0 ||
        tl_profile_from_source(&profile, source, &(tl_profile_options){.flat = true, .threads = 1}, &error) < 0) {
        fprintf(stderr, "count_functions: %s\n", error.message);
        tl_source_close(source);
        return 1;
    }
    for (uint32_t i = 0; i < tl_profile_functions(profile); i++) {
        const tl_function *function = tl_profile_get_function(profile, i);
        tl_stat stat;
        tl_profile_function_stat(profile, i, &stat);
        printf("%10" PRIu64 " calls  %12" PRIu64 " %s  #%" PRId64 " %s\n", stat.calls,
               tl_profile_time(profile, stat.self), tl_profile_unit(profile), function->id,
               function->name ? function->name : "");
    }
    tl_profile_free(profile);
    tl_source_close(source);
    return 0;
}
