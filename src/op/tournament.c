/* Builds a tournament, and shrinks it when players drop out. */
#include "op/tournament.h"

#include <stdlib.h>

bool tl_tournament_init(tl_tournament *t, uint32_t n)
{
    *t = (tl_tournament){.size = 1};
    while (t->size < n)
        t->size *= 2;
    t->lost_time = calloc(t->size, sizeof *t->lost_time);
    t->lost = calloc(t->size, sizeof *t->lost);
    t->place = calloc(t->size, sizeof *t->place);
    t->player = calloc(t->size, sizeof *t->player);
    t->time = calloc(t->size, sizeof *t->time);
    t->winner = calloc(t->size, sizeof *t->winner);
    return t->lost_time && t->lost && t->place && t->player && t->time && t->winner;
}

void tl_tournament_fini(tl_tournament *t)
{
    free(t->lost_time);
    free(t->lost);
    free(t->place);
    free(t->player);
    free(t->time);
    free(t->winner);
    *t = (tl_tournament){0};
}

void tl_tournament_add(tl_tournament *t, uint32_t player, uint64_t time)
{
    t->player[t->playing] = player;
    t->time[t->playing++] = time;
}

/* Sets the loser of match i, or the winner of all (0), to the player at a place. */
static void set(tl_tournament *t, uint32_t i, uint32_t place)
{
    t->lost_time[i] = t->time[place];
    t->lost[i] = t->player[place];
}

void tl_tournament_start(tl_tournament *t)
{
    t->size = 1;
    while (t->size < t->playing)
        t->size *= 2;
    for (uint32_t i = 0; i < t->playing; i++)
        t->place[t->player[i]] = i;
    for (uint32_t i = t->playing; i < t->size; i++) { /* places without a player */
        t->player[i] = TL_PLAYER_OUT;
        t->time[i] = UINT64_MAX;
    }
    /* Match i is between the winners of matches 2i and 2i+1; numbers from `size` on are the places. */
    for (uint32_t i = t->size - 1; i > 0; i--) {
        const uint32_t left = 2 * i, right = left + 1;
        const uint32_t a = left < t->size ? t->winner[left] : left - t->size;
        const uint32_t b = right < t->size ? t->winner[right] : right - t->size;
        const bool left_wins = tl_earlier(t->time[a], t->player[a], t->time[b], t->player[b]);
        t->winner[i] = left_wins ? a : b;
        set(t, i, left_wins ? b : a);
    }
    set(t, 0, t->size > 1 ? t->winner[1] : 0);
}

/* Rebuilds the tournament with the remaining players. */
static void shrink(tl_tournament *t)
{
    for (uint32_t i = 0; i < t->size; i++)
        t->winner[i] = 0;
    for (uint32_t i = 0; i < t->size; i++)
        if (!(t->lost[i] & TL_PLAYER_OUT)) {
            const uint32_t place = t->place[t->lost[i]];
            t->time[place] = t->lost_time[i];
            t->winner[place] = 1;
        }
    t->playing = 0;
    for (uint32_t i = 0; i < t->size; i++)
        if (t->winner[i])
            tl_tournament_add(t, t->player[i], t->time[i]);
    tl_tournament_start(t);
}

void tl_tournament_out(tl_tournament *t)
{
    uint64_t time = UINT64_MAX;
    uint32_t player = t->lost[0] | TL_PLAYER_OUT;
    for (uint32_t i = (t->size + t->place[t->lost[0]]) / 2; i > 0; i /= 2)
        if (tl_earlier(t->lost_time[i], t->lost[i], time, player)) {
            const uint64_t other_time = t->lost_time[i];
            const uint32_t other = t->lost[i];
            t->lost_time[i] = time;
            t->lost[i] = player;
            time = other_time;
            player = other;
        }
    t->lost_time[0] = time;
    t->lost[0] = player;
    t->playing--;
    if (t->playing > 0 && t->playing <= t->size / 2)
        shrink(t);
}
