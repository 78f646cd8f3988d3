/* Batches: allocated once, then appended to without allocation. */
#ifndef TL_MODEL_BATCH_H
#define TL_MODEL_BATCH_H

#include <string.h>

#include "base/arena.h"
#include "traceloom/error.h"
#include "traceloom/model.h"

/* Allocates the columns for `capacity` events (at most TL_BATCH_MAX); val, tape and arena only with want->fields, cpu
 * only with want->cpu.
 */
int tl_batch_init(tl_batch *b, const struct tl_trace *t, const tl_want *want, uint32_t capacity, tl_error *e);
void tl_batch_fini(tl_batch *b);
/* Empties it; tape and arena memory are kept. */
void tl_batch_clear(tl_batch *b);
/* n slots at the end of the tape, which grows if needed; NULL when memory runs out. Earlier slot pointers may move. */
tl_value *tl_batch_slots(tl_batch *b, uint32_t n);

/* The id of event i: unique in its source, and the same whichever thread reads it, and whatever else is read. */
#define TL_EVENT_ID_BITS 40 /* of the number in its stream */
static inline uint64_t tl_event_id(const tl_batch *b, uint32_t i)
{
    return ((uint64_t)b->stream << TL_EVENT_ID_BITS) + b->first + i;
}

/* Sets the track of all its events. */
static inline void tl_batch_set_track(tl_batch *b, uint32_t track)
{
    const uint64_t two = (uint64_t)track << 32 | track;
    uint32_t *to = b->track, *const end = to + b->n;
    for (; end - to >= 8; to += 8) /* some compilers do not vectorise a plain loop */
        for (size_t i = 0; i < 8; i += 2)
            memcpy(to + i, &two, sizeof two);
    while (to < end)
        *to++ = track;
}

#endif
