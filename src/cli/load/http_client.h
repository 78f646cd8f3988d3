/* Requests to a server over HTTP, with libcurl; http_absent.c in builds without it. */
#ifndef TL_CLI_HTTP_CLIENT_H
#define TL_CLI_HTTP_CLIENT_H

#include <stdbool.h>

#include "base/protobuf.h"
#include "traceloom/error.h"

#define TL_REPLY_MOST ((size_t)64 << 20) /* bytes of a reply that is kept */

typedef struct tl_http tl_http;

typedef struct tl_http_body {
    size_t (*read)(const void *arg, uint64_t at, void *to, size_t n); /* 0: end */
    const void *arg;
    uint64_t size;
} tl_http_body;

/* A connection to "http://host:port" or https; the other words may be NULL and are copied. *out belongs to the caller.
 * Errors: TL_EUNSUPPORTED (built without libcurl), TL_ENOMEM. */
int tl_http_open(tl_http **out, const char *address, const char *user, const char *password, tl_error *e);
void tl_http_close(tl_http *h); /* NULL is fine */
const char *tl_http_address(const tl_http *h);
/* Seconds that a request may take; 0: any time. */
void tl_http_set_timeout(tl_http *h, long seconds);
/* Is looked at while an answer is waited for: true ends the request with TL_ELIMIT, "interrupted". */
void tl_http_set_stop(tl_http *h, bool (*is_stopped)(void));

/* Adds "&name=value" to a query, with whatever needs it escaped. */
void tl_http_put(tl_pb *query, const char *name, const char *value);

/* POSTs a body to /?query, a NUL-terminated text. 0: `reply` is the server's answer, NUL-terminated. Errors: TL_EIO
 * (there is no answer: whether the server did what it was asked for is not known), TL_EINVAL (the server refuses: the
 * message is its own, and begins with its number: *code), TL_ELIMIT (the answer is longer than TL_REPLY_MOST). */
int tl_http_post(tl_http *h, const char *query, const tl_http_body *body, tl_pb *reply, int *code, tl_error *e);

/* The same, for answers of any length: gives parts of it as they come. */
int tl_http_begin(tl_http *h, const char *query, const tl_http_body *body, tl_error *e);
/* Reads more into `reply`, behind what is there, at least a byte. 1: done; 0: the answer is complete. */
int tl_http_more(tl_http *h, tl_pb *reply, int *code, tl_error *e);

/* A request whose body does not end: the server works on it as long as we are there. POSTs `head` and zeros. */
typedef struct tl_http_hold tl_http_hold;
int tl_http_hold_begin(tl_http_hold **out, const tl_http *like, const char *query, const void *head, size_t n,
                       tl_error *e);
/* Sends some more; false: the server has ended it. */
bool tl_http_hold_on(tl_http_hold *hold);
/* Ends it, and waits for what the server says of it: some read all of a body before they refuse it. "": nothing. */
const char *tl_http_hold_said(tl_http_hold *hold);
void tl_http_hold_end(tl_http_hold *hold); /* NULL is fine */

#endif
