/* Requests to a server over HTTP, with libcurl. */
#ifdef TL_HAVE_CURL

#include "cli/load/http_client.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define CONNECT_SECONDS 10L
#define REFUSAL_BYTES   4096u               /* bytes of a refusal that are kept */
#define PART            ((size_t)1 << 18)   /* of an answer that is read in parts: then the server waits */
#define HOLD_FIRST      ((uint64_t)1 << 21) /* bytes: more than a server reads before it begins to work */
#define HOLD_STEP       16u
#define ANSWER_POLLS    150u /* of 100 ms: a server waits 5 s for another statement of the same name */

struct tl_http {
    CURL *curl;
    CURLM *multi;
    struct curl_slist *header;
    char *address;
    tl_pb url;
    const tl_http_body *body;
    tl_http_body parts_body; /* of tl_http_begin() */
    uint64_t at;
    tl_pb *reply;
    tl_pb refusal;
    size_t most, before; /* bytes of `reply` at most, and before this part of it */
    bool too_long, is_running, is_paused;
    long timeout;
    bool (*is_stopped)(void);
    char error[CURL_ERROR_SIZE];
};

static size_t give(char *to, size_t size, size_t n, void *arg)
{
    tl_http *h = arg;
    const size_t done = h->body ? h->body->read(h->body->arg, h->at, to, size * n) : 0;
    h->at += done;
    return done;
}

static int rewind_body(void *arg, curl_off_t offset, int origin)
{
    tl_http *h = arg;
    if (origin != SEEK_SET || offset < 0)
        return CURL_SEEKFUNC_CANTSEEK;
    h->at = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static size_t take(char *from, size_t size, size_t n, void *arg)
{
    tl_http *h = arg;
    long status = 0;
    const size_t bytes = size * n;
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        const size_t room = REFUSAL_BYTES - h->refusal.n;
        tl_pb_raw(&h->refusal, from, bytes < room ? bytes : room);
        return bytes < room ? bytes : 0; /* that is enough */
    }
    if (h->is_running && h->reply->n - h->before >= PART) {
        h->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    h->too_long = bytes > h->most - h->reply->n;
    if (h->too_long)
        return 0;
    tl_pb_raw(h->reply, from, bytes);
    return h->reply->failed ? 0 : bytes;
}

static void set_up(CURL *curl, tl_http *h)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, h->header);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 1L << 17);
    curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 1L << 20);
}

/* A header line with a value that must not end it. */
static bool add_header(tl_http *h, const char *name, const char *value)
{
    tl_pb line = {0};
    tl_pb_text(&line, name);
    tl_pb_text(&line, value);
    tl_pb_raw(&line, "", 1);
    struct curl_slist *more =
        line.failed || strpbrk(value, "\r\n") ? NULL : curl_slist_append(h->header, (const char *)line.data);
    tl_pb_fini(&line);
    h->header = more ? more : h->header;
    return more != NULL;
}

int tl_http_open(tl_http **out, const char *address, const char *user, const char *password, tl_error *e)
{
    static bool is_ready;
    if (!is_ready)
        curl_global_init(CURL_GLOBAL_DEFAULT);
    is_ready = true;
    tl_http *h = calloc(1, sizeof *h);
    bool ok = h && (h->curl = curl_easy_init()) && (h->multi = curl_multi_init()) && (h->address = strdup(address));
    ok = ok && add_header(h, "Expect:", "") && add_header(h, "Content-Type: ", "application/octet-stream");
    ok = ok && (!user || add_header(h, "X-ClickHouse-User: ", user));
    ok = ok && (!password || add_header(h, "X-ClickHouse-Key: ", password));
    if (!ok) {
        tl_http_close(h);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: cannot prepare a request", address);
    }
    set_up(h->curl, h);
    curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->error);
    curl_easy_setopt(h->curl, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(h->curl, CURLOPT_READDATA, h);
    curl_easy_setopt(h->curl, CURLOPT_SEEKFUNCTION, rewind_body);
    curl_easy_setopt(h->curl, CURLOPT_SEEKDATA, h);
    curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, h);
    *out = h;
    return 0;
}

/* Ends a request that is read in parts; if its answer is not complete, this closes the connection. */
static void abandon(tl_http *h)
{
    if (h->is_running)
        curl_multi_remove_handle(h->multi, h->curl);
    h->is_running = false;
}

void tl_http_close(tl_http *h)
{
    if (!h)
        return;
    abandon(h);
    curl_easy_cleanup(h->curl);
    curl_multi_cleanup(h->multi);
    curl_slist_free_all(h->header);
    tl_pb_fini(&h->url);
    tl_pb_fini(&h->refusal);
    free(h->address);
    free(h);
}

const char *tl_http_address(const tl_http *h)
{
    return h->address;
}

void tl_http_set_timeout(tl_http *h, long seconds)
{
    h->timeout = seconds;
}

void tl_http_set_stop(tl_http *h, bool (*is_stopped)(void))
{
    h->is_stopped = is_stopped;
}

void tl_http_put(tl_pb *query, const char *name, const char *value)
{
    static const char digit[] = "0123456789ABCDEF";
    tl_pb_text(query, query->n ? "&" : "");
    tl_pb_text(query, name);
    tl_pb_text(query, "=");
    for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
        const bool plain = (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
                           *p == '_' || *p == '-' || *p == '.';
        if (plain)
            tl_pb_raw(query, p, 1);
        else
            tl_pb_raw(query, (const char[3]){'%', digit[*p >> 4], digit[*p & 15]}, 3);
    }
}

static int make_url(tl_pb *url, const tl_http *h, const char *query, tl_error *e)
{
    tl_pb_clear(url);
    tl_pb_text(url, h->address);
    tl_pb_text(url, "/?");
    tl_pb_text(url, query);
    tl_pb_raw(url, "", 1);
    return url->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a request") : 0;
}

static int prepare(tl_http *h, const char *query, const tl_http_body *body, tl_error *e)
{
    abandon(h); /* an answer that was not read to its end */
    h->body = body;
    h->at = 0;
    h->too_long = h->is_paused = false;
    h->error[0] = '\0';
    tl_pb_clear(&h->refusal);
    curl_easy_setopt(h->curl, CURLOPT_TIMEOUT, h->timeout);
    curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(body ? body->size : 0));
    const int status = make_url(&h->url, h, query, e);
    if (status == 0)
        curl_easy_setopt(h->curl, CURLOPT_URL, (const char *)h->url.data);
    return status;
}

/* What the end of a request means. */
static int judge(tl_http *h, CURLcode result, int *code, tl_error *e)
{
    long status = 0;
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (h->too_long)
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s: an answer is longer than %zu MiB", h->address,
                       TL_REPLY_MOST >> 20);
    if (h->reply->failed || result == CURLE_OUT_OF_MEMORY)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the answer of %s", h->address);
    if (result == CURLE_OK && status == 200)
        return 0;
    if (status && status != 200 && h->refusal.n) {
        tl_pb_raw(&h->refusal, "", 1);
        const char *said = (const char *)h->refusal.data;
        if (strncmp(said, "Code: ", 6) == 0)
            *code = atoi(said + 6);
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: %s", h->address, said);
    }
    if (result == CURLE_OK)
        return tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s: HTTP status %ld", h->address, status);
    return tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s: %s", h->address, h->error[0] ? h->error : curl_easy_strerror(result));
}

int tl_http_post(tl_http *h, const char *query, const tl_http_body *body, tl_pb *reply, int *code, tl_error *e)
{
    int status = prepare(h, query, body, e);
    *code = 0;
    if (status < 0)
        return status;
    tl_pb_clear(reply);
    h->reply = reply;
    h->most = TL_REPLY_MOST;
    status = judge(h, curl_easy_perform(h->curl), code, e);
    tl_pb_raw(reply, "", 1);
    return status;
}

int tl_http_begin(tl_http *h, const char *query, const tl_http_body *body, tl_error *e)
{
    h->parts_body = *body;
    const int status = prepare(h, query, &h->parts_body, e);
    h->is_running = status == 0 && curl_multi_add_handle(h->multi, h->curl) == CURLM_OK;
    h->most = SIZE_MAX;
    return status < 0 || h->is_running ? status : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a request");
}

static int finish(tl_http *h, int *code, tl_error *e)
{
    CURLcode result = CURLE_OK;
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(h->multi, &left)) != NULL;)
        if (m->msg == CURLMSG_DONE)
            result = m->data.result;
    abandon(h);
    return judge(h, result, code, e);
}

int tl_http_more(tl_http *h, tl_pb *reply, int *code, tl_error *e)
{
    const size_t before = reply->n;
    int running = 1;
    h->reply = reply;
    h->before = before;
    *code = 0;
    if (!h->is_running)
        return 0;
    if (h->is_paused) {
        h->is_paused = false;
        curl_easy_pause(h->curl, CURLPAUSE_CONT);
    }
    while (running && reply->n == before) {
        if (h->is_stopped && h->is_stopped()) {
            abandon(h);
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "interrupted");
        }
        if (curl_multi_perform(h->multi, &running) != CURLM_OK)
            break;
        if (running && reply->n == before)
            curl_multi_poll(h->multi, NULL, 0, 1000, NULL);
    }
    if (running && reply->n > before)
        return 1;
    const int status = finish(h, code, e);
    return status < 0 ? status : reply->n > before;
}

/* -- requests that stay open --------------------------------------------------------------------------------------- */

struct tl_http_hold {
    CURL *curl;
    CURLM *multi;
    struct curl_slist *header;
    tl_pb url, head, said;
    uint64_t sent, wanted;
    bool is_ending, is_over;
};

static size_t give_some(char *to, size_t size, size_t n, void *arg)
{
    tl_http_hold *hold = arg;
    size_t done = 0;
    if (hold->is_ending)
        return 0;
    if (hold->sent >= hold->wanted)
        return CURL_READFUNC_PAUSE;
    for (; done < size * n && hold->sent < hold->wanted; done++, hold->sent++)
        to[done] = hold->sent < hold->head.n ? (char)hold->head.data[hold->sent] : '\0';
    return done;
}

static size_t take_end(char *from, size_t size, size_t n, void *arg)
{
    tl_http_hold *hold = arg;
    const size_t room = REFUSAL_BYTES - hold->said.n;
    tl_pb_raw(&hold->said, from, size * n < room ? size * n : room);
    hold->is_over = true;
    return size * n;
}

/* The headers of a connection, and that the length is not known. */
static bool copy_headers(tl_http_hold *hold, const struct curl_slist *from)
{
    bool ok = (hold->header = curl_slist_append(NULL, "Transfer-Encoding: chunked")) != NULL;
    for (; ok && from; from = from->next)
        ok = curl_slist_append(hold->header, from->data) != NULL;
    return ok;
}

/* Works on it until nothing is left to be sent, or the server has answered. */
static void work(tl_http_hold *hold)
{
    int running = 1;
    do {
        if (curl_multi_perform(hold->multi, &running) != CURLM_OK || !running)
            hold->is_over = true;
        else if (hold->sent < hold->wanted)
            curl_multi_poll(hold->multi, NULL, 0, 100, NULL);
    } while (!hold->is_over && hold->sent < hold->wanted);
}

int tl_http_hold_begin(tl_http_hold **out, const tl_http *like, const char *query, const void *head, size_t n,
                       tl_error *e)
{
    tl_http_hold *hold = calloc(1, sizeof *hold);
    bool ok = hold && (hold->curl = curl_easy_duphandle(like->curl)) && (hold->multi = curl_multi_init());
    if (ok)
        tl_pb_raw(&hold->head, head, n);
    ok = ok && !hold->head.failed && copy_headers(hold, like->header) && make_url(&hold->url, like, query, e) == 0;
    if (!ok) {
        tl_http_hold_end(hold);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a request");
    }
    curl_easy_setopt(hold->curl, CURLOPT_URL, (const char *)hold->url.data);
    curl_easy_setopt(hold->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(hold->curl, CURLOPT_HTTPHEADER, hold->header);
    curl_easy_setopt(hold->curl, CURLOPT_TIMEOUT, 0L);
    curl_easy_setopt(hold->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)-1);
    curl_easy_setopt(hold->curl, CURLOPT_READFUNCTION, give_some);
    curl_easy_setopt(hold->curl, CURLOPT_READDATA, hold);
    curl_easy_setopt(hold->curl, CURLOPT_WRITEFUNCTION, take_end);
    curl_easy_setopt(hold->curl, CURLOPT_WRITEDATA, hold);
    hold->wanted = HOLD_FIRST;
    curl_multi_add_handle(hold->multi, hold->curl);
    work(hold);
    *out = hold;
    return 0;
}

bool tl_http_hold_on(tl_http_hold *hold)
{
    hold->wanted = hold->sent + HOLD_STEP;
    curl_easy_pause(hold->curl, CURLPAUSE_CONT);
    work(hold);
    return !hold->is_over;
}

const char *tl_http_hold_said(tl_http_hold *hold)
{
    int running = 1;
    hold->is_ending = true;
    curl_easy_pause(hold->curl, CURLPAUSE_CONT);
    for (unsigned i = 0; i < ANSWER_POLLS && running && !hold->is_over; i++)
        if (curl_multi_perform(hold->multi, &running) == CURLM_OK && running && !hold->is_over)
            curl_multi_poll(hold->multi, NULL, 0, 100, NULL);
    tl_pb_raw(&hold->said, "", 1);
    return hold->said.failed ? "" : (const char *)hold->said.data;
}

void tl_http_hold_end(tl_http_hold *hold)
{
    if (!hold)
        return;
    if (hold->multi && hold->curl)
        curl_multi_remove_handle(hold->multi, hold->curl);
    curl_easy_cleanup(hold->curl);
    curl_multi_cleanup(hold->multi);
    curl_slist_free_all(hold->header);
    tl_pb_fini(&hold->url);
    tl_pb_fini(&hold->head);
    tl_pb_fini(&hold->said);
    free(hold);
}

#endif
