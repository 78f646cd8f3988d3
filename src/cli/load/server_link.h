/* The servers of --server: shards that each have a part of the rows. */
#ifndef TL_CLI_SERVER_LINK_H
#define TL_CLI_SERVER_LINK_H

#include <inttypes.h>
#include <pthread.h>

#include "base/columnar/native_block.h"
#include "base/compiler.h"
#include "cli/load/http_client.h"
#include "query/server/server_table.h"

#define TL_SHARDS_MAX 256u

/* A server, and what it is asked. Threads that may use it at the same time hold `taken`. */
typedef struct tl_shard {
    tl_http *http;
    const char *database; /* of its tl_servers */
    tl_pb sql, url, reply;
    pthread_mutex_t taken;
} tl_shard;

typedef struct tl_servers {
    tl_shard *shard; /* [n] in the order of their addresses, so that it is the same in every run */
    uint32_t n;
    tl_server_place at;
    char *database;
    char *cluster; /* found, or as given; NULL: there is one shard */
} tl_servers;

/* "http://host:8123,host2:8123/database". user: or NULL. The password is $CLICKHOUSE_PASSWORD. fini is needed in any
 * case. Errors: TL_ESYNTAX (of the address), TL_EUNSUPPORTED, TL_ENOMEM. */
int tl_servers_open(tl_servers *s, const char *server, const char *user, tl_error *e);
void tl_servers_fini(tl_servers *s);

/* Empties s->sql, and writes to it as printf does. */
TL_PRINTF(2, 3) void tl_shard_sql(tl_shard *s, const char *format, ...);
/* More of it. */
TL_PRINTF(2, 3) void tl_shard_add(tl_shard *s, const char *format, ...);
/* s->sql as the body of a request. */
tl_http_body tl_shard_body(const tl_shard *s);
/* Runs s->sql: the answer, as TabSeparated, is s->reply. Errors: as tl_http_post(). */
int tl_shard_run(tl_shard *s, tl_error *e);
/* Sends a block to a table. id: name of the statement, or NULL. code: becomes the number of a refusal, or 0. */
int tl_shard_insert(tl_shard *s, const char *table, const char *suffix, const char *id, const tl_native_block *block,
                    int *code, tl_error *e);
/* Runs the same text on all shards, side by side: each has its reply. */
int tl_servers_run_all(tl_servers *s, const tl_pb *sql, tl_error *e);

/* The next field of a line of an answer, up to a tab or the end of the line, as a number; *text moves behind it. */
uint64_t tl_reply_number(const char **text);

/* Finds the name of the cluster of these shards: `given`, if not NULL. Errors: TL_EINVAL (there is none, or several).
 */
int tl_servers_find_cluster(tl_servers *s, const char *given, tl_error *e);

#endif
