/* Suggests what a pattern that matches nothing may have meant. */
#include "cli/near_miss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/glob.h"
#include "cli/message.h"
#include "cli/nearest.h"
#include "model/trace_impl.h"

#define THREADS_LISTED 8u

/* The word of a list that the message is about, if it is a plain word, not a pattern; or NULL. */
static const char *plain_word(const tl_words *words, const char *message)
{
    char quoted[sizeof((tl_error *)0)->message];
    for (size_t i = 0; i < words->n; i++) {
        snprintf(quoted, sizeof quoted, "\"%s\"", words->word[i]);
        if (!strpbrk(words->word[i], "*?[\\") && strstr(message, quoted))
            return words->word[i];
    }
    return NULL;
}

static void near_class(const tl_arguments *a, const tl_trace *t, tl_error *e, size_t at)
{
    const char *word = plain_word(&a->cls, e->message);
    const uint32_t n = tl_trace_classes(t);
    const char **name = word && n ? calloc(n, sizeof *name) : NULL;
    for (uint32_t i = 0; name && i < n; i++)
        name[i] = tl_trace_class(t, i)->name;
    const char *nearest = name ? tl_nearest(word, name, n) : NULL;
    if (nearest)
        snprintf(e->message + at, sizeof e->message - at, "; did you mean %s?", nearest);
    free(name);
}

static void near_function(const tl_arguments *a, const tl_trace *t, tl_error *e, size_t at)
{
    char pattern[TL_WORD_MAX + 3];
    const char *word = plain_word(&a->func, e->message);
    bool named = false, matches = false;
    word = word ? word : plain_word(&a->not_func, e->message);
    snprintf(pattern, sizeof pattern, "*%.*s*", (int)TL_WORD_MAX, word ? word : "");
    for (uint32_t i = 0; i < t->nfunction; i++) {
        const char *name = t->function[i].name;
        named = named || name;
        matches = matches || (word && name && tl_glob(pattern, name));
    }
    if (matches)
        snprintf(e->message + at, sizeof e->message - at, "; did you mean \"%s\"?", pattern);
    else if (!named && !a->exe)
        snprintf(e->message + at, sizeof e->message - at, ": functions have no names; give -e");
}

static void list_threads(const tl_trace *t, tl_error *e, size_t at)
{
    const uint32_t n = tl_trace_tracks(t);
    for (uint32_t i = 0; n <= THREADS_LISTED && i < n; i++)
        if (at < sizeof e->message)
            at += (size_t)snprintf(e->message + at, sizeof e->message - at, "%s%s", i ? ", " : "; there are ",
                                   tl_trace_track(t, i)->name);
}

int tl_say_near_miss(const tl_cli *c, const char *path, const tl_trace *t, const tl_error *e)
{
    tl_error longer = *e;
    const size_t at = strlen(e->message);
    if (e->code != TL_ENOMATCH || !t)
        return tl_say_failure(path, e);
    if (strstr(e->message, "no class of events matches"))
        near_class(c->args, t, &longer, at);
    else if (strstr(e->message, "no function matches"))
        near_function(c->args, t, &longer, at);
    else if (strstr(e->message, "no thread matches"))
        list_threads(t, &longer, at);
    return tl_say_failure(path, &longer);
}
