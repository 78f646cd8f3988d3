/* A queue of questions and the thread that answers them. Whoever asks waits in the thread of its connection, looks from
 * time to time whether its browser is still there, and cancels the question if not. */
#include "view/serve/queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/io/output.h"
#include "base/text/json_write.h"

#define LOOK_NS   100000000 /* between two looks at a connection */
#define NS_IN_A_S 1000000000

typedef struct question {
    const tl_serve_request *request;
    tl_serve_answer answer;
    bool is_done, is_cancelled;
    struct question *next;
} question;

struct tl_serve_queue {
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* there is work, or the end; a question is done */
    pthread_t thread;
    question *first, *running;
    unsigned waiting;
    bool stop;
    atomic_bool cancelled;          /* the running one */
    atomic_uint_least64_t deadline; /* of it; 0: none runs */
    uint64_t limit_ns;
    void (*answer)(void *arg, const tl_serve_request *r, tl_serve_answer *a);
    void *arg;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * (uint64_t)NS_IN_A_S + (uint64_t)t.tv_nsec;
}

int tl_serve_queue_why(const tl_serve_queue *q)
{
    if (atomic_load_explicit(&q->cancelled, memory_order_relaxed))
        return 503;
    const uint64_t deadline = atomic_load_explicit(&q->deadline, memory_order_relaxed);
    return deadline && now_ns() >= deadline ? 408 : 0;
}

bool tl_serve_queue_ends(void *queue)
{
    return tl_serve_queue_why(queue) != 0;
}

static const char *code_of(int status)
{
    switch (status) {
    case 400:
        return "request";
    case 403:
        return "site";
    case 404:
        return "missing";
    case 405:
        return "method";
    case 408:
        return "time";
    case 413:
        return "limit";
    case 421:
        return "host";
    case 429:
        return "busy";
    case 503:
        return "cancelled";
    default:
        return "failure";
    }
}

void tl_serve_refuse(tl_serve_answer *a, int status, const char *message, uint64_t offset)
{
    tl_output *out = NULL;
    tl_json j;
    *a = (tl_serve_answer){.status = status};
    if (tl_output_open_memory(&out, TL_PLAIN, NULL) < 0)
        return;
    tl_json_init(&j, out);
    tl_json_object(&j);
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key(&j, "error");
    tl_json_object(&j);
    tl_json_key_u64(&j, "status", (uint64_t)status);
    tl_json_key_string(&j, "code", code_of(status));
    tl_json_key_string(&j, "message", message);
    if (offset != TL_NO_OFFSET)
        tl_json_key_u64(&j, "offset", offset);
    tl_json_object_end(&j);
    tl_json_object_end(&j);
    tl_output_write(out, "\n", 1);
    if (tl_output_finish(out, NULL) == 0)
        a->body = tl_output_take_memory(out, &a->n);
    tl_output_close(out);
}

/* -- the thread that answers -- */

static void *work(void *queue)
{
    tl_serve_queue *q = queue;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->first && !q->stop)
            pthread_cond_wait(&q->work, &q->lock);
        if (!q->first)
            break;
        question *one = q->first;
        q->first = one->next;
        q->waiting--;
        q->running = one;
        atomic_store_explicit(&q->cancelled, one->is_cancelled || q->stop, memory_order_relaxed);
        atomic_store_explicit(&q->deadline, now_ns() + q->limit_ns, memory_order_relaxed);
        pthread_mutex_unlock(&q->lock);
        if (tl_serve_queue_ends(q))
            tl_serve_refuse(&one->answer, 503, "cancelled", TL_NO_OFFSET);
        else
            q->answer(q->arg, one->request, &one->answer);
        pthread_mutex_lock(&q->lock);
        atomic_store_explicit(&q->deadline, 0, memory_order_relaxed);
        q->running = NULL;
        one->is_done = true;
        pthread_cond_broadcast(&q->done);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

int tl_serve_queue_open(tl_serve_queue **out, void (*answer)(void *arg, const tl_serve_request *r, tl_serve_answer *a),
                        void *arg, uint64_t limit_ns, tl_error *e)
{
    tl_serve_queue *q = calloc(1, sizeof *q);
    pthread_condattr_t monotonic;
    if (!q)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the queue of questions");
    q->answer = answer;
    q->arg = arg;
    q->limit_ns = limit_ns;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->work, NULL);
    pthread_cond_init(&q->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&q->thread, NULL, work, q) != 0) {
        pthread_cond_destroy(&q->work);
        pthread_cond_destroy(&q->done);
        pthread_mutex_destroy(&q->lock);
        free(q);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no thread for questions");
    }
    *out = q;
    return 0;
}

void tl_serve_queue_stop(tl_serve_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    atomic_store_explicit(&q->cancelled, true, memory_order_relaxed);
    pthread_cond_broadcast(&q->work);
    pthread_cond_broadcast(&q->done);
    pthread_mutex_unlock(&q->lock);
}

void tl_serve_queue_close(tl_serve_queue *q)
{
    if (!q)
        return;
    pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->done);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* -- those who ask, under the lock -- */

static void cancel(tl_serve_queue *q, question *one)
{
    one->is_cancelled = true;
    if (one == q->running)
        atomic_store_explicit(&q->cancelled, true, memory_order_relaxed);
    pthread_cond_broadcast(&q->done); /* whoever asked it looks */
}

/* Takes a question out of the queue; false if it runs, or has run. */
static bool withdraw(tl_serve_queue *q, question *one)
{
    for (question **at = &q->first; *at; at = &(*at)->next)
        if (*at == one) {
            *at = one->next;
            q->waiting--;
            return true;
        }
    return false;
}

static bool is_of_slot(const question *one, const tl_serve_request *r)
{
    return one && r->slot && one->request->slot && strcmp(one->request->slot, r->slot) == 0;
}

/* Cancels what the new question replaces. False: a newer one was asked already. */
static bool replace(tl_serve_queue *q, const tl_serve_request *r)
{
    bool is_newest = true;
    for (question *one = q->running ? q->running : q->first; one; one = one == q->running ? q->first : one->next) {
        if (!is_of_slot(one, r))
            continue;
        if (one->request->seq > r->seq)
            is_newest = false;
        else
            cancel(q, one);
    }
    return is_newest;
}

static void add(tl_serve_queue *q, question *one)
{
    question **end = &q->first;
    while (*end)
        end = &(*end)->next;
    *end = one;
    q->waiting++;
    pthread_cond_signal(&q->work);
}

/* Waits until it is done, or was withdrawn. */
static bool wait_for(tl_serve_queue *q, question *one, bool (*gone)(void *arg), void *arg)
{
    while (!one->is_done) {
        struct timespec until;
        if ((one->is_cancelled || q->stop) && withdraw(q, one))
            return false;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / NS_IN_A_S;
        until.tv_nsec %= NS_IN_A_S;
        pthread_cond_timedwait(&q->done, &q->lock, &until);
        if (!one->is_done && !one->is_cancelled && gone(arg))
            cancel(q, one);
    }
    return true;
}

void tl_serve_queue_ask(tl_serve_queue *q, const tl_serve_request *r, bool (*gone)(void *arg), void *arg,
                        tl_serve_answer *a)
{
    question one = {.request = r};
    int refusal = 0;
    pthread_mutex_lock(&q->lock);
    if (q->stop || !replace(q, r))
        refusal = 503;
    else if (q->waiting >= TL_SERVE_WAITING_MAX)
        refusal = 429;
    if (!refusal) {
        add(q, &one);
        refusal = wait_for(q, &one, gone, arg) ? 0 : 503;
    }
    pthread_mutex_unlock(&q->lock);
    *a = one.answer;
    if (refusal)
        tl_serve_refuse(a, refusal, refusal == 429 ? "too many questions wait" : "cancelled", TL_NO_OFFSET);
}
