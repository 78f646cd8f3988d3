/* query --server. */
#include "cli/query/query_server.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/compiler.h"
#include "cli/load/server_link.h"
#include "cli/message.h"
#include "cli/query/query_stop.h"
#include "query/server/server_rows.h"
#include "query/server/server_sql.h"

#define SAID_MOST     400u /* bytes of a server's message */
#define GRACE_SECONDS 10u  /* that a server has to end a statement whose time is over */

typedef struct server_job {
    tl_query_job *job;
    tl_servers servers;
    char id[48]; /* of the statement */
    char room[256];
} server_job;

int tl_query_server_check(tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    const char *option = tl_first_given(a, "each schema export explain");
    j->to.first = true;
    j->is_ns = true;
    j->to.is_stopped = tl_query_is_stopped;
    if (!option)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "--%s is for files; of a server, SQL asks it: DESCRIBE TABLE calls", option);
    return TL_EXIT_USAGE;
}

static const tl_sql_value *parameter(void *arg, const char *name, tl_sql_value *usual)
{
    server_job *s = arg;
    const tl_query_text *t = &s->job->text;
    const tl_sql_value *v = tl_query_text_parameter(t, name);
    return !v && tl_query_text_default(t, name, s->room, sizeof s->room, usual) ? usual : v;
}

/* -- what a server says ---------------------------------------------------------------------------------------------
 */

/* Numbers of servers' errors: limits that were reached, and servers that do not reach others. */
static int code_of(int number)
{
    static const int limits[] = {158, 159, 160, 162, 165, 167, 168, 191, 241, 307, 394, 396};
    static const int network[] = {32, 99, 101, 198, 209, 210, 279, 425};
    for (size_t i = 0; i < TL_COUNT(limits); i++)
        if (number == limits[i])
            return TL_ELIMIT;
    for (size_t i = 0; i < TL_COUNT(network); i++)
        if (number == network[i])
            return TL_EIO;
    return TL_EINVAL;
}

/* Its words without those that only its programmers need. */
static int shorten(const char *address, int number, tl_error *e)
{
    static const char *const before[] = {"DB::NetException: ", "DB::Exception: "};
    static const char *const behind[] = {", e.what() = ", "Stack trace:", " (version "};
    char said[sizeof e->message];
    snprintf(said, sizeof said, "%s", e->message);
    char *text = said;
    for (size_t i = 0; i < TL_COUNT(before); i++) {
        char *found = strstr(said, before[i]);
        if (found && found < said + 160) {
            text = found + strlen(before[i]);
            break;
        }
    }
    for (size_t i = 0; i < TL_COUNT(behind); i++) {
        char *found = strstr(text, behind[i]);
        if (found)
            *found = '\0';
    }
    size_t n = strlen(text);
    while (n > 0 && strchr(" \n.", text[n - 1]))
        text[--n] = '\0';
    return tl_fail(e, code_of(number), TL_NO_OFFSET, "%s: %.*s%s", address, (int)SAID_MOST, text,
                   n > SAID_MOST ? "..." : "");
}

/* A server could not reach another one: says which of those that were named do not answer. */
static void name_silent(server_job *s, tl_error *e)
{
    for (uint32_t i = 0; i < s->servers.n; i++) {
        tl_error why = {0};
        tl_shard_sql(&s->servers.shard[i], "SELECT 1");
        if (tl_shard_run(&s->servers.shard[i], &why) == TL_EIO) {
            *e = why;
            return;
        }
    }
}

/* -- statements -----------------------------------------------------------------------------------------------------
 */

/* Only reads, and ends with the connection, or when we say so. The answer begins when the server has all of it, so that
 * an error is never behind rows. */
static int make_url(server_job *s, tl_shard *shard, tl_error *e)
{
    const tl_arguments *a = s->job->cli->args;
    char number[32];
    uint64_t mark = 0;
    if (getrandom(&mark, sizeof mark, 0) != sizeof mark)
        mark = (uint64_t)getpid();
    snprintf(s->id, sizeof s->id, "traceloom-query-%016" PRIx64, mark);
    tl_pb *url = &shard->url;
    tl_pb_clear(url);
    tl_http_put(url, "database", s->servers.database);
    tl_http_put(url, "query_id", s->id);
    tl_http_put(url, "wait_end_of_query", "1");
    tl_http_put(url, "join_use_nulls", "1");
    if (a->timeout) {
        snprintf(number, sizeof number, "%" PRIu64, a->timeout / 1000000000u + (a->timeout % 1000000000u > 0));
        tl_http_put(url, "max_execution_time", number);
    }
    if (a->memory) {
        snprintf(number, sizeof number, "%" PRIu64, a->memory);
        tl_http_put(url, "max_memory_usage", number);
    }
    tl_http_put(url, "readonly", "1");
    tl_pb_raw(url, "", 1);
    return url->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement") : 0;
}

static int more(void *arg, tl_pb *text, tl_error *e)
{
    const server_job *s = arg;
    tl_http *http = s->servers.shard[0].http;
    int number;
    const int status = tl_http_more(http, text, &number, e);
    return status == TL_EINVAL ? shorten(tl_http_address(http), number, e) : status;
}

/* A server that does not look at its connections ends it so. */
static void end_statement(server_job *s)
{
    tl_error e = {0};
    tl_shard *shard = &s->servers.shard[0];
    tl_http_set_timeout(shard->http, GRACE_SECONDS);
    tl_shard_sql(shard, "KILL QUERY WHERE query_id = '%s' ASYNC", s->id);
    (void)tl_shard_run(shard, &e);
}

static int run(server_job *s, tl_error *e)
{
    tl_query_job *j = s->job;
    tl_shard *shard = &s->servers.shard[0];
    tl_server_rows rows = {.more = more, .arg = s};
    uint64_t n = 0;
    int status = make_url(s, shard, e);
    const tl_http_body body = tl_shard_body(shard);
    if (status == 0)
        status = tl_http_begin(shard->http, (const char *)shard->url.data, &body, e);
    if (status == 0)
        status = tl_server_rows_begin(&rows, e);
    if (status == 0)
        status = j->form->print(&rows.result, &j->to, &n, e);
    tl_server_rows_fini(&rows);
    j->to.first = false;
    j->rows += n;
    if (status == TL_ELIMIT && tl_query_is_stopped())
        end_statement(s);
    if (status == TL_EIO)
        name_silent(s, e);
    return status;
}

static int run_all(server_job *s, tl_error *e)
{
    const tl_query_text *t = &s->job->text;
    tl_shard *shard = &s->servers.shard[0];
    int status = 0;
    for (const char *sql = t->sql; status == 0 && *sql;) {
        tl_pb_clear(&shard->sql);
        status = tl_server_sql(&shard->sql, &sql, parameter, s, e);
        if (status < 0 || shard->sql.n == 0)
            continue;
        tl_pb_text(&shard->sql, "\nFORMAT " TL_SERVER_FORMAT);
        status = run(s, e);
    }
    return status;
}

int tl_query_server_run(tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    server_job s = {.job = j};
    tl_error e = {0};
    int status = tl_servers_open(&s.servers, a->server, a->user, &e);
    if (status == 0) {
        tl_http *http = s.servers.shard[0].http;
        tl_query_stop_catch(NULL);
        tl_http_set_stop(http, tl_query_is_stopped);
        tl_http_set_timeout(http, a->timeout ? (long)(a->timeout / 1000000000u + 1 + GRACE_SECONDS) : 0);
        status = run_all(&s, &e);
    }
    status = status < 0 ? tl_say_failure(j->text.name, &e) : TL_EXIT_DONE;
    tl_servers_fini(&s.servers);
    return status;
}
