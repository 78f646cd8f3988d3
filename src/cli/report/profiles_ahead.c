/* Reading a profile takes longer than adding it to others. So several threads read files, and one adds them, in the
 * order of the command line: output and messages are the same for any number of threads. */
#include "cli/report/profiles_ahead.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ordered_workers.h"
#include "cli/inputs.h"

/* Each thread works on one file, and one more is ready. Larger files are read in their turn, so that what is ready
 * takes no more memory than one large profile. */
enum { THREADS_MOST = 16, SLOTS_MOST = THREADS_MOST + 1 };
#define BYTES_MOST ((off_t)8 << 20)

typedef struct slot {
    tl_source *source; /* NULL: not read */
    tl_profile *profile;
} slot;

struct tl_profiles_ahead {
    tl_profile_files *files;
    const tl_profile_options *options;
    const tl_profile_fit *fit;
    tl_open_options open;
    uint64_t first;
    tl_ordered_workers *workers;
    unsigned lent; /* the slot whose profile was lent last */
    slot slot[SLOTS_MOST];
};

static void clear(slot *s)
{
    tl_source_close(s->source);
    tl_profile_free(s->profile);
    *s = (slot){0};
}

/* Only regular files can be opened more than once. */
static bool may_be_opened_twice(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= BYTES_MOST;
}

/* Reports no errors: the file is opened again in its turn. */
static int make(void *arg, unsigned number, uint64_t i)
{
    tl_profiles_ahead *a = arg;
    slot *s = &a->slot[number];
    tl_profile_file file;
    tl_error e;
    clear(s); /* releases the lent profile */
    const int there = tl_profile_files_get(a->files, a->first + i, &file, &e);
    if (there <= 0)
        return there < 0;
    if (may_be_opened_twice(file.path) && tl_source_open(&s->source, file.path, &a->open, &e) == 0)
        if (!tl_source_is_profile(s->source) || tl_profile_from_source(&s->profile, s->source, a->options, &e) < 0 ||
            tl_profile_make_fit(&s->profile, a->fit, &e) < 0)
            clear(s);
    free(file.path);
    return 1;
}

tl_profiles_ahead *tl_profiles_ahead_open(const tl_cli *c, tl_profile_files *files, uint64_t first, const tl_want *want,
                                          const tl_profile_options *options, const tl_profile_fit *fit)
{
    const unsigned threads = tl_threads(c) < THREADS_MOST ? tl_threads(c) : THREADS_MOST;
    tl_profiles_ahead *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->files = files;
    a->options = options;
    a->fit = fit;
    a->open = tl_reading_options(c, want);
    a->open.want.threads = 1;
    a->first = first;
    tl_error e;
    if (tl_ordered_open(&a->workers, threads - 1, threads + 1, make, a, &e) < 0) {
        free(a);
        return NULL;
    }
    return a;
}

tl_source *tl_profiles_ahead_next(tl_profiles_ahead *a, tl_profile **profile)
{
    unsigned number;
    if (tl_ordered_next(a->workers, &number) <= 0)
        return NULL;
    tl_source *source = a->slot[number].source;
    a->slot[number].source = NULL;
    *profile = a->slot[number].profile;
    a->lent = number;
    return source;
}

void tl_profiles_ahead_keep(tl_profiles_ahead *a)
{
    a->slot[a->lent].profile = NULL;
}

void tl_profiles_ahead_close(tl_profiles_ahead *a)
{
    if (!a)
        return;
    tl_ordered_close(a->workers);
    for (unsigned i = 0; i < SLOTS_MOST; i++)
        clear(&a->slot[i]);
    free(a);
}
