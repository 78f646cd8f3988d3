/* Looks for names like a pattern that matches nothing. */
#include "op/near_miss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/glob.h"
#include "base/text/nearest_word.h"
#include "model/trace_impl.h"

#define THREADS_LISTED 8u

static void near_class(const char *word, const tl_trace *t, char *out, size_t size)
{
    const char **name = t->ncls ? calloc(t->ncls, sizeof *name) : NULL;
    for (uint32_t i = 0; name && i < t->ncls; i++)
        name[i] = t->cls[i].name;
    const char *nearest = name ? tl_nearest(word, name, t->ncls) : NULL;
    if (nearest)
        snprintf(out, size, "; did you mean %s?", nearest);
    free(name);
}

/* Do events name functions, or can a binary name those of its instructions? */
static bool has_functions(const tl_trace *t)
{
    bool any = t->nfunction > 0 || t->ncls == 0; /* without classes it is a profile */
    for (uint32_t i = 0; !any && i < t->ncls; i++)
        any = t->cls[i].key == TL_KEY_FUNCTION || t->cls[i].kind == TL_INSN || t->cls[i].kind == TL_SAMPLE;
    return any;
}

static void near_function(const char *word, bool plain, const tl_trace *t, const char *exe, char *out, size_t size)
{
    char pattern[TL_WORD_MAX + 3];
    bool named = false, matches = false;
    snprintf(pattern, sizeof pattern, "*%.*s*", (int)TL_WORD_MAX, word);
    for (uint32_t i = 0; i < t->nfunction; i++) {
        const char *name = t->function[i].name;
        named = named || name;
        matches = matches || (plain && name && tl_glob(pattern, name));
    }
    if (matches)
        snprintf(out, size, "; did you mean \"%s\"?", pattern);
    else if (!has_functions(t))
        snprintf(out, size, ": the trace has no functions");
    else if (!named && !exe)
        snprintf(out, size, ": functions have no names; give -e");
}

static void list_threads(const tl_trace *t, char *out, size_t size)
{
    size_t at = 0;
    for (uint32_t i = 0; t->ntrack <= THREADS_LISTED && i < t->ntrack && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "; there are ", t->track[i].name);
}

void tl_near_miss(const tl_select *s, const tl_trace *t, const char *exe, tl_error *e)
{
    const size_t functions = s->nfunc + s->nnot, threads = functions + s->nthread;
    if (e->code != TL_ENOMATCH || !s->missed || *s->missed >= threads + s->ncls)
        return;
    const size_t i = *s->missed, at = strlen(e->message), size = sizeof e->message - at;
    const char *word = i < s->nfunc    ? s->func[i]
                       : i < functions ? s->not_func[i - s->nfunc]
                       : i < threads   ? s->thread[i - functions]
                                       : s->cls[i - threads];
    const bool plain = !strpbrk(word, "*?[\\");
    char *out = e->message + at;
    if (i < functions)
        near_function(word, plain, t, exe, out, size);
    else if (i < threads)
        list_threads(t, out, size);
    else if (plain)
        near_class(word, t, out, size);
}
