/* A session of `query`: its inputs, and statements that are run or explained. */
#include "cli/query/query_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/glob.h"
#include "base/text/utf8.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/query/query_stop.h"
#include "cli/query/query_wrong.h"
#include "model/trace_description.h"
#include "op/scan/source_walk.h"
#include "query/query_control.h"
#include "query/sql_type.h"

static int open_inputs(tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    const tl_want want = {.fields = true, .cpu = true, .strict = a->strict, .threads = tl_threads(j->cli)};
    int status = TL_EXIT_DONE;
    j->reading = calloc(j->text.nfile + 1, sizeof *j->reading);
    j->source = calloc(j->text.nfile + 1, sizeof *j->source);
    if (!j->reading || !j->source) {
        tl_say_error(NULL, "no memory for the inputs");
        return TL_EXIT_DAMAGED;
    }
    for (size_t i = 0; i < j->text.nfile && status == TL_EXIT_DONE; i++) {
        status = tl_reading_open(&j->reading[i], j->cli, j->text.file[i], &want);
        if (status == TL_EXIT_DONE)
            j->source[j->n++] = j->reading[i].source;
    }
    return status;
}

/* No trace has to do with it. */
static int say_unopened(tl_query_job *j, const tl_error *e)
{
    j->is_wrong_everywhere = e->code != TL_ENOMEM;
    return tl_say_failure(NULL, e);
}

static int open_session(tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    tl_error e = {0};
    if (tl_selection_parse(&j->selection, a, &e) < 0)
        return say_unopened(j, &e);
    for (uint32_t i = 0; i < j->n && j->selection.any; i++)
        if (tl_selection_apply(&j->selection, j->reading[i].trace, &e) < 0)
            return tl_say_failure(j->reading[i].path, &e);
    const tl_query_options options = {.select = j->selection.any ? &j->selection.select : NULL,
                                      .threads = tl_threads(j->cli),
                                      .memory = a->memory,
                                      .timeout_ns = a->timeout};
    if (tl_query_open_engine(&j->query, j->source, j->n, &options, a->engine, &e) < 0)
        return say_unopened(j, &e);
    tl_query_stop_catch(j->query);
    return TL_EXIT_DONE;
}

static int note_traces(tl_query_job *j)
{
    tl_error e = {0};
    tl_described_trace *t = calloc((size_t)j->n + 1, sizeof *t);
    for (uint32_t i = 0; t && i < j->n; i++)
        t[i] = (tl_described_trace){j->reading[i].trace, tl_scan_begin(j->reading[i].trace)};
    const int status = t ? tl_describe_traces(&j->traces, t, j->n, &e)
                         : tl_fail(&e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of traces");
    free(t);
    j->to.traces = j->traces;
    return status < 0 ? tl_say_failure(NULL, &e) : TL_EXIT_DONE;
}

int tl_query_job_open(tl_query_job *j)
{
    int status = open_inputs(j);
    j->to.first = true;
    j->is_ns = true;
    j->to.is_stopped = tl_query_is_stopped;
    for (uint32_t i = 0; i < j->n; i++)
        j->is_ns = j->is_ns && strcmp(tl_trace_unit(j->reading[i].trace), "ns") == 0;
    if (status == TL_EXIT_DONE)
        status = note_traces(j);
    return status == TL_EXIT_DONE ? open_session(j) : status;
}

int tl_query_job_close(tl_query_job *j, int status)
{
    tl_query_stop_catch(NULL);
    tl_query_close(j->query);
    for (uint32_t i = 0; i < j->n; i++)
        status = tl_exit_worse(status, tl_say_losses(j->cli, j->reading[i].trace, 0));
    for (uint32_t i = 0; i < j->n; i++)
        tl_reading_close(&j->reading[i]);
    tl_selection_fini(&j->selection);
    free(j->reading);
    free(j->source);
    free(j->traces);
    return status;
}

/* -- statements -----------------------------------------------------------------------------------------------------
 */

/* Says which tables have no rows, and why. */
static void say_notes(const tl_query_job *j)
{
    for (uint32_t i = 0; i < tl_query_tables(j->query); i++) {
        const char *note = tl_query_table_note(j->query, i);
        if (note)
            tl_say(j->cli, j->trace, "%s", note);
    }
}

static int bind(const tl_query_job *j, tl_statement *s, tl_error *e)
{
    char room[256];
    for (uint32_t i = 0; i < tl_statement_parameters(s); i++) {
        const char *name = tl_statement_parameter(s, i);
        const tl_sql_value *v = name ? tl_query_text_parameter(&j->text, name) : NULL;
        tl_sql_value usual;
        if (!v && name && tl_query_text_default(&j->text, name, room, sizeof room, &usual))
            v = &usual;
        if (!v && j->text.recipe)
            return tl_fail(e, TL_ESYNTAX, TL_NO_OFFSET, "recipe %s: %s=VALUE is missing", j->text.recipe, name);
        if (!v)
            return tl_fail(e, TL_ESYNTAX, TL_NO_OFFSET, "parameter %s has no value: -p %s=VALUE gives one",
                           name ? name : "?", name ? name : "NAME");
        const int status = tl_statement_bind(s, i, v, e);
        if (status < 0)
            return status;
    }
    return 0;
}

static void put_line(void *out, const char *text)
{
    char clean[512];
    tl_output_puts(out, tl_text_clean(clean, sizeof clean, text));
    tl_output_puts(out, "\n");
}

static int explain(tl_query_job *j, const char *sql, const char **rest, tl_error *e)
{
    if (!j->to.first)
        tl_output_puts(j->to.out, "\n");
    j->to.first = false;
    return tl_query_explain(j->query, sql, rest, put_line, j->to.out, e);
}

static int run(tl_query_job *j, const char *sql, const char **rest, tl_error *e)
{
    tl_statement *s = NULL;
    uint64_t rows = 0;
    int status = tl_query_prepare(&s, j->query, sql, rest, e);
    if (status == 0 && s)
        status = bind(j, s, e);
    if (status == 0 && s) {
        say_notes(j);
        tl_statement_rows from = tl_rows_of_statement(s, j->is_ns);
        status = j->form->print(&from.result, &j->to, &rows, e);
        j->to.first = false;
    }
    tl_statement_close(s);
    j->rows += rows;
    return status;
}

/* Is it a mistake in the SQL that has nothing to do with the tables of a trace? */
static bool is_of_text(const tl_error *e)
{
    static const char *const words[] = {"near \"", "incomplete input", "no such function: ", "parameter ", "recipe "};
    bool is = e->code == TL_EUNSUPPORTED && strstr(e->message, "statements can only read");
    for (size_t i = 0; i < TL_COUNT(words) && e->code == TL_ESYNTAX; i++)
        is = is || strncmp(e->message, words[i], strlen(words[i])) == 0;
    return is;
}

int tl_query_job_run(tl_query_job *j)
{
    tl_error e = {0};
    int status = 0;
    for (const char *sql = j->text.sql, *rest = NULL; status >= 0 && sql[strspn(sql, " \t\r\n")]; sql = rest) {
        status = j->explains ? explain(j, sql, &rest, &e) : run(j, sql, &rest, &e);
        if (status < 0) {
            const bool of_text = is_of_text(&e);
            j->is_wrong_everywhere = of_text;
            return tl_query_say_wrong(j->query, of_text ? NULL : j->trace, j->text.name, j->text.sql, sql, &e);
        }
    }
    return TL_EXIT_DONE;
}

/* -- schema ---------------------------------------------------------------------------------------------------------
 */

bool tl_query_is_wanted(const char *const *pattern, size_t n, const char *table)
{
    bool any = n == 0;
    for (size_t i = 0; i < n && !any; i++)
        any = tl_glob(pattern[i], table);
    return any;
}

int tl_query_job_schema(const tl_query_job *j, const char *const *pattern, size_t n)
{
    char clean[256];
    unsigned tables = 0;
    for (uint32_t i = 0; i < tl_query_tables(j->query); i++) {
        const tl_table_info *t = tl_query_table(j->query, i);
        uint32_t columns;
        if (!tl_query_is_wanted(pattern, n, t->name))
            continue;
        const tl_column_info *c = tl_query_table_columns(j->query, i, &columns);
        tl_output_printf(j->to.out, "%s%s: %s\n", tables++ ? "\n" : "", t->name,
                         tl_text_clean(clean, sizeof clean, t->summary));
        for (uint32_t k = 0; k < columns; k++)
            tl_output_printf(j->to.out, "  %-20s %-13s  %s\n", tl_text_clean(clean, sizeof clean, c[k].name),
                             tl_sql_type(&c[k]), c[k].what);
    }
    if (tables > 0)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "no table matches %s; --schema without a pattern lists all", pattern[0]);
    return TL_EXIT_USAGE;
}
