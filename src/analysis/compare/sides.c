/* The functions of each side, by name, and which of them call which: sums over all runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_impl.h"
#include "base/grow.h"
#include "base/io/base_name.h"

static const char *interned(tl_compare *c, const char *s)
{
    return s ? tl_strings_get(&c->strings, s, strlen(s)) : NULL;
}

/* A text that is the same for one function in all runs of a side: its name, file and library, and its number only if it
 * has no name. NULL without memory. */
static const char *identity(tl_compare *c, const tl_function *f, const char *name)
{
    const char *part[] = {name, f->file ? f->file : "", f->library ? tl_base_name(f->library) : "",
                          f->name || f->renamed || !f->module ? "" : f->module};
    size_t n = 0;
    for (size_t i = 0; i < TL_COUNT(part); i++)
        n += strlen(part[i]) + 1;
    char *text = malloc(n), *p = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < TL_COUNT(part); i++) {
        const size_t length = strlen(part[i]);
        memcpy(p, part[i], length);
        p[length] = '\1';
        p += length + 1;
    }
    const char *kept = tl_strings_get(&c->strings, text, n);
    free(text);
    return kept;
}

static bool fill(tl_compare *c, tl_side_function *to, const tl_function *f, const char *name)
{
    *to = (tl_side_function){.name = interned(c, name),
                             .linkage = interned(c, f->linkage_name),
                             .file = interned(c, f->file),
                             .library = interned(c, f->library ? tl_base_name(f->library) : NULL),
                             .line = f->line,
                             .unnamed = !f->name && !f->renamed,
                             .subject = TL_NO_SUBJECT};
    return to->name && (to->linkage || !f->linkage_name) && (to->file || !f->file) && (to->library || !f->library);
}

/* The number of a profile's function on its side; TL_HASH_NONE without memory. */
static uint32_t add_function(tl_compare *c, tl_side *s, const tl_function *f)
{
    char label[24];
    const char *name = f->renamed ? f->renamed : tl_function_label(f, label);
    const char *key = identity(c, f, name);
    if (!key)
        return TL_HASH_NONE;
    uint32_t found = tl_hash_get(&s->by_identity, (uintptr_t)key);
    if (found != TL_HASH_NONE)
        return found;
    if (!TL_GROW(s->function, s->nfunction, 1, s->function_capacity) || !fill(c, &s->function[s->nfunction], f, name) ||
        !tl_hash_put(&s->by_identity, (uintptr_t)key, s->nfunction))
        return TL_HASH_NONE;
    return s->nfunction++;
}

static tl_side_edge *edge_of(tl_side *s, uint32_t from, uint32_t to)
{
    const uint32_t before = s->edge_of.n, i = tl_pair_map_number(&s->edge_of, from, to);
    if (i == TL_HASH_NONE || !TL_GROW(s->edge, s->edge_of.n - 1, 1, s->edge_capacity))
        return NULL;
    if (s->edge_of.n > before)
        s->edge[i] = (tl_side_edge){0};
    return &s->edge[i];
}

const tl_side_edge *tl_side_find_edge(const tl_side *s, uint32_t from, uint32_t to)
{
    const uint32_t i = tl_pair_map_get(&s->edge_of, from, to);
    return i == TL_HASH_NONE ? NULL : &s->edge[i];
}

/* The function (+ 1) that called a place; 0: none. */
static uint32_t caller_of(const tl_profile *p, const uint32_t *function_of, uint32_t place)
{
    const uint32_t f = p->place[p->place[place].parent].function;
    return f == TL_NO_FUNCTION ? 0 : function_of[f] + 1;
}

static bool add_places(tl_side *s, const tl_profile *p, const uint32_t *function_of)
{
    for (uint32_t i = 1; i < p->nplace; i++) {
        const uint32_t f = p->place[i].function;
        const tl_place_stat *stat = &p->stat[i];
        s->root += (double)stat->self;
        if (f == TL_NO_FUNCTION)
            continue;
        tl_side_function *g = &s->function[function_of[f]];
        tl_side_edge *edge = edge_of(s, caller_of(p, function_of, i), function_of[f] + 1);
        if (!edge)
            return false;
        g->calls += (double)(p->nweight ? p->outer_calls[i] : stat->calls);
        g->total += (double)stat->outer;
        g->self += (double)stat->self;
        edge->calls += (double)stat->calls;
        edge->total += (double)stat->total;
    }
    return true;
}

static bool read_run(tl_compare *c, tl_side *s, uint32_t run)
{
    const tl_profile *p = s->run[run].profile;
    uint32_t *of = tl_alloc((size_t)p->nfunction + 1, sizeof *of);
    s->function_of[run] = of;
    if (!of)
        return false;
    for (uint32_t i = 0; i < p->nfunction; i++)
        if ((of[i] = add_function(c, s, &p->function[i])) == TL_HASH_NONE)
            return false;
    return add_places(s, p, of);
}

int tl_compare_read_sides(tl_compare *c, tl_error *e)
{
    for (int side = 0; side < 2; side++)
        for (uint32_t run = 0; run < c->side[side].n; run++)
            if (!read_run(c, &c->side[side], run))
                return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare profiles");
    return 0;
}

void tl_run_index_fini(tl_run_index *x)
{
    free(x->subject_first);
    free(x->subject_next);
    free(x->path_first);
    free(x->path_next);
    free(x->subject_extra);
    free(x->path_extra);
    *x = (tl_run_index){0};
}

void tl_side_fini(tl_side *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->function_of)
            free(s->function_of[i]);
        if (s->index)
            tl_run_index_fini(&s->index[i]);
    }
    free(s->function_of);
    free(s->index);
    free(s->function);
    free(s->edge);
    tl_hash_fini(&s->by_identity);
    tl_pair_map_fini(&s->edge_of);
    *s = (tl_side){0};
}
