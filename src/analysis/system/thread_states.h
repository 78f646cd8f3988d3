/* The states of threads, from events about switches and wake-ups (TL_ROLE_SWITCH, TL_ROLE_WAKE): who sets these roles
 * is the reader of the trace.
 *
 * A thread runs from the switch to it until the switch from it. Then it is ready if it still could run, or else
 * blocked, until an event wakes it or it runs. A woken thread is ready until it runs. Before the first event about a
 * thread its state is not known, and what lasts beyond the last event is not counted. Where events are lost, a
 * processor switches from a thread that it did not run: what both threads did before is not known. Thread 0 is a
 * processor without work. */
#ifndef TL_ANALYSIS_THREAD_STATES_H
#define TL_ANALYSIS_THREAD_STATES_H

#include "base/hash.h"
#include "model/histogram.h"
#include "traceloom/error.h"

#define TL_STATE_THREADS_MAX 65536u /* threads of one trace; events about more are counted, not used */

typedef enum tl_thread_state {
    TL_THREAD_RUNNING,
    TL_THREAD_READY,
    TL_THREAD_BLOCKED,
    TL_THREAD_UNINTERRUPTIBLE, /* blocked, and signals do not wake it: mostly input and output */
    TL_THREAD_STATES,
    TL_THREAD_UNKNOWN = TL_THREAD_STATES
} tl_thread_state;

/* How often a thread was in a state, and how long. */
typedef struct tl_state_sums {
    uint64_t n, total, shortest, longest; /* ticks */
    tl_hist hist;
} tl_state_sums;

typedef struct tl_state_thread {
    int64_t tid;
    const char *name; /* the latest; or NULL */
    tl_thread_state now;
    uint64_t since;
    tl_state_sums sums[TL_THREAD_STATES];
} tl_state_thread;

typedef struct tl_thread_states {
    tl_hash by_tid;          /* -> index of thread */
    tl_state_thread *thread; /* [n] */
    uint32_t n, capacity;
    tl_hash by_cpu; /* -> index of running */
    struct tl_state_cpu {
        uint64_t cpu;
        int64_t tid; /* what it runs */
    } * cpu;         /* [ncpu] */
    uint32_t ncpu, cpu_capacity;
    tl_strings names;
    uint64_t switches, wakes;
    uint64_t lost;    /* switches from a thread that did not run there */
    uint64_t ignored; /* events about threads beyond TL_STATE_THREADS_MAX */
} tl_thread_states;

/* A thread of an event; its name may be NULL, and need not end with NUL. */
typedef struct tl_state_name {
    int64_t tid;
    const char *name;
    size_t length;
} tl_state_name;

/* Zeroed is without events. Times must not go back; one that does counts as the latest. state: as the system's kernel
 * has it: bits of what the thread waits for, 0 in the lowest eight: it could run. False when memory runs out. */
bool tl_states_switch(tl_thread_states *s, uint64_t ts, uint64_t cpu, const tl_state_name *from, uint64_t state,
                      const tl_state_name *to);
bool tl_states_wake(tl_thread_states *s, uint64_t ts, const tl_state_name *thread);
void tl_states_fini(tl_thread_states *s);

#endif
