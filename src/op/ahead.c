/* Decoding ahead: a ring of batches for each stream, filled by worker threads and by the taking thread itself.
 *
 * One lock guards all rings. It is held for a few instructions around each batch, which takes microseconds to decode
 * and to use, so its cost does not show. A ring is `busy` while a thread decodes into its next free slot: one thread at
 * a time uses a cursor, and its batches come in order. */
#include "op/ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How often the taking thread polls before it sleeps: about as long as a wake-up takes. */
#define LOOKS 400u

typedef struct ring {
    tl_cursor *cursor;                   /* opened by the first thread that decodes; its own batch is slot 0 */
    tl_batch more[TL_AHEAD_BATCHES - 1]; /* the other slots */
    uint32_t first, filled;              /* slots first .. first+filled-1 hold batches */
    bool lent;                           /* slot `first` is in use by the taker */
    bool busy;                           /* a thread decodes into the slot after the filled ones */
    int status;                          /* what follows the filled slots: 1: more batches; 0: the end; < 0: `error` */
    tl_error error;
    _Atomic uint32_t done; /* changes when `busy` ends: read without the lock */
} ring;

struct tl_ahead {
    tl_source *source;
    tl_want want;
    tl_limit limit;
    pthread_mutex_t lock;
    pthread_cond_t work;  /* a ring has room */
    pthread_cond_t ready; /* the wanted ring is no longer busy */
    ring *ring;           /* [n], by stream */
    uint32_t n;
    uint32_t next; /* the ring asked for last: it is filled before equally empty ones */
    bool waiting;  /* the taking thread sleeps while ring `next` is busy */
    unsigned idle; /* sleeping workers */
    bool stop;
    pthread_t thread[TL_AHEAD_STREAMS];
    unsigned nthread;
};

static tl_batch *slot_of(ring *r, uint32_t i)
{
    i %= TL_AHEAD_BATCHES;
    return i ? &r->more[i - 1] : &r->cursor->batch;
}

static bool can_fill(const ring *r)
{
    return r->status > 0 && !r->busy && r->filled < TL_AHEAD_BATCHES;
}

/* The ring to fill next: the emptiest, preferably the one asked for last. NULL: nothing to do. */
static ring *choose(tl_ahead *a)
{
    ring *best = can_fill(&a->ring[a->next]) ? &a->ring[a->next] : NULL;
    for (uint32_t i = 0; i < a->n; i++)
        if (can_fill(&a->ring[i]) && (!best || a->ring[i].filled < best->filled))
            best = &a->ring[i];
    return best;
}

/* Opens the cursor of a ring, and makes the other slots. */
static int open_ring(tl_ahead *a, ring *r, tl_error *e)
{
    int status = tl_cursor_open_want(&r->cursor, a->source, (uint32_t)(r - a->ring), &a->want, &a->limit, e);
    for (uint32_t i = 0; status == 0 && i < TL_AHEAD_BATCHES - 1; i++)
        status = tl_batch_init(&r->more[i], &a->source->trace, &a->want, r->cursor->batch.capacity, e);
    return status;
}

/* Decodes one batch. The lock is held on entry and return, and released in between. */
static void fill(tl_ahead *a, ring *r)
{
    const uint32_t slot = r->first + r->filled;
    r->busy = true;
    pthread_mutex_unlock(&a->lock);
    tl_error e = {0};
    int status = r->cursor ? 0 : open_ring(a, r, &e);
    if (status == 0)
        status = tl_cursor_fill(r->cursor, slot_of(r, slot), &e);
    pthread_mutex_lock(&a->lock);
    r->busy = false;
    if (status > 0) {
        r->filled++;
    } else {
        r->status = status;
        r->error = e;
    }
    atomic_fetch_add_explicit(&r->done, 1, memory_order_relaxed);
    if (a->waiting && r == &a->ring[a->next])
        pthread_cond_signal(&a->ready);
}

static void *worker_main(void *arg)
{
    tl_ahead *a = arg;
    pthread_mutex_lock(&a->lock);
    while (!a->stop) {
        ring *r = choose(a);
        if (r) {
            fill(a, r);
        } else {
            a->idle++;
            pthread_cond_wait(&a->work, &a->lock);
            a->idle--;
        }
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Starts up to n workers, with all signals blocked: those are for the program's own threads. */
static void start_workers(tl_ahead *a, unsigned n)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    while (a->nthread < n && pthread_create(&a->thread[a->nthread], NULL, worker_main, a) == 0)
        a->nthread++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool tl_ahead_pays(const tl_source *s, const tl_want *want)
{
    if (s->reader->quick)
        return false;
    const uint32_t n = tl_source_streams(s);
    if (s->reader->unsorted || s->follow) /* one stream, whose cursor has its own threads; or none are wanted */
        return false;
    return want->threads > 1 && n > 0 && n <= TL_AHEAD_STREAMS && s->trace.bytes >= TL_AHEAD_LEAST;
}

int tl_ahead_open(tl_ahead **out, tl_source *s, const tl_want *want, const tl_limit *limit, tl_error *e)
{
    tl_ahead *a = calloc(1, sizeof *a);
    if (!a)
        goto no_memory;
    a->source = s;
    a->want = *want;
    a->limit = *limit;
    a->n = tl_source_streams(s);
    a->ring = calloc((size_t)a->n + 1, sizeof *a->ring);
    if (!a->ring)
        goto no_ring;
    for (uint32_t i = 0; i < a->n; i++)
        a->ring[i].status = 1;
    if (pthread_mutex_init(&a->lock, NULL) != 0)
        goto no_ring;
    if (pthread_cond_init(&a->work, NULL) != 0)
        goto no_work;
    if (pthread_cond_init(&a->ready, NULL) != 0)
        goto no_ready;
    start_workers(a, want->threads - 1 < a->n ? want->threads - 1 : a->n);
    *out = a;
    return 0;
no_ready:
    pthread_cond_destroy(&a->work);
no_work:
    pthread_mutex_destroy(&a->lock);
no_ring:
    free(a->ring);
    free(a);
no_memory:
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to decode ahead");
}

/* Waits until a ring is not busy: first polling without the lock, then asleep. */
static void wait_for(tl_ahead *a, ring *r)
{
    const uint32_t before = atomic_load_explicit(&r->done, memory_order_relaxed);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < LOOKS && atomic_load_explicit(&r->done, memory_order_relaxed) == before; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&a->lock);
    a->waiting = true;
    while (r->busy && atomic_load_explicit(&r->done, memory_order_relaxed) == before)
        pthread_cond_wait(&a->ready, &a->lock);
    a->waiting = false;
}

static void close_ring(ring *r)
{
    tl_cursor_close(r->cursor);
    r->cursor = NULL;
    for (uint32_t i = 0; i < TL_AHEAD_BATCHES - 1; i++)
        tl_batch_fini(&r->more[i]);
}

int tl_ahead_next(tl_ahead *a, uint32_t stream, const tl_batch **batch, tl_error *e)
{
    ring *r = &a->ring[stream];
    pthread_mutex_lock(&a->lock);
    a->next = stream;
    if (r->lent) {
        r->lent = false;
        r->first = (r->first + 1) % TL_AHEAD_BATCHES;
        r->filled--;
        /* Not for every batch: waking a worker for several at once costs less. */
        if (a->idle && r->filled <= TL_AHEAD_BATCHES / 2 && can_fill(r))
            pthread_cond_signal(&a->work);
    }
    while (r->filled == 0 && r->status > 0) {
        ring *other = choose(a);
        if (other)
            fill(a, other);
        else
            wait_for(a, r);
    }
    int status = 1;
    if (r->filled) {
        r->lent = true;
        *batch = slot_of(r, r->first);
    } else {
        status = r->status;
        if (status < 0 && e)
            *e = r->error;
    }
    pthread_mutex_unlock(&a->lock);
    if (status == 0) /* no other thread works on it any more */
        close_ring(r);
    return status;
}

void tl_ahead_close(tl_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->work);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->nthread; i++)
        pthread_join(a->thread[i], NULL);
    for (uint32_t i = 0; i < a->n; i++)
        close_ring(&a->ring[i]);
    pthread_cond_destroy(&a->ready);
    pthread_cond_destroy(&a->work);
    pthread_mutex_destroy(&a->lock);
    free(a->ring);
    free(a);
}
