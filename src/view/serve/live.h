/* News of the inputs, sent to pages as server-sent events twice a second. */
#ifndef TL_VIEW_SERVE_LIVE_H
#define TL_VIEW_SERVE_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "view/serve/server.h"

typedef struct tl_serve_followers {
    void (*news)(void *arg, char text[static TL_SERVE_NEWS_MAX]);
    void *arg;
    atomic_bool stop;
    atomic_uint n;
} tl_serve_followers;

typedef struct tl_serve_follower tl_serve_follower;

void tl_serve_followers_init(tl_serve_followers *f, void (*news)(void *arg, char text[static TL_SERVE_NEWS_MAX]),
                             void *arg);
/* All followers end soon. */
void tl_serve_followers_stop(tl_serve_followers *f);

/* NULL: there are TL_SERVE_FOLLOWERS_MAX, or memory ran out. `gone`: see tl_serve_queue_ask(). */
tl_serve_follower *tl_serve_follow(tl_serve_followers *f, bool (*gone)(void *arg), void *arg);
/* The next bytes of its events, for libmicrohttpd; waits for them. -1: the end. */
ssize_t tl_serve_follower_read(void *follower, uint64_t at, char *text, size_t size);
void tl_serve_follower_free(void *follower);

#endif
