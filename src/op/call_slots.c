/* Slots of calls that are summed up. */
#include "op/call_slots.h"

#include <stdlib.h>

#include "base/grow.h"

/* About what a slot takes: its key and place, half of what the arrays and tables keep free, and a short histogram. */
enum { SLOT_BYTES = 320 };

/* `last` is for ids up to this one; without it, a slot takes two searches. */
#define LAST_LIMIT (1u << 20)

uint64_t tl_call_slots_bytes(const tl_call_slots *s, const tl_profile *p)
{
    uint64_t n = (uint64_t)p->nplace * SLOT_BYTES + s->nlast * sizeof *s->last;
    for (uint32_t i = 0; i < p->nplace; i++)
        n += tl_hist_bytes(&p->stat[i].hist);
    return n;
}

static bool go_to_number(tl_call_slots *s, const tl_profile *p, uint64_t number)
{
    const uint64_t from = number * s->step;
    uint32_t index = tl_hash_get(&s->steps, number);
    if (index == TL_HASH_NONE) {
        index = s->steps.n;
        if (!tl_hash_put(&s->steps, number, index))
            return false;
    }
    s->low = tl_scale_ticks(&p->scale, from);
    s->width = tl_scale_ticks(&p->scale, tl_add_saturated(from, s->step)) - s->low;
    s->number = number;
    s->index = index;
    return true;
}

bool tl_call_slots_go_to(tl_call_slots *s, const tl_profile *p, uint64_t ticks)
{
    return go_to_number(s, p, tl_profile_time(p, ticks) / s->step);
}

uint32_t tl_call_slots_find_number(tl_call_slots *s, tl_profile *p, tl_call_key key)
{
    if (s->step && (key.step != s->number || s->width == 0) && !go_to_number(s, p, key.step))
        return TL_HASH_NONE;
    return tl_call_slots_in_step(s, p, &key);
}

int tl_call_slots_error(const tl_call_slots *s, int status, tl_error *e)
{
    char room[32];
    if (!s->too_large)
        return status;
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET,
                   "sums of calls need more than %s for each thread: take a larger step, or fewer keys",
                   tl_human_bytes(room, sizeof room, s->most));
}

/* A new slot; TL_HASH_NONE when memory runs out. */
static uint32_t add(tl_call_slots *s, tl_profile *p, const tl_call_key *key)
{
    if (s->most && (uint64_t)p->nplace * SLOT_BYTES > s->most) {
        s->too_large = true;
        return TL_HASH_NONE;
    }
    const uint32_t slot = tl_profile_append_child(p, 0, key->function);
    if (slot == TL_HASH_NONE || !TL_GROW_TO(s->key, s->nkey, slot, TL_PLACES_MAX))
        return TL_HASH_NONE;
    s->key[slot] = (tl_call_key){.step = s->step ? s->number : 0,
                                 .function = s->by & TL_BY_FUNCTION ? key->function : TL_HASH_NONE,
                                 .place = s->by & TL_BY_PLACE ? key->place : TL_HASH_NONE,
                                 .track = s->by & TL_BY_THREAD ? key->track : TL_HASH_NONE,
                                 .depth = s->by & TL_BY_DEPTH ? key->depth : TL_HASH_NONE,
                                 .cpu = s->by & TL_BY_CPU ? key->cpu : -1};
    return slot;
}

uint32_t tl_call_slots_find_slow(tl_call_slots *s, tl_profile *p, const tl_call_key *key, uint64_t a, uint64_t b)
{
    const uint32_t ids = tl_pair_map_number(&s->ids, a, b), which = (uint32_t)(a >> 32);
    if (ids == TL_HASH_NONE)
        return TL_HASH_NONE;
    const uint64_t both = (uint64_t)s->index << 32 | ids;
    uint32_t slot = tl_hash_get(&s->by_step, both);
    if (slot == TL_HASH_NONE) {
        slot = add(s, p, key);
        if (slot == TL_HASH_NONE || !tl_hash_put(&s->by_step, both, slot))
            return TL_HASH_NONE;
    }
    if (TL_GROW_TO(s->last, s->nlast, which, LAST_LIMIT))
        s->last[which] = (struct tl_call_last){.a = a, .b = b, .step = s->index, .slot = slot};
    return slot;
}

void tl_call_slots_fini(tl_call_slots *s)
{
    tl_hash_fini(&s->steps);
    tl_pair_map_fini(&s->places);
    tl_pair_map_fini(&s->ids);
    tl_hash_fini(&s->by_step);
    free(s->last);
    free(s->key);
    *s = (tl_call_slots){0};
}
