/* Threads of the program, and their rings. */
#include "managed/managed_thread.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__thread managed_thread *managed_self;
managed_thread *_Atomic managed_threads;
static _Atomic uint32_t nthreads;

static void *pages(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static size_t ring_bytes(const managed_ring *r)
{
    return (r->mask + 1) * sizeof *r->word;
}

static bool make_ring(managed_ring *r, uint64_t words)
{
    r->mask = words - 1;
    r->word = pages(ring_bytes(r));
    return r->word != NULL;
}

static void give_back(managed_thread *t)
{
    if (t->samples.word)
        munmap(t->samples.word, ring_bytes(&t->samples));
    if (t->events.word)
        munmap(t->events.word, ring_bytes(&t->events));
    munmap(t, sizeof *t);
}

clockid_t managed_thread_clock(uint32_t tid)
{
    /* The kernel's number for it: its id, and three bits for "of a thread, as scheduled". */
    return (clockid_t)(~tid << 3 | 6);
}

bool managed_thread_cpu(uint32_t tid, uint64_t *ns)
{
    struct timespec t;
    if (clock_gettime(managed_thread_clock(tid), &t) != 0)
        return false;
    *ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return true;
}

static uint64_t own_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint32_t managed_cpu_samples(managed_thread *t)
{
    const uint32_t pauses = managed_pauses;
    if (t->pauses != pauses) {
        t->pauses = pauses;
        t->cpu_counted = own_cpu();
        return 0;
    }
    const uint64_t period = managed_set.period_ms * UINT64_C(1000000), used = own_cpu() - t->cpu_counted;
    const uint64_t n = used / period;
    t->cpu_counted += n * period;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static managed_thread *make(uint64_t id, uint32_t tid)
{
    managed_thread *t = managed_on ? pages(sizeof *t) : NULL;
    if (!t || !make_ring(&t->samples, MANAGED_SAMPLE_WORDS) || !make_ring(&t->events, MANAGED_EVENT_WORDS)) {
        if (t)
            give_back(t);
        return NULL;
    }
    t->iid = nthreads++;
    t->tid = tid;
    t->id = id;
    managed_thread_cpu(tid, &t->cpu_counted);
    t->pauses = managed_pauses;
    t->cpu_us = t->cpu_counted / 1000;
    t->last_ms = managed_now() / 1000000;
    managed_sampler_begin(&t->sampler, managed_set.alloc, managed_now() ^ (uint64_t)t->tid << 32);
    t->next = managed_threads;
    while (!atomic_compare_exchange_weak(&managed_threads, &t->next, t))
        ;
    return t;
}

managed_thread *managed_thread_begin(uint64_t id)
{
    return managed_self = make(id, (uint32_t)syscall(SYS_gettid));
}

/* ---- threads that were there before ---- */

enum { ADOPTED = 8192 }; /* each has rings of 1.5 MiB; others are not recorded before something happens in them */
static struct adopted {
    uint32_t tid;
    managed_thread *_Atomic thread; /* NULL: it has found itself */
} adopted[ADOPTED];
static _Atomic uint32_t nadopted;

managed_thread *managed_thread_adopt(uint64_t id, uint32_t tid)
{
    const uint32_t n = nadopted;
    managed_thread *t = n < ADOPTED ? make(id, tid) : NULL;
    if (!t)
        return NULL;
    adopted[n].tid = tid;
    adopted[n].thread = t;
    nadopted = n + 1;
    return t;
}

managed_thread *managed_thread_find(void)
{
    const uint32_t n = nadopted, tid = !managed_self && n ? (uint32_t)syscall(SYS_gettid) : 0;
    for (uint32_t i = 0; i < n && !managed_self; i++)
        if (adopted[i].tid == tid)
            managed_self = atomic_exchange(&adopted[i].thread, NULL);
    return managed_self;
}

managed_thread *managed_thread_here(void)
{
    return managed_thread_find() ? managed_self : managed_thread_begin((uint64_t)pthread_self());
}

void managed_thread_end(void)
{
    managed_thread *t = managed_self;
    if (!t)
        return;
    managed_self = NULL; /* samples of its last steps have no place */
    atomic_signal_fence(memory_order_seq_cst);
    managed_walk w;
    managed_walk_begin(&w, t, &t->events);
    managed_walk_word(&w, 0);
    managed_walk_end(&w, managed_now(), MANAGED_THREAD_END, 1);
}

void managed_thread_free(managed_thread *t)
{
    managed_thread *first = t;
    /* Others only ever put threads in front. */
    if (!atomic_compare_exchange_strong(&managed_threads, &first, t->next)) {
        managed_thread *before = first;
        while (before->next != t)
            before = before->next;
        before->next = t->next;
    }
    give_back(t);
}

/* ---- rings ---- */

void managed_walk_begin(managed_walk *w, managed_thread *t, managed_ring *r)
{
    const uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed),
                   tail = atomic_load_explicit(&r->tail, memory_order_acquire);
    *w = (managed_walk){.thread = t, .ring = r, .at = head + 2, .end = tail + r->mask + 1};
    if (w->at > w->end) {
        w->at = w->end;
        w->full = true;
    }
}

bool managed_walk_end(managed_walk *w, uint64_t ns, managed_kind kind, uint32_t count)
{
    managed_ring *r = w->ring;
    const uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (w->cut)
        w->thread->cut++;
    if (w->full) {
        r->lost += kind == MANAGED_SAMPLE ? count : 1;
        return false;
    }
    r->word[head & r->mask] = ns;
    r->word[(head + 1) & r->mask] = MANAGED_WORD(kind, w->n, count);
    atomic_store_explicit(&r->head, w->at, memory_order_release);
    return true;
}

void managed_event_at(uint64_t ns, managed_kind kind, uint64_t word)
{
    managed_thread *t = managed_thread_here();
    managed_walk w;
    if (!t)
        return;
    managed_walk_begin(&w, t, &t->events);
    managed_walk_word(&w, word);
    managed_walk_end(&w, ns, kind, 1);
}

/* Of compilations the settings say what is told. */
static bool is_wanted(managed_kind kind)
{
    if (kind == MANAGED_FOUND)
        return managed_set.jit == MANAGED_JIT_ALL;
    return kind < MANAGED_JIT_BEGIN || kind > MANAGED_JIT_FAILED || managed_set.jit != MANAGED_NO_JIT;
}

void managed_event(managed_kind kind, uint64_t word)
{
    if (managed_on && is_wanted(kind))
        managed_event_at(managed_now(), kind, word);
}
