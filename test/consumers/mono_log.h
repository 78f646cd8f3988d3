/* The log that mono_profiler.c writes: lines of threads, with stacks as differences and samples from a ring. */
#ifndef TEST_MONO_LOG_H
#define TEST_MONO_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define UNKNOWN   UINT32_MAX /* iid */
#define DEPTH     128        /* frames of a stack; deeper ones lose the outermost */
#define SITES     16         /* stacks with allocations not yet written */
#define TYPES     8          /* of such a stack */
#define RING      (1u << 20) /* words */
#define FLUSH_MS  50
#define SAMPLE_MS 1

typedef unsigned long long u64; /* as printf wants it */

typedef struct frame {
    uint32_t iid;
    u64 ip; /* 0 unknown */
} frame;

typedef struct site {
    unsigned depth, ntypes;
    frame stack[DEPTH];
    struct {
        uint32_t iid, count;
        u64 bytes;
    } type[TYPES];
} site;

typedef struct thread {
    struct thread *next;
    uint32_t iid;
    u64 last, flushed, cpu_at, cpu_us; /* ms; us */
    unsigned depth, nsites, ncompiling;
    frame stack[DEPTH]; /* as the lines so far give it, outermost first */
    frame here[DEPTH];  /* of an allocation */
    site site[SITES];
    const void *compiling[64];
    u64 *ring;
    _Atomic u64 head, tail;
} thread;

typedef struct object { /* of the runtime, with an iid */
    const void *at;
    uint32_t iid;
    u64 start; /* of its code */
    struct code *code;
} object;

typedef struct table {
    object *slot;
    uint32_t n, capacity;
} table;

/* The mutex protects all below, but a thread's own ring and `log_self`. */
extern pthread_mutex_t log_mutex;
extern FILE *log_file; /* NULL after the end of the log */
extern thread *log_threads;
extern table log_methods, log_classes;
extern __thread thread *log_self __attribute__((tls_model("initial-exec"))); /* signal handlers need this model */

bool log_open(const char *path);
u64 log_now(void); /* ms since then */

/* The object's entry, made if need be (*added); never NULL: without memory the test ends. */
object *log_find(table *t, const void *at, bool *added);
const object *log_look_up(const table *t, const void *at);
uint32_t log_slot(const void *p, uint32_t capacity);

/* Takes the mutex and writes this thread's samples. NULL, without the mutex: the log has ended. */
thread *log_begin(u64 *ms);
void log_end(void);
/* Makes this thread known. Call it with the mutex, like all that follow. */
thread *log_register(void);
/* The time of a thread's next line, never before its last one. */
u64 log_stamp(thread *t, u64 ms);
/* Writes the samples of the ring, up to a time. */
void log_drain(thread *t, u64 until);
/* Writes the allocations not yet written. */
void log_flush(thread *t, u64 ms);

static inline u64 ptr(const void *p)
{
    return (u64)(uintptr_t)p;
}

#endif
