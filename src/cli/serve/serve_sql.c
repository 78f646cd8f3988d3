/* SQL of a question: what was typed, or a statement of ours with values of the question. */
#include "cli/serve/serve_sql.h"

#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/query/query_job.h"
#include "cli/service.h"
#include "query/query_control.h"

static const char *sql_of(const tl_serve_request *r)
{
    switch (r->what) {
    case TL_SERVE_CALLS:
        return r->function ? "SELECT trace, ts, dur, self, depth, name, caller, thread FROM calls WHERE name = :word "
                             "ORDER BY dur DESC, ts LIMIT :n"
                           : "SELECT trace, ts, dur, self, depth, name, caller, thread FROM calls ORDER BY dur DESC, "
                             "ts LIMIT :n";
    case TL_SERVE_EVENTS:
        return r->cls ? "SELECT * FROM events WHERE name = :word LIMIT :n" : "SELECT * FROM events LIMIT :n";
    default:
        return r->sql;
    }
}

/* Parameters of our own statements; `name` is all that belongs to a parameter. */
static bool add_value(tl_query_text *t, const char *name, const tl_sql_value *v)
{
    tl_query_parameter *p = &t->parameter[t->nparameter];
    p->name = strdup(name);
    p->value = *v;
    t->nparameter += p->name != NULL;
    return p->name != NULL;
}

static bool make_text(tl_query_text *t, const tl_cli *c, const tl_serve_request *r)
{
    const char *word = r->what == TL_SERVE_CALLS ? r->function : r->what == TL_SERVE_EVENTS ? r->cls : NULL;
    t->file = c->args->file.word;
    t->nfile = c->args->file.n;
    t->sql = strdup(sql_of(r));
    t->parameter = calloc(2, sizeof *t->parameter);
    if (!t->sql || !t->parameter)
        return false;
    if (r->what == TL_SERVE_SQL)
        return true;
    return add_value(t, "n", &(tl_sql_value){.kind = TL_VALUE_INTEGER, .i64 = r->rows}) &&
           (!word || add_value(t, "word", &(tl_sql_value){.kind = TL_VALUE_TEXT, .text = word, .size = strlen(word)}));
}

int tl_serve_sql(const tl_cli *c, const tl_serve_request *r, bool (*ends)(void *arg), void *arg)
{
    const tl_terminal plain = {0};
    tl_query_job j = {.cli = c, .form = tl_result_form_of("json", NULL)};
    int status = TL_EXIT_DONE;
    j.to.out = c->service->out;
    j.to.terminal = &plain;
    j.to.cut = r->rows;
    if (!make_text(&j.text, c, r)) {
        tl_say_error(NULL, "no memory for the SQL");
        status = TL_EXIT_DAMAGED;
    }
    if (status == TL_EXIT_DONE)
        status = tl_query_job_open(&j);
    if (status == TL_EXIT_DONE) {
        tl_query_watch(j.query, ends, arg);
        status = tl_query_job_run(&j);
    }
    (void)tl_query_job_close(&j, status); /* losses are on the page */
    tl_query_text_fini(&j.text);
    return status;
}
