/* An input has changed if a size or a time is another one, of a folder that of a file in it. A live recording is
 * written through a mapping, which the kernel notes late: as long as it has that name, it counts as changed. Any other
 * file is being written as long as it grows: a log, or a copy that is not complete. */
#include "cli/serve/serve_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/io/content_id.h"
#include "base/text/ends_in.h"

#define LIVE          ".live"
#define GROWS_SECONDS 5 /* without a byte more, and nobody writes any longer */

struct tl_serve_input {
    char *name;
    tl_content_state seen;
    uint64_t bytes;  /* at the last news ... */
    time_t grown_at; /* ... and when it had grown, by a clock that is never set; 0: never */
};

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
        tl_content_state now = {0};
        if (tl_content_look(&now, one->name, NULL) != 0 && tl_has_suffix(one->name, LIVE)) {
            char *end = one->name + strlen(one->name) - strlen(LIVE);
            *end = '\0';
            if (tl_content_look(&now, one->name, NULL) != 0)
                *end = '.'; /* it is gone, whatever its name */
        }
        one->seen = now;
        if (one->bytes == 0)
            one->bytes = now.bytes;
    }
}

/* Growth between two looks, not times of the file: the clock may be that of another machine. */
static bool grows(tl_serve_input *one, uint64_t bytes)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (bytes > one->bytes)
        one->grown_at = now.tv_sec + 1;
    one->bytes = bytes;
    return one->grown_at && now.tv_sec < one->grown_at + GROWS_SECONDS;
}

tl_serve_news tl_serve_inputs_news(tl_serve_inputs *in)
{
    tl_serve_news news = {0};
    for (size_t i = 0; i < in->words->n; i++) {
        tl_serve_input *one = &in->input[i];
        tl_content_state now = {0};
        const bool is_there = tl_content_look(&now, one->name, NULL) == 0, grown = grows(one, now.bytes);
        const bool live = tl_has_suffix(one->name, LIVE);
        news.bytes += now.bytes;
        news.is_live = news.is_live || (is_there && (live || grown));
        news.is_changed = news.is_changed || live || now.changed != one->seen.changed;
    }
    return news;
}
