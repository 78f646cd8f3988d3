/* Workers that make numbered pieces ahead of the thread that takes them. One lock protects everything; it is held for a
 * few instructions per piece, which takes tens of microseconds to make. */
#include "base/ordered_workers.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* How often the taking thread polls before it sleeps: about as long as a wake-up takes. */
#define LOOKS 400u

struct tl_ordered_workers {
    tl_ordered_make make;
    void *arg;
    pthread_mutex_t lock;
    pthread_cond_t work;  /* a slot is free */
    pthread_cond_t ready; /* the wanted piece is made */
    uint64_t claimed;     /* pieces below this are made or being made */
    uint64_t taken;       /* pieces below this were given back */
    bool lent;            /* piece `taken` is in use by the taker */
    bool ended;           /* a piece did not exist, or failed: no more are claimed */
    bool stop;
    bool waiting;
    unsigned idle; /* sleeping workers */
    unsigned slots;
    _Atomic bool made[TL_ORDERED_SLOTS_MAX]; /* also read without the lock */
    int status[TL_ORDERED_SLOTS_MAX];
    unsigned nthread;
    pthread_t thread[];
};

static bool can_claim(const tl_ordered_workers *r)
{
    return !r->ended && r->claimed - r->taken < r->slots;
}

/* Makes the next piece. The lock is held on entry and return, and released in between. */
static void make_next(tl_ordered_workers *r)
{
    const uint64_t number = r->claimed++;
    const unsigned slot = (unsigned)(number % r->slots);
    r->made[slot] = false;
    pthread_mutex_unlock(&r->lock);
    const int status = r->make(r->arg, slot, number);
    pthread_mutex_lock(&r->lock);
    r->made[slot] = true;
    r->status[slot] = status;
    if (status <= 0)
        r->ended = true;
    if (r->waiting && number == r->taken)
        pthread_cond_signal(&r->ready);
}

static void *worker_main(void *arg)
{
    tl_ordered_workers *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->stop) {
        if (can_claim(r)) {
            make_next(r);
        } else {
            r->idle++;
            pthread_cond_wait(&r->work, &r->lock);
            r->idle--;
        }
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* Starts up to n workers, with all signals blocked: those are for the program's own threads. */
static void start_workers(tl_ordered_workers *r, unsigned n)
{
    sigset_t all, before;
    sigfillset(&all);
    if (n == 0 || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    while (r->nthread < n && pthread_create(&r->thread[r->nthread], NULL, worker_main, r) == 0)
        r->nthread++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int tl_ordered_open(tl_ordered_workers **out, unsigned workers, unsigned slots, tl_ordered_make make, void *arg,
                    tl_error *e)
{
    assert(slots >= 1 && slots <= TL_ORDERED_SLOTS_MAX);
    tl_ordered_workers *r = calloc(1, sizeof *r + workers * sizeof r->thread[0]);
    if (!r)
        goto no_memory;
    r->make = make;
    r->arg = arg;
    r->slots = slots;
    if (pthread_mutex_init(&r->lock, NULL) != 0)
        goto no_lock;
    if (pthread_cond_init(&r->work, NULL) != 0)
        goto no_work;
    if (pthread_cond_init(&r->ready, NULL) != 0)
        goto no_ready;
    start_workers(r, workers);
    *out = r;
    return 0;
no_ready:
    pthread_cond_destroy(&r->work);
no_work:
    pthread_mutex_destroy(&r->lock);
no_lock:
    free(r);
no_memory:
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to work ahead");
}

/* Waits until a piece is made: first polling without the lock, then asleep. */
static void wait_for(tl_ordered_workers *r, unsigned slot)
{
    pthread_mutex_unlock(&r->lock);
    for (unsigned i = 0; i < LOOKS && !atomic_load_explicit(&r->made[slot], memory_order_relaxed); i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&r->lock);
    r->waiting = true;
    while (!r->made[slot])
        pthread_cond_wait(&r->ready, &r->lock);
    r->waiting = false;
}

int tl_ordered_next(tl_ordered_workers *r, unsigned *slot)
{
    pthread_mutex_lock(&r->lock);
    const unsigned before = (unsigned)(r->taken % r->slots);
    if (r->lent && r->status[before] > 0) {
        r->taken++;
        r->lent = false;
        if (r->idle && can_claim(r))
            pthread_cond_signal(&r->work);
    }
    const unsigned wanted = (unsigned)(r->taken % r->slots);
    while (r->claimed <= r->taken || !r->made[wanted]) {
        if (can_claim(r))
            make_next(r);
        else
            wait_for(r, wanted);
    }
    r->lent = true;
    const int status = r->status[wanted];
    pthread_mutex_unlock(&r->lock);
    *slot = wanted;
    return status;
}

void tl_ordered_close(tl_ordered_workers *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    for (unsigned i = 0; i < r->nthread; i++)
        pthread_join(r->thread[i], NULL);
    pthread_cond_destroy(&r->ready);
    pthread_cond_destroy(&r->work);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
