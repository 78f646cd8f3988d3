/* Which places of a profile a flame graph shows, and where. */
#ifndef TL_FORMAT_SVG_LAYOUT_H
#define TL_FORMAT_SVG_LAYOUT_H

#include "model/place_tree.h"

/* A picture of everything would have millions of boxes, most of them narrower than a point. The widest places are kept:
 * zooming into one still shows its inside, and browsers handle the file with ease. Nobody scrolls to deeper levels. */
enum { SVG_BOXES_MAX = 20000, SVG_DEPTH_MAX = 1000 };

typedef struct svg_box {
    uint32_t place, depth; /* depth 0: the whole */
    uint64_t x, width;     /* ticks */
} svg_box;

typedef struct svg_layout {
    svg_box *box; /* [n] parents first, siblings in a row, wide ones first */
    uint32_t n;
    uint32_t depth;     /* of the deepest box */
    uint64_t whole;     /* ticks */
    uint64_t places;    /* with time */
    uint64_t timeless;  /* with calls but without time */
    uint64_t self;      /* of places with time, ticks */
    uint64_t left_out;  /* how many of them are not shown */
    uint64_t self_out;  /* self time of those, ticks */
    uint64_t narrowest; /* shown, ticks */
    bool too_deep;      /* some are left out because of their depth */
} svg_layout;

int svg_layout_init(svg_layout *l, const tl_place_tree *t, tl_error *e);
void svg_layout_fini(svg_layout *l);

#endif
