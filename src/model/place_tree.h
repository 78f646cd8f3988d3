/* The tree of a profile, prepared for walking: children in canonical order, and the weight of every place.
 *
 * Walks need no recursion and no stack, so a tree may have any depth. The same profile gives the same walk however it
 * was merged. */
#ifndef TL_MODEL_PLACE_TREE_H
#define TL_MODEL_PLACE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile_impl.h"

typedef struct tl_place_tree {
    const tl_profile *profile;
    uint32_t *child, *next; /* first child and next sibling of a place; 0: none */
    /* Ticks below and in a place: its total, but at least its self time and the weights of its children. More than the
     * total for frames that never ended, where only the calls within are known. */
    uint64_t *weight;
    uint32_t depth; /* functions of the longest stack */
} tl_place_tree;

/* The profile must outlive it unchanged. Errors: TL_ENOMEM. */
int tl_place_tree_init(tl_place_tree *t, const tl_profile *p, tl_error *e);
void tl_place_tree_fini(tl_place_tree *t); /* after zeroing or any init */

/* A walk enters every place below its root before its children, and leaves it after them. */
typedef struct tl_place_walk {
    const tl_place_tree *tree;
    uint32_t root, place;
    bool leaving;
    uint32_t track;  /* of the place's thread's tree, or TL_NO_TRACK */
    uint32_t depth;  /* functions in the stack, including the place's; roots of threads do not count */
    uint32_t *stack; /* [depth] functions, outermost first */
} tl_place_walk;

int tl_place_walk_init(tl_place_walk *w, const tl_place_tree *t, tl_error *e);
void tl_place_walk_fini(tl_place_walk *w);
/* Starts again, below the root of all (0) or of a thread; init starts at 0. */
void tl_place_walk_start(tl_place_walk *w, uint32_t root);
bool tl_place_walk_next(tl_place_walk *w); /* false: the walk is over */

/* Formats that write the whole stack of every place grow with places times depth. They write at most this many frames
 * in all; longer stacks are cut in the middle, where it costs least: functions keep their self time. */
#define TL_STACK_FRAMES_MAX (UINT64_C(1) << 28)
#define TL_STACK_CUT_LEAST  64u /* stacks of this length are never cut */

/* The longest stack to write whole, so that all frames stay within `budget` if each place is written samples(profile,
 * place) times. UINT32_MAX: any. */
int tl_place_tree_longest(const tl_place_tree *t, uint64_t (*samples)(const tl_profile *p, uint32_t place),
                          uint64_t budget, uint32_t *longest, tl_error *e);

/* How many frames of the walk's stack to write, and number i of them, outermost first. */
TL_ALWAYS_INLINE uint32_t tl_place_walk_frames(const tl_place_walk *w, uint32_t longest)
{
    return w->depth < longest ? w->depth : longest;
}

TL_ALWAYS_INLINE uint32_t tl_place_walk_frame(const tl_place_walk *w, uint32_t frames, uint32_t i)
{
    return w->stack[i < frames - frames / 2 ? i : w->depth - frames + i];
}

/* What a writer reports when it had to cut. */
#define TL_DROP_CUT_STACKS "middles of very deep stacks"

/* 1 if the place has calls or self time, or for samples any weight of its own; for tl_place_tree_longest(). */
uint64_t tl_place_is_used(const tl_profile *p, uint32_t place);
/* 1 if the place has self time, or for samples its own share of the chosen weight. */
uint64_t tl_place_has_self(const tl_profile *p, uint32_t place);
/* The numbers of places with a histogram, and with calls (not samples): what formats without them drop. */
uint64_t tl_profile_histograms(const tl_profile *p);
uint64_t tl_profile_called_places(const tl_profile *p);

/* The name of the walk's thread; NULL outside of threads' trees. */
const char *tl_place_walk_thread(const tl_place_walk *w);

#endif
