/* The meaning of lines after preceding ones: stacks, tracks, times, pauses. One thread, in the order of the log. */
#ifndef TL_FORMAT_TRACELOG_REPLAY_H
#define TL_FORMAT_TRACELOG_REPLAY_H

#include "base/pair_map.h"
#include "format/tracelog/tracelog_facts.h"

typedef struct replay_thread {
    uint64_t last_ms;   /* of its latest record that has a time */
    uint64_t cpu_until; /* end of its latest thr cpu */
    tl_frame **node; /* [capacity] the stack, if values are stored: the first `saved` persist, others are the batch's */
    uint32_t depth, saved, capacity;
    uint32_t counted; /* its depth as counted in tracelog_replay.live */
    uint32_t track;
    uint32_t next;    /* list of threads in the current batch, see tracelog_replay.touched */
    uint64_t batch;   /* the number of that batch */
    uint64_t names;   /* tracelog_replay.names when the names of its frames were last looked up */
    uint64_t call_ms; /* of its latest call */
    bool has_cpu;
} replay_thread;

typedef struct replay_function {
    const char *name; /* NULL: none yet */
    bool used;        /* was on a stack */
} replay_function;

/* A call that begins or ends. */
typedef struct replay_call {
    uint64_t ts, function;
    uint32_t cls, track;
    uint32_t line; /* the line in its part */
} replay_call;

typedef struct tracelog_replay {
    tracelog_reader *reader;
    uint64_t now;                    /* the largest time so far, ms */
    uint64_t period, first_interval; /* SamplingTimeoutMs; CpuTraceTimeoutMs, UINT64_MAX if missing */
    uint64_t weight;                 /* key of samples */
    uint64_t tracing_from;           /* after TracingSuspendedOnStart, when recording began; UINT64_MAX: not yet */
    bool paused, pauses_seen;
    bool instrumented, no_execution; /* CollectionMethod Instrumentation; ExecutionTraceEnabled F */
    replay_thread *thread;           /* 0: all unknown ones; 1: the process */
    uint32_t nthread, thread_capacity, iid_capacity;
    tl_id_map thread_of; /* iid -> index */
    tl_hash thread_of_os;
    tl_pair_map compiling, compiled; /* thread and number of the name; number of that, and a function */
    uint64_t *iid;                   /* [nthread] */
    replay_function *function;
    uint32_t nfunction, function_capacity;
    tl_id_map function_of; /* iid -> index */
    uint64_t names;        /* counts changes of names that are on a stack */
    tracelog_facts facts;  /* if the reader is late */
    uint64_t untold;       /* frames so far that no line gave */
    bool keeps_names;      /* a stack kept its names because there were too many new ones: see renamed; reported once */
    bool told_names;
    uint64_t renamed; /* frames so far below a renamed one, and renamed ones */
    uint32_t renewed; /* frames whose names were looked up again in this batch after a change */
    uint64_t batch;
    tl_shared_arena *stacks; /* persistent frames; NULL: none yet */
    uint64_t lasting, live;  /* how many there are, and how many are on the stacks of threads */
    uint32_t touched;        /* the thread whose stack was last touched in this batch, continued in `next`; 0: none */
    bool has_calls;          /* the last part has calls for events: */
    replay_call *call;       /* in the order of lines */
    uint32_t ncall, call_capacity;
    tracelog_part *mixed; /* the part being passed on together with its calls, or NULL: */
    tl_shared_arena *mixed_memory;
    uint32_t mixed_line, mixed_call; /* next line and call */
} tracelog_replay;

int tracelog_replay_init(tracelog_replay *p, tracelog_reader *r, tl_error *e); /* after zeroing */
void tracelog_replay_fini(tracelog_replay *p);
/* Completes the events of a part. Faults go to the trace; if the reader is strict, the first is TL_EDAMAGED and the
 * part ends before it. */
int tracelog_replay_part(tracelog_replay *p, tracelog_part *part, tl_error *e);
/* Passes on a part that has_calls, with its calls, into an empty batch; the rest follows through `mixed`, as long as
 * that is not NULL. 1; 0: there is no event, < 0 error. */
int tracelog_replay_mix(tracelog_replay *p, tracelog_part *part, tl_batch *out, tl_error *e);
int tracelog_replay_mixed(tracelog_replay *p, tl_batch *out, tl_error *e);
void tracelog_replay_unmix(tracelog_replay *p); /* ends that early */

/* With fewer persistent frames, those that no thread has any more are kept. */
#define TRACELOG_LASTING_LEAST 4096u

/* Sets the stack of a thread after a sam str that keeps `kept` frames. False when memory runs out. For
 * tracelog_replay.c, as are the following. */
bool tracelog_replay_stack(tracelog_replay *p, uint32_t thread, const tracelog_part *part, const tracelog_note *note,
                           uint32_t kept, tl_value *out);
/* Makes calls from the changes in such a line: before the stack is set for the frames that it leaves, then for those
 * that it enters. False when memory runs out. */
bool tracelog_replay_leave(tracelog_replay *p, uint32_t thread, uint32_t kept, uint32_t line, uint64_t ms);
bool tracelog_replay_enter(tracelog_replay *p, uint32_t thread, uint32_t entered, uint32_t line, uint64_t ms);
/* Before the batch leaves: copies the stacks of all threads to persistent memory. False when memory runs out. */
bool tracelog_replay_save(tracelog_replay *p);
/* The function of an iid, made if needed; NULL when memory runs out. */
replay_function *tracelog_replay_function(tracelog_replay *p, uint64_t iid);

#endif
