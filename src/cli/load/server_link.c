/* The servers of --server. */
#include "cli/load/server_link.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/pool.h"

#define REQUEST_SECONDS 600L /* of a request */
#define NAME_BYTES      64u
#define SIDE_BY_SIDE    8u /* shards that are asked at the same time */

static bool is_name(const char *s)
{
    const size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n > 0 && n <= NAME_BYTES && s[n] == '\0';
}

static int compare(const void *a, const void *b)
{
    const tl_shard *x = a, *y = b;
    return strcmp(tl_http_address(x->http), tl_http_address(y->http));
}

static int wrong(const char *why, tl_error *e)
{
    return tl_fail(e, TL_ESYNTAX, TL_NO_OFFSET, "--server: %s; http://HOST:PORT[,HOST:PORT...]/DATABASE is expected",
                   why);
}

/* One host of the list, which ends at `n` bytes. */
static int add_shard(tl_servers *s, const char *scheme, const char *host, size_t n, const char *user, tl_error *e)
{
    char address[320];
    const bool secure = strncmp(scheme, "https", 5) == 0;
    if (n == 0 || n > 256)
        return wrong(n ? "a host is too long" : "a host is missing", e);
    if (strcspn(host, "@?#%\\ \t\"'") < n)
        return wrong("a host has other characters than those of a name or an address (user and password are given by "
                     "--user and CLICKHOUSE_PASSWORD)",
                     e);
    const char *closing = memchr(host, ']', n);
    const char *from = closing ? closing : host;
    const bool has_port = memchr(from, ':', n - (size_t)(from - host)) != NULL;
    snprintf(address, sizeof address, "%s%.*s%s", secure ? "https://" : "http://", (int)n, host,
             has_port ? ""
             : secure ? ":8443"
                      : ":8123");
    for (uint32_t i = 0; i < s->n; i++)
        if (strcmp(tl_http_address(s->shard[i].http), address) == 0)
            return wrong("a shard is named twice", e);
    if (s->n == TL_SHARDS_MAX)
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "--server: more than %u shards", TL_SHARDS_MAX);
    if (!TL_RESIZE(s->shard, (size_t)s->n + 1))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the servers");
    const char *password = getenv("CLICKHOUSE_PASSWORD");
    s->shard[s->n] = (tl_shard){0};
    const int status = tl_http_open(&s->shard[s->n].http, address, user, password && *password ? password : NULL, e);
    if (status == 0)
        tl_http_set_timeout(s->shard[s->n++].http, REQUEST_SECONDS);
    return status;
}

int tl_servers_open(tl_servers *s, const char *server, const char *user, tl_error *e)
{
    *s = (tl_servers){0};
    const size_t scheme = strncmp(server, "http://", 7) == 0 ? 7 : strncmp(server, "https://", 8) == 0 ? 8 : 0;
    const char *host = server + scheme, *end = host + strcspn(host, "/");
    if (!scheme)
        return wrong("the address begins with neither http:// nor https://", e);
    if (*end != '/' || !is_name(end + 1))
        return wrong("the name of the database is missing, or has other characters than letters, digits and _", e);
    int status = 0;
    for (bool more = true; more && status == 0;) {
        const size_t n = strcspn(host, ",/");
        more = host[n] == ',';
        status = add_shard(s, server, host, n, user, e);
        host += n + 1;
    }
    if (s->n)
        qsort(s->shard, s->n, sizeof *s->shard, compare);
    s->database = strdup(end + 1);
    s->at.database = s->database;
    for (uint32_t i = 0; i < s->n; i++) {
        s->shard[i].database = s->database;
        pthread_mutex_init(&s->shard[i].taken, NULL);
    }
    if (status < 0)
        return status;
    return s->database ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the servers");
}

void tl_servers_fini(tl_servers *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        tl_shard *shard = &s->shard[i];
        tl_http_close(shard->http);
        tl_pb_fini(&shard->sql);
        tl_pb_fini(&shard->url);
        tl_pb_fini(&shard->reply);
        pthread_mutex_destroy(&shard->taken);
    }
    free(s->shard);
    free(s->database);
    free(s->cluster);
    *s = (tl_servers){0};
}

static void add(tl_pb *sql, const char *format, va_list list)
{
    char text[1024];
    const int n = vsnprintf(text, sizeof text, format, list);
    if (n < 0 || (size_t)n >= sizeof text)
        sql->failed = true;
    else
        tl_pb_raw(sql, text, (size_t)n);
}

void tl_shard_sql(tl_shard *s, const char *format, ...)
{
    va_list list;
    tl_pb_clear(&s->sql);
    va_start(list, format);
    add(&s->sql, format, list);
    va_end(list);
}

void tl_shard_add(tl_shard *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(&s->sql, format, list);
    va_end(list);
}

static size_t read_text(const void *arg, uint64_t at, void *to, size_t n)
{
    const tl_pb *text = arg;
    const size_t left = at < text->n ? text->n - (size_t)at : 0, part = n < left ? n : left;
    if (part)
        memcpy(to, text->data + (size_t)at, part);
    return part;
}

tl_http_body tl_shard_body(const tl_shard *s)
{
    return (tl_http_body){read_text, &s->sql, s->sql.n};
}

int tl_shard_run(tl_shard *s, tl_error *e)
{
    int code;
    if (s->sql.failed)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    const tl_http_body body = tl_shard_body(s);
    return tl_http_post(s->http, "default_format=TabSeparated", &body, &s->reply, &code, e);
}

typedef struct common_question {
    tl_servers *servers;
    const tl_pb *sql;
    tl_error *error; /* [servers->n] */
} common_question;

static int ask_one(void *arg, unsigned worker, uint32_t i)
{
    const common_question *q = arg;
    tl_shard *s = &q->servers->shard[i];
    (void)worker;
    tl_pb_clear(&s->sql);
    tl_pb_raw(&s->sql, q->sql->data, q->sql->n);
    s->sql.failed = s->sql.failed || q->sql->failed;
    return tl_shard_run(s, &q->error[i]);
}

int tl_servers_run_all(tl_servers *s, const tl_pb *sql, tl_error *e)
{
    common_question q = {s, sql, calloc(s->n, sizeof *q.error)};
    if (!q.error)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    const int status = tl_parallel(s->n < SIDE_BY_SIDE ? s->n : SIDE_BY_SIDE, s->n, ask_one, &q);
    for (uint32_t i = s->n; status < 0 && i-- > 0;)
        if (q.error[i].code)
            *e = q.error[i];
    free(q.error);
    return status;
}

static size_t read_block(const void *arg, uint64_t at, void *to, size_t n)
{
    return tl_native_read(arg, at, to, n);
}

int tl_shard_insert(tl_shard *s, const char *table, const char *suffix, const char *id, const tl_native_block *block,
                    int *code, tl_error *e)
{
    tl_shard_sql(s, "INSERT INTO `%s`.`%s%s` FORMAT Native", s->database, table, suffix);
    tl_pb_raw(&s->sql, "", 1);
    tl_pb_clear(&s->url);
    if (!s->sql.failed)
        tl_http_put(&s->url, "query", (const char *)s->sql.data);
    if (id)
        tl_http_put(&s->url, "query_id", id);
    tl_pb_raw(&s->url, "", 1);
    if (s->sql.failed || s->url.failed)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    const tl_http_body body = {read_block, block, tl_native_size(block)};
    return tl_http_post(s->http, (const char *)s->url.data, &body, &s->reply, code, e);
}

uint64_t tl_reply_number(const char **text)
{
    char *end;
    const uint64_t v = strtoull(*text, &end, 10);
    end += strcspn(end, "\t\n");
    *text = *end ? end + 1 : end;
    return v;
}

int tl_servers_find_cluster(tl_servers *s, const char *given, tl_error *e)
{
    if (given && !is_name(given))
        return tl_fail(e, TL_ESYNTAX, TL_NO_OFFSET, "--cluster: letters, digits and _ are expected");
    if (given || s->n == 1) {
        s->cluster = given ? strdup(given) : NULL;
        s->at.cluster = s->cluster;
        return !given || s->cluster ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the servers");
    }
    tl_shard *first = &s->shard[0];
    tl_shard_sql(first,
                 "SELECT cluster FROM system.clusters GROUP BY cluster HAVING uniqExact(shard_num) = %" PRIu32
                 " AND cluster NOT LIKE 'test\\\\_%%'",
                 s->n);
    const int status = tl_shard_run(first, e);
    if (status < 0)
        return status;
    char *name = (char *)first->reply.data;
    const size_t n = strcspn(name, "\n");
    const bool one = n > 0 && (name[n] == '\0' || name[n + 1] == '\0');
    name[n] = '\0';
    if (!one || !is_name(name))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s knows %s of %" PRIu32 " shards: --cluster names it",
                       tl_http_address(first->http), n ? "several clusters" : "no cluster", s->n);
    s->cluster = strdup(name);
    s->at.cluster = s->cluster;
    return s->cluster ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the servers");
}
