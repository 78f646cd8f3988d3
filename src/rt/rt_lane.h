/* A lane: the recorder's data for one thread. Only that thread writes it while it lives.
 *
 * Signal handlers may be traced. One that interrupts its own thread inside the recorder finds `busy` set; its events
 * are put aside in `late` and added after the interrupted one. Only events beyond RT_LATE are lost. */
#ifndef TL_RT_LANE_H
#define TL_RT_LANE_H

#include "rt/rt_core.h"
#include "rt/rt_sys.h"

enum { RT_LATE = 256, RT_FRAMES = 1 << 20 }; /* deepest stack that is tracked, as in op/callstack.h */
enum { RT_LANES = 1 << 16 };                 /* threads at the same time */

/* An open call. frame[0] of a lane is not a call: its sp is above all others, its function 0. A frame of function 0
 * with sp 0 is a change of stacks: the calls above it run on the alternate signal stack. */
typedef struct rt_frame {
    uintptr_t sp;
    uint64_t begin; /* ticks */
    uint64_t inner; /* profile: total ticks of its callees so far */
    uint32_t function;
    uint32_t node; /* profile: reference of its place; 0: no room */
    char *mark;    /* fdr with threshold: where its entry is; NULL: not written */
    uint64_t base; /* fdr with threshold: the running time before it */
} rt_frame;

/* A histogram block that was used recently. */
typedef struct rt_recent {
    uint64_t key; /* node and tag; 0: none */
    uint32_t block, unused;
} rt_recent;
enum { RT_RECENT_BITS = 11 };

enum { RT_ON_SIGNALS = 1, RT_NOT_ON_SIGNALS };

/* An event that came while its thread was inside the recorder. */
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
    volatile uintptr_t busy; /* inside the recorder: the sp of the event; else 0 */
    volatile uint32_t nlate;
    uint32_t signals;            /* while late events are added: RT_ON_SIGNALS, or not; else 0 */
    uint32_t epoch;              /* tl_rt.epoch at the last event; another: hooks were off since */
    uint32_t file;               /* tl_rt.file of its slots and nodes; another: that file was closed */
    rt_frame *top;               /* the innermost open call */
    rt_frame *entering;          /* a call that is being added: on the stack, but perhaps not recorded; or NULL */
    rt_frame *frame, *frame_end; /* frame_end: the end of the room */
    size_t frames;
    uint32_t switched; /* place of the outermost frame that is a change of stacks; may be out of date */
    uint64_t beyond;   /* open calls above top that are not tracked */

    char *at, *end;                   /* fdr: where the next record goes; records begin before end */
    uint64_t time;                    /* fdr: the running time */
    const volatile uint32_t *cpu_now; /* what the kernel says */
    uint32_t cpu;                     /* fdr: of the last record */
    bool full;                        /* no room for another slot: events are only counted */

    char *live;                    /* profile: begin of the image */
    char *room, *room_end;         /* profile: where the next node or block goes */
    uint64_t room_size;            /* profile: of the last room */
    char *self;                    /* profile: its lane in the image */
    uint32_t committed;            /* profile: node that a call was last added to */
    uint64_t told, exits_told;     /* profile: losses already stored in the image */
    struct rt_place_table *places; /* profile: (parent, function) -> node */
    rt_recent *recent;             /* profile: [1 << RT_RECENT_BITS] */

    uint32_t pid, tid;
    uint32_t index, threads; /* threads: how many threads had it, one after another, in this file */
    volatile uint32_t used;  /* a thread has it */
    rt_losses lost;
    rt_slot slot;                  /* fdr: the current one */
    rt_ring_slot *oldest, *newest; /* fdr with a ring: its slots; the newest is the current one. NULL: none */
    uint32_t nring;                /* how many */
    char *extents;                 /* fdr: begin of the current buffer */
    void *ctf;                     /* private to rt_ctf.c */
    rt_late_event late[RT_LATE];
} rt_lane;

/* The calling thread's lane; NULL, as in every new thread: none yet. */
extern __thread rt_lane *tl_rt_lane __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Prepares the calling thread's lane for the recorder's state: a new one, one whose thread has ended, or its old one
 * after hooks were off or the file changed. NULL: none left (counted), or recording is off. From hooks; an existing
 * lane must be busy. */
rt_lane *tl_rt_lane_attach(void);
uint32_t tl_rt_lanes(void); /* how many there are, used or not */
rt_lane *tl_rt_lane_get(uint32_t index);
/* Makes more room for frames; false: the maximum is reached. */
bool tl_rt_lane_grow(rt_lane *l);
/* Repairs a lane whose last event was given up half way: a signal handler that interrupted the recorder left with
 * longjmp, or a thread was cancelled there. Only that event is lost, and counted. Signals are blocked. */
void tl_rt_lane_repair(rt_lane *l);
/* Calls gone() with lanes of this file that have a ring and whose threads are gone, except `own`. Checks a few lanes at
 * a time, to stay cheap. */
void tl_rt_lanes_look(const rt_lane *own, void (*gone)(rt_lane *l));
/* Once, before recording begins: the kernel delays processes that have several threads here. */
void tl_rt_lanes_begin(void);
/* Waits until no thread is inside the recorder, after a change of tl_rt.epoch. Not from hooks. */
void tl_rt_lanes_settle(void);
/* In a child after fork: its only thread keeps its lane, all others become free. */
void tl_rt_lanes_child(void);
/* Events of threads that got no lane, in this process. */
extern uint64_t tl_rt_lane_missed;

#endif
