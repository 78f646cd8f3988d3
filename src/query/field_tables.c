/* The tables `fields` and `enum_labels`. */
#include "query/field_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "query/query_impl.h"

static uint64_t labels_of(const tl_field *f)
{
    return tl_enum_has_labels(f) ? f->nmapping : 0;
}

/* ---- rows ---- */

/* A class whose fields are added. */
typedef struct adding {
    tl_field_rows *to;
    tl_arena *arena;
    const tl_class *cls;
    const tl_column_info *column; /* of its table */
} adding;

/* "outer.inner" */
static const char *member_name(tl_arena *arena, const char *outer, const char *name)
{
    const size_t n = strlen(outer ? outer : "") + strlen(name ? name : "") + 2;
    char *out = tl_arena_alloc(arena, n);
    if (out)
        snprintf(out, n, "%s.%s", outer ? outer : "", name ? name : "");
    return out;
}

static bool add_row(const adding *a, uint32_t position, const tl_field *f, const tl_field_column *c, const char *name)
{
    tl_field_rows *to = a->to;
    if (!TL_GROW(to->row, to->n, 1, to->capacity))
        return false;
    to->row[to->n++] = (tl_field_row){.cls = a->cls,
                                      .position = position,
                                      .field = f,
                                      .name = name,
                                      .column = c && c->column != TL_NO_COLUMN ? a->column[c->column].name : NULL};
    to->labels += labels_of(f);
    return true;
}

/* Members of a struct that are columns, or whose members are. */
static bool add_members(const adding *a, uint32_t position, const tl_field *f, const tl_field_column *c,
                        const char *outer)
{
    bool ok = true;
    for (uint32_t i = 0; ok && c && i < c->nmember; i++) {
        if (c->member[i].column == TL_NO_COLUMN && c->member[i].nmember == 0)
            continue;
        const char *name = member_name(a->arena, outer, f->member[i].name);
        ok = name && add_row(a, position, &f->member[i], &c->member[i], name) &&
             add_members(a, position, &f->member[i], &c->member[i], name);
    }
    return ok;
}

static int add_class(tl_query *q, uint32_t source, uint32_t cls, tl_error *e)
{
    const uint32_t table = q->classes.of[source][cls];
    adding a = {.to = &q->fields[source],
                .arena = &q->classes.arena,
                .cls = tl_trace_class(tl_source_trace(q->source[source]), cls)};
    const tl_field_column *column = NULL;
    if (table != TL_NO_COLUMN) {
        const int status = tl_class_table_make(&q->classes, table, e);
        if (status < 0)
            return status;
        a.column = q->classes.table[table].table.column;
        column = q->classes.table[table].kind.source[source].fields[cls];
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < a.cls->nfield; i++) {
        const tl_field *f = &a.cls->field[i];
        const tl_field_column *c = column ? &column[i] : NULL;
        ok = add_row(&a, i, f, c, f->name) && add_members(&a, i, f, c, f->name);
    }
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for fields");
}

int tl_field_rows_make(tl_query *q, tl_error *e)
{
    int status = 0;
    for (uint32_t s = 0; s < q->dataset.n && status == 0 && !q->has_fields; s++) {
        q->fields[s].n = 0;
        q->fields[s].labels = 0;
        for (uint32_t i = 0; i < tl_trace_classes(tl_source_trace(q->source[s])) && status == 0; i++)
            status = add_class(q, s, i, e);
    }
    q->has_fields = q->has_fields || status == 0;
    return status;
}

void tl_field_rows_fini(tl_query *q)
{
    for (uint32_t i = 0; q->fields && i < q->dataset.n; i++)
        free(q->fields[i].row);
    free(q->fields);
    q->fields = NULL;
}

static const tl_field_rows *rows_of(const void *query, uint32_t source)
{
    static const tl_field_rows none;
    const tl_query *q = query;
    return q->has_fields ? &q->fields[source] : &none;
}

/* ---- fields ---- */

static const tl_column_info field_columns[] = {
    {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    {"class_id", "class_id", TL_INTEGER, TL_UNIT_NONE, "the class that has it"},
    {"class_name", "class_name", TL_TEXT, TL_UNIT_NONE, "the name of that"},
    {"position", "position", TL_INTEGER, TL_UNIT_NONE,
     "its place among the fields of the class, from 0; of a member: that of its struct"},
    {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name; outer.inner of a member of a struct"},
    {"column_name", "column_name", TL_TEXT, TL_UNIT_NONE,
     "its column in the table of the class; null: its members have columns, or it has none"},
    {"type", "type", TL_TEXT, TL_UNIT_NONE, "what its values are: u64, string, list, ..."},
    {"scope", "scope", TL_TEXT, TL_UNIT_NONE, "the part of the event that has it: packet, stream, event or payload"},
    {"base", "base", TL_INTEGER, TL_UNIT_NONE, "the base in which it is shown: 2, 8, 10 or 16"},
    {"bits", "bits", TL_INTEGER, TL_UNIT_NONE, "the width of a number in the trace"},
    {"is_optional", "is_optional", TL_INTEGER, TL_UNIT_BOOL, "not every event has it"},
};

static uint64_t count_fields(const void *query, uint32_t source)
{
    return rows_of(query, source)->n;
}

static void put_field(const void *query, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
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
    const tl_field_row *r = &rows_of(query, source)->row[i];
    const tl_field *f = r->field;
    uint32_t at = 0;
    tl_list_int(b, at++, row, true, source + 1);
    tl_list_int(b, at++, row, true, r->cls->id);
    tl_list_text(b, at++, row, r->cls->name);
    tl_list_int(b, at++, row, true, r->position);
    tl_list_text(b, at++, row, r->name);
    tl_list_text(b, at++, row, r->column);
    tl_list_text(b, at++, row, type[f->type]);
    tl_list_text(b, at++, row, scope[tl_field_scope(&r->cls->field[r->position])]);
    tl_list_int(b, at++, row, true, f->base ? f->base : 10);
    tl_list_int(b, at++, row, true, f->bits ? f->bits : 64);
    tl_list_int(b, at++, row, true, (f->flags & TL_FIELD_OPTIONAL) != 0);
}

const tl_catalog_entry tl_fields_entry = {
    {"fields", "fields of the classes, and members of structs that are columns", TL_NEEDS_EVENTS},
    field_columns,
    TL_COUNT(field_columns),
    count_fields,
    put_field,
    NULL};

/* ---- enum_labels ---- */

static const tl_column_info label_columns[] = {
    {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    {"class_id", "class_id", TL_INTEGER, TL_UNIT_NONE, "the class that has the field"},
    {"field", "field", TL_TEXT, TL_UNIT_NONE, "the field, an enumeration; outer.inner of a member of a struct"},
    {"column_name", "column_name", TL_TEXT, TL_UNIT_NONE, "its column in the table of the class; null: none"},
    {"label", "label", TL_TEXT, TL_UNIT_NONE, "the name of the values from low to high"},
    {"low", "low", TL_INTEGER, TL_UNIT_NONE, "the lowest value; of flags: the number of a bit"},
    {"high", "high", TL_INTEGER, TL_UNIT_NONE, "the highest"},
};

static uint64_t count_labels(const void *query, uint32_t source)
{
    return rows_of(query, source)->labels;
}

static void put_label(const void *query, uint32_t source, uint64_t i, tl_list_at *p, tl_scan_block *b, uint32_t row)
{
    const tl_field_rows *all = rows_of(query, source);
    uint32_t at = 0;
    while (i - p->first >= labels_of(all->row[p->outer].field))
        p->first += labels_of(all->row[p->outer++].field);
    const tl_field_row *r = &all->row[p->outer];
    const tl_mapping *m = &r->field->mapping[i - p->first];
    tl_list_int(b, at++, row, true, source + 1);
    tl_list_int(b, at++, row, true, r->cls->id);
    tl_list_text(b, at++, row, r->name);
    tl_list_text(b, at++, row, r->column);
    tl_list_text(b, at++, row, m->label);
    tl_list_int(b, at++, row, true, (int64_t)m->low);
    tl_list_int(b, at++, row, true, (int64_t)m->high);
}

const tl_catalog_entry tl_enum_labels_entry = {{"enum_labels", "names of values of fields", TL_NEEDS_EVENTS},
                                               label_columns,
                                               TL_COUNT(label_columns),
                                               count_labels,
                                               NULL,
                                               put_label};
