/* Lanes in columns of time. */
#include "analysis/timeline/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { SEATS = 128 }; /* for the functions of a column, by open addressing */

/* The functions in a lane's current column. */
struct tl_grid_now {
    uint32_t column, n;
    uint32_t turn; /* seats of other turns are free */
    struct {
        uint32_t function, turn;
        uint64_t ticks;
    } seat[SEATS];
};

bool tl_grid_init(tl_grid *g, const tl_time_axis *axis, uint32_t lanes)
{
    *g = (tl_grid){.axis = *axis};
    g->cell = calloc(tl_lanes_rows(lanes), sizeof *g->cell);
    g->now = calloc(tl_lanes_rows(lanes), sizeof *g->now);
    return tl_lanes_init(&g->lanes, lanes) && g->cell && g->now;
}

void tl_grid_fini(tl_grid *g)
{
    const uint32_t rows = g->lanes.lane ? tl_lanes_rows(g->lanes.most) : 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (g->cell)
            free(g->cell[i]);
        if (g->now)
            free(g->now[i]);
    }
    free(g->cell);
    free(g->now);
    tl_lanes_fini(&g->lanes);
    *g = (tl_grid){0};
}

static void restart(struct tl_grid_now *now, uint32_t column)
{
    if (++now->turn == 0) { /* all turns were used */
        memset(now->seat, 0, sizeof now->seat);
        now->turn = 1;
    }
    now->column = column;
    now->n = 0;
}

/* An empty row for a new lane. */
TL_COLD static bool clear(tl_grid *g, uint32_t row)
{
    if (!g->cell[row])
        g->cell[row] = tl_alloc((size_t)g->axis.n + 1, sizeof **g->cell);
    if (!g->now[row])
        g->now[row] = calloc(1, sizeof **g->now);
    if (!g->cell[row] || !g->now[row])
        return false;
    memset(g->cell[row], 0, g->axis.n * sizeof **g->cell);
    restart(g->now[row], UINT32_MAX);
    return true;
}

static tl_lane *lane_of(tl_grid *g, uint32_t track, uint32_t depth)
{
    bool fresh;
    tl_lane *lane = tl_lanes_get(&g->lanes, track, depth, &fresh, &g->failed);
    if (TL_UNLIKELY(fresh) && !clear(g, lane->row))
        g->failed = true;
    return g->failed ? NULL : lane;
}

/* The smaller number decides between functions that cover the same. */
static void improve(tl_grid_cell *cell, uint32_t function, uint64_t ticks)
{
    if (ticks > cell->most || (ticks == cell->most && ticks && function + 1 < cell->function)) {
        cell->most = ticks;
        cell->function = function + 1;
    }
}

static void add_calls(tl_grid_cell *cell, uint64_t calls)
{
    cell->calls = calls > UINT32_MAX - cell->calls ? UINT32_MAX : cell->calls + (uint32_t)calls;
}

static void cover(struct tl_grid_now *now, tl_grid_cell *cell, uint32_t function, uint64_t ticks)
{
    uint32_t at = function % SEATS;
    cell->covered += ticks;
    while (now->seat[at].turn == now->turn && now->seat[at].function != function)
        at = (at + 1) % SEATS;
    if (now->seat[at].turn != now->turn) {
        if (now->n == TL_GRID_FUNCTIONS_MAX)
            return;
        now->n++;
        now->seat[at].turn = now->turn;
        now->seat[at].function = function;
        now->seat[at].ticks = 0;
    }
    now->seat[at].ticks += ticks;
    improve(cell, function, now->seat[at].ticks);
}

void tl_grid_add(tl_grid *g, uint32_t track, uint32_t depth, uint32_t function, uint64_t begin, uint64_t end)
{
    const uint64_t begun = begin;
    if (!tl_time_axis_clip(&g->axis, &begin, &end))
        return;
    const tl_lane *lane = lane_of(g, track, depth);
    if (!lane)
        return;
    tl_grid_cell *cell = g->cell[lane->row];
    struct tl_grid_now *now = g->now[lane->row];
    const uint32_t first = tl_time_axis_piece(&g->axis, begin), last = tl_time_axis_last(&g->axis, begin, end);
    if (g->axis.whole || begin == begun)
        add_calls(&cell[first], 1);
    for (uint32_t i = first; i <= last; i++) {
        if (now->column != i)
            restart(now, i);
        cover(now, &cell[i], function, tl_time_axis_overlap(&g->axis, i, begin, end));
    }
}

void tl_grid_put(tl_grid *g, uint32_t track, uint32_t depth, uint32_t function, uint32_t column, uint64_t calls,
                 uint64_t ticks)
{
    const tl_lane *lane = lane_of(g, track, depth);
    if (!lane)
        return;
    tl_grid_cell *cell = &g->cell[lane->row][column];
    add_calls(cell, calls);
    if (g->now[lane->row]->column != column)
        restart(g->now[lane->row], column);
    cover(g->now[lane->row], cell, function, ticks);
}

void tl_grid_flush(tl_grid *g)
{
    for (uint32_t i = 0; i < g->lanes.n; i++)
        if (g->now[g->lanes.lane[i].row])
            restart(g->now[g->lanes.lane[i].row], UINT32_MAX);
}

void tl_grid_merge(tl_grid *g, tl_grid *from)
{
    g->failed = g->failed || from->failed;
    for (uint32_t i = 0; i < from->lanes.n && !g->failed; i++) {
        const tl_lane *source = &from->lanes.lane[i], *lane = lane_of(g, source->track, source->depth);
        for (uint32_t k = 0; lane && k < g->axis.n; k++) {
            const tl_grid_cell *more = &from->cell[source->row][k];
            tl_grid_cell *cell = &g->cell[lane->row][k];
            cell->covered += more->covered;
            add_calls(cell, more->calls);
            if (more->function)
                improve(cell, more->function - 1, more->most);
        }
    }
}

void tl_grid_finish(tl_grid *g)
{
    tl_lanes_finish(&g->lanes);
}
