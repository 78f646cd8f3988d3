/* Lines in the order of their last use: an array of recent ones, then places in time. */
#include "analysis/instruction/reuse_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define NO_PLACE     UINT32_MAX
#define PLACES_LEAST 1024u

/* Counts set bits; not all of our processors have an instruction for it. */
TL_ALWAYS_INLINE uint32_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(x * 0x0101010101010101u >> 56);
}

static void tree_add(tl_reuse_stack *s, uint32_t word, uint32_t by)
{
    for (uint32_t i = word + 1; i <= s->places / 64; i += i & (~i + 1))
        s->tree[i - 1] += by;
}

/* How many places up to this one are set. */
static uint32_t count_until(const tl_reuse_stack *s, uint32_t place)
{
    uint32_t sum = count_bits(s->set[place / 64] & UINT64_MAX >> (63 - place % 64));
    for (uint32_t i = place / 64; i; i &= i - 1)
        sum += s->tree[i - 1];
    return sum;
}

static void clear_place(tl_reuse_stack *s, uint32_t place)
{
    s->set[place / 64] &= ~(UINT64_C(1) << place % 64);
    tree_add(s, place / 64, UINT32_MAX); /* -1 */
    s->live--;
}

/* Builds the tree from the bits. */
static void plant(tl_reuse_stack *s)
{
    const uint32_t words = s->places / 64;
    memset(s->tree, 0, words * sizeof *s->tree);
    for (uint32_t i = 1; i <= words; i++) {
        const uint32_t parent = i + (i & (~i + 1));
        s->tree[i - 1] += count_bits(s->set[i - 1]);
        if (parent <= words)
            s->tree[parent - 1] += s->tree[i - 1];
    }
}

/* Renumbers the places in the same order, so that at most half of them are set. */
static bool renew(tl_reuse_stack *s)
{
    uint32_t places = s->places ? s->places : PLACES_LEAST, next = 0;
    while (places / 2 < s->live + 1)
        places *= 2;
    if (places != s->places) {
        if (!TL_RESIZE(s->set, places / 64) || !TL_RESIZE(s->tree, places / 64) || !TL_RESIZE(s->owner, places))
            return false;
        memset(s->set + s->places / 64, 0, (places - s->places) / 64 * sizeof *s->set);
    }
    for (uint32_t w = 0; w < s->places / 64; w++)
        for (uint64_t word = s->set[w]; word; word &= word - 1) {
            const uint32_t owner = s->owner[w * 64 + count_bits((word & (~word + 1)) - 1)];
            s->owner[next] = owner;
            s->place[owner] = next++;
        }
    s->places = places;
    s->next = next;
    memset(s->set, 0, places / 64 * sizeof *s->set);
    memset(s->set, 0xff, next / 64 * sizeof *s->set);
    if (next % 64)
        s->set[next / 64] = UINT64_MAX >> (64 - next % 64);
    plant(s);
    return true;
}

/* Moves the last line of the front to the places, as the latest there. */
static bool retire(tl_reuse_stack *s, uint32_t at)
{
    if (TL_UNLIKELY(s->next == s->places) && !renew(s))
        return false;
    const uint32_t place = s->next++;
    s->set[place / 64] |= UINT64_C(1) << place % 64;
    tree_add(s, place / 64, 1);
    s->owner[place] = at;
    s->place[at] = place;
    s->live++;
    return true;
}

/* Index of a line, new or not; TL_HASH_NONE when memory runs out. */
static uint32_t find(tl_reuse_stack *s, uint64_t line)
{
    const uint32_t at = tl_hash_get(&s->index, line);
    if (at != TL_HASH_NONE)
        return at;
    if (s->n >= TL_REUSE_LINES_MAX || !TL_GROW(s->line, s->n, 1, s->capacity) ||
        !TL_GROW(s->place, s->n, 1, s->place_capacity) || !tl_hash_put(&s->index, line, s->n))
        return TL_HASH_NONE;
    s->line[s->n] = line;
    s->place[s->n] = NO_PLACE;
    return s->n++;
}

uint64_t tl_reuse_touch_slow(tl_reuse_stack *s, uint64_t line)
{
    uint32_t i = 0;
    while (i < s->nfront && s->front[i].line != line)
        i++;
    uint64_t distance = i;
    uint32_t at;
    if (i < s->nfront) {
        at = s->front[i].at;
    } else {
        at = find(s, line);
        if (at == TL_HASH_NONE)
            return TL_REUSE_FULL;
        const uint32_t place = s->place[at];
        distance = TL_REUSE_COLD;
        if (place != NO_PLACE) { /* then the front is full */
            distance = s->nfront + (uint64_t)(s->live - count_until(s, place));
            clear_place(s, place);
            s->place[at] = NO_PLACE;
        }
        if (s->nfront == TL_REUSE_FRONT && !retire(s, s->front[TL_REUSE_FRONT - 1].at))
            return TL_REUSE_FULL;
        i = s->nfront < TL_REUSE_FRONT ? s->nfront++ : TL_REUSE_FRONT - 1;
    }
    memmove(&s->front[1], &s->front[0], i * sizeof s->front[0]);
    s->front[0].line = line;
    s->front[0].at = at;
    return distance;
}

void tl_reuse_reset(tl_reuse_stack *s)
{
    for (uint32_t w = 0; w < s->places / 64; w++) {
        for (uint64_t word = s->set[w]; word; word &= word - 1)
            s->place[s->owner[w * 64 + count_bits((word & (~word + 1)) - 1)]] = NO_PLACE;
        s->set[w] = 0;
        s->tree[w] = 0;
    }
    s->nfront = s->next = s->live = 0;
}

bool tl_reuse_add_lines(tl_reuse_stack *s, const tl_reuse_stack *from)
{
    for (uint32_t i = 0; i < from->n; i++)
        if (find(s, from->line[i]) == TL_HASH_NONE)
            return false;
    return true;
}

void tl_reuse_fini(tl_reuse_stack *s)
{
    free(s->line);
    free(s->place);
    free(s->set);
    free(s->tree);
    free(s->owner);
    tl_hash_fini(&s->index);
    memset(s, 0, sizeof *s);
}
