/* The HTTP server: libmicrohttpd with a thread for each connection. */
#include "view/serve/server.h"

#include "base/compiler.h"

#ifdef TL_HAVE_SERVE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* POLLRDHUP */
#endif

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "view/serve/guard.h"
#include "view/serve/live.h"

#define SPARE_S   10u /* a connection lives longer than a question */
#define NS_IN_A_S UINT64_C(1000000000)

struct tl_server {
    struct MHD_Daemon *daemon;
    tl_serve_queue *queue;
    tl_server_options o;
    tl_serve_followers followers;
};

/* A request, from its first line on. */
typedef struct visit {
    char *uri;    /* NULL: memory ran out */
    bool is_seen; /* its headers are right */
    tl_serve_request request;
} visit;

static void answer_one(void *server, const tl_serve_request *r, tl_serve_answer *a)
{
    const tl_server *s = server;
    s->o.answer(s->o.arg, s->queue, r, a);
}

/* -- responses -- */

static void add_headers(const tl_server *s, struct MHD_Response *r, const char *type)
{
    const char *const header[][2] = {{"Content-Type", type},
                                     {"Content-Security-Policy", strncmp(type, "text/html", 9) == 0
                                                                     ? s->o.policy
                                                                     : "default-src 'none'; frame-ancestors 'none'"},
                                     {"Cross-Origin-Resource-Policy", "same-origin"},
                                     {"Cross-Origin-Opener-Policy", "same-origin"},
                                     {"X-Frame-Options", "DENY"},
                                     {"X-Content-Type-Options", "nosniff"},
                                     {"Referrer-Policy", "no-referrer"},
                                     {"Cache-Control", "no-store"}};
    for (size_t i = 0; i < TL_COUNT(header); i++)
        MHD_add_response_header(r, header[i][0], header[i][1]);
}

static enum MHD_Result send_body(const tl_server *s, struct MHD_Connection *c, int status, const char *type, char *body,
                                 size_t n)
{
    struct MHD_Response *r = body ? MHD_create_response_from_buffer(n, body, MHD_RESPMEM_MUST_FREE) : NULL;
    if (!r) {
        free(body);
        return MHD_NO; /* closes the connection */
    }
    add_headers(s, r, type);
    if (status == 405)
        MHD_add_response_header(r, "Allow", "GET");
    if (status >= 400) /* what else comes on this connection is not worth looking at */
        MHD_add_response_header(r, "Connection", "close");
    const enum MHD_Result done = MHD_queue_response(c, (unsigned)status, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result send_answer(const tl_server *s, struct MHD_Connection *c, const tl_serve_answer *a)
{
    return send_body(s, c, a->status, "application/json; charset=utf-8", a->body, a->n);
}

static enum MHD_Result refuse(const tl_server *s, struct MHD_Connection *c, int status, const char *why,
                              uint64_t offset)
{
    tl_serve_answer a;
    tl_serve_refuse(&a, status, why, offset);
    return send_answer(s, c, &a);
}

/* -- requests -- */

static void *begin(void *server, const char *uri, struct MHD_Connection *c)
{
    visit *v = calloc(1, sizeof *v);
    (void)server;
    (void)c;
    if (v)
        v->uri = strdup(uri);
    return v;
}

static void end(void *server, struct MHD_Connection *c, void **visit_, enum MHD_RequestTerminationCode why)
{
    visit *v = *visit_;
    (void)server;
    (void)c;
    (void)why;
    if (v)
        free(v->uri);
    free(v);
    *visit_ = NULL;
}

static enum MHD_Result look_at(void *headers, enum MHD_ValueKind kind, const char *name, const char *value)
{
    tl_serve_headers *h = headers;
    (void)kind;
    if (strcasecmp(name, "Host") == 0) {
        h->host = value;
        h->hosts++;
    } else if (strcasecmp(name, "Sec-Fetch-Site") == 0) {
        h->site = value;
        h->sites++;
    } else if (strcasecmp(name, "Sec-Fetch-Mode") == 0) {
        h->mode = value;
    } else if (strcasecmp(name, "Sec-Fetch-Dest") == 0) {
        h->dest = value;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        h->has_body = h->has_body || !value || strcmp(value, "0") != 0;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        h->has_body = true;
    }
    return MHD_YES;
}

/* Has the browser closed its end? */
static bool is_gone(void *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd fd = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};
    return poll(&fd, 1, 0) > 0 && fd.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

static enum MHD_Result send_page(const tl_server *s, struct MHD_Connection *c)
{
    char *body = NULL;
    size_t n = 0;
    return s->o.page(s->o.arg, &body, &n) ? send_body(s, c, 200, "text/html; charset=utf-8", body, n) : MHD_NO;
}

static enum MHD_Result follow(tl_server *s, struct MHD_Connection *c)
{
    tl_serve_follower *f = tl_serve_follow(&s->followers, is_gone, c);
    if (!f)
        return refuse(s, c, 429, "too many pages wait for news", TL_NO_OFFSET);
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, tl_serve_follower_read, f, tl_serve_follower_free);
    if (!r) {
        tl_serve_follower_free(f);
        return MHD_NO;
    }
    add_headers(s, r, "text/event-stream");
    const enum MHD_Result done = MHD_queue_response(c, 200, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result handle(void *server, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **visit_)
{
    tl_server *s = server;
    visit *v = *visit_;
    tl_serve_headers headers = {.method = method};
    tl_serve_answer a = {0};
    tl_error e = {0};
    const char *why = NULL;
    (void)url;
    (void)version;
    (void)data;
    (void)size;
    if (!v || !v->uri)
        return MHD_NO;
    MHD_get_connection_values(c, MHD_HEADER_KIND, look_at, &headers);
    int refusal = tl_serve_guard(&headers, &why);
    if (refusal)
        return refuse(s, c, refusal, why, TL_NO_OFFSET);
    if (!v->is_seen) { /* libmicrohttpd comes again; an answer now would close the connection */
        v->is_seen = true;
        return MHD_YES;
    }
    const int status = tl_serve_request_parse(&v->request, v->uri, s->o.token, &e);
    if (status < 0)
        return refuse(s, c, status == TL_ENOMATCH ? 404 : status == TL_ELIMIT ? 413 : 400, e.message, e.offset);
    refusal = tl_serve_guard_site(&headers, v->request.what == TL_SERVE_PAGE, &why);
    if (refusal)
        return refuse(s, c, refusal, why, TL_NO_OFFSET);
    if (v->request.what == TL_SERVE_PAGE)
        return send_page(s, c);
    if (v->request.what == TL_SERVE_LIVE)
        return follow(s, c);
    tl_serve_queue_ask(s->queue, &v->request, is_gone, c, &a);
    return send_answer(s, c, &a);
}

/* -- the server -- */

int tl_server_start(tl_server **out, int socket, const tl_server_options *o, tl_error *e)
{
    tl_server *s = calloc(1, sizeof *s);
    int status = s ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the server");
    if (status == 0) {
        s->o = *o;
        tl_serve_followers_init(&s->followers, o->news, o->arg);
        status = tl_serve_queue_open(&s->queue, answer_one, s, o->limit_ns, e);
    }
    if (status < 0) {
        close(socket);
        free(s);
        return status;
    }
    const unsigned seconds = (unsigned)(o->limit_ns / NS_IN_A_S) + SPARE_S;
    s->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL, NULL, handle, s,
        MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT, TL_SERVE_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)TL_SERVE_MEMORY_MAX,
        MHD_OPTION_URI_LOG_CALLBACK, begin, s, MHD_OPTION_NOTIFY_COMPLETED, end, s, MHD_OPTION_END);
    if (!s->daemon) {
        close(socket);
        tl_server_stop(s);
        return tl_fail(e, TL_EIO, TL_NO_OFFSET, "the HTTP server cannot start");
    }
    *out = s;
    return 0;
}

void tl_server_stop(tl_server *s)
{
    if (!s)
        return;
    tl_serve_queue_stop(s->queue);
    tl_serve_followers_stop(&s->followers);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    tl_serve_queue_close(s->queue);
    free(s);
}

#else

#include <unistd.h>

int tl_server_start(tl_server **out, int socket, const tl_server_options *o, tl_error *e)
{
    (void)out;
    (void)o;
    close(socket);
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build has no server: it was made without libmicrohttpd");
}

void tl_server_stop(tl_server *s)
{
    (void)s;
}

#endif
