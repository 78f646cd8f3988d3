/* traceloom query: SQL over traces. */
#include <string.h>

#include "cli/message.h"
#include "cli/pager.h"
#include "cli/query/query_each.h"
#include "cli/query/query_export.h"
#include "cli/query/query_job.h"
#include "cli/query/query_recipe.h"
#include "cli/query/query_server.h"
#include "cli/query/query_shell.h"
#include "query/query_names.h"

#define ROWS_ON_A_TERMINAL 1000u

static int choose_form(tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    j->form = tl_result_form_of(a->json ? "json" : a->to, a->output);
    if (!j->form && !a->to && tl_to_stdout(a))
        j->form = tl_result_form_of("table", NULL);
    if (j->form)
        return TL_EXIT_DONE;
    tl_say_error(a->to ? NULL : a->output,
                 "%s%s: results are written as table, json, jsonl, csv, markdown, parquet or arrow",
                 a->to ? "--to " : "its suffix names no format", a->to ? a->to : "");
    return TL_EXIT_USAGE;
}

/* A file of columns is one result. */
static int check_file(tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    if (!j->form->is_file || a->export)
        return TL_EXIT_DONE;
    const char *why = a->explain || a->schema              ? "holds rows, which this prints none of"
                      : j->text.is_shell                   ? "needs SQL, which follows the files"
                      : tl_sql_second(j->text.sql)         ? "holds one result, and this is more than one statement"
                      : tl_to_stdout(a) && j->cli->out.tty ? "is not for a terminal: -o FILE writes a file"
                                                           : NULL;
    if (why) {
        tl_say_error(j->text.name, "%s %s", j->form->name, why);
        return TL_EXIT_USAGE;
    }
    j->to.is_compound = tl_sql_is_compound(j->text.sql);
    return TL_EXIT_DONE;
}

static int run_to_output(tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    const char *path = a->output ? a->output : "-";
    const bool is_stdout = strcmp(path, "-") == 0;
    bool is_useful = false; /* although some inputs could not be answered */
    tl_terminal file;
    tl_error e = {0};
    tl_terminal_file(&file);
    if (tl_output_open(&j->to.out, path, a->force, TL_PLAIN, 0, &e) < 0)
        return tl_say_failure(NULL, &e);
    j->to.terminal = is_stdout ? &j->cli->out : &file;
    j->to.most = a->has_rows ? a->rows : is_stdout && j->cli->out.tty ? ROWS_ON_A_TERMINAL : 0;
    if (is_stdout && !j->text.is_shell)
        tl_pager_start(j->cli);
    int status = j->text.is_shell ? tl_query_shell(j)
                 : a->server      ? tl_query_server_run(j)
                 : a->each        ? tl_query_each(j, &is_useful)
                 : a->schema      ? tl_query_job_schema(j, j->text.table, j->text.ntable)
                                  : tl_query_job_run(j);
    if ((is_stdout || status == TL_EXIT_DONE || is_useful) && tl_output_finish(j->to.out, &e) < 0)
        status = tl_exit_worse(status, tl_say_failure(NULL, &e));
    tl_output_close(j->to.out);
    return status;
}

int tl_verb_query(tl_cli *c)
{
    tl_query_job j = {.cli = c, .explains = c->args->explain};
    if (c->args->recipes) {
        tl_recipe_list();
        return TL_EXIT_DONE;
    }
    int status = c->args->export ? tl_query_export_check(&j) : choose_form(&j);
    if (status == TL_EXIT_DONE && c->args->rows_per_file && !c->args->export) {
        tl_say_error(NULL, "--rows-per-file needs --export");
        status = TL_EXIT_USAGE;
    }
    if (status == TL_EXIT_DONE)
        status = tl_query_text_read(&j.text, c);
    if (status == TL_EXIT_DONE)
        status = check_file(&j);
    if (status == TL_EXIT_DONE)
        status = tl_query_each_check(&j);
    if (status == TL_EXIT_DONE && c->args->server)
        status = tl_query_server_check(&j);
    else if (status == TL_EXIT_DONE && !c->args->each)
        status = tl_query_job_open(&j);
    if (status == TL_EXIT_DONE)
        status = c->args->export ? tl_query_export(&j) : run_to_output(&j);
    status = tl_query_job_close(&j, status);
    tl_query_text_fini(&j.text);
    return status;
}
