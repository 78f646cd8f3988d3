/* Chooses the widest places of a tree, for output that cannot show millions of them. */
#ifndef TL_MODEL_PLACE_CHOICE_H
#define TL_MODEL_PLACE_CHOICE_H

#include "model/place_tree.h"

typedef struct tl_chosen {
    uint64_t width; /* the place's weight */
    uint32_t place, depth;
    uint32_t number; /* in the order of the walk, so that parents come before children */
} tl_chosen;

typedef struct tl_place_choice {
    tl_chosen *list; /* [n] wide ones first, which makes every prefix a tree: no child is wider than its parent */
    size_t n, capacity;
    bool *used;        /* [places of the profile] has it, or a place below it, a number? NULL if it has to have width */
    uint64_t places;   /* with width */
    uint64_t timeless; /* used, but without width */
    uint64_t self;     /* of places with width */
    uint64_t left_out; /* how many of these are not chosen */
    uint64_t self_out; /* self of those */
    uint64_t narrowest; /* width of the last one */
    bool too_deep;      /* some are left out because of their depth */
} tl_place_choice;

typedef struct tl_choice_limit {
    uint32_t places, depth; /* at most */
    bool with_timeless;     /* used places without width may be chosen, too, and count as others */
} tl_choice_limit;

/* Errors: TL_ENOMEM. tl_place_choice_fini() in any case. */
int tl_place_choose(tl_place_choice *c, const tl_place_tree *t, const tl_choice_limit *limit, tl_error *e);
void tl_place_choice_fini(tl_place_choice *c);

/* What of one chosen place, or of the whole, is not chosen: all places whose nearest chosen caller it is, and that are
 * not chosen themselves. */
typedef struct tl_others {
    uint64_t places, calls, self, unwound;
    uint64_t width; /* of those right below it */
} tl_others;

/* others[place] of chosen places and of place 0, zeroed by the caller; `weights`, NULL or zeroed, has a row of
 * profile weights for each place. keeper[place] becomes the nearest chosen caller, of chosen places themselves. */
void tl_place_others(const tl_place_choice *c, const tl_place_tree *t, uint32_t *keeper, tl_others *others,
                     uint64_t *weights);

#endif
