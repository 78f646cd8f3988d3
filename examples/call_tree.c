/* Who calls whom, as a tree for each thread: calls, and how long 9 of 10 of them took at most (with ? if it is
 * estimated). cc call_tree.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE [BINARY] */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

/* Parents come before children, so children of a place are after it. */
static void print_below(const tl_profile *p, uint32_t parent, int depth)
{
    for (uint32_t place = parent + 1; place < tl_profile_places(p); place++) {
        if (tl_profile_parent(p, place) != parent)
            continue;
        if (tl_profile_function(p, place) == UINT32_MAX) { /* the root of a thread */
            printf("%s\n", tl_profile_track(p, tl_profile_place_track(p, place))->name);
            print_below(p, place, 0);
            continue;
        }
        const tl_function *function = tl_profile_get_function(p, tl_profile_function(p, place));
        tl_stat stat;
        tl_profile_stat(p, place, &stat);
        printf("%6" PRIu64 " %10" PRIu64 " %s%c %*s%s\n", stat.calls,
               tl_profile_time(p, tl_profile_percentile(p, place, 900)), tl_profile_unit(p),
               tl_profile_place_unwound(p, place) ? '?' : ' ', 2 * depth, "",
               function && function->name ? function->name : "?");
        print_below(p, place, depth + 1);
    }
}

int main(int argc, char **argv)
{
    const tl_open_options options = {.exe = argc > 2 ? argv[2] : NULL, .no_lines = true};
    tl_source *source = NULL;
    tl_profile *profile = NULL;
    tl_error error;
    int status = tl_source_open(&source, argc > 1 ? argv[1] : "-", &options, &error);
    if (status == 0)
        status =
            tl_profile_from_source(&profile, source, &(tl_profile_options){.per_thread = true, .threads = 1}, &error);
    if (status == 0) {
        printf("%" PRIu32 " threads\n", tl_profile_tracks(profile));
        print_below(profile, 0, 0);
    } else {
        fprintf(stderr, "call_tree: %s\n", error.message);
    }
    tl_profile_free(profile);
    tl_source_close(source);
    return status < 0;
}
