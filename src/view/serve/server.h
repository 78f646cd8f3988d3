/* The HTTP server of `serve`: whom it answers, and what. Only files of this folder know libmicrohttpd. */
#ifndef TL_VIEW_SERVE_SERVER_H
#define TL_VIEW_SERVE_SERVER_H

#include "view/serve/queue.h"

#define TL_SERVE_CONNECTIONS_MAX 16u    /* at once; others wait, or are closed */
#define TL_SERVE_FOLLOWERS_MAX   8u     /* of them, those that wait for news */
#define TL_SERVE_MEMORY_MAX      32768u /* bytes of a request's headers, and of what libmicrohttpd notes about it */
#define TL_SERVE_NEWS_MAX        256u   /* bytes of an event of /live */

typedef struct tl_server tl_server;

typedef struct tl_server_options {
    const char *token;  /* TL_SERVE_TOKEN digits. Borrowed, as the policy */
    const char *policy; /* Content-Security-Policy of the page */
    uint64_t limit_ns;  /* of a question */
    /* Answers a question, in a thread of its own: one at a time. tl_serve_queue_ends(queue) tells it when to end. */
    void (*answer)(void *arg, tl_serve_queue *queue, const tl_serve_request *r, tl_serve_answer *a);
    /* A copy of the page: *body belongs to the caller. In any thread; false: no memory. */
    bool (*page)(void *arg, char **body, size_t *n);
    /* What is new, as JSON in one line. In any thread. */
    void (*news)(void *arg, char text[static TL_SERVE_NEWS_MAX]);
    void *arg;
} tl_server_options;

/* Answers on a socket that listens, which it takes over, also on failure. Errors: TL_EUNSUPPORTED: built without
 * libmicrohttpd; TL_EIO, TL_ENOMEM. */
int tl_server_start(tl_server **out, int socket, const tl_server_options *o, tl_error *e);
/* Ends running questions, closes all connections. NULL is fine. */
void tl_server_stop(tl_server *s);

#endif
