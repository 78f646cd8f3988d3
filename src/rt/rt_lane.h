/* A lane: what the recorder keeps for one thread. Only its thread writes it while it lives.
 *
 * Signal handlers may be traced. One that interrupts its own thread inside of the recorder finds `busy` set; its events
 * are put aside in `late` and added when the interrupted one is done. Nothing is lost but what exceeds RT_LATE. */
#ifndef TL_RT_LANE_H
#define TL_RT_LANE_H

#include "rt/rt_core.h"
#include "rt/rt_sys.h"

enum { RT_LATE = 256, RT_FRAMES = 1 << 20 }; /* deepest stack that is followed, as in op/callstack.h */
enum { RT_LANES = 1 << 16 };                 /* threads at the same time */

/* A call that is open. frame[0] of a lane is none: its sp is above all others. */
typedef struct rt_frame {
    uintptr_t sp;
    uint64_t begin;    /* ticks */
    uint64_t inner;    /* profile: ticks of the calls made from it that ended */
    uint32_t function;
    uint32_t node;     /* profile: reference of its place */
    char *mark;        /* fdr with threshold: where its entry stands; NULL: not in this slot */
    uint64_t base;     /* fdr with threshold: the running time before it */
} rt_frame;

/* What a nested event wanted. */
enum rt_action { RT_ENTER, RT_EXIT, RT_TAIL, RT_ARGUMENT };
typedef struct rt_late_event {
    uint64_t time, value;
    uintptr_t sp, keep;
    uint32_t id, action;
} rt_late_event;

typedef struct rt_slot { /* fdr: a part of the file that the lane fills */
    char *memory;
    uint64_t size, offset;
} rt_slot;
enum { RT_RING_SLOTS = 16 }; /* a ring is that many slots at most */

typedef struct rt_lane {
    volatile uint32_t busy;
    volatile uint32_t nlate;
    uint32_t epoch; /* tl_rt.epoch when it was set up; another: it is stale */
    int32_t cpu;
    rt_frame *top; /* the innermost open call */
    rt_frame *frame, *frame_end;

    char *at, *end; /* fdr: where the next record goes; records begin before end */
    uint64_t time;  /* fdr: the running time */
    char *live;     /* profile: begin of the mapped image */
    char *room, *room_end; /* profile: where the next node or block goes */

    char *self;     /* profile: its lane in the image */
    uint64_t depth_lost; /* calls open beyond frame_end, which are not followed */
    rt_losses lost;
    uint32_t pid, tid, index, threads;
    volatile uint32_t used; /* a thread has it */
    rt_slot slot;                /* fdr: the current one */
    rt_slot ring[RT_RING_SLOTS]; /* fdr with a ring: all, oldest at ring_next if full */
    uint32_t nring, ring_next;
    void *ctf; /* ctf: of rt_ctf.c's own */
    uint32_t late_lost;
    rt_late_event late[RT_LATE];
} rt_lane;

/* The calling thread's lane; NULL: it has none yet. Zero in every new thread. */
extern __thread rt_lane *tl_rt_lane __attribute__((tls_model("initial-exec")));

/* A lane for this thread and epoch: a new one, one whose thread has ended, or NULL (counted). From hooks, not busy. */
rt_lane *tl_rt_lane_attach(void);
uint32_t tl_rt_lanes(void);            /* how many there are, used or not */
rt_lane *tl_rt_lane_get(uint32_t index);
/* More room for frames, or false: RT_FRAMES are reached. */
bool tl_rt_lane_grow(rt_lane *l);
/* In a child after fork: its only thread keeps its lane, all others are nobody's. */
void tl_rt_lanes_child(void);
/* Sets up what the modes need in a lane of this epoch; false: no room, counted. (rt_fdr.c, rt_profile.c, rt_ctf.c) */
bool tl_rt_fdr_attach(rt_lane *l);
bool tl_rt_profile_attach(rt_lane *l);
bool tl_rt_ctf_attach(rt_lane *l);

#endif
