/* The servers of --server: shards that each have a part of the rows. */
#ifndef TL_CLI_SERVER_LINK_H
#define TL_CLI_SERVER_LINK_H

#include <inttypes.h>

#include "base/columnar/native_block.h"
#include "base/compiler.h"
#include "cli/load/http_client.h"
#include "query/server/server_table.h"

#define TL_SHARDS_MAX 256u

typedef struct tl_servers {
    tl_http **shard; /* [n] in the order of their addresses, so that it is the same in every run */
    uint32_t n;
    tl_server_place at;
    char *database;
    char *cluster; /* found, or as given; NULL: there is one shard */
    tl_pb sql, url, reply;
} tl_servers;

/* "http://host:8123,host2:8123/database". user: or NULL. The password is $CLICKHOUSE_PASSWORD. fini is needed in any
 * case. Errors: TL_ESYNTAX (of the address), TL_EUNSUPPORTED, TL_ENOMEM. */
int tl_servers_open(tl_servers *s, const char *server, const char *user, tl_error *e);
void tl_servers_fini(tl_servers *s);

/* Empties s->sql, and writes to it as printf does. */
TL_PRINTF(2, 3) void tl_servers_sql(tl_servers *s, const char *format, ...);
/* More of it. */
TL_PRINTF(2, 3) void tl_servers_add(tl_servers *s, const char *format, ...);
/* Runs s->sql on a shard: the answer, as TabSeparated, is s->reply. Errors: as tl_http_post(). */
int tl_servers_run(tl_servers *s, uint32_t shard, tl_error *e);
/* The same, where `code` becomes the number of the server's refusal, or 0. */
int tl_servers_try(tl_servers *s, uint32_t shard, int *code, tl_error *e);
/* Sends a block to a table of a shard. id: name of the statement, or NULL. */
int tl_servers_insert(tl_servers *s, uint32_t shard, const char *table, const char *suffix, const char *id,
                      const tl_native_block *block, int *code, tl_error *e);

/* The next field of a line of an answer, up to a tab or the end of the line, as a number; *text moves behind it. */
uint64_t tl_servers_number(const char **text);

/* Finds the name of the cluster of these shards: `given`, if not NULL. Errors: TL_EINVAL (there is none, or several).
 */
int tl_servers_find_cluster(tl_servers *s, const char *given, tl_error *e);

#endif
