/* Words and units for the numbers of a profile. */
#include "model/profile_words.h"

#include <stdio.h>
#include <string.h>

static bool is_of_allocations(const tl_profile *p)
{
    return p->nweight && strncmp(p->kind[p->weight].name, "alloc", 5) == 0;
}

/* Are the numbers counts of instructions, not times? */
static bool is_of_insns(const tl_profile *p)
{
    return strcmp(tl_profile_unit(p), "instructions") == 0;
}

static bool is_time(const tl_profile *p)
{
    return !p->nweight || strcmp(p->kind[p->weight].unit, "nanoseconds") == 0;
}

tl_profile_words tl_profile_words_of(const tl_profile *p)
{
    tl_profile_words w = {"call", "calls", is_time(p) && !is_of_insns(p) ? "time" : tl_profile_unit(p)};
    if (is_of_allocations(p)) {
        w.one = "allocation";
        w.many = "allocations";
    } else if (p->nweight) {
        w.one = "sample";
        w.many = "samples";
    }
    return w;
}

char *tl_profile_amount(const tl_profile *p, char buf[static TL_AMOUNT_SIZE], uint64_t amount)
{
    char text[32];
    const uint64_t value = tl_profile_time(p, amount);
    if (is_of_insns(p))
        snprintf(buf, TL_AMOUNT_SIZE, "%s instruction%s", tl_human_grouped(text, sizeof text, value),
                 value == 1 ? "" : "s");
    else if (is_time(p))
        snprintf(buf, TL_AMOUNT_SIZE, "%s%s", tl_human_time(text, sizeof text, value, p->clock.hz != 0),
                 p->clock.hz ? "" : " ticks");
    else if (strcmp(p->kind[p->weight].unit, "bytes") == 0)
        tl_human_bytes(buf, TL_AMOUNT_SIZE, value);
    else
        snprintf(buf, TL_AMOUNT_SIZE, "%s %s", tl_human_grouped(text, sizeof text, value),
                 value == 1 ? tl_profile_words_of(p).one : tl_profile_words_of(p).many);
    return buf;
}

char *tl_profile_unmatched_text(const tl_profile *p, char buf[static TL_UNMATCHED_SIZE])
{
    const uint64_t exits = tl_profile_unmatched_exits(p), open = tl_profile_unmatched_open(p);
    char a[32], b[32];
    buf[0] = 0;
    if (exits || open)
        snprintf(buf, TL_UNMATCHED_SIZE, "unmatched: %s %s without entry, %s %s without exit",
                 tl_human_grouped(a, sizeof a, exits), exits == 1 ? "exit" : "exits",
                 tl_human_grouped(b, sizeof b, open), open == 1 ? "entry" : "entries");
    return buf;
}

char *tl_profile_unwound_text(const tl_profile *p, char buf[static TL_UNMATCHED_SIZE])
{
    const uint64_t unwound = tl_profile_unwound(p);
    char a[32];
    buf[0] = 0;
    if (unwound)
        snprintf(buf, TL_UNMATCHED_SIZE,
                 "unwound: %s %s closed by the exit of an outer one; durations marked ~ depend on them",
                 tl_human_grouped(a, sizeof a, unwound), unwound == 1 ? "call was" : "calls were");
    return buf;
}

uint64_t tl_profile_other_weights(const tl_profile *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->nweight; i++)
        n += i != p->weight && tl_profile_weight_sum(p, i) > 0;
    return n;
}

uint64_t tl_profile_empty_stacks(const tl_profile *p)
{
    return is_of_allocations(p) ? 0 : p->samples.empty;
}
