/* Questions that wait for their answers: one is answered at a time, by a thread of its own. */
#ifndef TL_VIEW_SERVE_QUEUE_H
#define TL_VIEW_SERVE_QUEUE_H

#include "view/serve/request.h"

#define TL_SERVE_WAITING_MAX 12u /* questions that wait: fewer than connections, so that others are told */

/* What a question comes to. The body belongs to whoever takes it: free(). */
typedef struct tl_serve_answer {
    int status; /* of HTTP */
    char *body; /* JSON; NULL: memory ran out */
    size_t n;
} tl_serve_answer;

typedef struct tl_serve_queue tl_serve_queue;

/* `answer` answers questions, in one thread. It is asked to end early by tl_serve_queue_ends(). Errors: TL_ENOMEM. */
int tl_serve_queue_open(tl_serve_queue **out, void (*answer)(void *arg, const tl_serve_request *r, tl_serve_answer *a),
                        void *arg, uint64_t limit_ns, tl_error *e);
/* Ends the running question and all that wait. */
void tl_serve_queue_stop(tl_serve_queue *q);
/* After tl_serve_queue_stop(), when nobody asks any more. NULL is fine. */
void tl_serve_queue_close(tl_serve_queue *q);

/* Asks, and waits for the answer. `gone` is asked now and then whether anybody still waits for it. A question whose
 * slot is asked again with a larger number ends. */
void tl_serve_queue_ask(tl_serve_queue *q, const tl_serve_request *r, bool (*gone)(void *arg), void *arg,
                        tl_serve_answer *a);

/* Should the running question end? Any thread that works on it may ask. */
bool tl_serve_queue_ends(void *queue);
/* Why: 408 for too long, 503 for cancelled; 0: it should not. */
int tl_serve_queue_why(const tl_serve_queue *queue);

/* An answer that is an error: {"schema":1,"error":{"status":404,"code":"missing","message":".."}}. */
void tl_serve_refuse(tl_serve_answer *a, int status, const char *message, uint64_t offset);

#endif
