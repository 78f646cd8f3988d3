/* `report --by syscall`: system calls by number, and with --calls each of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/syscall_table.h"
#include "base/text/number.h"
#include "cli/report/report_insn.h"
#include "cli/report/report_insn_parts.h"

#define RESULT_SIZE 128u /* longest text of a result: a name and a line that explains it */

static bool get_options(void *options, const tl_arguments *a, char message[static TL_USAGE_SIZE])
{
    (void)message;
    ((tl_syscall_options *)options)->list = a->calls;
    return true;
}

static bool is_empty(const void *table)
{
    return ((const tl_syscalls *)table)->n == 0;
}

static int fail_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of system calls");
}

static const char *name_of(uint64_t number)
{
    const tl_linux_call *call = tl_linux_call_of(number);
    return call ? call->name : NULL;
}

/* JSON */

static void put_call(tl_json *j, const tl_syscall *c)
{
    char text[TL_CALL_TEXT + RESULT_SIZE], number[24];
    tl_json_object(j);
    tl_json_key_u64(j, "ts", c->ts);
    tl_json_key_string(j, "track", c->track);
    tl_json_key_u64(j, "number", c->number);
    tl_json_key_string(j, "name", name_of(c->number));
    tl_json_key(j, "arguments");
    tl_json_array(j);
    for (unsigned i = 0; i < c->n; i++) {
        snprintf(number, sizeof number, "0x%" PRIx64, c->argument[i]);
        tl_json_string(j, number);
    }
    tl_json_array_end(j);
    snprintf(number, sizeof number, "0x%" PRIx64, c->result);
    tl_json_key_string(j, "result", c->has_result ? number : NULL);
    const int n = snprintf(text, sizeof text, "%s = ", c->text);
    tl_call_result_text(text + n, sizeof text - (size_t)n, c->number, c->has_result, c->result);
    tl_json_key_string(j, "line", text);
    tl_json_object_end(j);
}

static int put_list(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_syscalls *s = r->table;
    uint32_t *index = tl_syscalls_sort_list(s);
    if (!index)
        return fail_memory(e);
    tl_json_key(j, "calls");
    tl_json_array(j);
    for (uint32_t i = 0; i < tl_insn_rows(r, s->ncalls, 0); i++)
        put_call(j, &s->call[index[i]]);
    tl_json_array_end(j);
    free(index);
    return 0;
}

static int put_json(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_syscalls *s = r->table;
    uint32_t *index = tl_syscalls_sort(s);
    if (!index)
        return fail_memory(e);
    tl_json_key_string(j, "unit", "calls");
    tl_json_key(j, "syscalls");
    tl_json_array(j);
    for (uint32_t i = 0; i < tl_insn_rows(r, s->n, 0); i++) {
        const tl_syscall_row *row = &s->row[index[i]];
        tl_json_object(j);
        tl_json_key_u64(j, "number", row->number);
        tl_json_key_string(j, "name", name_of(row->number));
        tl_json_key_u64(j, "count", row->count);
        tl_json_key_u64(j, "errors", row->errors);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    free(index);
    return s->list ? put_list(r, j, e) : 0;
}

/* Text */

static void print_head(const tl_insn_report *r, uint64_t calls, tl_output *out)
{
    const tl_syscalls *s = r->table;
    uint64_t errors = 0;
    char a[32], b[32];
    for (uint32_t i = 0; i < s->n; i++)
        errors += s->row[i].errors;
    tl_insn_subject(r, out);
    tl_output_printf(out, "%s system %s", tl_human_grouped(a, sizeof a, calls), calls == 1 ? "call" : "calls");
    if (s->n > 1)
        tl_output_printf(out, " of %s kinds", tl_human_grouped(a, sizeof a, s->n));
    tl_output_printf(out, ", %s failed\n\n", errors ? tl_human_grouped(b, sizeof b, errors) : "none");
}

static int print_rows(const tl_insn_report *r, uint64_t calls, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"calls", 0}, {"share", 1}, {"errors", 0}};
    const tl_syscalls *s = r->table;
    tl_text_table t = {.column = column, .ncolumn = 3, .name_title = "system call", .bar_after = 1, .name_wish = 24};
    const uint32_t n = tl_insn_rows(r, s->n, 15);
    uint32_t *index = tl_syscalls_sort(s);
    char text[32];
    if (!index)
        return fail_memory(e);
    for (uint32_t i = 0; i < n; i++) {
        const tl_syscall_row *from = &s->row[index[i]];
        const char *name = name_of(from->number);
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        tl_insn_cell_count(&t, row, &at, from->count);
        tl_insn_cell_share(&t, row, &at, (double)from->count, (double)calls);
        if (from->errors)
            tl_insn_cell_count(&t, row, &at, from->errors);
        else
            tl_runtime_cell(&t, row, &at, "-");
        snprintf(text, sizeof text, name ? "%" PRIu64 : "number %" PRIu64, from->number);
        row->name = name ? name : tl_text_table_keep_raw(&t, text);
        row->suffix = name ? tl_text_table_keep_raw(&t, text) : "";
    }
    free(index);
    return tl_insn_print(r, &t, s->n - n, "kinds of system calls", out, e);
}

/* Lines as `strace` prints them; they are not cut, since what is behind them is the result. */
static int print_list(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    const tl_syscalls *s = r->table;
    const tl_terminal *terminal = r->terminal;
    const uint32_t n = tl_insn_rows(r, s->ncalls, 0);
    uint32_t *index = tl_syscalls_sort_list(s);
    char number[32], result[RESULT_SIZE], track[64];
    int ts_width = 0, track_width = 0;
    if (!index)
        return fail_memory(e);
    for (uint32_t i = 0; i < n; i++) {
        const tl_syscall *c = &s->call[index[i]];
        const int width = (int)strlen(tl_human_grouped(number, sizeof number, c->ts));
        tl_text_clean(track, sizeof track, c->track);
        const int name = (int)tl_text_width(track, strlen(track));
        ts_width = width > ts_width ? width : ts_width;
        track_width = name > track_width ? name : track_width;
    }
    tl_output_puts(out, "\n");
    for (uint32_t i = 0; i < n; i++) {
        const tl_syscall *c = &s->call[index[i]];
        const bool failed = c->has_result && tl_linux_is_error(c->result);
        tl_text_clean(track, sizeof track, c->track);
        tl_call_result_text(result, sizeof result, c->number, c->has_result, c->result);
        tl_output_printf(
            out, "%s%*s  %*s%s%s  %s = %s%s%s\n", tl_style_on(terminal, TL_FAINT), ts_width,
            tl_human_grouped(number, sizeof number, c->ts), track_width - (int)tl_text_width(track, strlen(track)), "",
            track, tl_style_on(terminal, TL_PLAIN_TEXT), c->text,
            tl_style_on(terminal, failed ? TL_ACCENT : TL_PLAIN_TEXT), result, tl_style_on(terminal, TL_PLAIN_TEXT));
    }
    free(index);
    return 0;
}

static int print_text(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    const tl_syscalls *s = r->table;
    uint64_t calls = 0;
    for (uint32_t i = 0; i < s->n; i++)
        calls += s->row[i].count;
    print_head(r, calls, out);
    const int status = print_rows(r, calls, out, e);
    return status < 0 || !s->list ? status : print_list(r, out, e);
}

#define VIEW(table)                                                                                                    \
    {                                                                                                                  \
        .by = "syscall", .what = "system calls", .how = (table), .options_size = sizeof(tl_syscall_options),           \
        .options = get_options, .empty = is_empty, .json = put_json, .text = print_text                                \
    }
const tl_insn_view tl_insn_view_syscall = VIEW(&tl_syscall_table);
const tl_insn_view tl_insn_view_calls = VIEW(&tl_syscall_list_table); /* it wants the bytes of loads and stores, too */
