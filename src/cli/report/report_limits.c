/* What limits the answer of `report`: names that are missing, samples that were not counted, builds told apart. */
#include "cli/report/report_limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function/profile_answer.h"
#include "base/grow.h"
#include "base/text/number.h"
#include "cli/message.h"
#include "model/profile_words.h"
#include "op/symbols/profile_places.h"

/* Explains why a profile of samples is empty, and what to try. */
static void say_nothing_sampled(const tl_report_limits *m)
{
    const tl_profile *p = m->profile;
    const tl_sample_counts n = tl_profile_samples(p);
    const uint32_t chosen = tl_profile_chosen_weight(p);
    bool bytes = false;
    if (!tl_profile_weights(p) || tl_profile_weight_sum(p, chosen))
        return;
    for (uint32_t i = 0; i < tl_profile_weights(p); i++)
        bytes = bytes || (strcmp(tl_profile_weight(p, i)->unit, "bytes") == 0 && tl_profile_weight_sum(p, i));
    if (strncmp(tl_profile_weight(p, chosen)->name, "alloc", 5) == 0)
        tl_say(m->cli, NULL, "no allocations of a known stack were recorded; --weight time is of the samples");
    else if (bytes)
        tl_say(m->cli, NULL, "no samples were counted, only allocations: --weight bytes shows where");
    else if (n.counted)
        tl_say(m->cli, NULL, "all samples have an empty stack");
    else
        tl_say(m->cli, NULL, "no samples were counted");
}

/* Reports numbers of functions that the given binary lacks: it may be the wrong one, and all names with it. */
static void say_strangers(const tl_report_limits *m)
{
    const tl_profile *p = m->profile;
    uint64_t called = 0, strange = 0;
    char a[32], b[32];
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        called += stat.calls != 0;
        strange += stat.calls && !f->name && !f->address && !(f->flags & (TL_FUNCTION_HEX_ID | TL_FUNCTION_UNKNOWN));
    }
    if (strange)
        tl_say(m->cli, NULL, "%s of %s functions %s not in %s; is that the binary that was traced?",
               tl_human_grouped(a, sizeof a, strange), tl_human_grouped(b, sizeof b, called),
               strange == 1 ? "is" : "are", m->cli->args->exe);
}

/* Reports functions that are only places, "lua5.4+0x8870", and the binary of the first one. */
static void say_places(const tl_report_limits *m)
{
    const tl_profile *p = m->profile;
    char number[32];
    const tl_function *first = NULL;
    uint64_t n = 0;
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        tl_stat stat;
        if (!tl_profile_is_place(f))
            continue;
        tl_profile_function_stat(p, i, &stat);
        if (stat.calls == 0)
            continue;
        n++;
        first = first ? first : f;
    }
    if (n)
        tl_say(m->cli, NULL, "%s %s no name; install debug symbols of %.*s, or give -e a file of the same build",
               tl_human_grouped(number, sizeof number, n), n == 1 ? "function has" : "functions have",
               (int)(strrchr(first->name, '+') - first->name), first->name);
}

typedef struct named {
    const char *name, *module;
} named;

static int by_name(const void *left, const void *right)
{
    const named *a = left, *b = right;
    const int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->module, b->module);
}

/* How many names several builds have; 0 without memory to find out. */
static uint32_t names_of_several(const tl_profile *p)
{
    const uint32_t n = tl_profile_functions(p);
    named *list = tl_alloc((size_t)n + 1, sizeof *list);
    uint32_t several = 0, listed = 0;
    for (uint32_t i = 0; list && i < n; i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        if (f->name && f->module)
            list[listed++] = (named){f->name, f->module};
    }
    if (listed > 1)
        qsort(list, listed, sizeof *list, by_name);
    for (uint32_t i = 1, counted = 0; i < listed; i++) {
        const bool same = strcmp(list[i].name, list[i - 1].name) == 0;
        const bool other = same && strcmp(list[i].module, list[i - 1].module) != 0;
        several += other && !counted;
        counted = same && (counted || other);
    }
    free(list);
    return several;
}

/* Builds of one program do not meet, unless asked to. */
static void say_builds(const tl_report_limits *m)
{
    char number[32];
    if (!m->several || m->profile->build_id)
        return;
    if (m->by_name) {
        tl_say(m->cli, NULL, "functions of all builds that have one name are one function");
        return;
    }
    const uint32_t n = names_of_several(m->profile);
    if (n)
        tl_say(m->cli, NULL, "%s %s told apart by build; --by name adds them up",
               tl_human_grouped(number, sizeof number, n), n == 1 ? "name is" : "names are");
}

/* Functions of different programs meet if they have neither a name nor a build: only their number is left. */
static void say_unnamed(const tl_report_limits *m)
{
    const tl_profile *p = m->profile;
    char number[32];
    uint32_t n = 0;
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        n += !f->name && !f->module && !(f->flags & TL_FUNCTION_UNKNOWN);
    }
    if (m->several && n)
        tl_say(m->cli, NULL, "%s function%s without names %s added up by number, even from different programs",
               tl_human_grouped(number, sizeof number, n), n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

/* Reports what limits the answer. */
void tl_report_say_limits(const tl_report_limits *m)
{
    const tl_profile *p = m->profile;
    char text[TL_UNMATCHED_SIZE];
    if (*tl_profile_unmatched_text(p, text))
        tl_say(m->cli, NULL, "%s", text);
    if (*tl_profile_unwound_text(p, text))
        tl_say(m->cli, NULL, "%s", text);
    if (m->lacks_names && !tl_profile_is_empty(p))
        tl_say(m->cli, NULL, "functions have no names; -e names the binary that was traced");
    if (!m->explained)
        say_places(m);
    if (m->cli->args->exe && !m->explained && m->of_events && !tl_profile_weights(p))
        say_strangers(m);
    say_builds(m);
    say_unnamed(m);
    say_nothing_sampled(m);
}
