/* traceloom load: traces of a fleet into ClickHouse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "cli/inputs.h"
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

static int load_all(const tl_cli *c, tl_servers *s, const wanted *w)
{
    tl_load_sums sums = {0};
    int status = TL_EXIT_DONE;
    for (size_t i = 0; i < c->args->file.n; i++) {
        const int one = tl_load_trace(c, s, c->args->file.word[i], w->table, w->n, &sums);
        status = tl_exit_worse(status, one);
        if (one == TL_EXIT_USAGE)
            break;
    }
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
    if (!a->print_ddl && (status = tl_check_inputs(c)) != TL_EXIT_DONE)
        return status;
    if (!a->server) {
        tl_say_error(NULL, "load: where to? --server http://HOST:8123/DATABASE");
        return TL_EXIT_USAGE;
    }
    if (tl_servers_open(&s, a->server, a->user, &e) < 0 ||
        ((a->create || a->print_ddl) && tl_servers_find_cluster(&s, a->cluster, &e) < 0) ||
        (a->create && !a->print_ddl && create_all(&s, &e) < 0))
        status = say_server_failure(&e);
    else
        status = a->print_ddl ? print_ddl(&s.at) : load_all(c, &s, &w);
    tl_servers_fini(&s);
    return status;
}
