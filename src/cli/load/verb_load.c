/* traceloom load: traces of a fleet into ClickHouse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "cli/inputs.h"
#include "cli/load/load_durable.h"
#include "cli/load/load_jobs.h"
#include "cli/load/load_rollup.h"
#include "cli/load/load_trace.h"
#include "cli/message.h"
#include "query/query_schema.h"

#define TABLES_ROOM 64u

typedef struct wanted {
    const char *table[TABLES_ROOM];
    uint32_t n;
} wanted;

static bool is_wanted(const tl_words *words, const tl_server_table *t)
{
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(words->word[i], t->name) == 0)
            return true;
    return words->n == 0 && t->usual;
}

static const tl_server_table *find(const char *name)
{
    const tl_server_table *t;
    for (uint32_t i = 0; (t = tl_server_table_at(i)) != NULL && strcmp(t->name, name) != 0; i++)
        continue;
    return t;
}

static int choose_tables(const tl_cli *c, wanted *w)
{
    const tl_server_table *t;
    for (size_t i = 0; i < c->args->table.n; i++)
        if (!find(c->args->table.word[i])) {
            tl_say_error(NULL,
                         "--table %s: servers have no such table; traceloom load --print-ddl shows those they have",
                         c->args->table.word[i]);
            return TL_EXIT_USAGE;
        }
    for (uint32_t i = 0; (t = tl_server_table_at(i)) != NULL && w->n < TABLES_ROOM; i++)
        if (is_wanted(&c->args->table, t))
            w->table[w->n++] = t->name;
    return TL_EXIT_DONE;
}

static int no_memory(void)
{
    tl_say_error(NULL, "no memory for the tables");
    return TL_EXIT_DAMAGED;
}

/* -- statements ---------------------------------------------------------------------------------------------------- */

static void print_statement(void *arg, const char *sql)
{
    (void)arg;
    printf("%s;\n", sql);
}

static int print_ddl(const tl_server_place *at)
{
    tl_query *schema = tl_query_schema_open();
    const bool ok = schema && tl_server_make(schema, at, print_statement, NULL);
    tl_query_schema_close(schema);
    return ok ? TL_EXIT_DONE : no_memory();
}

typedef struct creation {
    tl_servers *servers;
    uint32_t shard;
    int status;
    tl_error error;
} creation;

static void create(void *arg, const char *sql)
{
    creation *c = arg;
    if (c->status < 0)
        return;
    tl_shard *s = &c->servers->shard[c->shard];
    tl_pb_clear(&s->sql);
    tl_pb_text(&s->sql, sql);
    c->status = tl_shard_run(s, &c->error);
}

static int create_all(tl_servers *s, tl_error *e)
{
    tl_query *schema = tl_query_schema_open();
    creation c = {.servers = s};
    bool ok = schema != NULL;
    for (; ok && c.shard < s->n && c.status == 0; c.shard++)
        ok = tl_server_make(schema, &s->at, create, &c);
    tl_query_schema_close(schema);
    if (!ok)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the tables");
    *e = c.error;
    return c.status;
}

/* A refusal of a server is no mistake of the command line. */
static int say_server_failure(const tl_error *e)
{
    tl_say_error(NULL, "%s", e->message);
    return e->code == TL_ESYNTAX || e->code == TL_EUNSUPPORTED ? TL_EXIT_USAGE : TL_EXIT_DAMAGED;
}

typedef struct loading {
    const tl_cli *cli;
    tl_servers *servers; /* NULL: each file has its own */
    const wanted *wanted;
} loading;

static int load_one(const loading *l, const tl_cli *c, tl_servers *s, size_t i)
{
    tl_load_sums sums = {0};
    return tl_load_trace(c, s, c->args->file.word[i], l->wanted->table, l->wanted->n, &sums);
}

/* In a process of its own. */
static int load_apart(void *arg, size_t i, unsigned threads)
{
    const loading *l = arg;
    tl_arguments a = *l->cli->args;
    tl_cli c = *l->cli;
    tl_servers s = {0};
    tl_error e = {0};
    a.threads = threads;
    c.args = &a;
    const int status = tl_servers_open(&s, a.server, a.user, &e) < 0 ? say_server_failure(&e) : load_one(l, &c, &s, i);
    tl_servers_fini(&s);
    return status;
}

static int load_all(const tl_cli *c, tl_servers *s, const wanted *w)
{
    loading l = {c, s, w};
    const size_t n = c->args->file.n;
    int status = TL_EXIT_DONE;
    if (c->args->jobs > 1 && n > 1)
        return tl_load_jobs(c, c->args->jobs, n, load_apart, &l);
    for (size_t i = 0; i < n; i++) {
        const int one = load_one(&l, c, s, i);
        status = tl_exit_worse(status, one);
        if (one == TL_EXIT_USAGE)
            break;
    }
    return status;
}

static int roll_up(const tl_cli *c, tl_servers *s)
{
    uint64_t rows;
    char number[32];
    tl_error e = {0};
    if (tl_load_rollup(s, &rows, &e) < 0)
        return say_server_failure(&e);
    tl_say(c, NULL, "profile_days has %s rows now", tl_human_grouped(number, sizeof number, rows));
    return TL_EXIT_DONE;
}

/* What the servers need before rows are sent. */
static int prepare(const tl_arguments *a, tl_servers *s, tl_error *e)
{
    int status = tl_servers_open(s, a->server, a->user, e);
    if (status == 0 && (a->create || a->print_ddl))
        status = tl_servers_find_cluster(s, a->cluster, e);
    if (status == 0 && a->create && !a->print_ddl)
        status = create_all(s, e);
    if (status == 0 && a->durable && !a->print_ddl && !a->verify)
        status = tl_load_make_durable(s, e);
    return status;
}

int tl_verb_load(tl_cli *c)
{
    const tl_arguments *a = c->args;
    wanted w = {.n = 0};
    tl_servers s = {0};
    tl_error e = {0};
    int status = choose_tables(c, &w);
    if (status != TL_EXIT_DONE)
        return status;
    if (a->print_ddl && !a->server)
        return print_ddl(&(tl_server_place){"traces", a->cluster});
    if (!a->print_ddl && !(a->rollup && a->file.n == 0) && (status = tl_check_inputs(c)) != TL_EXIT_DONE)
        return status;
    if (!a->server) {
        tl_say_error(NULL, "load: where to? --server http://HOST:8123/DATABASE");
        return TL_EXIT_USAGE;
    }
    if (prepare(a, &s, &e) < 0)
        status = say_server_failure(&e);
    else
        status = a->print_ddl ? print_ddl(&s.at) : load_all(c, &s, &w);
    if (status == TL_EXIT_DONE && a->rollup && !a->print_ddl && !a->verify)
        status = roll_up(c, &s);
    tl_servers_fini(&s);
    return status;
}
