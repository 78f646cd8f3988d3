/* Loads one table of one trace, exactly once. */
#include "cli/load/load_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"

#define ROUNDS       4u /* of asking, sending and mending */
#define TRIES        3u /* of sending a chunk whose reply was lost */
#define TRY_AFTER_MS 500
#define IS_RUNNING   216 /* the server's number for: a statement of this name runs already */

typedef enum chunk_state { CHUNK_THERE, CHUNK_MISSING, CHUNK_WRONG } chunk_state;

void tl_load_table_fini(tl_load_table *t)
{
    free(t->expected);
    free(t->found);
    t->expected = NULL;
    t->found = NULL;
}

static int by_chunk(const void *a, const void *b)
{
    const tl_chunk_found *x = a, *y = b;
    return x->chunk != y->chunk ? (x->chunk < y->chunk ? -1 : 1) : (x->shard > y->shard) - (x->shard < y->shard);
}

/* chunk: one of them, or UINT32_MAX for all. */
static int ask_shard(tl_load_table *t, uint32_t shard, uint32_t chunk, tl_error *e)
{
    tl_servers *s = t->servers;
    tl_servers_sql(s, "SELECT chunk, count(), ");
    tl_server_put_sum(&s->sql, t->query, t->table);
    tl_servers_add(s, " FROM `%s`.`%s_local` WHERE trace = %" PRId64, s->database, t->name, t->trace);
    if (chunk != UINT32_MAX)
        tl_servers_add(s, " AND chunk = %" PRIu32, chunk);
    tl_servers_add(s, " GROUP BY chunk");
    const int status = tl_servers_run(s, shard, e);
    if (status < 0)
        return status;
    for (const char *p = (const char *)s->reply.data; *p;) {
        if (!TL_GROW(t->found, t->nfound, 1, t->found_room))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of chunks");
        tl_chunk_found *f = &t->found[t->nfound++];
        f->shard = shard;
        f->chunk = (uint32_t)tl_servers_number(&p);
        f->rows = tl_servers_number(&p);
        f->sum = tl_servers_number(&p);
    }
    return 0;
}

int tl_load_table_ask(tl_load_table *t, tl_error *e)
{
    int status = 0;
    t->nfound = 0;
    for (uint32_t i = 0; i < t->servers->n && status == 0; i++)
        status = ask_shard(t, i, UINT32_MAX, e);
    if (t->nfound)
        qsort(t->found, t->nfound, sizeof *t->found, by_chunk);
    return status;
}

/* The first place that has a chunk, or where it would be. */
static uint32_t place_of(const tl_load_table *t, uint32_t chunk)
{
    uint32_t low = 0, high = t->nfound;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (t->found[middle].chunk < chunk)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static chunk_state state_of(const tl_load_table *t, uint32_t chunk, const tl_chunk_facts *facts)
{
    const uint32_t at = place_of(t, chunk);
    if (at == t->nfound || t->found[at].chunk != chunk)
        return CHUNK_MISSING;
    const bool once = at + 1 == t->nfound || t->found[at + 1].chunk != chunk;
    return once && t->found[at].rows == facts->rows && t->found[at].sum == facts->sum ? CHUNK_THERE : CHUNK_WRONG;
}

void tl_load_table_judge(const tl_load_table *t, uint64_t *missing, uint64_t *wrong)
{
    *missing = *wrong = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const chunk_state state = state_of(t, i, &t->expected[i]);
        *missing += state == CHUNK_MISSING;
        *wrong += state == CHUNK_WRONG;
    }
    for (uint32_t i = place_of(t, t->n); i < t->nfound; i++)
        *wrong += i == 0 || t->found[i - 1].chunk != t->found[i].chunk;
}

/* -- changing ------------------------------------------------------------------------------------------------------ */

static int wait_for_mutations(tl_load_table *t, uint32_t shard, tl_error *e)
{
    tl_servers *s = t->servers;
    for (unsigned i = 0; i < 6000; i++) {
        tl_servers_sql(s,
                       "SELECT count() FROM system.mutations WHERE database = '%s' AND table = '%s_local' AND NOT "
                       "is_done",
                       s->database, t->name);
        const int status = tl_servers_run(s, shard, e);
        if (status < 0 || strcmp((const char *)s->reply.data, "0\n") == 0)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s: removing a chunk of %s takes too long",
                   tl_http_address(s->shard[shard]), t->name);
}

/* Removes what all shards have of a chunk. */
static int remove_chunk(tl_load_table *t, uint32_t chunk, tl_error *e)
{
    int status = 0;
    for (uint32_t i = place_of(t, chunk); i < t->nfound && t->found[i].chunk == chunk && status == 0; i++) {
        tl_servers *s = t->servers;
        tl_servers_sql(s, "ALTER TABLE `%s`.`%s_local` DELETE WHERE trace = %" PRId64 " AND chunk = %" PRIu32,
                       s->database, t->name, t->trace, chunk);
        status = tl_servers_run(s, t->found[i].shard, e);
        if (status == 0)
            status = wait_for_mutations(t, t->found[i].shard, e);
    }
    return status;
}

/* After a reply was lost: whether the shard has the chunk after all. */
static int look_after(tl_load_table *t, uint32_t shard, const char *id, const tl_load_chunk *chunk, bool *there,
                      tl_error *e)
{
    int status = -1;
    for (unsigned i = 0; i < TRIES && status < 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = TRY_AFTER_MS * 1000000}, NULL);
        status = tl_load_wait_idle(t->servers, shard, id, e);
    }
    const uint32_t before = t->nfound;
    if (status == 0)
        status = ask_shard(t, shard, chunk->number, e);
    *there = status == 0 && t->nfound > before;
    t->nfound = before;
    return status;
}

/* Whether it was stored right is asked later, of all chunks at once. */
static int send_chunk(tl_load_table *t, const tl_load_chunk *chunk, tl_error *e)
{
    const uint32_t shard = (uint32_t)(((uint64_t)t->trace + chunk->number) % t->servers->n);
    char id[160];
    snprintf(id, sizeof id, "traceloom-chunk-%" PRId64 "-%s-%" PRIu32, t->trace, t->name, chunk->number);
    for (unsigned i = 0;; i++) {
        int code;
        bool there;
        if (!tl_load_lock_keep(t->lock))
            return tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s has ended the statement that keeps other loaders out",
                           tl_http_address(t->servers->shard[0]));
        int status = tl_servers_insert(t->servers, shard, t->name, "_local", id, chunk->block, &code, e);
        if (status == 0 || (status == TL_EINVAL && code != IS_RUNNING) || status == TL_ENOMEM || i + 1 == TRIES)
            return status;
        tl_error later = {0};
        const tl_error first = *e;
        status = look_after(t, shard, id, chunk, &there, &later);
        if (status < 0)
            *e = first;
        if (status < 0 || there)
            return status;
    }
}

bool tl_load_table_expect(tl_load_table *t, const tl_chunk_facts *facts)
{
    if (!TL_GROW(t->expected, t->n, 1, t->room))
        return false;
    t->expected[t->n++] = *facts;
    t->rows += facts->rows;
    return true;
}

static int mend(tl_load_table *t, const tl_load_chunk *chunk, tl_error *e)
{
    const tl_chunk_facts facts = {chunk->rows, chunk->sum};
    if (!tl_load_table_expect(t, &facts))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of chunks");
    const chunk_state state = state_of(t, chunk->number, &facts);
    if (!t->lock || state == CHUNK_THERE)
        return 0;
    int status = state == CHUNK_WRONG ? remove_chunk(t, chunk->number, e) : 0;
    if (status == 0)
        status = send_chunk(t, chunk, e);
    t->sent += status == 0;
    return status;
}

/* Reads the rows, and sends the chunks that the shards do not have. */
static int pass(tl_load_table *t, tl_error *e)
{
    tl_load_rows *rows = NULL;
    tl_load_chunk chunk;
    t->n = 0;
    t->rows = 0;
    int status = tl_load_rows_open(&rows, t->query, t->table, t->trace, t->day, e);
    while (status >= 0 && (status = tl_load_rows_next(rows, &chunk, e)) > 0)
        status = mend(t, &chunk, e);
    tl_load_rows_close(rows);
    return status;
}

static int remove_others(tl_load_table *t, tl_error *e)
{
    int status = 0;
    for (uint32_t i = place_of(t, t->n); t->lock && i < t->nfound && status == 0; i++)
        if (i == 0 || t->found[i - 1].chunk != t->found[i].chunk)
            status = remove_chunk(t, t->found[i].chunk, e);
    return status;
}

int tl_load_table_run(tl_load_table *t, tl_error *e)
{
    uint64_t missing = 1, wrong = 0;
    int status = 0;
    for (unsigned i = 0; i < ROUNDS && status == 0 && missing + wrong > 0; i++) {
        status = tl_load_table_ask(t, e);
        if (status == 0 && i > 0) {
            tl_load_table_judge(t, &missing, &wrong);
            if (missing + wrong == 0)
                break;
        }
        if (status == 0)
            status = pass(t, e);
        if (status < 0)
            break;
        tl_load_table_judge(t, &missing, &wrong);
        if (i == 0) {
            t->missing = missing;
            t->wrong = wrong;
        }
        status = remove_others(t, e);
        if (!t->lock)
            return status;
    }
    if (status == 0 && missing + wrong > 0) {
        status = tl_load_table_ask(t, e);
        tl_load_table_judge(t, &missing, &wrong);
        if (status == 0 && missing + wrong > 0)
            return tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s: %" PRIu64 " chunks are not as they were sent", t->name,
                           missing + wrong);
    }
    return status;
}
