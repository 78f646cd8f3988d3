/* The tournament of the merge against a plain search for the minimum, with players that leave in any order. */
#include "check.h"
#include "op/tournament.h"

enum { MOST = 70 };

typedef struct player {
    uint64_t time;
    uint32_t left; /* events */
} player;

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* The player whose turn it is, without player `without`; n if there is none. */
static uint32_t least(const player *p, uint32_t n, uint32_t without)
{
    uint32_t best = n;
    for (uint32_t i = 0; i < n; i++)
        if (i != without && p[i].left && (best == n || p[i].time < p[best].time))
            best = i;
    return best;
}

/* Plays until all have left. `ends`: times are the largest and smallest possible, and often equal. */
static void play(uint32_t n, uint64_t seed, bool ends)
{
    player p[MOST] = {{0}};
    tl_tournament t;
    uint64_t random = seed;
    uint32_t playing = 0;
    assert_true(tl_tournament_init(&t, n));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t r = next_random(&random);
        p[i] = (player){.time = ends ? (r & 1 ? UINT64_MAX : 0) : r % 50, .left = (uint32_t)(r >> 32) % 20};
        if (p[i].left) {
            tl_tournament_add(&t, i, p[i].time);
            playing++;
        }
    }
    tl_tournament_start(&t);
    while (playing) {
        const uint32_t winner = tl_tournament_winner(&t);
        assert_int_equal(t.playing, playing);
        assert_int_equal(winner, least(p, n, n));
        if (playing > 1) {
            uint64_t time;
            const uint32_t second = tl_tournament_second(&t, &time);
            assert_int_equal(second, least(p, n, winner));
            assert_true(time == p[second].time);
        }
        const uint64_t r = next_random(&random);
        if (--p[winner].left == 0) {
            tl_tournament_out(&t);
            playing--;
            continue;
        }
        p[winner].time = ends ? (r & 1 ? UINT64_MAX : 0) : p[winner].time + r % 5 - (p[winner].time ? r % 7 == 0 : 0);
        assert_int_equal(tl_tournament_again(&t, winner, p[winner].time), least(p, n, n));
    }
    assert_int_equal(t.playing, 0);
    tl_tournament_fini(&t);
}

static void any_number_of_players(void **state)
{
    for (uint32_t n = 0; n <= MOST; n++)
        for (uint64_t seed = 1; seed <= 40; seed++)
            play(n, seed * 77, false);
}

static void times_at_both_ends(void **state)
{
    for (uint32_t n = 1; n <= 20; n++)
        for (uint64_t seed = 1; seed <= 40; seed++)
            play(n, seed * 77, true);
}

/* When half of the players have left, the others play in a smaller tournament. */
static void it_becomes_smaller(void **state)
{
    tl_tournament t;
    assert_true(tl_tournament_init(&t, 64));
    for (uint32_t i = 0; i < 64; i++)
        tl_tournament_add(&t, i, i);
    tl_tournament_start(&t);
    assert_int_equal(t.size, 64);
    for (uint32_t i = 0; i < 60; i++) {
        assert_int_equal(tl_tournament_winner(&t), i);
        tl_tournament_out(&t);
    }
    assert_int_equal(t.size, 4);
    assert_int_equal(tl_tournament_winner(&t), 60);
    tl_tournament_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_players),
        cmocka_unit_test(times_at_both_ends),
        cmocka_unit_test(it_becomes_smaller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
