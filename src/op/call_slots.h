/* Where a tl_callstack adds calls that are summed up by some of function, place, thread, processor, depth and step of
 * time: a slot for each combination that occurs. A slot is a place of the matcher's profile, below its root, so that
 * sums, histograms and the total of recursive functions are made by the same code as those of profiles. */
#ifndef TL_OP_CALL_SLOTS_H
#define TL_OP_CALL_SLOTS_H

#include "base/pair_map.h"
#include "model/profile_impl.h"

enum tl_call_by {
    TL_BY_FUNCTION = 1,
    TL_BY_PLACE = 2,
    TL_BY_THREAD = 4,
    TL_BY_CPU = 8,
    TL_BY_DEPTH = 16,
    TL_BY_STEP = 32 /* always; alone: one slot a step */
};

/* What the calls of a slot have in common; UINT32_MAX and -1 where it is not asked for, or unknown. A call belongs to
 * the step, processor and depth of its entry. */
typedef struct tl_call_key {
    uint64_t step; /* number, from 0 */
    uint32_t function, place, track, depth;
    int32_t cpu;
} tl_call_key;

typedef struct tl_call_slots {
    unsigned by;
    uint64_t step, begin; /* step in the unit of the profile, 0: none; begin: the tick where the first one begins */
    uint64_t low, width;  /* the current step, in ticks from begin */
    uint64_t number;      /* its number ... */
    uint32_t index;       /* ... and index in `steps` */
    tl_hash steps;        /* number -> index */
    tl_pair_map places;   /* by place and function: both; functions that get other names have one place, or none */
    tl_pair_map ids;      /* the same, track; depth, processor */
    tl_hash by_step;      /* index of a step, index of ids -> slot */
    struct tl_call_last {
        uint64_t a, b;
        uint32_t step, slot; /* 0: none */
    } * last;                /* by function, place, or number of both: the slot that was found last */
    uint32_t nlast;
    tl_call_key *key; /* by slot */
    uint32_t nkey;
    uint64_t most;  /* bytes; 0: any number */
    bool too_large; /* there are more */
} tl_call_slots;

/* About how many bytes slots and histograms take. */
uint64_t tl_call_slots_bytes(const tl_call_slots *s, const tl_profile *p);

uint32_t tl_call_slots_find_slow(tl_call_slots *s, tl_profile *p, const tl_call_key *key, uint64_t a, uint64_t b);
/* Goes to the step of a time, in ticks from begin. False when memory runs out. */
bool tl_call_slots_go_to(tl_call_slots *s, const tl_profile *p, uint64_t ticks);
/* The slot of the step that key.step says. For merging. */
uint32_t tl_call_slots_find_number(tl_call_slots *s, tl_profile *p, tl_call_key key);
/* If the limit on memory was the reason for a failure, its error; else `status`. */
int tl_call_slots_error(const tl_call_slots *s, int status, tl_error *e);
void tl_call_slots_fini(tl_call_slots *s);

/* The slot of the current step; TL_HASH_NONE when memory runs out. In the key, `step` is ignored. */
TL_ALWAYS_INLINE uint32_t tl_call_slots_in_step(tl_call_slots *s, tl_profile *p, const tl_call_key *key)
{
    uint32_t which = s->by & TL_BY_PLACE ? key->place : s->by & TL_BY_FUNCTION ? key->function : 0;
    if (TL_UNLIKELY((s->by & (TL_BY_PLACE | TL_BY_FUNCTION)) == (TL_BY_PLACE | TL_BY_FUNCTION))) {
        which = tl_pair_map_number(&s->places, key->place, key->function);
        if (TL_UNLIKELY(which == TL_HASH_NONE))
            return TL_HASH_NONE;
    }
    const uint64_t a = (uint64_t)which << 32 | (s->by & TL_BY_THREAD ? key->track : 0);
    const uint64_t b =
        (uint64_t)(s->by & TL_BY_DEPTH ? key->depth : 0) << 32 | (s->by & TL_BY_CPU ? (uint32_t)key->cpu : 0);
    if (TL_LIKELY(which < s->nlast)) {
        const struct tl_call_last *last = &s->last[which];
        if (TL_LIKELY(last->a == a && last->b == b && last->step == s->index && last->slot))
            return last->slot;
    }
    return tl_call_slots_find_slow(s, p, key, a, b);
}

/* The slot of a call that begins at ts. */
TL_ALWAYS_INLINE uint32_t tl_call_slots_find(tl_call_slots *s, tl_profile *p, tl_call_key key, uint64_t ts)
{
    const uint64_t ticks = ts > s->begin ? ts - s->begin : 0;
    if (s->step && TL_UNLIKELY(ticks - s->low >= s->width) && !tl_call_slots_go_to(s, p, ticks))
        return TL_HASH_NONE;
    return tl_call_slots_in_step(s, p, &key);
}

#endif
