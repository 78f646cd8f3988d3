/* Tables about what there is. */
#include "query/catalog_tables.h"

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
    tl_list_text(b, at++, row, c->level);
    tl_list_int(b, at++, row, c->kind == TL_BEGIN || c->kind == TL_END, c->pair);
    tl_list_text(b, at++, row, table == TL_NO_COLUMN ? NULL : q->classes.table[table].table.info.name);
}

/* -- fields ------------------------------------------------------------------------------------------------------- */

static const tl_column_info field_columns[] = {
    {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    {"class_id", "class_id", TL_INTEGER, TL_UNIT_NONE, "the class that has it"},
    {"class_name", "class_name", TL_TEXT, TL_UNIT_NONE, "the name of that"},
    {"position", "position", TL_INTEGER, TL_UNIT_NONE, "its place among the fields of the class, from 0"},
    {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name"},
    {"type", "type", TL_TEXT, TL_UNIT_NONE, "what its values are: u64, string, list, ..."},
    {"scope", "scope", TL_TEXT, TL_UNIT_NONE, "the part of the event that has it: packet, stream, event or payload"},
    {"base", "base", TL_INTEGER, TL_UNIT_NONE, "the base in which it is shown: 2, 8, 10 or 16"},
    {"bits", "bits", TL_INTEGER, TL_UNIT_NONE, "the width of a number in the trace"},
    {"is_optional", "is_optional", TL_INTEGER, TL_UNIT_BOOL, "not every event has it"},
};

static uint64_t count_fields(const void *query, uint32_t source)
{
    const tl_trace *t = trace_of(query, source);
    uint64_t n = 0;
    for (uint32_t i = 0; i < tl_trace_classes(t); i++)
        n += tl_trace_class(t, i)->nfield;
    return n;
}

static void put_field(const void *query, uint32_t source, uint64_t row_of, tl_list_at *p, tl_scan_block *b,
                      uint32_t row)
{
    static const char *const type[] = {
        [TL_NULL] = "null",  [TL_BOOL] = "bool",     [TL_U64] = "u64",         [TL_I64] = "i64",
        [TL_F64] = "f64",    [TL_HEX] = "hex",       [TL_STRING] = "string",   [TL_BYTES] = "bytes",
        [TL_LIST] = "list",  [TL_STRUCT] = "struct", [TL_VARIANT] = "variant", [TL_ABSENT] = "absent",
        [TL_STACK] = "stack"};
    static const char *const scope[] = {[TL_SCOPE_PACKET] = "packet",
                                        [TL_SCOPE_STREAM] = "stream",
                                        [TL_SCOPE_EVENT] = "event",
                                        [TL_SCOPE_PAYLOAD] = "payload"};
    const tl_trace *t = trace_of(query, source);
    const tl_class *c;
    for (; (c = tl_trace_class(t, p->outer)) && row_of - p->first >= c->nfield; p->outer++)
        p->first += c->nfield;
    const uint64_t i = row_of - p->first;
    if (!c)
        return;
    const tl_field *f = &c->field[i];
    uint32_t at = 0;
    tl_list_int(b, at++, row, true, source + 1);
    tl_list_int(b, at++, row, true, c->id);
    tl_list_text(b, at++, row, c->name);
    tl_list_int(b, at++, row, true, (int64_t)i);
    tl_list_text(b, at++, row, f->name);
    tl_list_text(b, at++, row, type[f->type]);
    tl_list_text(b, at++, row, scope[tl_field_scope(f)]);
    tl_list_int(b, at++, row, true, f->base ? f->base : 10);
    tl_list_int(b, at++, row, true, f->bits ? f->bits : 64);
    tl_list_int(b, at++, row, true, (f->flags & TL_FIELD_OPTIONAL) != 0);
}

/* -- functions ---------------------------------------------------------------------------------------------------- */

static const tl_column_info function_columns[] = {
    {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE, "the number that the trace knows it by"},
    {"name", "name", TL_TEXT, TL_UNIT_NONE, "the function; null: not known"},
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
    tl_list_text(b, at++, row, f->linkage_name);
    tl_list_int(b, at++, row, f->address != 0, (int64_t)f->address);
    tl_list_int(b, at++, row, f->size != 0, (int64_t)f->size);
    tl_list_text(b, at++, row, f->file);
    tl_list_int(b, at++, row, f->line != 0, f->line);
    tl_list_text(b, at++, row, f->module);
    tl_list_text(b, at++, row, f->library);
}

/* -- enum_labels -------------------------------------------------------------------------------------------------- */

static const tl_column_info label_columns[] = {
    {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    {"class_id", "class_id", TL_INTEGER, TL_UNIT_NONE, "the class that has the field"},
    {"field", "field", TL_TEXT, TL_UNIT_NONE, "the field, an enumeration"},
    {"label", "label", TL_TEXT, TL_UNIT_NONE, "the name of the values from low to high"},
    {"low", "low", TL_INTEGER, TL_UNIT_NONE, "the lowest value; of flags: the number of a bit"},
    {"high", "high", TL_INTEGER, TL_UNIT_NONE, "the highest"},
};

static uint64_t labels_of(const tl_field *f)
{
    return tl_enum_has_labels(f) ? f->nmapping : 0;
}

static uint64_t count_labels(const void *query, uint32_t source)
{
    const tl_trace *t = trace_of(query, source);
    uint64_t n = 0;
    for (uint32_t i = 0; i < tl_trace_classes(t); i++)
        for (uint32_t k = 0; k < tl_trace_class(t, i)->nfield; k++)
            n += labels_of(&tl_trace_class(t, i)->field[k]);
    return n;
}

/* Moves to the field that has label i. */
static const tl_field *field_of_label(const tl_trace *t, uint64_t i, tl_list_at *p)
{
    for (; p->outer < tl_trace_classes(t); p->outer++, p->inner = 0) {
        const tl_class *c = tl_trace_class(t, p->outer);
        for (; p->inner < c->nfield; p->inner++) {
            const uint64_t n = labels_of(&c->field[p->inner]);
            if (i - p->first < n)
                return &c->field[p->inner];
            p->first += n;
        }
    }
    return NULL;
}

static void put_label(const void *query, uint32_t source, uint64_t i, tl_list_at *p, tl_scan_block *b, uint32_t row)
{
    const tl_field *f = field_of_label(trace_of(query, source), i, p);
    uint32_t at = 0;
    if (!f)
        return;
    const tl_mapping *m = &f->mapping[i - p->first];
    tl_list_int(b, at++, row, true, source + 1);
    tl_list_int(b, at++, row, true, p->outer);
    tl_list_text(b, at++, row, f->name);
    tl_list_text(b, at++, row, m->label);
    tl_list_int(b, at++, row, true, (int64_t)m->low);
    tl_list_int(b, at++, row, true, (int64_t)m->high);
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

static const struct {
    tl_table_info info;
    const tl_column_info *column;
    uint32_t ncolumn;
    uint64_t (*count)(const void *query, uint32_t source);
    tl_list_put *put;
    tl_list_put_at *put_at; /* in place of that */
} tables[TL_CATALOG_TABLES] = {
    {{"classes", "classes of events", "events"},
     class_columns,
     TL_COUNT(class_columns),
     count_classes,
     put_class,
     NULL},
    {{"fields", "fields of the classes", "events"},
     field_columns,
     TL_COUNT(field_columns),
     count_fields,
     NULL,
     put_field},
    {{"enum_labels", "names of values of fields", "events"},
     label_columns,
     TL_COUNT(label_columns),
     count_labels,
     NULL,
     put_label},
    {{"functions", "functions that the trace knows", "calls"},
     function_columns,
     TL_COUNT(function_columns),
     count_functions,
     put_function,
     NULL},
    {{"tables", "all tables", "any trace or profile"},
     table_columns,
     TL_COUNT(table_columns),
     count_tables,
     put_table,
     NULL},
    {{"columns", "the columns of the tables", "any trace or profile"},
     column_columns,
     TL_COUNT(column_columns),
     count_columns,
     NULL,
     put_column},
};

void tl_catalog_table(uint32_t i, const tl_query *q, tl_list *list, tl_scan_table *out)
{
    *list = (tl_list){.count = tables[i].count, .put = tables[i].put, .put_at = tables[i].put_at, .arg = q};
    *out = (tl_scan_table){.info = tables[i].info,
                           .column = tables[i].column,
                           .ncolumn = tables[i].ncolumn,
                           .order = TL_NO_ORDER,
                           .rows = 1000,
                           .arg = list,
                           .keeps = tl_list_scan_keeps,
                           .open = tl_list_scan_open};
}
