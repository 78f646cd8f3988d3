/* Sessions of DuckDB: shut in, and with a thread that ends statements when they have to end. */
#ifdef TL_HAVE_SQLITE

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/compiler.h"
#include "base/pool.h"
#include "query/duckdb/duckdb_impl.h"

#define LOOKS_NS 10000000 /* between two looks whether a statement has to end */

/* ---- ending statements ---- */

static void *watch(void *query)
{
    tl_query *q = query;
    tl_duckdb *d = q->duckdb;
    pthread_mutex_lock(&d->watch_lock);
    while (!d->is_closing) {
        struct timespec t;
        if (!d->is_working) {
            pthread_cond_wait(&d->wake, &d->watch_lock);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &t);
        t.tv_nsec += LOOKS_NS;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&d->wake, &d->watch_lock, &t) == ETIMEDOUT && d->is_working &&
            tl_query_ends_passes(q))
            d->api->interrupt(d->connection);
    }
    pthread_mutex_unlock(&d->watch_lock);
    return NULL;
}

static int start_watcher(tl_query *q, tl_error *e)
{
    tl_duckdb *d = q->duckdb;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&d->wake, &clock);
    pthread_condattr_destroy(&clock);
    const int status = pthread_create(&d->watcher, NULL, watch, q);
    d->has_watcher = status == 0;
    return status == 0 ? 0 : tl_fail_errno(e, status, "cannot start a thread");
}

/* The library works on a statement from here to end_work(). */
void tl_duckdb_begin_work(tl_query *q)
{
    tl_duckdb *d = q->duckdb;
    atomic_store(&q->pass_deadline, q->deadline);
    pthread_mutex_lock(&d->watch_lock);
    d->is_working = true;
    pthread_cond_signal(&d->wake);
    pthread_mutex_unlock(&d->watch_lock);
}

void tl_duckdb_end_work(tl_query *q)
{
    tl_duckdb *d = q->duckdb;
    pthread_mutex_lock(&d->watch_lock);
    d->is_working = false;
    pthread_mutex_unlock(&d->watch_lock);
    atomic_store(&q->pass_deadline, 0);
}

/* ---- opening ---- */

/* Set before the first statement, which locks them. */
static const struct {
    const char *name, *value;
} settings[] = {{"temp_directory", ""}, /* before the next one, which forbids it */
                {"enable_external_access", "false"},
                {"autoinstall_known_extensions", "false"},
                {"autoload_known_extensions", "false"},
                {"allow_community_extensions", "false"},
                {"default_null_order", "nulls_first_on_asc_last_on_desc"}};

unsigned tl_duckdb_threads(const tl_query *q)
{
    return q->options.threads ? q->options.threads : tl_processors();
}

static int open_database(tl_query *q, tl_error *e)
{
    tl_duckdb *d = q->duckdb;
    char memory[32], threads[16], *message = NULL;
    duck_config *config = NULL;
    snprintf(memory, sizeof memory, "%" PRIu64 "B", tl_query_memory(q));
    snprintf(threads, sizeof threads, "%u", tl_duckdb_threads(q));
    bool ok = d->api->create_config(&config) == DUCK_OK;
    for (size_t i = 0; ok && i < TL_COUNT(settings); i++)
        ok = d->api->set_config(config, settings[i].name, settings[i].value) == DUCK_OK;
    ok = ok && d->api->set_config(config, "memory_limit", memory) == DUCK_OK &&
         d->api->set_config(config, "threads", threads) == DUCK_OK;
    if (!ok) {
        d->api->destroy_config(&config);
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "libduckdb %s cannot be shut in", d->api->library_version());
    }
    int status = 0;
    if (d->api->open_ext(NULL, &d->db, config, &message) != DUCK_OK)
        status = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "libduckdb: %.300s", message ? message : "cannot be opened");
    else if (d->api->connect(d->db, &d->connection) != DUCK_OK)
        status = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "libduckdb gives no connection");
    d->api->free(message);
    d->api->destroy_config(&config);
    return status;
}

static int run(tl_duckdb *d, const char *sql, tl_error *e)
{
    duck_result r;
    int status = 0;
    if (d->api->query(d->connection, sql, &r) != DUCK_OK)
        status =
            tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "libduckdb cannot be shut in: %.300s", d->api->result_error(&r));
    d->api->destroy_result(&r);
    return status;
}

/* SQLite is opened, too: it tells the units of columns. */
int tl_duckdb_open(tl_query *q, tl_error *e)
{
    const tl_duckdb_api *api = tl_duckdb_load(e);
    if (!api)
        return TL_EUNSUPPORTED;
    tl_duckdb *d = q->duckdb = calloc(1, sizeof *q->duckdb);
    if (!d)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a session");
    d->api = api;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->watch_lock, NULL);
    int status = tl_sqlite_engine.open(q, e);
    if (status == 0)
        status = start_watcher(q, e);
    if (status == 0)
        status = open_database(q, e);
    if (status == 0)
        status = tl_duckdb_add_functions(q, e);
    if (status == 0)
        status = tl_duckdb_add_tables(q, e);
    if (status == 0)
        status = run(d, "SET lock_configuration = true", e);
    return status;
}

void tl_duckdb_close(tl_query *q)
{
    tl_duckdb *d = q->duckdb;
    if (d && d->has_watcher) {
        pthread_mutex_lock(&d->watch_lock);
        d->is_closing = true;
        pthread_cond_signal(&d->wake);
        pthread_mutex_unlock(&d->watch_lock);
        pthread_join(d->watcher, NULL);
        pthread_cond_destroy(&d->wake);
    }
    if (d && d->connection)
        d->api->disconnect(&d->connection);
    if (d && d->db)
        d->api->close(&d->db);
    if (d) {
        pthread_mutex_destroy(&d->lock);
        pthread_mutex_destroy(&d->watch_lock);
        free(d->functions);
    }
    free(d);
    q->duckdb = NULL;
    tl_sqlite_engine.close(q);
}

#endif
