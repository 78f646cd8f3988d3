/* The relation `syscalls`: system calls by number, and with --calls each call. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/insn_answer.h"
#include "analysis/instruction/syscall_table.h"
#include "base/text/number.h"

#define CALL_ROWS   15u  /* on a terminal */
#define RESULT_SIZE 128u /* longest text of a result: a name and a line that explains it */

static bool set(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE])
{
    (void)message;
    ((tl_syscall_options *)to)->list = o->calls;
    return true;
}

static const char *name_of(uint64_t number)
{
    const tl_linux_call *call = tl_linux_call_of(number);
    return call ? call->name : NULL;
}

/* ---- by number ---- */

static void get_name(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, name_of(((const tl_syscall_row *)at->row)->number));
}

static void get_name_shown(const tl_at *at, tl_cell *out)
{
    const uint64_t number = ((const tl_syscall_row *)at->row)->number;
    get_name(at, out);
    if (out->kind == TL_CELL_NULL)
        tl_cell_printf(at, out, "number %" PRIu64, number);
}

static void get_number_shown(const tl_at *at, tl_cell *out)
{
    const uint64_t number = ((const tl_syscall_row *)at->row)->number;
    if (name_of(number))
        tl_cell_u64(out, number);
}

static void get_errors_shown(const tl_at *at, tl_cell *out)
{
    const tl_syscall_row *row = at->row;
    if (row->errors)
        tl_cell_u64(out, row->errors);
}

static const tl_column kinds[] = {
    {TL_COL("number", NULL, INTEGER, NONE, "number of the system call"), TL_AT(U64, tl_syscall_row, number)},
    {TL_COL("name", NULL, TEXT, NONE, "its name; null: unknown"), .get = get_name},
    {TL_COL("calls", "calls", INTEGER, COUNT, "calls made"), "count", TL_AT(U64, tl_syscall_row, count)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(U64, tl_syscall_row, count), .flags = TL_WITH_BAR, .drop = 1},
    {TL_COL("errors", NULL, INTEGER, COUNT, "calls that failed"), TL_AT(U64, tl_syscall_row, errors)},
    {TL_COL(NULL, "errors", INTEGER, COUNT, NULL), .get = get_errors_shown},
    {TL_COL(NULL, "system call", TEXT, NONE, NULL), .get = get_name_shown, .role = TL_ROLE_NAME},
    {TL_COL(NULL, "number", INTEGER, NONE, NULL), .get = get_number_shown, .role = TL_ROLE_SUFFIX, .flags = TL_BLANK},
};

static void add_kinds(const tl_syscalls *s, const tl_ask *ask, tl_answer *a)
{
    uint32_t *order = tl_syscalls_sort(s);
    tl_answer_own(a, order);
    TL_ADD_TOP(a, ask, "syscalls", kinds, s->row, order, s->n, CALL_ROWS, "kinds of system calls", 24);
}

/* ---- single calls ---- */

static void get_call_name(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, name_of(((const tl_syscall *)at->row)->number));
}

static void get_arguments(const tl_at *at, tl_cell *out)
{
    const tl_syscall *c = at->row;
    char number[TL_CALL_ARGUMENTS][24];
    const char *text[TL_CALL_ARGUMENTS];
    for (unsigned i = 0; i < c->n; i++) {
        snprintf(number[i], sizeof number[i], "0x%" PRIx64, c->argument[i]);
        text[i] = number[i];
    }
    tl_cell_texts(at, out, text, c->n);
}

static void get_line(const tl_at *at, tl_cell *out)
{
    const tl_syscall *c = at->row;
    char result[RESULT_SIZE];
    tl_call_result_text(result, sizeof result, c->number, c->has_result, c->result);
    tl_cell_printf(at, out, "%s = %s", c->text, result);
}

static const tl_column calls[] = {
    {TL_COL("ts", NULL, INTEGER, COUNT, "instructions the thread had executed before it"), TL_AT(U64, tl_syscall, ts)},
    {TL_COL("thread", NULL, TEXT, NONE, "the thread that called"), "track", TL_AT(TEXT, tl_syscall, track)},
    {TL_COL("number", NULL, INTEGER, NONE, "number of the system call"), TL_AT(U64, tl_syscall, number)},
    {TL_COL("name", NULL, TEXT, NONE, "its name; null: unknown"), .get = get_call_name},
    {TL_COL("arguments", NULL, TEXT, JSON, "arguments, in hexadecimal"), .get = get_arguments},
    {TL_COL("result", NULL, INTEGER, HEX, "result; null: unknown"), TL_AT(U64, tl_syscall, result),
     TL_ONLY_IF(tl_syscall, has_result)},
    {TL_COL("line", NULL, TEXT, NONE, "the call as text, in the manner of C"), .get = get_line},
};

/* Lines in the style of `strace`; not cut, because the result is at the end. */
static void say_calls(const tl_part *part, const tl_prose *p)
{
    char number[32], result[RESULT_SIZE], track[64];
    int ts_width = 0, track_width = 0;
    for (uint64_t i = 0; i < part->n; i++) {
        const tl_syscall *c = tl_part_row(part, i);
        const int width = (int)strlen(tl_human_grouped(number, sizeof number, c->ts));
        tl_text_clean(track, sizeof track, c->track);
        const int name = (int)tl_text_width(track, strlen(track));
        ts_width = width > ts_width ? width : ts_width;
        track_width = name > track_width ? name : track_width;
    }
    for (uint64_t i = 0; i < part->n; i++) {
        const tl_syscall *c = tl_part_row(part, i);
        const bool failed = c->has_result && tl_linux_is_error(c->result);
        tl_text_clean(track, sizeof track, c->track);
        tl_call_result_text(result, sizeof result, c->number, c->has_result, c->result);
        tl_output_printf(p->out, "%s%*s  %*s%s%s  %s = %s%s%s\n", tl_style_on(p->terminal, TL_FAINT), ts_width,
                         tl_human_grouped(number, sizeof number, c->ts),
                         track_width - (int)tl_text_width(track, strlen(track)), "", track,
                         tl_style_on(p->terminal, TL_PLAIN_TEXT), c->text,
                         tl_style_on(p->terminal, failed ? TL_ACCENT : TL_PLAIN_TEXT), result,
                         tl_style_on(p->terminal, TL_PLAIN_TEXT));
    }
}

static void add_calls(const tl_syscalls *s, const tl_ask *ask, tl_answer *a)
{
    uint32_t *order = tl_syscalls_sort_list(s);
    tl_answer_own(a, order);
    tl_part *part = TL_ADD_ROWS(a, ask, "calls", calls, s->call, order, tl_ask_rows(ask, s->ncalls, 0, 0));
    part->before = say_calls;
    part->verbatim = true;
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_syscalls *s = a->table;
    uint64_t errors = 0;
    char text[32];
    for (uint32_t i = 0; i < s->n; i++)
        errors += s->row[i].errors;
    tl_say_subject(a, p);
    tl_say_count(p, (uint64_t)a->whole, "system call", "system calls");
    if (s->n > 1)
        tl_output_printf(p->out, " of %s kinds", tl_human_grouped(text, sizeof text, s->n));
    tl_output_printf(p->out, ", %s failed\n", errors ? tl_human_grouped(text, sizeof text, errors) : "none");
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_syscalls *s = table;
    (void)e;
    for (uint32_t i = 0; i < s->n; i++)
        a->whole += (double)s->row[i].count;
    a->unit = "calls";
    a->head = head;
    add_kinds(s, ask, a);
    if (s->list)
        add_calls(s, ask, a);
    return 0;
}

const tl_table_kind tl_table_syscall = {.info = {"syscall", "system calls", TL_NEEDS_INSNS},
                                        .sql = "syscall_stats",
                                        .what = "system calls",
                                        .tab = "code",
                                        .takes = "calls",
                                        .options_size = sizeof(tl_syscall_options),
                                        .set = set,
                                        .pass = &tl_syscall_table,
                                        .calls_pass =
                                            &tl_syscall_list_table, /* also needs the bytes of loads and stores */
                                        TL_EMPTY_IF_0(tl_syscalls, n),
                                        .answer = answer,
                                        TL_TABLE_COLUMNS(kinds)};
