/* One loader at a time for each trace. */
#include "cli/load/load_lock.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"

#define WAIT_STEP_MS 200
#define IDLE_MS      600000u
#define LOCK_ROWS    (UINT64_C(1) << 24) /* that are promised, a byte each: more than are ever sent */
#define IS_RUNNING   "Code: 216,"        /* the server's answer where a statement of this name runs already */

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

int tl_load_wait_idle(tl_shard *s, const char *id, tl_error *e)
{
    for (unsigned waited = 0;; waited += WAIT_STEP_MS) {
        tl_shard_sql(s, "SELECT count() FROM system.processes WHERE query_id LIKE '%s'", id);
        const int status = tl_shard_run(s, e);
        if (status < 0 || strcmp((const char *)s->reply.data, "0\n") == 0)
            return status;
        if (waited > IDLE_MS)
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s: a statement of a loader does not end",
                           tl_http_address(s->http));
        pause_ms(WAIT_STEP_MS);
    }
}

/* The beginning of a block of a column of bytes: the server waits for the rest of it, which never comes, so that it
 * stores nothing. */
static size_t begin_of_block(uint8_t head[32])
{
    static const char column[] = "\001x\005UInt8";
    size_t n = 0;
    head[n++] = 1;
    uint64_t rows = LOCK_ROWS;
    for (; rows > 127; rows >>= 7)
        head[n++] = (uint8_t)(rows | 128);
    head[n++] = (uint8_t)rows;
    memcpy(head + n, column, sizeof column - 1);
    return n + sizeof column - 1;
}

/* Whether the statement that the server works on is ours. */
static int look(tl_shard *s, const char *name, uint64_t mark, bool *ours, tl_error *e)
{
    char expected[32];
    snprintf(expected, sizeof expected, "loader %016" PRIx64, mark);
    tl_shard_sql(s, "SELECT count() FROM system.processes WHERE query_id = '%s' AND position(query, '%s') > 0", name,
                 expected);
    const int status = tl_shard_run(s, e);
    *ours = status == 0 && strcmp((const char *)s->reply.data, "1\n") == 0;
    return status;
}

static int try_lock(tl_load_lock *l, tl_shard *s, uint64_t mark, tl_error *e)
{
    char sql[256];
    uint8_t head[32];
    const size_t n = begin_of_block(head);
    snprintf(sql, sizeof sql, "INSERT INTO `%s`.loading /* loader %016" PRIx64 " */ FORMAT Native", s->database, mark);
    tl_pb_clear(&s->url);
    tl_http_put(&s->url, "query", sql);
    tl_http_put(&s->url, "query_id", l->name);
    tl_http_put(&s->url, "http_receive_timeout", "600");
    tl_pb_raw(&s->url, "", 1);
    if (s->url.failed)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    return tl_http_hold_begin(&l->hold, s->http, (const char *)s->url.data, head, n, e);
}

/* Why it is not ours: another one's, or a refusal. */
static int judge_end(tl_load_lock *l, const tl_shard *s, tl_error *e)
{
    const char *said = tl_http_hold_said(l->hold);
    if (strncmp(said, IS_RUNNING, strlen(IS_RUNNING)) == 0)
        return 0;
    return tl_fail(e, *said ? TL_EINVAL : TL_EIO, TL_NO_OFFSET, "%s: %s", tl_http_address(s->http),
                   *said ? said : "it does not answer");
}

int tl_load_lock_take(tl_load_lock *l, tl_servers *s, int64_t trace, const tl_cli *c, const char *path, tl_error *e)
{
    enum { LOOKS = 25, WHILE_MS = 40 };
    tl_shard *first = &s->shard[0];
    uint64_t mark = 0;
    bool ours = false, said = false;
    char pattern[64];
    int status = 0;
    if (getrandom(&mark, sizeof mark, 0) != sizeof mark)
        mark = (uint64_t)getpid();
    *l = (tl_load_lock){0};
    snprintf(l->name, sizeof l->name, "traceloom-lock-%" PRId64, trace);
    while (status == 0 && !ours) {
        status = try_lock(l, first, mark, e);
        for (unsigned i = 0; i < LOOKS && status == 0 && !ours && tl_http_hold_on(l->hold); i++) {
            status = look(first, l->name, mark, &ours, e);
            if (status == 0 && !ours)
                pause_ms(WHILE_MS);
        }
        if (status == 0 && !ours)
            status = judge_end(l, first, e);
        if (status < 0 || ours)
            break;
        tl_load_lock_fini(l);
        if (!said)
            tl_say(c, path, "another loader has this trace; waiting for it");
        said = true;
        pause_ms(WAIT_STEP_MS);
    }
    snprintf(pattern, sizeof pattern, "traceloom-chunk-%" PRId64 "-%%", trace);
    for (uint32_t i = 0; i < s->n && status == 0; i++)
        status = tl_load_wait_idle(&s->shard[i], pattern, e);
    return status;
}

bool tl_load_lock_keep(tl_load_lock *l)
{
    return tl_http_hold_on(l->hold);
}

void tl_load_lock_fini(tl_load_lock *l)
{
    tl_http_hold_end(l->hold);
    l->hold = NULL;
}
