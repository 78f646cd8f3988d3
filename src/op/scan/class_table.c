/* Tables of one class of events each: their names, and columns made of fields. */
#include "op/scan/class_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/crc32.h"
#include "base/grow.h"
#include "model/enum_text.h"

#define NAME_MOST    100u /* bytes of a table's name, after "event_" */
#define STRUCT_DEPTH 4u   /* members of structs are columns down to here */

/* Columns that each table begins with. */
static const uint8_t head[] = {TL_EVENT_TRACE, TL_EVENT_ID,     TL_EVENT_TS, TL_EVENT_UTC,
                               TL_EVENT_TRACK, TL_EVENT_THREAD, TL_EVENT_CPU};

/* And those of events that have a function. */
static const uint8_t of_functions[] = {TL_EVENT_FUNCTION, TL_EVENT_FUNCTION_NAME};

/* Table 0 has the events of all classes of snapshots. These fields of them have columns also where there are none. */
#define SNAPSHOTS 0u
static const tl_column_info snapshot_columns[] = {
    {"insns", "insns", TL_INTEGER, TL_UNIT_NONE, "instructions that were executed before"},
    {"user_insns", "user_insns", TL_INTEGER, TL_UNIT_NONE, "those of them at exception level 0"},
    {"x", "x", TL_TEXT, TL_UNIT_JSON, "the general registers: a list of x0 to x30 and sp"},
    {"nzcv", "nzcv", TL_INTEGER, TL_UNIT_HEX, "the condition flags"},
    {"z", "z", TL_TEXT, TL_UNIT_JSON, "the vector registers: a list"},
};

/* "event_app_rich" of "app:rich". */
static const char *plain_name(tl_arena *a, const char *name)
{
    const size_t n = strlen(name);
    char *out = n < SIZE_MAX - 32 ? tl_arena_alloc(a, n + 32) : NULL, *p = out;
    if (!out)
        return NULL;
    memcpy(p, "event_", 6);
    p += 6;
    char *const begin = p;
    for (size_t i = 0; i < n; i++) {
        const char c = name[i];
        const bool is_upper = c >= 'A' && c <= 'Z';
        if (is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            *p++ = (char)(is_upper ? c + 'a' - 'A' : c);
        else if (p > begin && p[-1] != '_')
            *p++ = '_';
    }
    while (p > begin && p[-1] == '_')
        p--;
    if ((size_t)(p - begin) > NAME_MOST)
        p = begin + NAME_MOST + sprintf(begin + NAME_MOST, "_%08" PRIx32, tl_crc32(0, name, n));
    *p = '\0';
    return out;
}

/* The same text has one address. NULL when memory runs out. */
static const char *interned(tl_class_tables *t, const char *text)
{
    return text ? tl_strings_get(&t->names, text, strlen(text)) : NULL;
}

/* The name, with _2, _3 ... if it is taken. */
static const char *free_name(tl_class_tables *t, const char *name)
{
    const char *out = interned(t, name);
    const size_t n = strlen(name);
    char *other = tl_arena_alloc(&t->arena, n + 16);
    const uintptr_t wanted = (uintptr_t)out;
    const uint32_t last = tl_hash_get(&t->numbered, wanted);
    uint32_t k = last == TL_HASH_NONE ? 1 : last;
    while (other && out && tl_hash_get(&t->by_name, (uintptr_t)out) != TL_HASH_NONE) {
        snprintf(other, n + 16, "%s_%" PRIu32, name, ++k);
        out = interned(t, other);
    }
    return other && out && (k == 1 || tl_hash_put(&t->numbered, wanted, k)) ? out : NULL;
}

static bool add(tl_class_tables *t, const tl_class *c, uint32_t *index)
{
    const char *class_name = interned(t, c->name);
    *index = class_name ? tl_hash_get(&t->by_class, (uintptr_t)class_name) : TL_HASH_NONE;
    if (!class_name || *index != TL_HASH_NONE)
        return class_name != NULL;
    const char *name = plain_name(&t->arena, c->name);
    name = name ? free_name(t, name) : NULL;
    char *summary = tl_arena_alloc(&t->arena, strlen(c->name) + 16);
    if (!name || !summary || !TL_GROW(t->table, t->n, 1, t->capacity) ||
        !tl_hash_put(&t->by_class, (uintptr_t)class_name, t->n) || !tl_hash_put(&t->by_name, (uintptr_t)name, t->n))
        return false;
    sprintf(summary, "events of %s", c->name);
    *index = t->n;
    t->table[t->n++] = (tl_class_table){.class_name = class_name, .table = {.info = {name, summary, TL_NEEDS_EVENTS}}};
    return true;
}

static bool add_snapshots(tl_class_tables *t)
{
    const char *name = interned(t, "snapshots");
    if (!name || !TL_GROW(t->table, t->n, 1, t->capacity) || !tl_hash_put(&t->by_name, (uintptr_t)name, SNAPSHOTS))
        return false;
    t->table[t->n++] = (tl_class_table){
        .table = {.info = {name, "all registers, before some of the instructions", TL_NEEDS_SNAPSHOTS}}};
    return true;
}

int tl_class_tables_init(tl_class_tables *t, const tl_dataset *d, tl_error *e)
{
    t->dataset = d;
    t->of = tl_arena_zalloc(&t->arena, ((size_t)d->n + 1) * sizeof *t->of);
    bool ok = t->of && add_snapshots(t);
    for (uint32_t s = 0; ok && s < d->n; s++) {
        const tl_trace *trace = tl_source_trace(d->source[s]);
        t->of[s] = tl_arena_alloc(&t->arena, ((size_t)trace->ncls + 1) * sizeof *t->of[s]);
        ok = t->of[s] != NULL;
        for (uint32_t i = 0; ok && i < trace->ncls; i++) {
            t->of[s][i] = TL_NO_COLUMN;
            if (trace->cls[i].kind != TL_FORMAT)
                ok = add(t, &trace->cls[i], &t->of[s][i]);
        }
    }
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the classes");
}

void tl_class_tables_fini(tl_class_tables *t)
{
    free(t->table);
    tl_hash_fini(&t->by_class);
    tl_hash_fini(&t->by_name);
    tl_hash_fini(&t->numbered);
    tl_strings_fini(&t->names);
    tl_arena_fini(&t->arena);
    *t = (tl_class_tables){0};
}

/* The columns of a table while they are made. */
typedef struct making {
    tl_arena *arena;
    tl_column_info *column;
    uint8_t *part;
    uint32_t n, column_capacity, part_capacity;
    bool failed;
} making;

static uint32_t column_named(const making *m, const char *name)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (strcasecmp(m->column[i].name, name) == 0)
            return i;
    return TL_NO_COLUMN;
}

static bool add_column(making *m, const tl_column_info *info, uint8_t part)
{
    if (!TL_GROW(m->column, m->n, 1, m->column_capacity) || !TL_GROW(m->part, m->n, 1, m->part_capacity)) {
        m->failed = true;
        return false;
    }
    m->column[m->n] = *info;
    m->part[m->n++] = part;
    return true;
}

/* A column of a field: that of another trace's class, if there is one of the same name; own: the columns from this on
 * are of the same class, whose names differ. */
static uint32_t field_column(making *m, const char *name, tl_column_type type, tl_column_unit unit, uint32_t own,
                             const uint8_t *taken)
{
    const size_t n = strlen(name);
    char *free = tl_arena_alloc(m->arena, n + 16);
    if (!free) {
        m->failed = true;
        return TL_NO_COLUMN;
    }
    memcpy(free, name, n + 1);
    for (unsigned k = 2;; k++) {
        const uint32_t other = column_named(m, free);
        if (other == TL_NO_COLUMN)
            break;
        if (m->part[other] == TL_EVENT_OTHER && other < own && !taken[other] && m->column[other].type == type)
            return other;
        snprintf(free, n + 16, "%s_%u", name, k);
    }
    if (m->n == TL_CLASS_COLUMNS_MAX)
        return TL_NO_COLUMN;
    const tl_column_info info = {free, free, type, unit, "a field"};
    return add_column(m, &info, TL_EVENT_OTHER) ? m->n - 1 : TL_NO_COLUMN;
}

typedef struct field_type {
    tl_column_type type;
    tl_column_unit unit;
} field_type;

static field_type type_of(const tl_field *f)
{
    switch (f->type) {
    case TL_BOOL:
        return (field_type){TL_INTEGER, TL_UNIT_BOOL};
    case TL_U64:
    case TL_I64:
        return (field_type){TL_INTEGER, TL_UNIT_NONE};
    case TL_HEX:
        return (field_type){TL_INTEGER, TL_UNIT_HEX};
    case TL_F64:
        return (field_type){TL_REAL, TL_UNIT_NONE};
    case TL_STRING:
    case TL_BYTES:
        return (field_type){TL_TEXT, TL_UNIT_NONE};
    default:
        return (field_type){TL_TEXT, TL_UNIT_JSON};
    }
}

/* "outer_inner", "stream_x" for names that both contexts have. */
static const char *field_name(making *m, const char *outer, const tl_field *f)
{
    const char *scope = !(f->flags & TL_FIELD_CLASH) ? "" : tl_field_scope(f) == TL_SCOPE_STREAM ? "stream_" : "event_";
    const char *name = f->name ? f->name : "";
    const size_t n = strlen(outer) + strlen(scope) + strlen(name) + sizeof "_field";
    char *out = tl_arena_alloc(m->arena, n);
    if (out)
        snprintf(out, n, "%s%s%s%s", outer, *outer ? "_" : "", scope, *name || *outer ? name : "field");
    m->failed = m->failed || !out;
    return out;
}

static const tl_field_column *make_fields(making *m, const tl_field *f, uint32_t n, const char *outer, unsigned depth,
                                          uint32_t own, uint8_t *taken)
{
    tl_field_column *out = tl_arena_zalloc(m->arena, ((size_t)n + 1) * sizeof *out);
    m->failed = m->failed || !out;
    for (uint32_t i = 0; i < n && !m->failed; i++) {
        out[i].column = out[i].label = TL_NO_COLUMN;
        const char *name = field_name(m, outer, &f[i]);
        if (m->failed || tl_field_scope(&f[i]) == TL_SCOPE_PACKET)
            continue;
        if (f[i].type == TL_STRUCT && f[i].nmember > 0 && depth < STRUCT_DEPTH) {
            out[i].member = make_fields(m, f[i].member, f[i].nmember, name, depth + 1, own, taken);
            out[i].nmember = f[i].nmember;
            continue;
        }
        const field_type type = type_of(&f[i]);
        out[i].column = field_column(m, name, type.type, type.unit, own, taken);
        if (out[i].column < own)
            taken[out[i].column] = 1;
        if (out[i].column == TL_NO_COLUMN || type.type != TL_INTEGER || !tl_enum_has_labels(&f[i]))
            continue;
        char *label = tl_arena_alloc(m->arena, strlen(name) + 8);
        m->failed = m->failed || !label;
        if (label) {
            sprintf(label, "%s_label", name);
            out[i].label = field_column(m, label, TL_TEXT, TL_UNIT_NONE, own, taken);
            if (out[i].label < own)
                taken[out[i].label] = 1;
        }
    }
    return out;
}

static bool make_source(making *m, const tl_class_tables *t, uint32_t index, uint32_t source, tl_class_columns *out)
{
    const tl_trace *trace = tl_source_trace(t->dataset->source[source]);
    out->only = tl_arena_zalloc(m->arena, (size_t)trace->ncls + 1);
    out->fields = tl_arena_zalloc(m->arena, ((size_t)trace->ncls + 1) * sizeof *out->fields);
    if (!out->only || !out->fields)
        return false;
    for (uint32_t i = 0; i < trace->ncls && !m->failed; i++) {
        if (index == SNAPSHOTS ? trace->cls[i].role != TL_ROLE_SNAPSHOT : t->of[source][i] != index)
            continue;
        uint8_t *taken = tl_arena_zalloc(m->arena, (size_t)m->n + 1);
        out->only[i] = 1;
        out->fields[i] = taken ? make_fields(m, trace->cls[i].field, trace->cls[i].nfield, "", 0, m->n, taken) : NULL;
        m->failed = m->failed || !taken;
    }
    return !m->failed;
}

/* Does a class of a table have functions? */
static bool has_functions(const tl_class_tables *t, uint32_t index)
{
    for (uint32_t s = 0; s < t->dataset->n; s++) {
        const tl_trace *trace = tl_source_trace(t->dataset->source[s]);
        for (uint32_t i = 0; i < trace->ncls; i++)
            if (t->of[s][i] == index && trace->cls[i].key == TL_KEY_FUNCTION)
                return true;
    }
    return false;
}

int tl_class_table_make(tl_class_tables *t, uint32_t index, tl_error *e)
{
    tl_class_table *table = &t->table[index];
    const uint32_t n = t->dataset->n;
    making m = {.arena = &t->arena};
    if (table->made)
        return 0;
    tl_class_columns *source = tl_arena_zalloc(&t->arena, ((size_t)n + 1) * sizeof *source);
    m.failed = !source;
    for (uint32_t i = 0; i < TL_COUNT(head) && !m.failed; i++)
        add_column(&m, &tl_event_part_column[head[i]], head[i]);
    for (uint32_t i = 0; i < TL_COUNT(of_functions) && index != SNAPSHOTS && has_functions(t, index) && !m.failed; i++)
        add_column(&m, &tl_event_part_column[of_functions[i]], of_functions[i]);
    for (uint32_t i = 0; i < TL_COUNT(snapshot_columns) && index == SNAPSHOTS && !m.failed; i++)
        add_column(&m, &snapshot_columns[i], TL_EVENT_OTHER);
    for (uint32_t s = 0; s < n && !m.failed; s++)
        m.failed = !make_source(&m, t, index, s, &source[s]);
    tl_column_info *column = m.failed ? NULL : tl_arena_alloc(&t->arena, m.n * sizeof *column);
    uint8_t *part = m.failed ? NULL : tl_arena_alloc(&t->arena, m.n);
    if (column && part) {
        memcpy(column, m.column, m.n * sizeof *column);
        memcpy(part, m.part, m.n);
        table->kind = (tl_event_table){.part = part, .source = source};
        table->table.column = column;
        table->table.ncolumn = m.n;
        table->table.order = tl_event_scan_order(t->dataset, 2);
        table->table.rows = tl_event_scan_guess(t->dataset) / 10 + 1;
        table->table.arg = &table->kind;
        table->table.keeps = tl_event_scan_keeps;
        table->table.is_large = true;
        table->table.open = tl_event_scan_open;
        table->table.parts = tl_event_scan_parts;
        table->made = true;
    }
    free(m.column);
    free(m.part);
    return table->made ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for columns");
}
