/* The relations `domains`, `assemblies`, `netmodules` and `types`: what a managed runtime loaded, and what each belongs
 * to. Memory: 64 bytes per load, and the names. */
#include <stdlib.h>

#include "analysis/runtime/latest_names.h"
#include "analysis/runtime/runtime_answer.h"
#include "analysis/runtime/runtime_events.h"
#include "base/grow.h"

#define LOADED_ROWS 19u         /* on a terminal: with head and prompt it fits 24 lines */
#define FAILED      0x80000000u /* a status of this and above */

/* Each belongs to one of the previous level. */
typedef enum level { DOMAIN, ASSEMBLY, MODULE, TYPE } level;
static const struct {
    tl_role role;
    tl_field_role id;
} levels[] = {[DOMAIN] = {TL_ROLE_DOMAIN, TL_FIELD_DOMAIN},
              [ASSEMBLY] = {TL_ROLE_ASSEMBLY, TL_FIELD_ASSEMBLY},
              [MODULE] = {TL_ROLE_MODULE, TL_FIELD_MODULE},
              [TYPE] = {TL_ROLE_TYPE, TL_FIELD_TYPE_ID}};

typedef struct loaded_row {
    uint64_t ts, id, parent, number; /* number: of a type, that of its name */
    bool has_id, has_parent, has_number, failed;
    const char *name, *parent_name;
} loaded_row;

typedef struct loaded {
    level level;
    loaded_row *row;
    uint32_t n, capacity;
    tl_hash latest;          /* id -> its last row */
    tl_names parents, types; /* names by id, and of types by number */
    tl_strings strings;
} loaded;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of what was loaded");
}

/* False if the id is unknown: not a number, or 0. */
static bool get_id(const tl_value *v, uint64_t *id)
{
    *id = tl_value_number(v);
    return *id != 0;
}

static int add_row(loaded *l, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    bool failed = false;
    const tl_value *status = ev->field[TL_FIELD_STATUS], *number = ev->field[TL_FIELD_TYPE];
    if (!TL_GROW(l->row, l->n, 1, l->capacity))
        return no_memory(e);
    loaded_row *row = &l->row[l->n];
    *row = (loaded_row){.ts = tl_runtime_time(r, ev->ts),
                        .name = tl_value_text(ev->field[TL_FIELD_NAME], &l->strings, &failed),
                        .has_number = tl_value_is_number(number),
                        .number = tl_value_number(number),
                        .failed = tl_value_number(status) >= FAILED};
    row->has_id = get_id(ev->field[levels[l->level].id], &row->id);
    if (l->level > DOMAIN)
        row->has_parent = get_id(ev->field[levels[l->level - 1].id], &row->parent);
    if (failed || (row->has_id && !tl_hash_put(&l->latest, row->id, l->n)))
        return no_memory(e);
    l->n++;
    return 0;
}

/* A module became part of an assembly. */
static void set_owner(loaded *l, const tl_runtime_event *ev)
{
    uint64_t module, assembly;
    if (!get_id(ev->field[TL_FIELD_MODULE], &module) || !get_id(ev->field[TL_FIELD_ASSEMBLY], &assembly))
        return;
    const uint32_t at = tl_hash_get(&l->latest, module);
    if (at == TL_HASH_NONE)
        return;
    l->row[at].parent = assembly;
    l->row[at].has_parent = true;
}

static int on_event(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    loaded *l = arg;
    const tl_value *name = ev->field[TL_FIELD_NAME];
    if (ev->cls->role == TL_ROLE_TYPE_NAME)
        return tl_names_set(&l->types, &l->strings, ev->field[TL_FIELD_TYPE], name, e);
    if (ev->cls->role == TL_ROLE_MODULE_OWNER) {
        set_owner(l, ev);
        return 0;
    }
    if (ev->cls->role != levels[l->level].role)
        return tl_names_set(&l->parents, &l->strings, ev->field[levels[l->level - 1].id], name, e);
    return ev->chosen ? add_row(l, r, ev, e) : 0;
}

static int read_level(loaded *l, level at, tl_source *s, const tl_select *select, tl_error *e)
{
    tl_runtime r;
    tl_runtime_visitor visitor = {.roles = 1u << levels[at].role, .event = on_event};
    l->level = at;
    if (at > DOMAIN)
        visitor.roles |= 1u << levels[at - 1].role;
    if (at == MODULE)
        visitor.roles |= 1u << TL_ROLE_MODULE_OWNER;
    if (at == TYPE)
        visitor.roles |= 1u << TL_ROLE_TYPE_NAME;
    const int status = tl_runtime_read(&r, s, select, &visitor, l, e);
    for (uint32_t i = 0; i < l->n; i++) {
        loaded_row *row = &l->row[i];
        if (row->has_parent)
            row->parent_name = tl_names_get(&l->parents, row->parent);
        if (row->has_number)
            row->name = tl_names_get(&l->types, row->number);
    }
    return status;
}

static void fini(void *table)
{
    loaded *l = table;
    free(l->row);
    tl_hash_fini(&l->latest);
    tl_names_fini(&l->parents);
    tl_names_fini(&l->types);
    tl_strings_fini(&l->strings);
}

static void get_name(const tl_at *at, tl_cell *out)
{
    const loaded_row *row = at->row;
    tl_cell_name(at, out, row->name, row->has_id, row->id);
}

static void get_parent(const tl_at *at, tl_cell *out)
{
    const loaded_row *row = at->row;
    if (!row->has_parent)
        return;
    tl_cell_name(at, out, row->parent_name, true, row->parent);
    tl_cell_printf(at, out, "in %s", out->text);
}

static void get_failed(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, ((const loaded_row *)at->row)->failed);
}

static void say_failed(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, ((const loaded_row *)at->row)->failed ? "failed" : NULL);
}

static const tl_column columns[] = {
    {TL_COL("ts", "loaded", INTEGER, TIME, "when it was loaded"), TL_AT(U64, loaded_row, ts), .place = 1},
    {TL_COL("id", NULL, INTEGER, HEX, "the runtime's id"), TL_AT(U64, loaded_row, id), TL_ONLY_IF(loaded_row, has_id)},
    {TL_COL("name", NULL, TEXT, NONE, "its name; null: not known"), TL_AT(TEXT, loaded_row, name)},
    {TL_COL("parent_id", NULL, INTEGER, HEX,
            "what it is part of: a type of a module, that of an assembly, of a domain"),
     TL_AT(U64, loaded_row, parent), TL_ONLY_IF(loaded_row, has_parent)},
    {TL_COL("parent", NULL, TEXT, NONE, "the name of that"), TL_AT(TEXT, loaded_row, parent_name)},
    {TL_COL("failed", NULL, INTEGER, BOOL, "it could not be loaded"), .get = get_failed},
    {TL_COL(NULL, "", TEXT, NONE, NULL), .get = say_failed, .flags = TL_BLANK, .place = 2},
    {TL_COL(NULL, "name", TEXT, NONE, NULL), .get = get_name, .role = TL_ROLE_NAME},
    {TL_COL(NULL, "part of", TEXT, NONE, NULL), .get = get_parent, .role = TL_ROLE_SUFFIX},
};

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    static const char *const key[] = {"domains", "assemblies", "netmodules", "types"};
    const loaded *l = table;
    (void)e;
    a->head = tl_say_subject;
    TL_ADD_TOP(a, ask, key[l->level], columns, l->row, NULL, l->n, LOADED_ROWS, key[l->level], 30);
    return 0;
}

#define LOADED(word, at, name, plural, summary)                                                                        \
    static int read_##word(void *table, tl_source *s, const tl_select *select, tl_error *e)                            \
    {                                                                                                                  \
        return read_level(table, at, s, select, e);                                                                    \
    }                                                                                                                  \
    const tl_table_kind tl_table_##word = {.info = {#word, summary, TL_NEEDS_RUNTIME},                                 \
                                           .sql = name,                                                                \
                                           .what = plural,                                                             \
                                           .of_runtime = true,                                                         \
                                           .size = sizeof(loaded),                                                     \
                                           .read = read_##word,                                                        \
                                           TL_EMPTY_IF_0(loaded, n),                                                   \
                                           .answer = answer,                                                           \
                                           .fini = fini,                                                               \
                                           TL_TABLE_COLUMNS(columns)}
LOADED(domain, DOMAIN, "domains", "application domains", "application domains");
LOADED(assembly, ASSEMBLY, "assemblies", "assemblies", "assemblies that were loaded, and their domains");
LOADED(netmodule, MODULE, "modules", "modules", "modules that were loaded, and their assemblies");
LOADED(type, TYPE, "types", "types", "types (classes) that were loaded, and their modules");
