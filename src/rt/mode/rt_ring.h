/* Rings of the mode "fdr": slots that are used again, so that the last calls are kept in so much memory.
 *
 *   ring    the slots of a thread, oldest first; the newest is the one that is being filled
 *   ended   slots of threads that ended, in the order of the last events of their threads
 *
 * There may be as many slots as rings of all lanes have. A thread that needs a slot gets a new one until all are made.
 * Then it gets the first ended one; if there is none, it overwrites its own oldest. So the last events of a thread that
 * ended stay until another thread needs the room.
 *
 * A thread may begin in the slot in which another one ended, behind that one's events. When its ring is full, its part
 * of that slot is overwritten first, and the slot becomes an ended one: the part of the other thread stays. */
#ifndef TL_RT_RING_H
#define TL_RT_RING_H

#include "rt/rt_lane.h"

struct rt_ring_slot {
    rt_ring_slot *next, *made_before;
    rt_slot slot;
    const char *at;         /* when it was left: where its records ended, */
    uint64_t time;          /* and the time of the last one */
    uint64_t other_bytes;   /* of what is not a record of 8 bytes, which is an event */
    uint64_t other_events;  /* in these bytes */
    char *part;             /* where the part of its thread begins; NULL: all of the slot is its part */
    uint64_t events_before; /* events of other threads, in front of `part` */
    uint64_t ended;         /* time of the last of these; in an ended slot: of its thread's last event */
};

void tl_rt_ring_start(void); /* for a new file */
uint64_t tl_rt_ring_slot_size(void);
/* Puts an empty slot into the lane's ring, which becomes l->slot; false: there is none. From hooks, with signals
 * blocked. The slot that was filled before is ended. */
bool tl_rt_ring_take(rt_lane *l);
/* The lane's thread ended: its slots become ended ones, except for the newest if the next thread goes on in it. */
void tl_rt_ring_leave(rt_lane *l, bool go_on);
/* In a child after fork. */
void tl_rt_ring_child(bool busy);

/* Notes how far the newest slot is filled. */
RT_INLINE void rt_ring_end(const rt_lane *l)
{
    if (l->newest) {
        l->newest->at = l->at;
        l->newest->time = l->time;
    }
}

/* Counts what was written that is not a record of 8 bytes. */
RT_INLINE void rt_ring_count(const rt_lane *l, uint64_t bytes, uint64_t events)
{
    if (l->newest) {
        l->newest->other_bytes += bytes;
        l->newest->other_events += events;
    }
}

/* How often a slot was used again, the events that this overwrote, and the first tick after all of them. */
typedef struct rt_ring_note {
    uint64_t reused, overwritten, complete;
} rt_ring_note;
void tl_rt_fdr_note_ring(const rt_ring_note *n); /* replaces the note in the file; rt_fdr_file.c */

#endif
