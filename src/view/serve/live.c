/* A follower is a connection whose thread sends an event, sleeps, and sends the next one. */
#include "view/serve/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP_NS 50000000L /* between two looks whether to end */
#define STEPS   10u       /* between two events */

struct tl_serve_follower {
    tl_serve_followers *all;
    bool (*gone)(void *arg);
    void *arg;
    bool has_begun;
    size_t n, at; /* of the event */
    char event[TL_SERVE_NEWS_MAX + 16];
};

void tl_serve_followers_init(tl_serve_followers *f, void (*news)(void *arg, char text[static TL_SERVE_NEWS_MAX]),
                             void *arg)
{
    *f = (tl_serve_followers){.news = news, .arg = arg};
}

void tl_serve_followers_stop(tl_serve_followers *f)
{
    atomic_store(&f->stop, true);
}

tl_serve_follower *tl_serve_follow(tl_serve_followers *all, bool (*gone)(void *arg), void *arg)
{
    tl_serve_follower *f = NULL;
    if (atomic_fetch_add(&all->n, 1) < TL_SERVE_FOLLOWERS_MAX)
        f = calloc(1, sizeof *f);
    if (!f) {
        atomic_fetch_sub(&all->n, 1);
        return NULL;
    }
    f->all = all;
    f->gone = gone;
    f->arg = arg;
    return f;
}

void tl_serve_follower_free(void *follower)
{
    tl_serve_follower *f = follower;
    atomic_fetch_sub(&f->all->n, 1);
    free(f);
}

/* False: nobody waits for more. */
static bool pause_between(const tl_serve_follower *f)
{
    const struct timespec step = {.tv_nsec = STEP_NS};
    for (unsigned i = 0; i < STEPS; i++) {
        if (atomic_load(&f->all->stop) || f->gone(f->arg))
            return false;
        nanosleep(&step, NULL);
    }
    return true;
}

ssize_t tl_serve_follower_read(void *follower, uint64_t at, char *text, size_t size)
{
    tl_serve_follower *f = follower;
    char news[TL_SERVE_NEWS_MAX];
    (void)at;
    if (f->at == f->n) {
        if (f->has_begun && !pause_between(f))
            return -1;
        if (atomic_load(&f->all->stop))
            return -1;
        f->has_begun = true;
        f->all->news(f->all->arg, news);
        f->n = (size_t)snprintf(f->event, sizeof f->event, "data: %s\n\n", news);
        f->at = 0;
    }
    const size_t n = f->n - f->at < size ? f->n - f->at : size;
    memcpy(text, f->event + f->at, n);
    f->at += n;
    return (ssize_t)n;
}
