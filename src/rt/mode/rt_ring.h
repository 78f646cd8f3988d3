/* Rings of the mode "fdr": slots are reused, so that a fixed amount of memory keeps the last calls.
 *
 *   ring    the slots of a thread, oldest first; the newest is the one that is being filled
 *   ended   slots of threads that ended, in the order of the last events of their threads
 *
 * There are at most as many slots as the rings of all lanes need. A thread that needs a slot gets a new one until all
 * are made. Then it gets the first ended one; if there is none, it overwrites its own oldest. So the last events of a
 * thread that ended stay until another thread needs the room.
 *
 * A thread may begin in the slot in which another one ended, after that one's events. When its ring is full, its part
 * of that slot is overwritten first, and the slot becomes an ended one: the part of the other thread stays. */
#ifndef TL_RT_RING_H
#define TL_RT_RING_H

#include "rt/rt_lane.h"

struct rt_ring_slot {
    rt_ring_slot *next, *made_before;
    rt_slot slot;
    const char *at;         /* after it was left: the end of its records, */
    uint64_t time;          /* and the time of the last one */
    uint64_t other_bytes;   /* bytes of what is not an 8-byte record, which is one event */
    uint64_t other_events;  /* in these bytes */
    char *part;             /* where its thread's part begins; NULL: its part is the whole slot */
    uint64_t events_before; /* events of other threads, in front of `part` */
    uint64_t ended;         /* time of the last of these; in an ended slot: of its thread's last event */
};

void tl_rt_ring_start(void); /* for a new file */
uint64_t tl_rt_ring_slot_size(void);
/* Puts an empty slot into the lane's ring as l->slot, and ends the one before; false: none left. From hooks, with
 * signals blocked. */
bool tl_rt_ring_take(rt_lane *l);
/* The lane's thread ended: its slots become ended ones, except the newest if the next thread continues in it. */
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

/* Counts what is not an 8-byte record. */
RT_INLINE void rt_ring_count(const rt_lane *l, uint64_t bytes, uint64_t events)
{
    if (l->newest) {
        l->newest->other_bytes += bytes;
        l->newest->other_events += events;
    }
}

/* How often slots were reused, how many events that overwrote, and the first tick after all of those. */
typedef struct rt_ring_note {
    uint64_t reused, overwritten, complete;
} rt_ring_note;
void tl_rt_fdr_note_ring(const rt_ring_note *n); /* replaces the note in the file; rt_fdr_file.c */

#endif
