/* Why a table has no rows. */
#include <string.h>

#include "base/text/words.h"
#include "query/query_impl.h"

/* Rows are in memory: those of a list, or of places. */
static bool is_list(const tl_sql_table *t)
{
    return t->list.put || t->list.put_at || t->place == 0;
}

/* Is it read from events, so that a profile has no rows of it? */
static bool is_stream(const tl_sql_table *t)
{
    return (t->origin == TL_TABLE_SCAN && !is_list(t)) || t->origin == TL_TABLE_CLASS ||
           (t->origin == TL_TABLE_MADE && !t->made.kind->of_any);
}

/* May a source have rows of a table? Those that have been made are counted. */
static bool has_rows(tl_query *q, const tl_sql_table *t, uint32_t source)
{
    const bool is_profile = tl_source_is_profile(q->source[source]);
    const tl_rows *rows = t->origin == TL_TABLE_ROWS && t->rows.made ? t->rows.rows[source] : NULL;
    const char *needs = t->table->info.needs;
    if (t->list.count && t->list.count(t->list.arg, source) > 0)
        return true;
    if (t->origin == TL_TABLE_ROWS && (!t->rows.made || !rows || is_profile || tl_rows_count(rows) > 0))
        return !t->rows.made || rows;
    if (is_profile)
        return !is_stream(t) && strcmp(needs, TL_NEEDS_EVENTS) != 0;
    return tl_needs_met(needs, tl_source_really_has(q->source[source], NULL));
}

static bool may_have_rows(tl_query *q, const tl_sql_table *t)
{
    bool any = false;
    for (uint32_t i = 0; i < q->dataset.n && !any; i++)
        any = has_rows(q, t, i);
    return any;
}

/* The tables that are read from the first source's events, other than those of the catalog: "events, calls". */
static void list_streams(const tl_query *q, char text[static TL_TABLES_SIZE])
{
    const unsigned has = tl_source_really_has(q->source[0], NULL);
    size_t n = 0;
    tl_words_add(text, TL_TABLES_SIZE, &n, ", ", "events");
    for (uint32_t i = 0; i < q->ntable; i++) {
        const tl_sql_table *t = &q->table[i];
        const char *needs = t->table->info.needs;
        if ((t->origin == TL_TABLE_SCAN || t->origin == TL_TABLE_CLASS) && !is_list(t) &&
            strcmp(needs, TL_NEEDS_EVENTS) != 0 && tl_needs_met(needs, has))
            tl_words_add(text, TL_TABLES_SIZE, &n, ", ", t->table->info.name);
    }
}

const char *tl_query_table_note(tl_query *q, uint32_t i)
{
    char what[TL_WHAT_SIZE], tables[TL_TABLES_SIZE];
    tl_error ignored = {0};
    if (i >= q->ntable || !q->table[i].is_used || may_have_rows(q, &q->table[i]) ||
        tl_source_look(q->source[0], what, tables, &ignored) < 0)
        return NULL;
    const tl_table_info *info = &q->table[i].table->info;
    const bool is_profile = tl_source_is_profile(q->source[0]);
    if (!is_profile)
        list_streams(q, tables);
    tl_fail(&q->note, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s is empty: it needs %s; %s %s %s; its tables: %s", info->name,
            is_profile && is_stream(&q->table[i]) ? TL_NEEDS_EVENTS : info->needs, tl_source_name(q->source[0]),
            is_profile ? "is a profile of" : "has", what, tables);
    return q->note.message;
}
