/* The selection of the command line in words. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "cli/selection.h"

void tl_selection_each(const tl_arguments *a, void (*tell)(void *arg, const char *option, const char *value), void *arg)
{
    char depth[16], levels[16] = "";
    snprintf(depth, sizeof depth, "%u", a->depth);
    for (unsigned i = 0, n = 0; i < 4; i++)
        if (a->levels & 1u << i)
            n += (unsigned)snprintf(levels + n, sizeof levels - n, "%s%u", n ? "," : "", i);
    const struct {
        const char *option, *value;
        const tl_words *words;
    } part[] = {{"--time", a->time, NULL},
                {"--insns", a->insns, NULL},
                {"-t", NULL, &a->thread},
                {"--cpu", NULL, &a->cpu},
                {"-F", NULL, &a->func},
                {"-N", NULL, &a->not_func},
                {"--class", NULL, &a->cls},
                {"--depth", a->depth ? depth : NULL, NULL},
                {"--min-dur", a->min_dur, NULL},
                {"--el", *levels ? levels : NULL, NULL},
                {"--pc", a->pc, NULL}};
    for (size_t i = 0; i < TL_COUNT(part); i++) {
        const size_t n = part[i].words ? part[i].words->n : part[i].value != NULL;
        for (size_t k = 0; k < n; k++)
            tell(arg, part[i].option, part[i].words ? part[i].words->word[k] : part[i].value);
    }
}

typedef struct description {
    char *text;
    size_t size, at;
    const char *before;
} description;

static void describe(void *arg, const char *option, const char *value)
{
    description *d = arg;
    if (d->at < d->size)
        d->at += (size_t)snprintf(d->text + d->at, d->size - d->at, "%s%s %s", d->before, option, value);
    d->before = ", ";
}

void tl_selection_describe(const tl_arguments *a, char *text, size_t size)
{
    description d = {.text = text, .size = size, .at = strlen(text), .before = " ("};
    tl_selection_each(a, describe, &d);
    if (*d.before == ',' && d.at < size)
        snprintf(text + d.at, size - d.at, ")");
}
