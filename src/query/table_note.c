/* Why a table has no rows. */
#include <string.h>

#include "query/query_impl.h"

/* Does a source have what a table that is scanned is made from? Others than these always have rows. */
static bool has_needs(const tl_source *s, const char *needs)
{
    const tl_trace *t = tl_source_trace(s);
    if (strcmp(needs, "events") == 0)
        return !tl_source_is_profile(s);
    if (strcmp(needs, "calls") != 0)
        return true;
    for (uint32_t i = 0; i < tl_trace_classes(t); i++) {
        const tl_class *c = tl_trace_class(t, i);
        if ((c->key == TL_KEY_FUNCTION && c->kind == TL_ENTER) || c->kind == TL_INSN)
            return true;
    }
    return false;
}

static bool may_have_rows(const tl_query *q, const tl_sql_table *t)
{
    bool any = false;
    if (t->origin == TL_TABLE_CLASS || (t->list.put && t->place == UINT32_MAX) ||
        (t->origin == TL_TABLE_ROWS && !t->rows.made))
        return true;
    for (uint32_t i = 0; i < q->dataset.n && !any; i++)
        any = t->origin == TL_TABLE_ROWS ? t->rows.rows[i] != NULL : has_needs(q->source[i], t->table->info.needs);
    return any;
}

const char *tl_query_table_note(tl_query *q, uint32_t i)
{
    char what[TL_WHAT_SIZE], tables[TL_TABLES_SIZE];
    tl_error ignored = {0};
    if (i >= q->ntable || !q->table[i].is_used || may_have_rows(q, &q->table[i]) ||
        tl_source_look(q->source[0], what, tables, &ignored) < 0)
        return NULL;
    const tl_table_info *info = &q->table[i].table->info;
    tl_fail(&q->note, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s is empty: it needs %s; %s has %s; its tables: %s", info->name,
            info->needs, tl_source_name(q->source[0]), what, tables);
    return q->note.message;
}
