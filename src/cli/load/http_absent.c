/* Requests in a build without libcurl: opening a connection says so, and none exists. */
#ifndef TL_HAVE_CURL

#include "cli/load/http_client.h"

int tl_http_open(tl_http **out, const char *address, const char *user, const char *password, tl_error *e)
{
    (void)out;
    (void)address;
    (void)user;
    (void)password;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build cannot reach servers: it was made without libcurl");
}

void tl_http_close(tl_http *h)
{
    (void)h;
}

const char *tl_http_address(const tl_http *h)
{
    (void)h;
    return "";
}

void tl_http_set_timeout(tl_http *h, long seconds)
{
    (void)h;
    (void)seconds;
}

void tl_http_set_stop(tl_http *h, bool (*is_stopped)(void))
{
    (void)h;
    (void)is_stopped;
}

void tl_http_put(tl_pb *query, const char *name, const char *value)
{
    (void)query;
    (void)name;
    (void)value;
}

int tl_http_post(tl_http *h, const char *query, const tl_http_body *body, tl_pb *reply, int *code, tl_error *e)
{
    (void)code;
    (void)reply;
    return tl_http_begin(h, query, body, e);
}

int tl_http_begin(tl_http *h, const char *query, const tl_http_body *body, tl_error *e)
{
    (void)h;
    (void)query;
    (void)body;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build cannot reach servers");
}

int tl_http_more(tl_http *h, tl_pb *reply, int *code, tl_error *e)
{
    (void)h;
    (void)reply;
    (void)code;
    (void)e;
    return 0;
}

int tl_http_hold_begin(tl_http_hold **out, const tl_http *like, const char *query, const void *head, size_t n,
                       tl_error *e)
{
    (void)out;
    (void)head;
    (void)n;
    (void)like;
    (void)query;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build cannot reach servers");
}

bool tl_http_hold_on(tl_http_hold *hold)
{
    (void)hold;
    return false;
}

const char *tl_http_hold_said(tl_http_hold *hold)
{
    (void)hold;
    return "";
}

void tl_http_hold_end(tl_http_hold *hold)
{
    (void)hold;
}

#endif
