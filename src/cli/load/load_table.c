/* Loads the tables of one trace, exactly once. */
#include "cli/load/load_table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"

#define ROUNDS 4u /* of asking, sending and mending */

typedef enum chunk_state { CHUNK_THERE, CHUNK_MISSING, CHUNK_WRONG } chunk_state;

void tl_load_tables_fini(tl_load_tables *t)
{
    for (uint32_t i = 0; t->table && i < t->n; i++) {
        free(t->table[i].expected);
        free(t->table[i].found);
    }
    free(t->table);
    t->table = NULL;
}

/* -- asking -------------------------------------------------------------------------------------------------------- */

static int by_chunk(const void *a, const void *b)
{
    const tl_chunk_found *x = a, *y = b;
    return x->chunk != y->chunk ? (x->chunk < y->chunk ? -1 : 1) : (x->shard > y->shard) - (x->shard < y->shard);
}

/* One question for all tables: the servers work on them side by side, and no table waits for an answer of its own. */
static void put_question(tl_load_tables *t, tl_load_question what, tl_pb *sql)
{
    for (uint32_t i = 0; i < t->n; i++) {
        tl_load_table *table = &t->table[i];
        if (table->is_done || (what == TL_ASK_VALUES_FOUND && table->nfound == 0))
            continue;
        table->nfound = 0;
        table->is_counted = what == TL_ASK_ROWS;
        tl_pb_text(sql, sql->n ? " UNION ALL SELECT toUInt32(" : "SELECT toUInt32(");
        tl_pb_text_u64(sql, i);
        tl_pb_text(sql, "), chunk, count(), ");
        if (table->is_counted)
            tl_pb_text(sql, "sum(seq)");
        else
            tl_server_put_sum(sql, t->query, table->table);
        tl_pb_text(sql, " FROM ");
        tl_server_put_name(sql, t->servers->database);
        tl_pb_text(sql, ".`");
        tl_pb_text(sql, table->name);
        tl_pb_text(sql, "_local` WHERE trace = ");
        tl_pb_text_i64(sql, t->trace);
        tl_pb_text(sql, " GROUP BY chunk");
    }
}

static int read_answer(tl_load_tables *t, uint32_t shard, tl_error *e)
{
    for (const char *p = (const char *)t->servers->shard[shard].reply.data; *p;) {
        const uint64_t i = tl_reply_number(&p);
        if (i >= t->n)
            return tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s: this is not an answer to what was asked",
                           tl_http_address(t->servers->shard[shard].http));
        tl_load_table *table = &t->table[i];
        if (!TL_GROW(table->found, table->nfound, 1, table->found_room))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of chunks");
        tl_chunk_found *f = &table->found[table->nfound++];
        f->shard = shard;
        f->chunk = (uint32_t)tl_reply_number(&p);
        f->rows = tl_reply_number(&p);
        f->sum = tl_reply_number(&p);
    }
    return 0;
}

int tl_load_tables_ask(tl_load_tables *t, tl_load_question what, tl_error *e)
{
    tl_pb sql = {0};
    put_question(t, what, &sql);
    int status = sql.n ? tl_servers_run_all(t->servers, &sql, e) : 0;
    for (uint32_t i = 0; sql.n && i < t->servers->n && status == 0; i++)
        status = read_answer(t, i, e);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->table[i].nfound)
            qsort(t->table[i].found, t->table[i].nfound, sizeof *t->table[i].found, by_chunk);
    tl_pb_fini(&sql);
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

static uint64_t sum_of_numbers(const tl_chunk_facts *facts)
{
    const uint64_t n = facts->rows, half = n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
    return facts->first * n + half;
}

static chunk_state state_of(const tl_load_table *t, uint32_t chunk, const tl_chunk_facts *facts)
{
    const uint32_t at = place_of(t, chunk);
    if (at == t->nfound || t->found[at].chunk != chunk)
        return CHUNK_MISSING;
    const bool once = at + 1 == t->nfound || t->found[at + 1].chunk != chunk;
    const uint64_t sum = t->is_counted ? sum_of_numbers(facts) : facts->sum;
    return once && t->found[at].rows == facts->rows && t->found[at].sum == sum ? CHUNK_THERE : CHUNK_WRONG;
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

static int wait_for_mutations(tl_shard *s, const char *table, tl_error *e)
{
    for (unsigned i = 0; i < 6000; i++) {
        tl_shard_sql(
            s, "SELECT count() FROM system.mutations WHERE database = '%s' AND table = '%s_local' AND NOT is_done",
            s->database, table);
        const int status = tl_shard_run(s, e);
        if (status < 0 || strcmp((const char *)s->reply.data, "0\n") == 0)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s: removing a chunk of %s takes too long", tl_http_address(s->http),
                   table);
}

/* Removes what all shards have of a chunk. */
static int remove_chunk(const tl_load_tables *t, const tl_load_table *table, uint32_t chunk, tl_error *e)
{
    int status = 0;
    for (uint32_t i = place_of(table, chunk); i < table->nfound && table->found[i].chunk == chunk && status == 0; i++) {
        tl_shard *s = &t->servers->shard[table->found[i].shard];
        pthread_mutex_lock(&s->taken);
        tl_shard_sql(s, "ALTER TABLE `%s`.`%s_local` DELETE WHERE trace = %" PRId64 " AND chunk = %" PRIu32,
                     s->database, table->name, t->trace, chunk);
        status = tl_shard_run(s, e);
        if (status == 0)
            status = wait_for_mutations(s, table->name, e);
        pthread_mutex_unlock(&s->taken);
    }
    return status;
}

bool tl_load_table_expect(tl_load_table *t, const tl_chunk_facts *facts)
{
    if (!TL_GROW(t->expected, t->n, 1, t->room))
        return false;
    t->expected[t->n++] = *facts;
    t->rows += facts->rows;
    return true;
}

/* Notes what a chunk should be, and has it sent if it is not there; else *send stays NULL. */
static int mend(const tl_load_tables *t, tl_load_table *table, const tl_load_chunk *chunk, bool *send, tl_error *e)
{
    const tl_chunk_facts facts = {chunk->rows, chunk->sum, chunk->first};
    if (!tl_load_table_expect(table, &facts))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of chunks");
    const chunk_state state = state_of(table, chunk->number, &facts);
    *send = t->sender && state != CHUNK_THERE;
    table->sent += *send;
    return *send && state == CHUNK_WRONG ? remove_chunk(t, table, chunk->number, e) : 0;
}

/* Makes the next chunk in a block of the sender. 1: there was one; 0: end. */
static int next_chunk(const tl_load_tables *t, tl_load_table *table, tl_load_rows *rows, tl_error *e)
{
    tl_load_chunk chunk;
    tl_chunk_order *order = NULL;
    bool send = false;
    int status = tl_chunk_sender_order(t->sender, &order, e);
    if (status < 0)
        return status;
    status = tl_load_rows_next(rows, &chunk, &order->block, e);
    const int mended = status > 0 ? mend(t, table, &chunk, &send, e) : 0;
    order->table = table->name;
    order->number = chunk.number;
    tl_chunk_sender_put(t->sender, order, send && mended == 0);
    return mended < 0 ? mended : status;
}

/* Without a sender, the block is our own. */
static int next_of_check(const tl_load_tables *t, tl_load_table *table, tl_load_rows *rows, tl_native_block *block,
                         tl_error *e)
{
    tl_load_chunk chunk;
    bool send = false;
    const int status = tl_load_rows_next(rows, &chunk, block, e);
    const int mended = status > 0 ? mend(t, table, &chunk, &send, e) : 0;
    return mended < 0 ? mended : status;
}

/* Reads the rows, and sends the chunks that the shards do not have. */
static int pass(const tl_load_tables *t, tl_load_table *table, tl_error *e)
{
    tl_load_rows *rows = NULL;
    tl_native_block own = {0};
    table->n = 0;
    table->rows = 0;
    int status = tl_load_rows_open(&rows, t->query, table->table, t->trace, t->day, e);
    int more = status < 0 ? 0 : 1;
    while (more > 0) {
        more = t->sender ? next_chunk(t, table, rows, e) : next_of_check(t, table, rows, &own, e);
        status = more < 0 ? more : 0;
    }
    tl_load_rows_close(rows);
    tl_native_fini(&own);
    return status;
}

static int remove_others(const tl_load_tables *t, const tl_load_table *table, tl_error *e)
{
    int status = 0;
    for (uint32_t i = place_of(table, table->n); i < table->nfound && status == 0; i++)
        if (i == 0 || table->found[i - 1].chunk != table->found[i].chunk)
            status = remove_chunk(t, table, table->found[i].chunk, e);
    return status;
}

/* Notes which tables are done now; returns how many are not. */
static uint32_t judge_all(tl_load_tables *t, bool first)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        tl_load_table *table = &t->table[i];
        uint64_t missing, wrong;
        tl_load_table_judge(table, &missing, &wrong);
        if (first) {
            table->missing = missing;
            table->wrong = wrong;
        }
        table->is_done = missing + wrong == 0;
        left += !table->is_done;
    }
    return left;
}

static int run_round(tl_load_tables *t, bool first, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; i < t->n && status == 0; i++)
        if (!t->table[i].is_done)
            status = pass(t, &t->table[i], e);
    if (t->sender) {
        tl_error sending = {0};
        const int sent = tl_chunk_sender_wait(t->sender, &sending);
        if (status == 0 && sent < 0)
            *e = sending;
        status = status < 0 ? status : sent;
    }
    if (status == 0 && first)
        judge_all(t, true);
    for (uint32_t i = 0; i < t->n && t->sender && status == 0; i++)
        if (!t->table[i].is_done)
            status = remove_others(t, &t->table[i], e);
    return status;
}

static int fail_to_mend(const tl_load_tables *t, tl_error *e)
{
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t missing, wrong;
        tl_load_table_judge(&t->table[i], &missing, &wrong);
        if (missing + wrong)
            return tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s: %" PRIu64 " chunks are not as they were sent",
                           t->table[i].name, missing + wrong);
    }
    return 0;
}

int tl_load_tables_run(tl_load_tables *t, tl_error *e)
{
    int status = tl_load_tables_ask(t, TL_ASK_ROWS, e);
    if (status == 0) /* values of what was there before; a chunk that is sent now is stored whole or not at all */
        status = tl_load_tables_ask(t, TL_ASK_VALUES_FOUND, e);
    uint32_t left = 1;
    for (unsigned i = 0; i < ROUNDS && status == 0 && left > 0; i++) {
        status = run_round(t, i == 0, e);
        if (!t->sender)
            return status;
        if (status == 0)
            status = tl_load_tables_ask(t, TL_ASK_ROWS, e);
        if (status == 0)
            left = judge_all(t, false);
    }
    return status == 0 && left > 0 ? fail_to_mend(t, e) : status;
}
