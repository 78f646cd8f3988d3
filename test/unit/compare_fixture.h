/* Sides of runs for tests of comparisons: profiles made call by call, with noise between runs. */
#ifndef TL_TEST_COMPARE_FIXTURE_H
#define TL_TEST_COMPARE_FIXTURE_H

#include "random_profile.h"

#include <math.h>

#include "traceloom/compare.h"

#define SIDE_RUNS 20

typedef struct side {
    tl_compare_run run[SIDE_RUNS];
    size_t n;
} side;

static inline double random_unit(uint64_t *seed)
{
    return ((double)(fixture_random(seed) >> 11) + 0.5) / 9007199254740992.0;
}

/* Of the standard normal law. */
static inline double random_normal(uint64_t *seed)
{
    return sqrt(-2 * log(random_unit(seed))) * cos(6.283185307179586 * random_unit(seed));
}

static inline tl_profile *add_run(side *s)
{
    tl_profile *p = NULL;
    assert_int_equal(tl_profile_new(&p, &(tl_clock){.name = "ns", .hz = 1000000000}, NULL), 0);
    s->run[s->n++] = (tl_compare_run){.profile = p};
    return p;
}

static inline void side_free(side *s)
{
    for (size_t i = 0; i < s->n; i++)
        tl_profile_free((tl_profile *)(uintptr_t)s->run[i].profile);
    s->n = 0;
}

/* The place of a stack "main;serve". */
static inline uint32_t place_at(tl_profile *p, const char *stack)
{
    char copy[256];
    uint32_t place = 0;
    snprintf(copy, sizeof copy, "%s", stack);
    for (char *rest = NULL, *name = strtok_r(copy, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
        const uint32_t f = tl_profile_add_function(p, &(tl_function){.name = name});
        assert_true(f != TL_HASH_NONE);
        place = tl_profile_child(p, place, f);
        assert_true(place != TL_HASH_NONE);
    }
    return place;
}

/* Calls of the last function of a stack: each of `ticks`, all of it its own time. */
static inline void add_calls(tl_profile *p, const char *stack, uint64_t calls, uint64_t ticks)
{
    const uint32_t place = place_at(p, stack);
    for (uint64_t i = 0; i < calls; i++)
        fixture_call(p, place, ticks, ticks, true);
}

/* A call of a function that contains the calls of the others. */
static inline void add_outer(tl_profile *p, const char *stack, uint64_t ticks, uint64_t self)
{
    fixture_call(p, place_at(p, stack), ticks, self, true);
}

static inline tl_compare *compared_with(const side *base, const side *newer, const tl_compare_options *o)
{
    tl_compare *c = NULL;
    tl_error e = {0};
    must(tl_compare_new(&c, base->run, base->n, newer->run, newer->n, o, &e), &e);
    return c;
}

/* The row of a function's, or path's, metric; NULL: there is none. */
static inline const tl_compare_row *find_row(const tl_compare *c, const char *function, const char *metric)
{
    for (size_t i = 0; i < tl_compare_rows(c); i++) {
        const tl_compare_row *r = tl_compare_get_row(c, i);
        if (strcmp(r->path ? r->path : r->function, function) == 0 && strcmp(r->metric, metric) == 0)
            return r;
    }
    return NULL;
}

static inline const char *verdict(const tl_compare *c, const char *function, const char *metric)
{
    const tl_compare_row *r = find_row(c, function, metric);
    return r ? tl_compare_verdict_text(r) : "no row";
}

#endif
