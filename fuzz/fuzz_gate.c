/* Fuzz target: gates, and the names that they match: the first line is a gate, the others are names of functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/gate_text.h"
#include "analysis/compare/name_key.h"
#include "model/profile_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAMES = 32 };

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static void try_text(const char *text)
{
    tl_arena arena = {0};
    tl_gate_text t;
    tl_error e = {0};
    const int status = tl_gate_parse(&t, &arena, text, &e);
    promise(status == 0 || e.code == status, "an error carries its code");
    promise(status != TL_ESYNTAX || (e.offset <= strlen(text) && *e.message), "a mistake has a place in the text");
    if (status == 0)
        for (uint32_t i = 0; i < t.n; i++)
            promise(*t.term[i].target && t.term[i].amount == t.term[i].amount && t.term[i].at < strlen(text),
                    "a gate has a target and an amount");
    tl_arena_fini(&arena);
}

static void try_key(const char *name)
{
    const size_t n = strlen(name);
    char *key = malloc(n + 1);
    if (!key)
        return;
    promise(tl_name_key(key, name, TL_KEY_NO_NUMBERS) <= n && tl_name_key(key, name, TL_KEY_NO_CLONES) <= n,
            "a key is no longer than its name");
    free(key);
}

/* A run of functions of these names, each called by the one before. */
static tl_profile *profile_of(char *const *name, unsigned n, unsigned skip)
{
    tl_profile *p = NULL;
    if (tl_profile_new(&p, &(tl_clock){.name = "fuzz", .hz = 1000000000}, NULL) < 0)
        return NULL;
    for (unsigned i = 0, place = 0; i < n; i++) {
        if (i == skip)
            continue;
        place = tl_profile_child(p, i % 5 ? place : 0, tl_profile_add_function(p, &(tl_function){.name = name[i]}));
        tl_place_stat *s = &p->stat[place];
        s->calls++;
        s->total += i * 100;
        s->self += i * 100;
        s->outer += i * 100;
        s->min = i * 100 < s->min ? i * 100 : s->min;
        s->max = i * 100 > s->max ? i * 100 : s->max;
        promise(tl_hist_add(&s->hist, i * 100), "memory suffices");
    }
    return p;
}

static void try_gate(const char *gate, char *const *name, unsigned n)
{
    tl_profile *base = profile_of(name, n, n / 2), *newer = profile_of(name, n, n / 3);
    const tl_compare_run run[] = {{.profile = base}, {.profile = newer}};
    tl_compare *c = NULL;
    const tl_gate *g = NULL;
    tl_error e = {0};
    promise(base && newer &&
                tl_compare_new(&c, &run[0], 1, &run[1], 1,
                               &(tl_compare_options){.one_run = true, .has_min_share = true}, &e) == 0,
            "any names can be compared");
    const int status = tl_compare_gate(c, gate, TL_GATE_INTERVAL, &g, &e);
    promise(status == 0 ? g->n > 0 : *e.message != 0, "a gate is about something, or says why not");
    for (size_t i = 0; i < tl_compare_rows(c); i++)
        promise(*tl_compare_verdict_text(tl_compare_get_row(c, i)), "each row has a verdict");
    tl_compare_free(c);
    tl_profile_free(base);
    tl_profile_free(newer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *name[NAMES], *rest = NULL;
    unsigned n = 0;
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    char *gate = strtok_r(text, "\n", &rest);
    while (n < NAMES && (name[n] = strtok_r(NULL, "\n", &rest)))
        try_key(name[n++]);
    if (gate) {
        try_text(gate);
        try_gate(gate, name, n);
    }
    free(text);
    return 0;
}
