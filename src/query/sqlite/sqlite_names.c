/* Functions of SQL that name things: linkage names, numbers of Linux, instructions, places of stacks. What has no name
 * is null. */
#ifdef TL_HAVE_SQLITE

#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/linux_syscalls.h"
#include "isa/a64_disasm.h"
#include "op/symbols/demangle.h"
#include "query/sqlite/sqlite_functions.h"
#include "query/sqlite/sqlite_value.h"

#define SEPARATOR_BYTES 64 /* of stack_text(): it occurs once for each function */

void tl_sql_demangle(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    if (sqlite3_value_type(v[0]) != SQLITE_TEXT)
        return;
    char *name = tl_demangle((const char *)sqlite3_value_text(v[0]));
    if (name)
        sqlite3_result_text(c, name, -1, free);
    else
        sqlite3_result_value(c, v[0]);
}

void tl_sql_errno_name(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const int64_t number = tl_value_is_int(v[0]) ? sqlite3_value_int64(v[0]) : 0;
    const char *name = number > 0 && number <= INT32_MAX ? tl_linux_error_name((unsigned)number) : NULL;
    if (name)
        tl_give_text(c, name);
}

void tl_sql_syscall_name(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const tl_linux_call *call = tl_value_is_int(v[0]) ? tl_linux_call_of((uint64_t)sqlite3_value_int64(v[0])) : NULL;
    if (call)
        tl_give_text(c, call->name);
}

void tl_sql_disassemble(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    tl_query *q = sqlite3_user_data(c);
    char text[A64_TEXT_MAX];
    if (!tl_value_is_int(v[0]) || sqlite3_value_int64(v[0]) < 0 || sqlite3_value_int64(v[0]) > UINT32_MAX)
        return;
    if (!q->disasm && a64_disasm_new(&q->disasm, false, NULL) < 0) {
        sqlite3_result_error_nomem(c);
        return;
    }
    a64_disasm_text(q->disasm, (uint32_t)sqlite3_value_int64(v[0]), tl_value_is_int(v[1]),
                    (uint64_t)sqlite3_value_int64(v[1]), text);
    tl_give_text(c, text);
}

/* ---- stacks: places are made before the statement runs, since it calls one of these ---- */

/* The place that the first two arguments name; false: there is none. */
static bool find_place(const tl_query *q, sqlite3_value **v, const tl_profile **p, uint32_t *place)
{
    if (!tl_value_is_int(v[0]) || !tl_value_is_int(v[1]) || !q->has_places)
        return false;
    const int64_t trace = sqlite3_value_int64(v[0]), number = sqlite3_value_int64(v[1]);
    if (trace < 1 || trace > q->dataset.n)
        return false;
    const tl_trace_places *t = &q->places[trace - 1];
    if (!t->profile || number < 1 || number >= tl_profile_places(t->profile))
        return false;
    *p = t->profile;
    *place = t->order[number];
    return true;
}

void tl_sql_stack_text(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const tl_profile *p;
    uint32_t place;
    tl_pb text = {0};
    const char *separator = (const char *)sqlite3_value_text(v[2]);
    if (separator && sqlite3_value_bytes(v[2]) > SEPARATOR_BYTES) {
        sqlite3_result_error(c, "stack_text: a separator of more than 64 bytes", -1);
        return;
    }
    if (!separator || !find_place(sqlite3_user_data(c), v, &p, &place))
        return;
    tl_place_text(p, place, separator, &text);
    if (text.failed)
        sqlite3_result_error_nomem(c);
    else
        sqlite3_result_text64(c, text.n ? (const char *)text.data : "", text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
    tl_pb_fini(&text);
}

void tl_sql_stack_contains(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const tl_profile *p;
    uint32_t place;
    char label[24];
    const char *pattern = (const char *)sqlite3_value_text(v[2]);
    bool found = false;
    if (!pattern || !find_place(sqlite3_user_data(c), v, &p, &place))
        return;
    for (; place && !found; place = tl_profile_parent(p, place)) {
        const uint32_t function = tl_profile_function(p, place);
        found = function != UINT32_MAX &&
                sqlite3_strglob(pattern, tl_function_label(tl_profile_get_function(p, function), label)) == 0;
    }
    sqlite3_result_int(c, found);
}

#endif
