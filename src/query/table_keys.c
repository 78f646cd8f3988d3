/* Keys of tables. */
#include "query/table_keys.h"

#include <string.h>

#include "base/compiler.h"

typedef const char *const table_key[TL_KEY_COLUMNS + 1];

static table_key of_events = {"trace", "id"};

static const struct {
    const char *table;
    table_key key;
} keys[] = {{"traces", {"trace"}},
            {"classes", {"trace", "class_id"}},
            {"functions", {"trace", "function_id"}},
            {"places", {"trace", "place_id"}},
            {"tracks", {"trace", "track_id"}},
            {"events", {"trace", "id"}},
            {"instructions", {"trace", "id"}},
            {"accesses", {"trace", "id"}},
            {"calls", {"trace", "id"}},
            {"spans", {"trace", "id"}},
            {"samples", {"trace", "id"}},
            {"snapshots", {"trace", "id"}}};

const char *const *tl_table_key(const char *table)
{
    if (strncmp(table, "event_", 6) == 0 && strcmp(table, "event_counts") != 0)
        return of_events;
    for (size_t i = 0; i < TL_COUNT(keys); i++)
        if (strcmp(keys[i].table, table) == 0)
            return keys[i].key;
    return NULL;
}

bool tl_table_requires(const char *table, const char *column)
{
    bool is = strcmp(column, "trace") == 0;
    for (const char *const *key = tl_table_key(table); key && *key && !is; key++)
        is = strcmp(*key, column) == 0;
    return is;
}

const char *tl_column_refers(const char *table, const char *column)
{
    static const struct {
        const char *table, *column, *to; /* table: NULL: of any */
    } references[] = {{NULL, "trace", "traces.trace"},
                      {NULL, "class_id", "classes.class_id"},
                      {NULL, "function_id", "functions.function_id"},
                      {NULL, "track_id", "tracks.track_id"},
                      {NULL, "place_id", "places.place_id"},
                      {NULL, "caller_id", "functions.function_id"},
                      {NULL, "callee_id", "functions.function_id"},
                      {"classes", "pair_class_id", "classes.class_id"},
                      {"calls", "parent_id", "calls.id"},
                      {"places", "parent_id", "places.place_id"}};
    const size_t n = strlen(table);
    for (size_t i = 0; i < TL_COUNT(references); i++)
        if (strcmp(references[i].column, column) == 0 &&
            (references[i].table ? strcmp(references[i].table, table) == 0
                                 : strncmp(references[i].to, table, n) != 0 || references[i].to[n] != '.'))
            return references[i].to;
    return NULL;
}
