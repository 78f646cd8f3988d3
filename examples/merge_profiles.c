/* Adds up the calls of some functions in several traces or profiles, and writes one profile, or a picture:
 *     cc merge_profiles.c $(pkg-config --cflags --libs traceloom) && ./a.out OUTPUT GLOB INPUT... */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

static void print_drop(void *arg, const tl_drop *d)
{
    fprintf(arg, "not written: %" PRIu64 " %s\n", d->n, d->what);
}

/* Adds the profile of an input to *sum, or makes it that. */
static int add(tl_profile **sum, const char *path, const tl_select *select, tl_error *e)
{
    const tl_profile_options options = {.select = select};
    tl_source *source = NULL;
    tl_profile *profile = NULL;
    int status = tl_source_open(&source, path, NULL, e);
    if (status == 0 && tl_source_is_profile(source))
        printf("%s is a profile already\n", tl_trace_format(tl_source_trace(source)));
    if (status == 0)
        status = tl_profile_from_source(&profile, source, &options, e);
    if (status == 0 && tl_profile_clock(profile)->hz) /* inputs of other machines have other clocks */
        status = tl_profile_rescale(profile, 1000000000, e);
    if (status == 0 && *sum) {
        status = tl_profile_merge(*sum, profile, e);
    } else if (status == 0) {
        *sum = profile;
        profile = NULL;
    }
    tl_profile_free(profile);
    tl_source_close(source);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const char *const glob[] = {argv[2]};
    bool matched[1] = {false}; /* in one of the inputs is enough */
    const tl_select select = {.func = glob, .nfunc = 1, .matched = matched};
    tl_profile *sum = NULL;
    tl_error error;
    int status = 0;
    for (int i = 3; status == 0 && i < argc; i++)
        status = add(&sum, argv[i], &select, &error);
    if (status == 0)
        status = tl_select_check(&select, &error);
    if (status == 0)
        status = tl_profile_write(sum, argv[1], &(tl_write_options){.overwrite = true}, print_drop, stdout, &error);
    if (status < 0)
        fprintf(stderr, "merge_profiles: %s\n", error.message);
    else
        printf("%" PRIu32 " functions\n", tl_profile_functions(sum));
    tl_profile_free(sum);
    return status < 0;
}
