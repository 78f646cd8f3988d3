/* Numbers of the places of calls: those of the canonical order of the trace's profile, which therefore has to be made
 * first. Read-only: any number of threads may use one. */
#ifndef TL_OP_CALL_PLACES_H
#define TL_OP_CALL_PLACES_H

#include "model/profile_impl.h"

typedef struct tl_call_places {
    const tl_profile *profile;
    tl_id_map by_id;  /* function id -> function; the profile's own map does not have those that were merged */
    uint32_t unknown; /* the function of frames of which nothing is known, or TL_HASH_NONE */
    uint32_t *order;  /* places in canonical order */
    uint32_t *number; /* by place: its index in `order`, from 1; 0 is the root of all */
    uint32_t *root;   /* [nroot] places that are roots of threads, by track: tl_track_compare() */
    uint32_t nroot;
} tl_call_places;

/* `p` is a tree of all calls of the trace, and is not changed as long as the result is used. Errors: TL_ENOMEM. */
int tl_call_places_new(tl_call_places **out, tl_profile *p, tl_error *e);
void tl_call_places_free(tl_call_places *x); /* NULL is fine */
/* The parent of a track's outermost calls: 0, or the root of its own tree; TL_HASH_NONE if it has none. */
uint32_t tl_call_places_root(const tl_call_places *x, const tl_track *track);

/* Finds places, with what one matcher remembers. A zeroed one finds none. */
typedef struct tl_call_finder {
    const tl_call_places *places;
    uint32_t *last;     /* by place: the child that was looked up last, 0: none */
    uint32_t *function; /* by function of the matcher: that of the profile, or TL_HASH_NONE */
    uint32_t nfunction, function_capacity;
    bool failed; /* memory ran out: places may be missing */
} tl_call_finder;

/* False when memory runs out; then it finds none. */
bool tl_call_finder_init(tl_call_finder *f, const tl_call_places *places);
void tl_call_finder_fini(tl_call_finder *f);
uint32_t tl_call_finder_child_slow(tl_call_finder *f, const tl_profile *mine, uint32_t parent, uint32_t function);

/* The place, an index in the profile, of a function called from a place. `function` is an index in `mine`, the
 * matcher's profile. TL_HASH_NONE if there is none, or parent is that; also if memory runs out, see `failed`. */
TL_ALWAYS_INLINE uint32_t tl_call_finder_child(tl_call_finder *f, const tl_profile *mine, uint32_t parent,
                                               uint32_t function)
{
    if (TL_LIKELY(parent != TL_HASH_NONE && function < f->nfunction)) {
        const uint32_t last = f->last[parent];
        if (TL_LIKELY(last && f->places->profile->place[last].function == f->function[function]))
            return last;
    }
    return tl_call_finder_child_slow(f, mine, parent, function);
}

/* The number of that place. */
TL_ALWAYS_INLINE uint32_t tl_call_finder_number(const tl_call_finder *f, uint32_t place)
{
    return place == TL_HASH_NONE ? TL_HASH_NONE : f->places->number[place];
}

#endif
