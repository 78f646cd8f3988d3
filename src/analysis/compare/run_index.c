/* Which places of each run belong to which subject, and to which path of the union of all trees. */
#include <stdlib.h>

#include "analysis/compare/compare_impl.h"
#include "base/grow.h"

/* Of one run, while paths are numbered. */
typedef struct place_paths {
    uint32_t *path;  /* [places] its path, or TL_NO_SUBJECT: none */
    bool *is_folded; /* [places] it counts only for the self time of that path */
} place_paths;

static uint32_t subject_at(const tl_compare *c, int side, uint32_t run, uint32_t place)
{
    const tl_side *s = &c->side[side];
    const uint32_t f = s->run[run].profile->place[place].function;
    return f == TL_NO_FUNCTION ? TL_NO_SUBJECT : s->function[s->function_of[run][f]].subject;
}

/* Is the place part of its caller on the other side? */
static bool is_folded(const tl_compare *c, int side, uint32_t run, uint32_t place, uint32_t subject)
{
    const uint32_t host = c->subject[subject].inlined;
    return host != TL_NO_SUBJECT &&
           subject_at(c, side, run, c->side[side].run[run].profile->place[place].parent) == host;
}

static bool number_paths(tl_compare *c, int side, uint32_t run, place_paths *to)
{
    const tl_profile *p = c->side[side].run[run].profile;
    to->path = tl_alloc(p->nplace, sizeof *to->path);
    to->is_folded = calloc(p->nplace, sizeof *to->is_folded);
    if (!to->path || !to->is_folded)
        return false;
    to->path[0] = TL_NO_SUBJECT;
    for (uint32_t i = 1; i < p->nplace; i++) {
        const uint32_t subject = subject_at(c, side, run, i), above = to->path[p->place[i].parent];
        to->path[i] = above;
        if (subject == TL_NO_SUBJECT)
            continue;
        to->is_folded[i] = is_folded(c, side, run, i, subject);
        if (!to->is_folded[i] &&
            (to->path[i] = tl_pair_map_number(&c->path, above == TL_NO_SUBJECT ? 0 : (uint64_t)above + 1, subject)) ==
                TL_HASH_NONE)
            return false;
    }
    return true;
}

static bool allocate(tl_compare *c, const tl_profile *p, tl_run_index *x)
{
    const size_t subjects = (size_t)c->nsubject + 1, paths = (size_t)c->path.n + 1;
    x->subject_first = calloc(subjects, sizeof *x->subject_first);
    x->subject_extra = calloc(subjects, sizeof *x->subject_extra);
    x->path_first = calloc(paths, sizeof *x->path_first);
    x->path_extra = calloc(paths, sizeof *x->path_extra);
    x->subject_next = calloc(p->nplace, sizeof *x->subject_next);
    x->path_next = calloc(p->nplace, sizeof *x->path_next);
    return x->subject_first && x->subject_extra && x->path_first && x->path_extra && x->subject_next && x->path_next;
}

static void add_extra(uint64_t *to, uint64_t ticks)
{
    *to = tl_add_saturated(*to, ticks);
}

static bool list_places(tl_compare *c, int side, uint32_t run, const place_paths *of)
{
    const tl_profile *p = c->side[side].run[run].profile;
    tl_run_index *x = &c->side[side].index[run];
    if (!allocate(c, p, x))
        return false;
    for (uint32_t i = p->nplace; i-- > 1;) { /* backwards: lists are then in the order of places */
        const uint32_t subject = subject_at(c, side, run, i);
        x->root += (double)p->stat[i].self;
        if (subject == TL_NO_SUBJECT)
            continue;
        x->subject_next[i] = x->subject_first[subject];
        x->subject_first[subject] = i;
        if (of->is_folded[i]) {
            add_extra(&x->subject_extra[c->subject[subject].inlined], p->stat[i].self);
            if (of->path[i] != TL_NO_SUBJECT)
                add_extra(&x->path_extra[of->path[i]], p->stat[i].self);
            continue;
        }
        x->path_next[i] = x->path_first[of->path[i]];
        x->path_first[of->path[i]] = i;
    }
    return true;
}

int tl_compare_index(tl_compare *c, tl_error *e)
{
    const uint32_t all = c->side[0].n + c->side[1].n;
    place_paths *of = calloc(all, sizeof *of);
    bool ok = of != NULL;
    for (uint32_t i = 0; ok && i < all; i++)
        ok = number_paths(c, i >= c->side[0].n, i < c->side[0].n ? i : i - c->side[0].n, &of[i]);
    for (uint32_t i = 0; ok && i < all; i++)
        ok = list_places(c, i >= c->side[0].n, i < c->side[0].n ? i : i - c->side[0].n, &of[i]);
    for (uint32_t i = 0; of && i < all; i++) {
        free(of[i].path);
        free(of[i].is_folded);
    }
    free(of);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare trees");
}

uint32_t tl_path_subject(const tl_compare *c, uint32_t path)
{
    return (uint32_t)c->path.pair[path].b;
}

uint32_t tl_path_caller(const tl_compare *c, uint32_t path)
{
    return c->path.pair[path].a ? (uint32_t)(c->path.pair[path].a - 1) : TL_NO_SUBJECT;
}

uint32_t tl_compare_items(const tl_compare *c, bool paths)
{
    return paths ? c->path.n : c->nsubject;
}

tl_item tl_compare_item(const tl_compare *c, bool paths, uint32_t i)
{
    return paths ? (tl_item){tl_path_subject(c, i), i} : (tl_item){i, TL_NO_SUBJECT};
}
