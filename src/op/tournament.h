/* Which of many sequences has the earliest next event: a tournament in which each match remembers its loser.
 *
 * When the winner's time changes, only its own matches are played again, one per level, without branches: in merged
 * streams the next one is unpredictable. At equal times the lower player wins. */
#ifndef TL_OP_TOURNAMENT_H
#define TL_OP_TOURNAMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define TL_PLAYER_OUT 0x80000000u /* or-ed to a player without events left: it loses against all others */

typedef struct tl_tournament {
    /* [size] the loser of match i, and the time of its next event; [0]: the winner of all. */
    uint64_t *lost_time;
    uint32_t *lost;
    uint32_t size;    /* a power of two */
    uint32_t playing; /* players still in */
    uint32_t *place;  /* [number] of a player, to find its matches */
    uint32_t *player; /* [size] by place, ascending */
    uint64_t *time;   /* [size] by place; this and the next are only for building */
    uint32_t *winner; /* [size] of match i: a place */
} tl_tournament;

/* Room for players 0 .. n-1; false when memory runs out. */
bool tl_tournament_init(tl_tournament *t, uint32_t n);
void tl_tournament_fini(tl_tournament *t);
/* Before tl_tournament_start(): adds a player with a higher number than those before. */
void tl_tournament_add(tl_tournament *t, uint32_t player, uint64_t time);
void tl_tournament_start(tl_tournament *t);
/* The winner has no events left. */
void tl_tournament_out(tl_tournament *t);

TL_ALWAYS_INLINE bool tl_earlier(uint64_t time_a, uint32_t a, uint64_t time_b, uint32_t b)
{
    return (time_a < time_b) | ((time_a == time_b) & (a < b));
}

/* Only if a player is left. */
TL_ALWAYS_INLINE uint32_t tl_tournament_winner(const tl_tournament *t)
{
    return t->lost[0];
}

/* Sets the time of the winner's next event (the winner is passed to keep it in a register). Returns the new winner. */
TL_ALWAYS_INLINE uint32_t tl_tournament_again(tl_tournament *t, uint32_t winner, uint64_t time)
{
    uint64_t *const times = t->lost_time;
    uint32_t *const players = t->lost;
    for (size_t i = ((size_t)t->size + t->place[winner]) / 2; i > 0; i /= 2) {
        const uint64_t other_time = times[i];
        const uint32_t other = players[i];
        uint64_t beaten = 0 - (uint64_t)(other_time < time);
        if (TL_UNLIKELY(other_time == time))
            beaten = 0 - (uint64_t)(other < winner);
        const uint64_t swap_time = (time ^ other_time) & beaten;
        const uint32_t swap = (winner ^ other) & (uint32_t)beaten;
        times[i] = other_time ^ swap_time;
        players[i] = other ^ swap;
        time ^= swap_time;
        winner ^= swap;
    }
    times[0] = time;
    players[0] = winner;
    return winner;
}

/* The second, and its time; only if at least two play. */
TL_ALWAYS_INLINE uint32_t tl_tournament_second(const tl_tournament *t, uint64_t *time)
{
    uint32_t i = (t->size + t->place[t->lost[0]]) / 2, player = t->lost[i];
    *time = t->lost_time[i];
    for (i /= 2; i > 0; i /= 2)
        if (tl_earlier(t->lost_time[i], t->lost[i], *time, player)) {
            *time = t->lost_time[i];
            player = t->lost[i];
        }
    return player;
}

#endif
