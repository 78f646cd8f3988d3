/* traceloom query: SQL over traces. */
#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/glob.h"
#include "base/text/number.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/query/query_print.h"
#include "cli/query/query_recipe.h"
#include "cli/query/query_text.h"
#include "cli/query/query_wrong.h"
#include "cli/selection.h"
#include "query/sql_type.h"

#define ROWS_ON_A_TERMINAL 1000u

typedef struct job {
    const tl_cli *cli;
    tl_query_text text;
    tl_reading *reading; /* [n] */
    tl_source **source;  /* [n] */
    uint32_t n;
    tl_selection selection;
    tl_query *query;
    const tl_result_form *form;
    tl_result_to to;
} job;

static tl_query *running; /* for the handler of signals */

static void interrupt(int signal)
{
    (void)signal;
    if (running)
        tl_query_interrupt(running);
}

static int choose_form(job *j)
{
    const tl_arguments *a = j->cli->args;
    j->form = tl_result_form_of(a->json ? "json" : a->to, a->output);
    if (!j->form && !a->to && tl_to_stdout(a))
        j->form = tl_result_form_of("table", NULL);
    if (j->form)
        return TL_EXIT_DONE;
    tl_say_error(a->to ? NULL : a->output, "%s%s: results are written as table, json, jsonl, csv or markdown",
                 a->to ? "--to " : "its suffix names no format", a->to ? a->to : "");
    return TL_EXIT_USAGE;
}

static int open_inputs(job *j)
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

static int open_session(job *j)
{
    const tl_arguments *a = j->cli->args;
    tl_error e = {0};
    if (tl_selection_parse(&j->selection, a, &e) < 0)
        return tl_say_failure(NULL, &e);
    for (uint32_t i = 0; i < j->n && j->selection.any; i++)
        if (tl_selection_apply(&j->selection, j->reading[i].trace, &e) < 0)
            return tl_say_failure(j->reading[i].path, &e);
    const tl_query_options options = {.select = j->selection.any ? &j->selection.select : NULL,
                                      .threads = tl_threads(j->cli),
                                      .memory = a->memory,
                                      .timeout_ns = a->timeout};
    if (tl_query_open(&j->query, j->source, j->n, &options, &e) < 0)
        return tl_say_failure(NULL, &e);
    running = j->query;
    signal(SIGINT, interrupt);
    return TL_EXIT_DONE;
}

/* Says which tables have no rows, and why. */
static void say_notes(const job *j)
{
    for (uint32_t i = 0; i < tl_query_tables(j->query); i++) {
        const char *note = tl_query_table_note(j->query, i);
        if (note)
            tl_say(j->cli, NULL, "%s", note);
    }
}

static int bind(const job *j, tl_statement *s, tl_error *e)
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

static int run(job *j)
{
    tl_error e = {0};
    int status = 0;
    for (const char *sql = j->text.sql, *rest = NULL; status >= 0 && *sql; sql = rest) {
        tl_statement *s = NULL;
        uint64_t rows = 0;
        status = tl_query_prepare(&s, j->query, sql, &rest, &e);
        if (status == 0 && s)
            status = bind(j, s, &e);
        if (status == 0 && s) {
            say_notes(j);
            status = j->form->print(s, &j->to, &rows, &e);
            j->to.first = false;
        }
        tl_statement_close(s);
        if (status < 0)
            return tl_query_say_wrong(j->query, j->text.name, j->text.sql, sql, &e);
    }
    return TL_EXIT_DONE;
}

static bool is_wanted(const job *j, const char *table)
{
    bool any = j->text.ntable == 0;
    for (size_t i = 0; i < j->text.ntable && !any; i++)
        any = tl_glob(j->text.table[i], table);
    return any;
}

/* Lists tables and columns. */
static int print_schema(const job *j)
{
    char clean[256];
    unsigned tables = 0;
    for (uint32_t i = 0; i < tl_query_tables(j->query); i++) {
        const tl_table_info *t = tl_query_table(j->query, i);
        uint32_t n;
        if (!is_wanted(j, t->name))
            continue;
        const tl_column_info *c = tl_query_table_columns(j->query, i, &n);
        tl_output_printf(j->to.out, "%s%s: %s\n", tables++ ? "\n" : "", t->name,
                         tl_text_clean(clean, sizeof clean, t->summary));
        for (uint32_t k = 0; k < n; k++)
            tl_output_printf(j->to.out, "  %-20s %-13s  %s\n", tl_text_clean(clean, sizeof clean, c[k].name),
                             tl_sql_type(&c[k]), c[k].what);
    }
    if (tables > 0)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "no table matches %s; --schema without a pattern lists all", j->text.table[0]);
    return TL_EXIT_USAGE;
}

static int run_to_output(job *j)
{
    const tl_arguments *a = j->cli->args;
    const char *path = a->output ? a->output : "-";
    const bool is_stdout = strcmp(path, "-") == 0;
    tl_terminal file;
    tl_error e = {0};
    tl_terminal_file(&file);
    if (tl_output_open(&j->to.out, path, a->force, TL_PLAIN, 0, &e) < 0)
        return tl_say_failure(NULL, &e);
    j->to.terminal = is_stdout ? &j->cli->out : &file;
    j->to.first = true;
    j->to.most = a->has_rows ? a->rows : is_stdout && j->cli->out.tty ? ROWS_ON_A_TERMINAL : 0;
    j->to.is_ns = true;
    for (uint32_t i = 0; i < j->n; i++)
        j->to.is_ns = j->to.is_ns && strcmp(tl_trace_unit(j->reading[i].trace), "ns") == 0;
    if (is_stdout)
        tl_pager_start(j->cli);
    int status = a->schema ? print_schema(j) : run(j);
    if ((is_stdout || status == TL_EXIT_DONE) && tl_output_finish(j->to.out, &e) < 0)
        status = tl_exit_worse(status, tl_say_failure(NULL, &e));
    tl_output_close(j->to.out);
    return status;
}

int tl_verb_query(tl_cli *c)
{
    job j = {.cli = c};
    if (c->args->recipes) {
        tl_recipe_list();
        return TL_EXIT_DONE;
    }
    int status = choose_form(&j);
    if (status == TL_EXIT_DONE)
        status = tl_query_text_read(&j.text, c);
    if (status == TL_EXIT_DONE)
        status = open_inputs(&j);
    if (status == TL_EXIT_DONE)
        status = open_session(&j);
    if (status == TL_EXIT_DONE)
        status = run_to_output(&j);
    running = NULL;
    tl_query_close(j.query);
    for (uint32_t i = 0; i < j.n; i++)
        status = tl_exit_worse(status, tl_say_losses(c, j.reading[i].trace, 0));
    for (uint32_t i = 0; i < j.n; i++)
        tl_reading_close(&j.reading[i]);
    tl_selection_fini(&j.selection);
    tl_query_text_fini(&j.text);
    free(j.reading);
    free(j.source);
    return status;
}
