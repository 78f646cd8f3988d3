/* Compilations, one by one. */
#include "analysis/runtime/compilation_rows.h"

#include <stdlib.h>

#include "base/grow.h"

#define FAILED UINT64_C(0x80000000)

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of compilations");
}

/* The row waits for the function of its code; false when memory runs out. */
static bool wait_for_code(tl_compilations *c, uint32_t at)
{
    const uint32_t last = tl_hash_get(&c->waiting, c->row[at].code);
    c->row[at].next = last == TL_HASH_NONE ? 0 : last;
    return tl_hash_put(&c->waiting, c->row[at].code, at + 1);
}

static int begin(tl_compilations *c, const tl_runtime_event *ev, tl_error *e)
{
    uint32_t at = UINT32_MAX;
    if (ev->chosen) {
        const tl_value *code = ev->field[TL_FIELD_CODE_ID];
        if (!TL_GROW(c->row, c->n, 1, c->capacity))
            return no_memory(e);
        at = c->n++;
        c->row[at] = (tl_compilation){.begin = ev->ts,
                                      .track = ev->track,
                                      .code = tl_value_number(code),
                                      .has_code = tl_value_is_number(code),
                                      .is_search = ev->cls->role == TL_ROLE_CODE_SEARCH};
        if (c->row[at].has_code && !wait_for_code(c, at))
            return no_memory(e);
    }
    return tl_begins_add(&c->open, ev->cls->id, ev->key, at, e);
}

static void end(tl_compilations *c, const tl_runtime_event *ev)
{
    uint32_t at;
    if (!tl_begins_take(&c->open, ev->cls->pair, ev->key, &at) || at == UINT32_MAX || !ev->in_time)
        return;
    c->row[at].ended = true;
    c->row[at].end = ev->ts > c->row[at].begin ? ev->ts : c->row[at].begin;
    c->row[at].is_failed = !c->row[at].is_search && tl_value_number(ev->field[TL_FIELD_STATUS]) >= FAILED;
}

static int code(tl_compilations *c, const tl_runtime_event *ev, tl_error *e)
{
    const tl_value *id = ev->field[TL_FIELD_CODE_ID], *function = ev->field[TL_FIELD_FUNCTION];
    if (!tl_value_is_number(id) || !tl_value_is_number(function))
        return 0;
    uint32_t at = tl_hash_get(&c->waiting, id->as.u);
    for (at = at == TL_HASH_NONE ? 0 : at; at > 0; at = c->row[at - 1].next) {
        c->row[at - 1].has_function = true;
        c->row[at - 1].function = function->as.u;
    }
    uint32_t known = tl_hash_get(&c->latest, id->as.u);
    if (known == TL_HASH_NONE) {
        known = c->nfunction;
        if (!TL_GROW(c->function, c->nfunction, 1, c->function_capacity) || !tl_hash_put(&c->latest, id->as.u, known))
            return no_memory(e);
        c->nfunction++;
    }
    c->function[known] = function->as.u;
    return tl_hash_put(&c->waiting, id->as.u, 0) ? 0 : no_memory(e);
}

static int on_event(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    tl_compilations *c = arg;
    (void)r;
    switch (ev->cls->role) {
    case TL_ROLE_FUNCTION_NAME:
        return tl_names_set(&c->names, &c->strings, ev->field[TL_FIELD_FUNCTION], ev->field[TL_FIELD_NAME], e);
    case TL_ROLE_CODE:
        return code(c, ev, e);
    default:
        if (ev->cls->kind == TL_BEGIN)
            return begin(c, ev, e);
        if (ev->cls->kind == TL_END)
            end(c, ev);
        return 0;
    }
}

/* Those without a later code have the latest. */
static void settle(tl_compilations *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        tl_compilation *row = &c->row[i];
        const uint32_t known = row->has_code && !row->has_function ? tl_hash_get(&c->latest, row->code) : TL_HASH_NONE;
        if (known == TL_HASH_NONE)
            continue;
        row->has_function = true;
        row->function = c->function[known];
    }
}

int tl_compilations_read(tl_compilations *c, tl_source *s, const tl_select *select, tl_error *e)
{
    static const tl_runtime_visitor visitor = {.roles = 1u << TL_ROLE_COMPILATION | 1u << TL_ROLE_CODE_SEARCH |
                                                        1u << TL_ROLE_CODE | 1u << TL_ROLE_FUNCTION_NAME,
                                               .event = on_event};
    tl_runtime r;
    int status = tl_begins_init(&c->open, tl_trace_classes(tl_source_trace(s)), e);
    if (status == 0)
        status = tl_runtime_read(&r, s, select, &visitor, c, e);
    if (status == 0)
        settle(c);
    return status;
}

void tl_compilations_fini(tl_compilations *c)
{
    free(c->row);
    free(c->function);
    tl_names_fini(&c->names);
    tl_begins_fini(&c->open);
    tl_hash_fini(&c->waiting);
    tl_hash_fini(&c->latest);
    tl_strings_fini(&c->strings);
    *c = (tl_compilations){0};
}
