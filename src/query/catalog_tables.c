/* Tables about what there is. */
#include "query/catalog_tables.h"

#include "query/field_tables.h"
#include "query/query_impl.h"
#include "query/sql_type.h"

static const tl_trace *trace_of(const void *query, uint32_t source)
{
    return tl_source_trace(((const tl_query *)query)->source[source]);
}

/* -- classes ------------------------------------------------------------------------------------------------------ */

static const tl_column_info class_columns[] = {
    {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    {"class_id", "class_id", TL_INTEGER, TL_UNIT_NONE, "the number of the class, from 0"},
    {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name"},
    {"kind", "kind", TL_TEXT, TL_UNIT_NONE, "what its events are: enter, exit, instant, counter, ..."},
    {"key", "key", TL_TEXT, TL_UNIT_NONE, "what events.key is: function, pc, address, ...; null: nothing"},
    {"role", "role", TL_TEXT, TL_UNIT_NONE, "what they mean, whatever the format: allocation, collection, load, ..."},
    {"level", "level", TL_TEXT, TL_UNIT_NONE, "its severity; null: not known"},
    {"pair_class_id", "pair_class_id", TL_INTEGER, TL_UNIT_NONE,
     "of a begin and an end: the class of the other; else null"},
    {"table_name", "table_name", TL_TEXT, TL_UNIT_NONE, "the table of its events"},
};

static const char *key_name(tl_key key)
{
    static const char *const name[] = {
        [TL_KEY_FUNCTION] = "function", [TL_KEY_PC] = "pc",         [TL_KEY_ADDRESS] = "address",
        [TL_KEY_STACK] = "stack",       [TL_KEY_WEIGHT] = "weight", [TL_KEY_SINCE] = "since",
        [TL_KEY_PAIR] = "pair",         [TL_KEY_VALUE] = "value"};
    return (size_t)key < TL_COUNT(name) ? name[key] : NULL;
}

static uint64_t count_classes(const void *query, uint32_t source)
{
    return tl_trace_classes(trace_of(query, source));
}

static void put_class(const void *query, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const tl_query *q = query;
    const tl_class *c = tl_trace_class(trace_of(query, source), (uint32_t)i);
    const uint32_t table = q->classes.of[source][i];
    uint32_t at = 0;
    tl_list_int(b, at++, row, true, source + 1);
    tl_list_int(b, at++, row, true, c->id);
    tl_list_text(b, at++, row, c->name);
    tl_list_text(b, at++, row, tl_kind_name(c->kind));
    tl_list_text(b, at++, row, key_name(c->key));
    tl_list_text(b, at++, row, tl_role_name(c->role));
    tl_list_text(b, at++, row, c->level);
    tl_list_int(b, at++, row, c->kind == TL_BEGIN || c->kind == TL_END, c->pair);
    tl_list_text(b, at++, row, table == TL_NO_COLUMN ? NULL : q->classes.table[table].table.info.name);
}

/* -- functions ---------------------------------------------------------------------------------------------------- */

static const tl_column_info function_columns[] = {
    {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE, "the number that the trace knows it by"},
    {"name", "name", TL_TEXT, TL_UNIT_NONE, "the function; null: not known"},
    {"later_name", "later_name", TL_TEXT, TL_UNIT_NONE, "in profiles: its name at the end, if that is another"},
    {"linkage_name", "linkage_name", TL_TEXT, TL_UNIT_NONE, "the name that the linker uses"},
    {"address", "address", TL_INTEGER, TL_UNIT_HEX, "in the binary; null: not known"},
    {"size", "size", TL_INTEGER, TL_UNIT_BYTES, "of its code; null: not known"},
    {"file", "file", TL_TEXT, TL_UNIT_NONE, "where it is defined"},
    {"line", "line", TL_INTEGER, TL_UNIT_NONE, "the line there"},
    {"module", "module", TL_TEXT, TL_UNIT_NONE, "the build-id of its binary"},
    {"library", "library", TL_TEXT, TL_UNIT_NONE, "the file of its library"},
};

static uint64_t count_functions(const void *query, uint32_t source)
{
    return trace_of(query, source)->nfunction;
}

static void put_function(const void *query, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const tl_function *f = &trace_of(query, source)->function[i];
    uint32_t at = 0;
    tl_list_int(b, at++, row, true, source + 1);
    tl_list_int(b, at++, row, true, f->id);
    tl_list_text(b, at++, row, f->name);
    tl_list_text(b, at++, row, f->renamed);
    tl_list_text(b, at++, row, f->linkage_name);
    tl_list_int(b, at++, row, f->address != 0, (int64_t)f->address);
    tl_list_int(b, at++, row, f->size != 0, (int64_t)f->size);
    tl_list_text(b, at++, row, f->file);
    tl_list_int(b, at++, row, f->line != 0, f->line);
    tl_list_text(b, at++, row, f->module);
    tl_list_text(b, at++, row, f->library);
}

/* -- tables and columns ------------------------------------------------------------------------------------------- */

static const tl_column_info table_columns[] = {
    {"name", "name", TL_TEXT, TL_UNIT_NONE, "the table"},
    {"summary", "summary", TL_TEXT, TL_UNIT_NONE, "what its rows are"},
    {"needs", "needs", TL_TEXT, TL_UNIT_NONE, "what a trace must have for it"},
};

static uint64_t count_tables(const void *query, uint32_t source)
{
    return source == 0 ? ((const tl_query *)query)->ntable : 0;
}

static void put_table(const void *query, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const tl_table_info *t = tl_query_table(query, (uint32_t)i);
    (void)source;
    tl_list_text(b, 0, row, t->name);
    tl_list_text(b, 1, row, t->summary);
    tl_list_text(b, 2, row, t->needs);
}

static const tl_column_info column_columns[] = {
    {"table_name", "table_name", TL_TEXT, TL_UNIT_NONE, "the table that has it"},
    {"position", "position", TL_INTEGER, TL_UNIT_NONE, "its place in the table, from 0"},
    {"name", "name", TL_TEXT, TL_UNIT_NONE, "the column"},
    {"type", "type", TL_TEXT, TL_UNIT_NONE, "INTEGER, REAL or TEXT, and the unit"},
    {"what", "what", TL_TEXT, TL_UNIT_NONE, "what its values are"},
};

/* All tables were made before. */
static uint64_t count_columns(const void *query, uint32_t source)
{
    const tl_query *q = query;
    uint64_t n = 0;
    for (uint32_t i = 0; source == 0 && i < q->ntable; i++)
        n += q->table[i].table->ncolumn;
    return n;
}

static void put_column(const void *query, uint32_t source, uint64_t i, tl_list_at *p, tl_scan_block *b, uint32_t row)
{
    const tl_query *q = query;
    (void)source;
    while (i - p->first >= q->table[p->outer].table->ncolumn)
        p->first += q->table[p->outer++].table->ncolumn;
    const tl_scan_table *t = q->table[p->outer].table;
    const tl_column_info *c = &t->column[i - p->first];
    tl_list_text(b, 0, row, t->info.name);
    tl_list_int(b, 1, row, true, (int64_t)(i - p->first));
    tl_list_text(b, 2, row, c->name);
    tl_list_text(b, 3, row, tl_sql_type(c));
    tl_list_text(b, 4, row, c->what);
}

#define ENTRY(word, columns, counts, puts, puts_at, summary, needs)                                                    \
    static const tl_catalog_entry word##_entry = {                                                                     \
        {#word, summary, needs}, columns, TL_COUNT(columns), counts, puts, puts_at}

ENTRY(classes, class_columns, count_classes, put_class, NULL, "classes of events", TL_NEEDS_EVENTS);
ENTRY(functions, function_columns, count_functions, put_function, NULL, "functions that the trace knows",
      TL_NEEDS_CALLS);
ENTRY(tables, table_columns, count_tables, put_table, NULL, "all tables", TL_NEEDS_NOTHING);
ENTRY(columns, column_columns, count_columns, NULL, put_column, "the columns of the tables", TL_NEEDS_NOTHING);

static const tl_catalog_entry *const entries[TL_CATALOG_TABLES] = {
    &classes_entry,   &tl_fields_entry, &tl_enum_labels_entry,
    &functions_entry, &tables_entry,    [TL_CATALOG_COLUMNS] = &columns_entry};

void tl_catalog_table(uint32_t i, const tl_query *q, tl_list *list, tl_scan_table *out)
{
    const tl_catalog_entry *t = entries[i];
    *list = (tl_list){.count = t->count, .put = t->put, .put_at = t->put_at, .arg = q};
    *out = (tl_scan_table){.info = t->info,
                           .column = t->column,
                           .ncolumn = t->ncolumn,
                           .order = TL_NO_ORDER,
                           .rows = 1000,
                           .arg = list,
                           .keeps = tl_list_scan_keeps,
                           .open = tl_list_scan_open};
}
