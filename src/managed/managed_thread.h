/* Threads of the program, and what they leave for the writer.
 *
 * Each thread has two rings of words: one that only its signal handler fills, with samples, and one for all else that
 * has a time. The writer empties both, in the order of time. Nobody waits: what finds no room is counted, and missing.
 *
 * An event is its time (ns), a word with its kind, and what belongs to that kind:
 *
 *   a stack        frames, innermost first, two words each: the runtime's method (0: only its address is known), and
 *                  the address in its code; with MANAGED_OFFSET the offset from where its code begins
 *   allocations    a stack, then three words for each class: its address, objects, bytes
 *   others         one word */
#ifndef TL_MANAGED_THREAD_H
#define TL_MANAGED_THREAD_H

#include <stdatomic.h>
#include <time.h>

#include "managed/managed_log.h"
#include "managed/managed_sampler.h"

enum {
    MANAGED_SAMPLE_WORDS =
        1 << 17, /* of a ring: 16 samples of the deepest stacks and more in each turn of the writer */
    MANAGED_EVENT_WORDS = 1 << 16,
    MANAGED_DEPTH = 1024 /* frames of a stack; of deeper ones the innermost, which is said at the end */
};

#define MANAGED_OFFSET (UINT64_C(1) << 63)

typedef enum managed_kind {
    MANAGED_SAMPLE, /* samples with this stack */
    MANAGED_ALLOCATED,
    MANAGED_JIT_BEGIN, /* a method */
    MANAGED_JIT_END,
    MANAGED_JIT_FAILED,
    MANAGED_FOUND,    /* the same for code that was compiled before: its search took no time */
    MANAGED_GC_BEGIN, /* bits of generations 0, 1, 2 and of large objects; bit 8: induced */
    MANAGED_GC_END,
    MANAGED_THREAD_END
} managed_kind;

typedef struct managed_ring {
    uint64_t *word;
    uint64_t mask; /* of a place */
    _Atomic uint64_t head, tail;
    _Atomic uint64_t lost; /* samples or events */
} managed_ring;

typedef struct managed_frame {
    uint32_t iid, unused;
    uint64_t ip; /* 0: unknown */
} managed_frame;

typedef struct managed_thread {
    struct managed_thread *next;
    uint32_t iid, tid;
    uint64_t id;             /* of the runtime */
    uint64_t cpu_counted;    /* ns of processor time that samples stand for; only its handler uses it */
    uint32_t pauses;         /* that it was in; the same */
    managed_sampler sampler; /* of allocations */
    managed_ring samples, events;
    struct managed_sites *sites; /* NULL: none yet */
    _Atomic uint64_t cut;        /* stacks that were deeper */
    timer_t timer;               /* that asks for samples, if the runtime does not */
    _Atomic bool has_timer;      /* who clears this deletes it */

    /* Only the writer uses these. */
    bool known;                     /* has its lines */
    uint64_t samples_to, events_to; /* where its rings were filled when the turn began */
    uint64_t last_ms, cpu_us;
    uint32_t depth;
    managed_frame stack[MANAGED_DEPTH]; /* as the lines so far have it, outermost first */
} managed_thread;

/* The calling thread; NULL: not known (any more). */
extern __thread managed_thread *managed_self __attribute__((tls_model("initial-exec")));
/* All threads that are known, the newest first. */
extern managed_thread *_Atomic managed_threads;

/* Makes the calling thread known; `id`: what the runtime calls it. Takes no lock, and memory from the system only: the
 * world may be stopped. NULL: no memory, or nothing is recorded. */
managed_thread *managed_thread_begin(uint64_t id);
/* The same for another thread, of a process that ran before it was recorded. It finds itself by managed_thread_find().
 * Not twice at a time. */
managed_thread *managed_thread_adopt(uint64_t id, uint32_t tid);
/* The calling thread, if it is known. Async-signal-safe. */
managed_thread *managed_thread_find(void);
/* The calling thread, made known if it is not. */
managed_thread *managed_thread_here(void);
void managed_thread_end(void);
/* For the writer: takes a thread that ended out of the list, and gives its memory back. */
void managed_thread_free(managed_thread *t);

/* A stack that goes into a ring while it is walked. */
typedef struct managed_walk {
    managed_thread *thread;
    managed_ring *ring;
    uint64_t at, end; /* the next place; there is room up to there */
    uint32_t n;
    bool full, cut;
} managed_walk;

void managed_walk_begin(managed_walk *w, managed_thread *t, managed_ring *r);
static inline void managed_walk_word(managed_walk *w, uint64_t v)
{
    if (w->at == w->end)
        w->full = true;
    else
        w->ring->word[w->at++ & w->ring->mask] = v;
}
/* False: no more frames are needed. */
static inline bool managed_walk_frame(managed_walk *w, const void *method, uint64_t ip)
{
    if (w->n == MANAGED_DEPTH) {
        w->cut = true;
        return false;
    }
    managed_walk_word(w, (uint64_t)(uintptr_t)method);
    managed_walk_word(w, ip);
    w->n++;
    return !w->full;
}
/* Publishes it; `count`: of samples, or of classes that follow the frames. False: no room, which is counted. */
bool managed_walk_end(managed_walk *w, uint64_t ns, managed_kind kind, uint32_t count);

/* An event of the calling thread with one word. */
void managed_event(managed_kind kind, uint64_t word);
void managed_event_at(uint64_t ns, managed_kind kind, uint64_t word);
/* How many samples the calling thread's processor time since the last one is worth; that in a pause is worth none.
 * Async-signal-safe. */
uint32_t managed_cpu_samples(managed_thread *t);

/* The clock of a thread's processor time. */
clockid_t managed_thread_clock(uint32_t tid);
/* Processor time of a thread of this process in ns; false: it is gone. */
bool managed_thread_cpu(uint32_t tid, uint64_t *ns);

/* The word with an event's kind. */
#define MANAGED_WORD(kind, frames, count) ((uint64_t)(count) << 32 | (uint64_t)(frames) << 8 | (uint64_t)(kind))
#define MANAGED_KIND(word)                ((managed_kind)((word)&0xff))
#define MANAGED_FRAMES(word)              ((uint32_t)((word) >> 8 & 0xffffff))
#define MANAGED_COUNT(word)               ((uint32_t)((word) >> 32))

#endif
