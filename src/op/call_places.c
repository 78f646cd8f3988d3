/* Numbers of the places of calls. */
#include "op/call_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the numbers of places");
}

int tl_call_places_new(tl_call_places **out, tl_profile *p, tl_error *e)
{
    tl_call_places *x = calloc(1, sizeof *x);
    if (!x)
        return no_memory(e);
    x->profile = p;
    x->unknown = TL_HASH_NONE;
    x->order = tl_alloc(p->nplace, sizeof *x->order);
    x->number = tl_alloc(p->nplace, sizeof *x->number);
    x->root = tl_alloc((size_t)p->ntrack + 1, sizeof *x->root);
    int status = x->order && x->number && x->root ? tl_profile_index_places(p, e) : no_memory(e);
    if (status == 0)
        status = tl_profile_canonical_order(p, x->order, e);
    for (uint32_t i = 0; status == 0 && i < p->nfunction; i++)
        if (p->function[i].flags & TL_FUNCTION_UNKNOWN)
            x->unknown = p->function[i].name ? x->unknown : i;
        else if (!tl_id_map_put(&x->by_id, (uint64_t)p->function[i].id, i))
            status = no_memory(e);
    if (status < 0) {
        tl_call_places_free(x);
        return status;
    }
    for (uint32_t i = 0; i < p->nplace; i++)
        x->number[x->order[i]] = i;
    for (uint32_t i = 0; p->per_thread && i < p->nplace; i++) { /* in canonical order, roots are by track */
        const uint32_t place = x->order[i];
        if (place && p->place[place].function == TL_NO_FUNCTION)
            x->root[x->nroot++] = place;
    }
    *out = x;
    return 0;
}

void tl_call_places_free(tl_call_places *x)
{
    if (!x)
        return;
    tl_id_map_fini(&x->by_id);
    free(x->order);
    free(x->number);
    free(x->root);
    free(x);
}

uint32_t tl_call_places_root(const tl_call_places *x, const tl_track *track)
{
    const tl_profile *p = x->profile;
    uint32_t low = 0, high = x->nroot;
    if (!p->per_thread)
        return 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = tl_track_compare(&p->track[p->place[x->root[middle]].track], track);
        if (order == 0)
            return x->root[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return TL_HASH_NONE;
}

bool tl_call_finder_init(tl_call_finder *f, const tl_call_places *places)
{
    *f = (tl_call_finder){.last = calloc(places->profile->nplace, sizeof *f->last)};
    if (f->last)
        f->places = places;
    return f->last != NULL;
}

void tl_call_finder_fini(tl_call_finder *f)
{
    free(f->last);
    free(f->function);
    *f = (tl_call_finder){0};
}

/* A function of another name is another one: where stacks tell calls, numbers may get new names. */
static uint32_t same_function(const tl_call_places *x, const tl_function *f)
{
    if (f->flags & TL_FUNCTION_UNKNOWN)
        return f->name ? TL_HASH_NONE : x->unknown;
    const uint32_t known = tl_id_map_get(&x->by_id, (uint64_t)f->id);
    const char *name = known == TL_HASH_NONE ? NULL : x->profile->function[known].name;
    return name && f->name && strcmp(name, f->name) != 0 ? TL_HASH_NONE : known;
}

/* Looks up the functions that the matcher has met since; false when memory runs out. */
TL_COLD static bool add_functions(tl_call_finder *f, const tl_profile *mine)
{
    if (!TL_GROW(f->function, f->nfunction, mine->nfunction - f->nfunction, f->function_capacity))
        return false;
    for (; f->nfunction < mine->nfunction; f->nfunction++)
        f->function[f->nfunction] = same_function(f->places, &mine->function[f->nfunction]);
    return true;
}

uint32_t tl_call_finder_child_slow(tl_call_finder *f, const tl_profile *mine, uint32_t parent, uint32_t function)
{
    if (parent == TL_HASH_NONE)
        return TL_HASH_NONE;
    if (function >= f->nfunction && !add_functions(f, mine)) {
        f->failed = true;
        return TL_HASH_NONE;
    }
    const uint32_t known = f->function[function];
    const uint32_t place = known == TL_HASH_NONE ? 0 : tl_profile_find_child(f->places->profile, parent, known);
    if (!place)
        return TL_HASH_NONE;
    f->last[parent] = place;
    return place;
}
