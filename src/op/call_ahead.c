/* Rows of calls that are made ahead. */
#include "op/call_ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/ordered_workers.h"

enum { SLOTS = 4, WORKERS = 1 };

struct tl_call_ahead {
    tl_call_scan *scan;
    tl_ordered_workers *workers;
    /* One thread after the other uses the scan, in the order of the pieces: */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint64_t turn; /* the piece that is next */
    int status;    /* of the one before; not 1: there are no more */
    tl_call_rows rows[SLOTS];
    tl_error error;
};

static int make(void *arg, unsigned slot, uint64_t number)
{
    tl_call_ahead *a = arg;
    pthread_mutex_lock(&a->lock);
    while (a->turn != number)
        pthread_cond_wait(&a->turned, &a->lock);
    pthread_mutex_unlock(&a->lock);
    if (a->status > 0)
        a->status = tl_call_scan_take(a->scan, &a->rows[slot], &a->error);
    const int status = a->status;
    pthread_mutex_lock(&a->lock);
    a->turn++;
    pthread_cond_broadcast(&a->turned);
    pthread_mutex_unlock(&a->lock);
    return status;
}

int tl_call_ahead_open(tl_call_ahead **out, tl_call_scan *scan, tl_error *e)
{
    tl_call_ahead *a = calloc(1, sizeof *a);
    if (!a)
        goto no_memory;
    a->scan = scan;
    a->status = 1;
    if (pthread_mutex_init(&a->lock, NULL) != 0)
        goto no_lock;
    if (pthread_cond_init(&a->turned, NULL) != 0)
        goto no_turned;
    if (tl_ordered_open(&a->workers, WORKERS, SLOTS, make, a, e) < 0)
        goto no_workers;
    *out = a;
    return 0;
no_workers:
    pthread_cond_destroy(&a->turned);
no_turned:
    pthread_mutex_destroy(&a->lock);
no_lock:
    free(a);
no_memory:
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match calls");
}

int tl_call_ahead_next(tl_call_ahead *a, tl_call_rows *rows, tl_error *e)
{
    unsigned slot;
    const int status = tl_ordered_next(a->workers, &slot);
    if (status > 0)
        *rows = tl_call_rows_part(&a->rows[slot], 0, a->rows[slot].n);
    else if (status < 0 && e)
        *e = a->error;
    return status;
}

void tl_call_ahead_close(tl_call_ahead *a)
{
    if (!a)
        return;
    tl_ordered_close(a->workers);
    for (unsigned i = 0; i < SLOTS; i++)
        tl_call_rows_fini(&a->rows[i]);
    pthread_cond_destroy(&a->turned);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
