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

/* An open call. frame[0] of a lane is not a call: its sp is above all others, its function 0. A frame of function 0
 * with sp 0 is a change of stacks: the calls above it run on the alternate signal stack. */
typedef struct rt_frame {
    uintptr_t sp;
    uint64_t begin; /* ticks */
    uint64_t inner; /* profile: ticks of the calls made from it that ended */
    uint32_t function;
    uint32_t node; /* profile: reference of its place; 0: there was no room */
    char *mark;    /* fdr with threshold: where its entry stands; NULL: it was not written */
    uint64_t base; /* fdr with threshold: the running time before it */
} rt_frame;

/* A block of a node's histogram that was used lately. */
typedef struct rt_recent {
    uint64_t key; /* node and tag; 0: none */
    uint32_t block, unused;
} rt_recent;
enum { RT_RECENT_BITS = 11 };

enum { RT_ON_SIGNALS = 1, RT_NOT_ON_SIGNALS };

/* An event that came while its thread was inside of the recorder. */
enum rt_action { RT_ENTER, RT_EXIT, RT_TAIL, RT_ARGUMENT };
typedef struct rt_late_event {
    uint64_t time, value;
    uintptr_t sp, keep;
    uint32_t id, action;
    uint32_t on_signals; /* on the alternate signal stack */
} rt_late_event;

/* A part of the file that a lane fills. */
typedef struct rt_slot {
    char *memory; /* NULL: none */
    uint64_t size, offset;
} rt_slot;
typedef struct rt_ring_slot rt_ring_slot; /* rt_ring.h */

typedef struct rt_lane {
    volatile uintptr_t busy; /* inside of the recorder: the sp of the event; 0: not */
    volatile uint32_t nlate;
    uint32_t signals;            /* while events are added that were put aside: RT_ON_SIGNALS, or not; else 0 */
    uint32_t epoch;              /* tl_rt.epoch of the last event; another: hooks were stopped since */
    uint32_t file;               /* tl_rt.file of its slots and nodes; another: of a file that was closed */
    rt_frame *top;               /* the innermost open call */
    rt_frame *frame, *frame_end; /* frame_end: more than are there, or may be */
    size_t frames;
    uint32_t switched; /* place of the outermost frame that is a change of stacks; it may be gone */
    uint64_t beyond;   /* open calls above top that are not followed */

    char *at, *end;                   /* fdr: where the next record goes; records begin before end */
    uint64_t time;                    /* fdr: the running time */
    const volatile uint32_t *cpu_now; /* what the kernel says */
    uint32_t cpu;                     /* fdr: of the last record */
    bool full;                        /* there was no room for another slot: events are only counted */

    char *live;                    /* profile: begin of the image */
    char *room, *room_end;         /* profile: where the next node or block goes */
    uint64_t room_size;            /* profile: of the last room */
    char *self;                    /* profile: its lane in the image */
    uint32_t committed;            /* profile: node that a call was put into last */
    uint64_t told, exits_told;     /* profile: losses that the image knows of already */
    struct rt_place_table *places; /* profile: (parent, function) -> node */
    rt_recent *recent;             /* profile: [1 << RT_RECENT_BITS] */

    uint32_t pid, tid;
    uint32_t index, threads; /* threads: how many had it, one after another, in this file */
    volatile uint32_t used;  /* a thread has it */
    rt_losses lost;
    rt_slot slot;                  /* fdr: the current one */
    rt_ring_slot *oldest, *newest; /* fdr with a ring: its slots; the newest is the current one. NULL: none */
    uint32_t nring;                /* how many */
    char *extents;                 /* fdr: where the current buffer begins */
    void *ctf;                     /* of rt_ctf.c's own */
    rt_late_event late[RT_LATE];
} rt_lane;

/* The calling thread's lane; NULL: it has none yet. Zero in every new thread. */
extern __thread rt_lane *tl_rt_lane __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Makes the calling thread's lane fit for the state of the recorder: a new one, one whose thread has ended, or its old
 * one after hooks were off or the file changed. NULL: none (counted), or recording is off. From hooks; if the lane is
 * there, it is busy. */
rt_lane *tl_rt_lane_attach(void);
uint32_t tl_rt_lanes(void); /* how many there are, used or not */
rt_lane *tl_rt_lane_get(uint32_t index);
/* More room for frames, or false: there are as many as may be. */
bool tl_rt_lane_grow(rt_lane *l);
/* Puts a lane in order whose last event was given up half way: a signal handler that came in the recorder left with
 * longjmp, or a thread was cancelled there. The event is lost, and counted; nothing else is. Signals are blocked. */
void tl_rt_lane_repair(rt_lane *l);
/* Calls gone() with lanes of this file that have a ring and whose threads are gone, except `own`. It looks at some
 * lanes at a time, so that it stays cheap. */
void tl_rt_lanes_look(const rt_lane *own, void (*gone)(rt_lane *l));
/* Once, before recording begins: the kernel makes a process with several threads wait for it. */
void tl_rt_lanes_begin(void);
/* Waits until no thread is inside of the recorder, after tl_rt.epoch was changed. Not from hooks. */
void tl_rt_lanes_settle(void);
/* In a child after fork: its only thread keeps its lane, all others become free. */
void tl_rt_lanes_child(void);
/* Events of threads for which there was no lane, in this process. */
extern uint64_t tl_rt_lane_missed;

#endif
