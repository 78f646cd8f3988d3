/* What a picture shows where it cannot show single calls: of each lane and column of time the part that calls cover,
 * the function that covers most, and how many calls begin. Calls of a lane come in order and do not overlap, so only
 * the functions of the current column are counted. */
#ifndef TL_ANALYSIS_GRID_H
#define TL_ANALYSIS_GRID_H

#include "analysis/timeline/lanes.h"
#include "analysis/timeline/time_axis.h"

#define TL_GRID_FUNCTIONS_MAX 96u /* of one cell that are told apart; others only count as covered */

typedef struct tl_grid_cell {
    uint64_t covered, most; /* ticks of all, and of the function that covers most */
    uint32_t function;      /* + 1; 0: none */
    uint32_t calls;
} tl_grid_cell;

typedef struct tl_grid {
    tl_time_axis axis;
    tl_lanes lanes; /* their `row` is that of: */
    tl_grid_cell **cell;
    struct tl_grid_now **now; /* the column that each is at */
    bool failed;              /* memory ran out */
} tl_grid;

/* False when memory runs out. tl_grid_fini() in any case. */
bool tl_grid_init(tl_grid *g, const tl_time_axis *axis, uint32_t lanes);
void tl_grid_fini(tl_grid *g);
void tl_grid_add(tl_grid *g, uint32_t track, uint32_t depth, uint32_t function, uint64_t begin, uint64_t end);
/* Some calls of a function that lie within a column, one after the other. */
void tl_grid_put(tl_grid *g, uint32_t track, uint32_t depth, uint32_t function, uint32_t column, uint64_t calls,
                 uint64_t ticks);
/* Between sequences of calls: what comes next may be anywhere. */
void tl_grid_flush(tl_grid *g);
/* Adds all of another one with the same axis and limit, after a flush. */
void tl_grid_merge(tl_grid *g, tl_grid *from);
void tl_grid_finish(tl_grid *g);

#endif
