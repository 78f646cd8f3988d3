/* Sessions and statements, whichever engine runs them. */
#ifdef TL_HAVE_SQLITE

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "isa/a64_disasm.h"
#include "query/query_control.h"
#include "query/query_engine.h"
#include "query/query_sharing.h"

static const tl_engine *const engines[] = {&tl_sqlite_engine, &tl_duckdb_engine}; /* the usual one first */

static const tl_engine *find_engine(const char *name, tl_error *e)
{
    for (size_t i = 0; i < TL_COUNT(engines); i++)
        if (!name || strcmp(engines[i]->name, name) == 0)
            return engines[i];
    tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "there is no engine %s: sqlite or duckdb", name);
    return NULL;
}

int tl_query_open_engine(tl_query **out, tl_source *const *source, uint32_t n, const tl_query_options *options,
                         const char *engine, tl_error *e)
{
    const tl_engine *found = find_engine(engine, e);
    if (!found)
        return TL_EINVAL;
    tl_query *q = calloc(1, sizeof *q);
    if (q)
        q->source = calloc((size_t)n + 1, sizeof *q->source);
    if (!q || !q->source) {
        free(q);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a session");
    }
    (void)pthread_mutex_init(&q->lock, NULL);
    atomic_init(&q->users, 1);
    memcpy(q->source, source, n * sizeof *source);
    q->engine = found;
    q->memory_before = -1; /* no change */
    q->options = options ? *options : (tl_query_options){0};
    q->dataset = (tl_dataset){.source = q->source, .n = n, .select = q->options.select, .threads = q->options.threads};
    for (uint32_t i = 0; i < n; i++) {
        tl_source_hold(source[i]);
        source[i]->stop = tl_query_ends_passes;
        source[i]->stop_arg = q;
    }
    int status = tl_query_tables_init(q, e);
    if (status == 0)
        status = q->engine->open(q, e);
    if (status < 0) {
        tl_query_close(q);
        return status;
    }
    *out = q;
    return 0;
}

int tl_query_open(tl_query **out, tl_source *const *source, uint32_t n, const tl_query_options *options, tl_error *e)
{
    return tl_query_open_engine(out, source, n, options, NULL, e);
}

void tl_query_free(tl_query *q)
{
    q->engine->close(q);
    for (uint32_t i = 0; i < q->dataset.n; i++)
        if (q->source[i]->stop_arg == q)
            q->source[i]->stop = NULL;
    tl_query_tables_fini(q);
    a64_disasm_free(q->disasm);
    for (uint32_t i = 0; i < q->dataset.n; i++)
        tl_source_close(q->source[i]);
    (void)pthread_mutex_destroy(&q->lock);
    free(q->source);
    free(q);
}

void tl_query_interrupt(tl_query *q)
{
    atomic_store_explicit(&q->interrupted, true, memory_order_relaxed);
}

void tl_query_resume(tl_query *q)
{
    atomic_store_explicit(&q->interrupted, false, memory_order_relaxed);
}

int tl_query_explain(tl_query *q, const char *sql, const char **rest, void (*line)(void *arg, const char *text),
                     void *arg, tl_error *e)
{
    return q->engine->explain(q, sql, rest, line, arg, e);
}

/* ---- limits ---- */

static uint64_t now_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void tl_query_start_clock(tl_query *q)
{
    q->limit = NULL;
    q->deadline = q->options.timeout_ns ? now_ns() + q->options.timeout_ns : 0;
}

void tl_query_delay(tl_query *q, uint64_t ns)
{
    q->deadline += q->deadline ? ns : 0;
}

void tl_query_watch(tl_query *q, bool (*stop)(void *arg), void *arg)
{
    q->watch = stop;
    q->watch_arg = arg;
}

static bool is_interrupted(const tl_query *q)
{
    return atomic_load_explicit(&q->interrupted, memory_order_relaxed) || (q->watch && q->watch(q->watch_arg));
}

bool tl_query_stopped(void *query)
{
    tl_query *q = query;
    if (is_interrupted(q))
        q->limit = "interrupted";
    else if (q->deadline && now_ns() >= q->deadline)
        q->limit = "it took longer than its time limit";
    return q->limit != NULL;
}

bool tl_query_ends_passes(void *query)
{
    tl_query *q = query;
    const uint64_t deadline = atomic_load_explicit(&q->pass_deadline, memory_order_relaxed);
    return is_interrupted(q) || (deadline && now_ns() >= deadline);
}

/* ---- statements ---- */

void tl_query_begin_statement(tl_query *q)
{
    q->has_error = false;
    q->limit = NULL;
    q->wants_places = false;
    for (uint32_t i = 0; i < q->ntable; i++)
        q->table[i].is_used = q->table[i].wants_places = false;
}

int tl_query_limited(tl_query *q, tl_error *e)
{
    (void)tl_query_stopped(q);
    atomic_store(&q->interrupted, false);
    return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s", q->limit ? q->limit : "interrupted");
}

int tl_query_begin(tl_query *q, tl_error *e)
{
    tl_query_start_clock(q);
    atomic_store(&q->pass_deadline, q->deadline);
    const int status = tl_query_make_rows(q, e);
    atomic_store(&q->pass_deadline, 0);
    return status == TL_ELIMIT ? tl_query_limited(q, e) : status;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
}

int tl_statement_make_columns(tl_statement *s, uint32_t n, tl_error *e)
{
    s->column = calloc((size_t)n + 1, sizeof *s->column);
    s->ncolumn = s->column ? n : 0;
    return s->column ? 0 : no_memory(e);
}

int tl_statement_name_column(tl_statement *s, uint32_t i, const char *name, tl_error *e)
{
    name = name ? tl_arena_strndup(&s->names, name, strlen(name)) : NULL;
    if (!name)
        return no_memory(e);
    s->column[i] = (tl_column_info){name, name, TL_TEXT, TL_UNIT_NONE, ""};
    return 0;
}

static int prepare(tl_statement **out, tl_query *q, const char *sql, const char **rest, tl_error *e)
{
    const char *tail = sql;
    bool any = false;
    tl_statement *s = calloc(1, q->engine->size);
    if (!s)
        return no_memory(e);
    s->query = q;
    q->statements++;
    tl_query_begin_statement(q);
    const int status = q->engine->prepare(s, sql, &tail, &any, e);
    if (rest && status == 0)
        *rest = tail;
    if (status < 0 || !any) {
        tl_statement_free(s);
        s = NULL;
    }
    if (status == 0)
        *out = s;
    return status;
}

int tl_query_prepare(tl_statement **out, tl_query *q, const char *sql, const char **rest, tl_error *e)
{
    int status = tl_query_enter(q, e);
    if (status < 0)
        return status;
    status = prepare(out, q, sql, rest, e);
    tl_query_leave(q);
    return status;
}

void tl_statement_free(tl_statement *s)
{
    s->query->statements--;
    s->query->engine->close_statement(s);
    free(s->column);
    tl_arena_fini(&s->names);
    free(s);
}

void tl_statement_close(tl_statement *s)
{
    if (!s)
        return;
    tl_query *q = s->query;
    tl_query_wait(q);
    tl_statement_free(s);
    tl_query_leave(q);
}

tl_query *tl_statement_query(const tl_statement *s)
{
    return s->query;
}

const char *tl_statement_sql(const tl_statement *s)
{
    return s->query->engine->sql(s);
}

uint32_t tl_statement_parameters(const tl_statement *s)
{
    return s->query->engine->parameters(s);
}

const char *tl_statement_parameter(const tl_statement *s, uint32_t i)
{
    return i < tl_statement_parameters(s) ? s->query->engine->parameter(s, i) : NULL;
}

int tl_statement_bind(tl_statement *s, uint32_t i, const tl_sql_value *v, tl_error *e)
{
    int status = tl_query_enter(s->query, e);
    if (status < 0)
        return status;
    status = s->query->engine->bind(s, i, v, e);
    tl_query_leave(s->query);
    return status;
}

int tl_statement_step(tl_statement *s, tl_error *e)
{
    if (!s->is_running) {
        s->query->has_error = false;
        tl_query_start_clock(s->query);
    }
    const int status = s->query->engine->step(s, e);
    s->is_running = status > 0;
    return status;
}

uint32_t tl_statement_columns(const tl_statement *s)
{
    return s->ncolumn;
}

const tl_column_info *tl_statement_column(const tl_statement *s, uint32_t i)
{
    return i < s->ncolumn ? &s->column[i] : NULL;
}

const tl_sql_value *tl_statement_value(tl_statement *s, uint32_t i)
{
    s->value = (tl_sql_value){.kind = TL_VALUE_NULL};
    s->query->engine->value(s, i);
    if (s->value.kind >= TL_VALUE_TEXT && !s->value.text)
        s->value = (tl_sql_value){.kind = s->value.kind, .text = ""};
    return &s->value;
}

#endif
