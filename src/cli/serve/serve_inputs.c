/* A file has changed if its size or its time is another one. A live recording is written through a mapping, which the
 * kernel notes late: as long as it has that name, it counts as changed. Any other file is being written as long as it
 * grows: a log, or a copy that is not complete. */
#include "cli/serve/serve_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LIVE          ".live"
#define GROWS_SECONDS 5 /* without a byte more, and nobody writes any longer */

struct tl_serve_input {
    char *name;
    struct stat seen;
    off_t size;      /* at the last news ... */
    time_t grown_at; /* ... and when it had grown, by a clock that is never set; 0: never */
};

static bool is_live(const char *name)
{
    const size_t n = strlen(name), m = strlen(LIVE);
    return n > m && strcmp(name + n - m, LIVE) == 0;
}

bool tl_serve_inputs_init(tl_serve_inputs *in, tl_words *words)
{
    const char **copy = calloc(words->n + 1, sizeof *copy);
    *in = (tl_serve_inputs){.input = calloc(words->n + 1, sizeof *in->input)};
    if (!copy || !in->input) {
        free(copy);
        return false;
    }
    const size_t n = words->n;
    const char *const *const given = words->word;
    *words = (tl_words){.word = copy};
    in->words = words;
    for (; words->n < n; words->n++) {
        in->input[words->n].name = strdup(given[words->n]);
        if (!in->input[words->n].name)
            return false;
        copy[words->n] = in->input[words->n].name;
    }
    tl_serve_inputs_look(in);
    return true;
}

void tl_serve_inputs_fini(tl_serve_inputs *in)
{
    for (size_t i = 0; in->words && i < in->words->n; i++)
        free(in->input[i].name);
    if (in->words)
        free(in->words->word);
    free(in->input);
}

void tl_serve_inputs_look(tl_serve_inputs *in)
{
    for (size_t i = 0; i < in->words->n; i++) {
        tl_serve_input *one = &in->input[i];
        struct stat st = {0};
        if (stat(one->name, &st) != 0 && is_live(one->name)) {
            char *end = one->name + strlen(one->name) - strlen(LIVE);
            *end = '\0';
            if (stat(one->name, &st) != 0)
                *end = '.'; /* it is gone, whatever its name */
        }
        one->seen = st;
        if (one->size == 0)
            one->size = st.st_size;
    }
}

/* Growth between two looks, not times of the file: the clock may be that of another machine. */
static bool grows(tl_serve_input *one, off_t size)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (size > one->size)
        one->grown_at = now.tv_sec + 1;
    one->size = size;
    return one->grown_at && now.tv_sec < one->grown_at + GROWS_SECONDS;
}

tl_serve_news tl_serve_inputs_news(tl_serve_inputs *in)
{
    tl_serve_news news = {0};
    for (size_t i = 0; i < in->words->n; i++) {
        tl_serve_input *one = &in->input[i];
        struct stat st = {0};
        const bool is_there = stat(one->name, &st) == 0, live = is_live(one->name);
        news.bytes += is_there && st.st_size > 0 ? (uint64_t)st.st_size : 0;
        news.is_live = news.is_live || (is_there && (live || grows(one, st.st_size)));
        news.is_changed = news.is_changed || live || st.st_size != one->seen.st_size || st.st_ino != one->seen.st_ino ||
                          st.st_mtim.tv_sec != one->seen.st_mtim.tv_sec ||
                          st.st_mtim.tv_nsec != one->seen.st_mtim.tv_nsec;
    }
    return news;
}
