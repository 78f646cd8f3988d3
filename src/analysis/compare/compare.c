/* Comparison of two sides of runs: checks that they can be compared, and makes the rows step by step. */
#include "traceloom/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_impl.h"

#define NOISE     0.05  /* functions nobody touched have moved by 4.7 % when code moved */
#define MIN_SHARE 0.005 /* of the whole */
#define HZ_APART  1e-3  /* most relative difference of the frequencies of clocks without a known unit */

static int check_options(const tl_compare_options *o, tl_error *e)
{
    if (o->has_noise && !(o->noise >= 0 && o->noise <= 10))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "noise: expected 0 to 10, which is 1000 %%");
    if (o->has_min_share && !(o->min_share >= 0 && o->min_share <= 1))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "min-share: expected 0 to 1");
    return 0;
}

static int copy_side(tl_compare *c, int side, const tl_compare_run *run, size_t n, tl_error *e)
{
    tl_side *s = &c->side[side];
    tl_compare_run *copy = tl_arena_alloc(&c->arena, n * sizeof *copy);
    s->function_of = calloc(n, sizeof *s->function_of);
    s->index = calloc(n, sizeof *s->index);
    s->n = (uint32_t)n;
    s->run = copy;
    bool ok = copy && s->function_of && s->index;
    for (size_t i = 0; i < n && ok; i++) {
        copy[i] = run[i];
        if (run[i].name)
            ok = (copy[i].name = tl_strings_get(&c->strings, run[i].name, strlen(run[i].name))) != NULL;
    }
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare %zu runs", n);
}

/* The text of a run in messages. */
static const char *name_of(const tl_compare_run *r)
{
    return r->name ? r->name : "a run";
}

/* Have their numbers the same meaning? */
static int check_alike(const tl_compare_run *a, const tl_compare_run *b, tl_error *e)
{
    const tl_profile *p = a->profile, *q = b->profile;
    const double hz = (double)p->clock.hz, other = (double)q->clock.hz;
    if (!p->nweight != !q->nweight)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s is made of %s, %s of %s: they cannot be compared",
                       name_of(a), p->nweight ? "samples" : "calls", name_of(b), q->nweight ? "samples" : "calls");
    if (strcmp(tl_profile_unit(p), tl_profile_unit(q)) != 0)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s counts %s, %s %s: they cannot be compared", name_of(a),
                       tl_profile_unit(p), name_of(b), tl_profile_unit(q));
    if (strcmp(tl_profile_unit(p), "ticks") == 0 && fabs(hz - other) > HZ_APART * fmax(hz, other))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s and %s have clocks of different frequencies", name_of(a),
                       name_of(b));
    return 0;
}

static int check_runs(tl_compare *c, tl_error *e)
{
    int status = 0;
    c->has_durations = true;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->side[side].n && status == 0; i++) {
            const tl_compare_run *r = &c->side[side].run[i];
            c->has_durations = c->has_durations && r->profile->has_histogram;
            status = check_alike(&c->side[0].run[0], r, e);
        }
    c->is_sampled = c->side[0].run[0].profile->nweight > 0;
    return status;
}

static int make(tl_compare *c, tl_error *e)
{
    int (*const step[])(tl_compare *, tl_error *) = {
        check_runs,       tl_compare_read_sides, tl_compare_match, tl_compare_guess_renames, tl_compare_find_inlined,
        tl_compare_index, tl_compare_make_rows,  tl_compare_doubt};
    const tl_clock *clock = &c->side[0].run[0].profile->clock;
    c->ns_per_tick =
        clock->hz && strcmp(tl_profile_unit(c->side[0].run[0].profile), "ns") == 0 ? 1e9 / (double)clock->hz : 1;
    int status = tl_change_room_init(&c->room, c->side[0].n, c->side[1].n, e);
    for (size_t i = 0; i < TL_COUNT(step) && status == 0; i++)
        status = step[i](c, e);
    return status;
}

int tl_compare_new(tl_compare **out, const tl_compare_run *base, size_t nbase, const tl_compare_run *newer, size_t nnew,
                   const tl_compare_options *options, tl_error *e)
{
    const tl_compare_options none = {0};
    if (!nbase || !nnew || nbase > TL_COMPARE_RUNS_MAX || nnew > TL_COMPARE_RUNS_MAX)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%zu and %zu runs: expected 1 to %u a side", nbase, nnew,
                       TL_COMPARE_RUNS_MAX);
    int status = check_options(options ? options : &none, e);
    if (status < 0)
        return status;
    tl_compare *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare profiles");
    c->options = options ? *options : none;
    if (!c->options.has_noise)
        c->options.noise = NOISE;
    if (!c->options.has_min_share)
        c->options.min_share = MIN_SHARE;
    status = copy_side(c, 0, base, nbase, e);
    if (status == 0)
        status = copy_side(c, 1, newer, nnew, e);
    if (status == 0)
        status = make(c, e);
    if (status < 0) {
        tl_compare_free(c);
        return status;
    }
    c->options.map = NULL; /* no longer borrowed */
    *out = c;
    return 0;
}

void tl_compare_free(tl_compare *c)
{
    if (!c)
        return;
    tl_side_fini(&c->side[0]);
    tl_side_fini(&c->side[1]);
    tl_change_room_fini(&c->room);
    tl_pair_map_fini(&c->path);
    tl_strings_fini(&c->strings);
    tl_arena_fini(&c->arena);
    free(c->subject);
    free(c->row);
    free(c->warning);
    free(c);
}

const char *tl_compare_unit(const tl_compare *c)
{
    return tl_profile_unit(c->side[0].run[0].profile);
}

size_t tl_compare_runs(const tl_compare *c, int side)
{
    return c->side[side != 0].n;
}

size_t tl_compare_rows(const tl_compare *c)
{
    return c->nrow;
}

const tl_compare_row *tl_compare_get_row(const tl_compare *c, size_t i)
{
    return i < c->nrow ? &c->row[i] : NULL;
}

size_t tl_compare_warnings(const tl_compare *c)
{
    return c->nwarning;
}

const char *tl_compare_warning(const tl_compare *c, size_t i)
{
    return i < c->nwarning ? c->warning[i] : NULL;
}
