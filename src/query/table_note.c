/* Why a table has no rows. */
#include <string.h>

#include "base/text/words.h"
#include "model/gauge.h"
#include "model/stack_nodes.h"
#include "query/query_impl.h"

static bool has_calls(const tl_class *c)
{
    return (c->key == TL_KEY_FUNCTION && c->kind == TL_ENTER) || c->kind == TL_INSN;
}

static bool has_instructions(const tl_class *c)
{
    return c->kind == TL_INSN;
}

static bool has_allocations(const tl_class *c)
{
    return c->role == TL_ROLE_ALLOCATION;
}

static bool has_spans(const tl_class *c)
{
    return c->kind == TL_BEGIN;
}

static bool has_slices(const tl_class *c)
{
    return has_calls(c) || has_spans(c);
}

static bool has_counters(const tl_class *c)
{
    return c->kind == TL_COUNTER || tl_gauge_class(c);
}

static const struct {
    const char *needs;
    bool (*has)(const tl_class *c); /* such a class makes it possible */
} needs_class[] = {{"calls", has_calls},
                   {"entries and exits, or instructions", has_calls}, /* not calls that stacks tell */
                   {"samples", tl_sample_class},
                   {"instructions", has_instructions},
                   {"a managed runtime", has_allocations},
                   {"begins and ends", has_spans},
                   {"calls, or begins and ends", has_slices},
                   {"counters", has_counters}};

/* Does a source have what a table that is scanned is made from? Others than these always have rows. */
static bool has_needs(const tl_source *s, const char *needs)
{
    const tl_trace *t = tl_source_trace(s);
    if (strcmp(needs, "events") == 0)
        return !tl_source_is_profile(s);
    if (strcmp(needs, "calls") == 0 && s->told_calls == TL_TOLD_SOME)
        return true;
    for (size_t k = 0; k < TL_COUNT(needs_class); k++) {
        bool any = false;
        if (strcmp(needs, needs_class[k].needs) != 0)
            continue;
        for (uint32_t i = 0; i < tl_trace_classes(t) && !any; i++)
            any = needs_class[k].has(tl_trace_class(t, i));
        return any;
    }
    return true;
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

/* The tables that are read from the first source's events, other than those of the catalog: "events, calls". */
static void list_streams(const tl_query *q, char text[static TL_TABLES_SIZE])
{
    size_t n = 0;
    tl_words_add(text, TL_TABLES_SIZE, &n, ", ", "events");
    for (uint32_t i = 0; i < q->ntable; i++) {
        const tl_sql_table *t = &q->table[i];
        const char *needs = t->table ? t->table->info.needs : "events";
        if (t->origin == TL_TABLE_SCAN && !t->list.put && !t->of_columns && strcmp(needs, "events") != 0 &&
            has_needs(q->source[0], needs))
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
    const bool is_profile = tl_source_is_profile(q->source[0]), is_stream = q->table[i].origin == TL_TABLE_SCAN;
    if (!is_profile)
        list_streams(q, tables);
    tl_fail(&q->note, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s is empty: it needs %s; %s %s %s; its tables: %s", info->name,
            is_profile && is_stream ? "events" : info->needs, tl_source_name(q->source[0]),
            is_profile ? "is a profile of" : "has", what, tables);
    return q->note.message;
}
