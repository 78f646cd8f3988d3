/* Functions of SQL that name things: linkage names, numbers of Linux, instructions, places of stacks. What has no name
 * is null. */
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/linux_syscalls.h"
#include "isa/a64_disasm.h"
#include "op/symbols/demangle.h"
#include "query/sql_call.h"

#define SEPARATOR_BYTES 64 /* of stack_text(): it occurs once for each function */

void tl_sql_demangle(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    if (v[0].kind != TL_VALUE_TEXT)
        return;
    char *name = tl_demangle(v[0].text);
    c->kind = TL_VALUE_TEXT;
    tl_pb_raw(&c->bytes, name ? name : v[0].text, name ? strlen(name) : v[0].size);
    free(name);
}

void tl_sql_errno_name(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    const int64_t number = tl_value_is_int(&v[0]) ? v[0].i64 : 0;
    const char *name = number > 0 && number <= INT32_MAX ? tl_linux_error_name((unsigned)number) : NULL;
    if (name)
        tl_give_text(c, name);
}

void tl_sql_syscall_name(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    const tl_linux_call *call = tl_value_is_int(&v[0]) ? tl_linux_call_of((uint64_t)v[0].i64) : NULL;
    if (call)
        tl_give_text(c, call->name);
}

void tl_sql_disassemble(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    tl_query *q = c->query;
    char text[A64_TEXT_MAX];
    if (!tl_value_is_int(&v[0]) || v[0].i64 < 0 || v[0].i64 > UINT32_MAX)
        return;
    if (!q->disasm && a64_disasm_new(&q->disasm, false, NULL) < 0) {
        c->no_memory = true;
        return;
    }
    a64_disasm_text(q->disasm, (uint32_t)v[0].i64, tl_value_is_int(&v[1]), (uint64_t)v[1].i64, text);
    tl_give_text(c, text);
}

/* ---- stacks: places are made before the statement runs, since it calls one of these ---- */

/* The place that the first two arguments name; false: there is none. */
static bool find_place(const tl_query *q, const tl_sql_value *v, const tl_profile **p, uint32_t *place)
{
    if (!tl_value_is_int(&v[0]) || !tl_value_is_int(&v[1]) || !q->has_places)
        return false;
    const int64_t trace = v[0].i64, number = v[1].i64;
    if (trace < 1 || trace > q->dataset.n)
        return false;
    const tl_trace_places *t = &q->places[trace - 1];
    if (!t->profile || number < 1 || number >= tl_profile_places(t->profile))
        return false;
    *p = t->profile;
    *place = t->order[number];
    return true;
}

void tl_sql_stack_text(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    const tl_profile *p;
    uint32_t place;
    const char *separator = tl_value_text(&v[2]);
    if (separator && v[2].size > SEPARATOR_BYTES) {
        tl_sql_call_fail(c, "stack_text: a separator of more than 64 bytes");
        return;
    }
    if (!separator || !find_place(c->query, v, &p, &place))
        return;
    c->kind = TL_VALUE_TEXT;
    tl_place_text(p, place, separator, &c->bytes);
}

void tl_sql_stack_contains(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    const tl_profile *p;
    uint32_t place;
    char label[24];
    const char *pattern = tl_value_text(&v[2]);
    bool found = false;
    if (!pattern || !find_place(c->query, v, &p, &place))
        return;
    for (; place && !found; place = tl_profile_parent(p, place)) {
        const uint32_t function = tl_profile_function(p, place);
        found = function != UINT32_MAX &&
                tl_query_glob(pattern, tl_function_label(tl_profile_get_function(p, function), label));
    }
    tl_give_int(c, found);
}
