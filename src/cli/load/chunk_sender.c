/* Sends chunks while the next ones are made. */
#include "cli/load/chunk_sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"

#define TRIES        3u /* of sending a chunk whose reply was lost */
#define TRY_AFTER_MS 500
#define IS_RUNNING   216 /* the server's number for: a statement of this name runs already */

enum { THREADS = 2, ORDERS = THREADS + 1 };

typedef enum order_state { ORDER_FREE, ORDER_TAKEN, ORDER_READY, ORDER_SENDING } order_state;

struct tl_chunk_sender {
    tl_servers *servers;
    tl_load_lock *lock;
    int64_t trace;
    pthread_t thread[THREADS];
    uint32_t nthread, norder;
    pthread_mutex_t mutex, keeping; /* of all below; of `lock` */
    pthread_cond_t changed;
    tl_chunk_order order[ORDERS];
    order_state state[ORDERS];
    uint64_t turn[ORDERS], turns; /* of orders that are ready: the lowest is next */
    bool is_ending;
    int status;
    tl_error error;
};

/* After a reply was lost: whether the shard has the chunk after all. */
static int look_after(const tl_chunk_sender *c, tl_shard *s, const tl_chunk_order *order, const char *id, bool *there,
                      tl_error *e)
{
    int status = -1;
    for (unsigned i = 0; i < TRIES && status < 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = TRY_AFTER_MS * 1000000}, NULL);
        status = tl_load_wait_idle(s, id, e);
    }
    if (status < 0)
        return status;
    tl_shard_sql(s, "SELECT count() FROM `%s`.`%s_local` WHERE trace = %" PRId64 " AND chunk = %" PRIu32, s->database,
                 order->table, c->trace, order->number);
    status = tl_shard_run(s, e);
    *there = status == 0 && strcmp((const char *)s->reply.data, "0\n") != 0;
    return status;
}

static bool keep_lock(tl_chunk_sender *c)
{
    pthread_mutex_lock(&c->keeping);
    const bool ours = tl_load_lock_keep(c->lock);
    pthread_mutex_unlock(&c->keeping);
    return ours;
}

static int send_to(tl_chunk_sender *c, tl_shard *s, const tl_chunk_order *order, tl_error *e)
{
    char id[160];
    snprintf(id, sizeof id, "traceloom-chunk-%" PRId64 "-%s-%" PRIu32, c->trace, order->table, order->number);
    for (unsigned i = 0;; i++) {
        int code;
        bool there;
        if (!keep_lock(c))
            return tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s has ended the statement that keeps other loaders out",
                           tl_http_address(c->servers->shard[0].http));
        int status = tl_shard_insert(s, order->table, "_local", id, &order->block, &code, e);
        if (status == 0 || (status == TL_EINVAL && code != IS_RUNNING) || status == TL_ENOMEM || i + 1 == TRIES)
            return status;
        tl_error later = {0};
        const tl_error first = *e;
        status = look_after(c, s, order, id, &there, &later);
        if (status < 0)
            *e = first;
        if (status < 0 || there)
            return status;
    }
}

static void send_order(tl_chunk_sender *c, const tl_chunk_order *order)
{
    tl_error e = {0};
    tl_shard *s = &c->servers->shard[((uint64_t)c->trace + order->number) % c->servers->n];
    pthread_mutex_lock(&s->taken);
    const int status = send_to(c, s, order, &e);
    pthread_mutex_unlock(&s->taken);
    pthread_mutex_lock(&c->mutex);
    if (status < 0 && c->status == 0) {
        c->status = status;
        c->error = e;
    }
    pthread_mutex_unlock(&c->mutex);
}

/* The order that waits longest; UINT32_MAX: there is none. */
static uint32_t next_ready(const tl_chunk_sender *c)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < c->norder; i++)
        if (c->state[i] == ORDER_READY && (best == UINT32_MAX || c->turn[i] < c->turn[best]))
            best = i;
    return best;
}

static void *work(void *arg)
{
    tl_chunk_sender *c = arg;
    pthread_mutex_lock(&c->mutex);
    while (!c->is_ending) {
        const uint32_t i = next_ready(c);
        if (i == UINT32_MAX) {
            pthread_cond_wait(&c->changed, &c->mutex);
            continue;
        }
        c->state[i] = ORDER_SENDING;
        if (c->status == 0) {
            pthread_mutex_unlock(&c->mutex);
            send_order(c, &c->order[i]);
            pthread_mutex_lock(&c->mutex);
        }
        c->state[i] = ORDER_FREE;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

int tl_chunk_sender_open(tl_chunk_sender **out, tl_servers *s, tl_load_lock *lock, int64_t trace, tl_error *e)
{
    tl_chunk_sender *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to send chunks");
    c->servers = s;
    c->lock = lock;
    c->trace = trace;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_mutex_init(&c->keeping, NULL);
    pthread_cond_init(&c->changed, NULL);
    const uint32_t most = s->n < THREADS ? s->n : THREADS; /* a shard takes one chunk at a time */
    c->norder = most + 1;
    while (c->nthread < most && pthread_create(&c->thread[c->nthread], NULL, work, c) == 0)
        c->nthread++;
    *out = c;
    return 0;
}

void tl_chunk_sender_close(tl_chunk_sender *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->mutex);
    c->is_ending = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
    for (uint32_t i = 0; i < c->nthread; i++)
        pthread_join(c->thread[i], NULL);
    for (uint32_t i = 0; i < c->norder; i++)
        tl_native_fini(&c->order[i].block);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->keeping);
    pthread_mutex_destroy(&c->mutex);
    free(c);
}

/* What sending came to, with the mutex held. */
static int outcome(const tl_chunk_sender *c, tl_error *e)
{
    if (c->status < 0)
        *e = c->error;
    return c->status;
}

int tl_chunk_sender_order(tl_chunk_sender *c, tl_chunk_order **out, tl_error *e)
{
    uint32_t i = 0;
    pthread_mutex_lock(&c->mutex);
    while (c->status == 0) {
        for (i = 0; i < c->norder && c->state[i] != ORDER_FREE; i++)
            continue;
        if (i < c->norder)
            break;
        pthread_cond_wait(&c->changed, &c->mutex);
    }
    const int status = outcome(c, e);
    if (status == 0) {
        c->state[i] = ORDER_TAKEN;
        *out = &c->order[i];
    }
    pthread_mutex_unlock(&c->mutex);
    return status;
}

void tl_chunk_sender_put(tl_chunk_sender *c, tl_chunk_order *order, bool send)
{
    const size_t i = (size_t)(order - c->order);
    if (send && c->nthread == 0) /* no threads to be had */
        send_order(c, order);
    pthread_mutex_lock(&c->mutex);
    c->state[i] = send && c->nthread ? ORDER_READY : ORDER_FREE;
    c->turn[i] = c->turns++;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

int tl_chunk_sender_wait(tl_chunk_sender *c, tl_error *e)
{
    pthread_mutex_lock(&c->mutex);
    for (uint32_t i = 0; i < c->norder;)
        if (c->state[i] == ORDER_FREE)
            i++;
        else {
            pthread_cond_wait(&c->changed, &c->mutex);
            i = 0;
        }
    const int status = outcome(c, e);
    pthread_mutex_unlock(&c->mutex);
    return status;
}
