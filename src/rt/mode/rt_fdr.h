/* The mode "fdr": records of XRay's flight data recorder, version 5, in slots of a shared file.
 *
 *   file    header and first buffer of notes (16 KiB), then slots, each from one rt_store_take()
 *   slot    one FDR buffer; or several, where a thread ended and another one got its lane. A ring uses its slots again
 *           (rt_ring.h)
 *
 *   slot    |<-- 80 bytes -->|                        at          end        |
 *           | preamble       | records ...            | zeros                |
 *
 * Until the buffer is ended, its extents say that it fills the slot, and zeros say how far it is written: so a record
 * counts once its first eight bytes are stored, which happens last. */
#ifndef TL_RT_FDR_H
#define TL_RT_FDR_H

#include "format/xray/fdr_layout.h"
#include "rt/rt_clock.h"
#include "rt/rt_lane.h"

/* Creates the file tl_rt.path + ".live". 0 or -errno. Not from hooks; nor are the other functions of this group. */
int tl_rt_fdr_start(void);
/* Ends all buffers and gives the file its final name; on failure *named is -errno, and the live file stays. 0, or
 * -errno if events are missing from it. */
int tl_rt_fdr_finish(int *named);
/* Writes a complete copy of the file so far, in two steps: the first while hooks are off and lanes are settled; the
 * second may run while recording continues, unless old slots are reused. */
int tl_rt_fdr_flush_mark(void);
int tl_rt_fdr_flush_copy(const char *path);
void tl_rt_fdr_child(void);
bool tl_rt_fdr_note(const char *text, size_t n);
uint64_t tl_rt_fdr_bytes(void);

/* From hooks, the lane busy. */
bool tl_rt_fdr_attach(rt_lane *l);
/* Makes room for a record of `need` bytes at l->at, and updates the running time and processor. False: no room. */
bool tl_rt_fdr_room(rt_lane *l, uint64_t now, size_t need);
void tl_rt_fdr_event(rt_lane *l, uint64_t now, unsigned kind, uint32_t type, const void *data, size_t n);
void tl_rt_fdr_enter(rt_lane *l, rt_frame *f, uint64_t now, bool has_value, uint64_t value);
/* Takes back the entry of a call that was too short, if nothing followed it. */
bool tl_rt_fdr_take_back(rt_lane *l, const rt_frame *f);

bool tl_rt_fdr_repair(rt_lane *l);   /* see tl_rt_lane_repair() */
void tl_rt_fdr_end_slot(rt_lane *l); /* pads the rest of the current slot; l->at stays */

/* Can one store write the next record? The slot has room, the processor is the same, and the last record is recent
 * enough. */
RT_INLINE bool rt_fdr_is_ready(const rt_lane *l, uint64_t now)
{
    return l->at < l->end && now - l->time <= UINT32_MAX && *l->cpu_now == l->cpu;
}

RT_INLINE void rt_fdr_store(rt_lane *l, uint64_t now, uint32_t function, unsigned action)
{
    uint64_t word = (uint64_t)function << FDR_ID_SHIFT_LITTLE | action << FDR_ACTION_SHIFT_LITTLE;
    *(volatile uint64_t *)(void *)l->at = word | (now - l->time) << 32;
    RT_STORE(l->at, l->at + FDR_FUNCTION_SIZE);
    RT_STORE(l->time, now);
}

/* Is the last record this call's entry, without an argument? The slot may have been reused since: compares all of
 * it. */
RT_INLINE bool rt_fdr_is_last(const rt_lane *l, const rt_frame *f)
{
    uint64_t word = (uint64_t)f->function << FDR_ID_SHIFT_LITTLE | FDR_ENTER << FDR_ACTION_SHIFT_LITTLE;
    return f->mark && l->at == f->mark + FDR_FUNCTION_SIZE &&
           *(const uint64_t *)(const void *)f->mark == (word | (l->time - f->base) << 32);
}

RT_INLINE void rt_fdr_take_back(rt_lane *l, const rt_frame *f)
{
    RT_STORE(l->at, f->mark);
    RT_STORE(l->time, f->base);
    *(volatile uint64_t *)(void *)f->mark = 0;
}

RT_INLINE void rt_fdr_put(rt_lane *l, uint64_t now, uint32_t function, unsigned action)
{
    if (RT_UNLIKELY(!rt_fdr_is_ready(l, now))) {
        if (!tl_rt_fdr_room(l, now, FDR_FUNCTION_SIZE))
            return;
        if (now < l->time) /* another processor's counter, or an event that was put aside */
            now = l->time;
    }
    rt_fdr_store(l, now, function, action);
}

#endif
