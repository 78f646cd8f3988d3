/* What the samples of a trace weigh, in everything that they were weighed by; and which functions allocate most.
 *     cc sample_weights.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <traceloom/traceloom.h>

/* The weight of all samples, in its unit. */
static uint64_t sum(const tl_profile *p, uint32_t weight, const tl_trace *trace)
{
    uint64_t all = 0;
    for (uint32_t place = 0; place < tl_profile_places(p); place++)
        all += tl_profile_weight_self(p, place, weight);
    const bool is_time = strcmp(tl_profile_weight(p, weight)->name, "time") == 0; /* which is in ticks */
    return is_time ? tl_trace_time(trace, all) : all;
}

int main(int argc, char **argv)
{
    const tl_profile_options options = {.weight = "alloc_space", .flat = true};
    tl_source *source = NULL;
    tl_profile *p = NULL;
    tl_error error;
    int status = tl_source_open(&source, argc > 1 ? argv[1] : "-", NULL, &error);
    if (status == 0)
        status = tl_profile_from_source(&p, source, &options, &error);
    if (status < 0) {
        fprintf(stderr, "sample_weights: %s\n", error.message);
        tl_source_close(source);
        return 1;
    }
    const tl_sample_counts counts = tl_profile_samples(p);
    printf("%" PRIu64 " samples, %" PRIu64 " with an empty stack, %" PRIu64 " while paused\n", counts.counted,
           counts.empty, counts.paused);
    for (uint32_t i = 0; i < tl_profile_weights(p); i++) {
        const tl_weight *w = tl_profile_weight(p, i);
        printf("%c %-14s %10" PRIu64 " %s\n", i == tl_profile_chosen_weight(p) ? '*' : ' ', w->name,
               sum(p, i, tl_source_trace(source)), w->unit);
    }
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        const char *name = tl_profile_get_function(p, i)->name;
        if (stat.self > 0)
            printf("%10" PRIu64 " %s  %s\n", stat.self, tl_profile_unit(p), name ? name : "?");
    }
    tl_profile_free(p);
    tl_source_close(source);
    return 0;
}
