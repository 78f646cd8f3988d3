/* load --durable. Flushing is a setting of tables, of releases from 20.10 on. */
#include "cli/load/load_durable.h"

#include <string.h>

#define SETTING "fsync_after_insert"

static int check_release(tl_shard *s, tl_error *e)
{
    tl_shard_sql(s, "SELECT count() FROM system.merge_tree_settings WHERE name = '" SETTING "'");
    int status = tl_shard_run(s, e);
    if (status < 0 || strcmp((const char *)s->reply.data, "0\n") != 0)
        return status;
    tl_shard_sql(s, "SELECT version()");
    status = tl_shard_run(s, e);
    if (status < 0)
        return status;
    const char *version = (const char *)s->reply.data;
    const int n = (int)strcspn(version, "\n");
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                   "--durable: %s, release %.*s, cannot flush what it stores; load without it, and after a loss of "
                   "power load the same files again",
                   tl_http_address(s->http), n, version);
}

/* Those of our tables on a shard that do not flush yet. */
static int find_tables(tl_shard *s, tl_pb *names, tl_error *e)
{
    tl_shard_sql(s,
                 "SELECT name FROM system.tables WHERE database = '%s' AND engine LIKE '%%MergeTree' AND "
                 "(name LIKE '%%\\\\_local' OR name IN ('chunks', 'loaded')) AND "
                 "position(engine_full, '" SETTING " = 1') = 0 ORDER BY name",
                 s->database);
    const int status = tl_shard_run(s, e);
    tl_pb_clear(names);
    if (status == 0)
        tl_pb_raw(names, s->reply.data, s->reply.n);
    return status == 0 && names->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the tables") : status;
}

static int make_durable(tl_shard *s, tl_pb *names, tl_error *e)
{
    int status = check_release(s, e);
    if (status == 0)
        status = find_tables(s, names, e);
    const char *name = (const char *)names->data;
    while (status == 0 && name && *name) {
        const size_t n = strcspn(name, "\n");
        tl_shard_sql(s, "ALTER TABLE `%s`.`%.*s` MODIFY SETTING " SETTING " = 1, fsync_part_directory = 1", s->database,
                     (int)n, name);
        status = tl_shard_run(s, e);
        name += n + (name[n] == '\n');
    }
    return status;
}

int tl_load_make_durable(tl_servers *s, tl_error *e)
{
    tl_pb names = {0};
    int status = 0;
    for (uint32_t i = 0; i < s->n && status == 0; i++)
        status = make_durable(&s->shard[i], &names, e);
    tl_pb_fini(&names);
    return status;
}
