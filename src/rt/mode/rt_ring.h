/* Rings of the mode "fdr": slots that are used again, so that the last calls are kept in so much memory.
 *
 *   ring    the slots of a thread, oldest first; the newest is the one that is being filled
 *   ended   slots of threads that are gone, those first whose thread did its last event first
 *
 * There are as many slots as all threads at the same time may have. Until all are made, a thread that needs one gets a
 * new one; then it gets the first of `ended`; and a thread whose own ring is full its own oldest one. So what a thread
 * did last stays when it ends, until somebody else needs the room.
 *
 * A thread goes on in the slot in which another one ended. Once it has a whole ring of later ones, what it did there is
 * overwritten, and the rest of that slot is one of `ended`. */
#ifndef TL_RT_RING_H
#define TL_RT_RING_H

#include "rt/rt_lane.h"

struct rt_ring_slot {
    rt_ring_slot *next;
    rt_slot slot;
    const char *at;  /* how far it was written when it was left */
    uint64_t time;   /* of the last record then */
    uint64_t apart;  /* bytes in it that are no records of 8 bytes, each an event, */
    uint64_t other;  /* and events among these */
    char *own;       /* where its thread goes on; NULL: it has it from the begin on */
    uint64_t before; /* events of others before that, */
    uint64_t ended;  /* and when the last one was. Of ended ones: the last event of the thread */
};

/* Of a file that begins. */
void tl_rt_ring_start(void);
uint64_t tl_rt_ring_slot_size(void);
/* From hooks, signals blocked, and the slot that was filled is ended. Puts another one into the lane's ring, empty,
 * which becomes l->slot. False: there is none. */
bool tl_rt_ring_take(rt_lane *l);
/* The lane's thread is gone: its slots become ended ones; but for the newest if the next thread goes on in it. */
void tl_rt_ring_leave(rt_lane *l, bool go_on);
/* In a child after fork. */
void tl_rt_ring_child(bool busy);

/* The slot is left as it is now; what is behind `at` counts no more. */
RT_INLINE void rt_ring_end(const rt_lane *l)
{
    if (l->newest) {
        l->newest->at = l->at;
        l->newest->time = l->time;
    }
}

/* Something other than a record of 8 bytes was written, which is so many events. */
RT_INLINE void rt_ring_count(const rt_lane *l, uint64_t bytes, uint64_t events)
{
    if (l->newest) {
        l->newest->apart += bytes;
        l->newest->other += events;
    }
}

/* How often slots were used again, the events that were in them, and the first tick from which on nothing is missing.
 */
typedef struct rt_ring_note {
    uint64_t reused, overwritten, complete;
} rt_ring_note;
void tl_rt_fdr_note_ring(const rt_ring_note *n); /* into the file, in the place of the note before; rt_fdr_file.c */

#endif
