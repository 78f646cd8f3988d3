/* `query --each`: puts the answers of the workers, in the order of the inputs, together to one result, in front of
 * which are the number and the path of the trace.
 *
 * The columns are those of the first answer. Others may come in another order, or lack some, which are null then: they
 * are told by their names. */
#include "cli/query/query_each.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/grow.h"
#include "base/text/utf8.h"
#include "cli/message.h"
#include "cli/query/each_processes.h"
#include "cli/query/query_stop.h"
#include "cli/query/row_pipe.h"
#include "query/query_names.h"

#define FRONT 2u /* columns before those of the answers: trace, path */

typedef struct each {
    tl_result result; /* the first member */
    tl_query_job *job;
    tl_each_processes processes;
    tl_row_receiver in;
    tl_column_info *column; /* [result.columns]; NULL: there was no answer yet */
    char *names;            /* the columns of the first answer, as they came: what the names above borrow from */
    size_t names_size;
    const char *first; /* the path of the first answer */
    bool is_first_ns;
    tl_sql_value value[FRONT]; /* of the trace that is read, as all down to is_begun */
    char *path;
    tl_sql_value *cell; /* [cells] of a row of its answer */
    uint32_t *from;     /* [result.columns - FRONT] of these, one more than the index; 0: null */
    uint32_t cells, capacity;
    bool is_begun;
    int status;              /* the worst of all */
    size_t failed, answered; /* traces without a whole answer, and with one */
    bool is_wrong_everywhere;
} each;

/* Of the trace that is read. */
static const char *path_of(const each *a)
{
    return a->processes.text->file[a->processes.first];
}

/* -- columns --------------------------------------------------------------------------------------------------------
 */

/* The tables of a trace say that it is number 1: of no use here. */
static bool is_number_of_trace(const tl_column_info *c)
{
    return c->type == TL_INTEGER && strcmp(c->name, "trace") == 0;
}

static const char *name_in_result(const char *name)
{
    return strcmp(name, "trace") == 0 ? "trace_2" : strcmp(name, "path") == 0 ? "path_2" : name;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for columns");
}

/* The first answer decides. */
static int take_first_columns(each *a, const tl_row_frame *whole, tl_error *e)
{
    static const tl_column_info front[FRONT] = {{"trace", "trace", TL_INTEGER, TL_UNIT_NONE, ""},
                                                {"path", "path", TL_TEXT, TL_UNIT_NONE, ""}};
    tl_column_info c;
    uint8_t is_ns = 0;
    size_t n = FRONT, capacity = 0;
    a->names_size = (size_t)(whole->end - whole->at);
    a->names = tl_alloc(a->names_size + 1, 1);
    if (!a->names || !TL_GROW(a->column, 0, FRONT, capacity))
        return no_memory(e);
    memcpy(a->names, whole->at, a->names_size);
    memcpy(a->column, front, sizeof front);
    tl_row_frame f = {TL_ROWS_COLUMNS, (uint8_t *)a->names, (uint8_t *)a->names + a->names_size};
    tl_row_frame_byte(&f, &is_ns);
    while (tl_row_frame_column(&f, &c)) {
        if (is_number_of_trace(&c))
            continue;
        if (!TL_GROW(a->column, n, 1, capacity))
            return no_memory(e);
        c.name = name_in_result(c.name);
        a->column[n++] = c;
    }
    a->result.columns = (uint32_t)n;
    a->is_first_ns = is_ns;
    a->from = calloc(n, sizeof *a->from);
    return a->from ? 0 : no_memory(e);
}

/* The column of the result for one of an answer, after those that come before it; 0: none. */
static uint32_t find_column(const each *a, const char *name, uint32_t likely)
{
    for (uint32_t i = 0; i < a->result.columns - FRONT; i++) {
        const uint32_t at = (likely + i) % (a->result.columns - FRONT);
        if (a->from[at] == 0 && strcmp(a->column[FRONT + at].name, name) == 0)
            return FRONT + at;
    }
    return 0;
}

static void say_differs(each *a, const tl_column_info *c)
{
    tl_say_error(path_of(a),
                 "column %s is not in the result, whose columns are those of %s: name the columns, in place of *",
                 c->name, tl_path_name(a->first));
}

/* Times of an answer have another unit than those of the first: it is said, and tables show it. */
static void look_at_units(each *a, bool is_ns)
{
    bool has_times = false;
    for (uint32_t i = 0; i < a->result.columns; i++)
        has_times = has_times || a->column[i].unit == TL_UNIT_TIME;
    if (has_times && is_ns != a->is_first_ns)
        tl_say(a->job->cli, path_of(a), "times are %s, unlike those of %s", is_ns ? "nanoseconds" : "ticks",
               tl_path_name(a->first));
    a->result.is_ns = is_ns;
}

/* Columns of the answer that comes. 0, or < 0; TL_EINVAL: they do not fit, which was said. */
static int take_columns(each *a, tl_row_frame *f, tl_error *e)
{
    uint8_t is_ns = 0;
    uint32_t likely = 0;
    if (!a->column) {
        a->first = path_of(a);
        if (take_first_columns(a, f, e) < 0)
            return e->code;
    }
    memset(a->from, 0, a->result.columns * sizeof *a->from);
    a->cells = 0;
    tl_row_frame_byte(f, &is_ns);
    for (tl_column_info c; tl_row_frame_column(f, &c); a->cells++) {
        if (!TL_GROW(a->cell, a->cells, 1, a->capacity))
            return no_memory(e);
        if (is_number_of_trace(&c))
            continue;
        const uint32_t at = find_column(a, name_in_result(c.name), likely);
        if (!at) {
            say_differs(a, &c);
            return TL_EINVAL;
        }
        a->from[at - FRONT] = a->cells + 1;
        likely = at - FRONT + 1;
    }
    look_at_units(a, is_ns);
    return 0;
}

/* -- answers --------------------------------------------------------------------------------------------------------
 */

static int begin_trace(each *a, tl_error *e)
{
    const size_t n = strlen(path_of(a));
    char *text = tl_alloc(n + 1, 2);
    if (!text)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a path");
    const size_t size = tl_utf8_repair(text, path_of(a), n);
    text[size] = '\0';
    free(a->path);
    a->path = text;
    a->value[0] = (tl_sql_value){.kind = TL_VALUE_INTEGER, .i64 = (int64_t)a->processes.first + 1};
    a->value[1] = (tl_sql_value){.kind = TL_VALUE_TEXT, .text = text, .size = size};
    a->is_begun = true;
    return 0;
}

/* Goes on to the next trace. */
static int end_trace(each *a, int status, bool failed, bool kills)
{
    const int ended = tl_each_next(&a->processes, kills);
    tl_receiver_clear(&a->in);
    a->status = tl_exit_worse(a->status, status);
    a->failed += failed;
    a->answered += !failed;
    a->is_begun = false;
    return ended;
}

/* A worker has ended without saying so. */
static void say_dead(each *a)
{
    const char *path = path_of(a);
    const int why = tl_each_first(&a->processes)->why;
    const bool is_made = tl_each_first(&a->processes)->pid > 0;
    const int ended = end_trace(a, TL_EXIT_DAMAGED, true, false);
    if (!is_made)
        tl_say_error(path, "no process can be made for it: %s", strerror(why));
    else if (WIFSIGNALED(ended))
        tl_say_error(path, "the process that read it was ended by signal %d (%s)", WTERMSIG(ended),
                     strsignal(WTERMSIG(ended)));
    else
        tl_say_error(path, "the process that read it ended early, exit status %d", WEXITSTATUS(ended));
}

static void take_end(each *a, tl_row_frame *f)
{
    uint8_t status = TL_EXIT_DAMAGED, flags = 0;
    const char *path = path_of(a);
    tl_row_frame_byte(f, &status);
    tl_row_frame_byte(f, &flags);
    a->is_wrong_everywhere = a->is_wrong_everywhere || flags & TL_END_EVERYWHERE;
    const int ended = end_trace(a, status <= TL_EXIT_LIMIT ? status : TL_EXIT_DAMAGED, flags & TL_END_FAILED, false);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
        tl_say_error(path, "the process that read it did not end well (status 0x%x)", (unsigned)ended);
        a->status = tl_exit_worse(a->status, TL_EXIT_DAMAGED);
    }
}

/* The plan of a trace. */
static void print_text(each *a, const tl_row_frame *f)
{
    char clean[1024];
    tl_output *out = a->job->to.out;
    tl_output_printf(out, "%s%s:\n", a->job->to.first ? "" : "\n",
                     tl_text_clean(clean, sizeof clean, tl_path_name(path_of(a))));
    tl_output_write(out, f->at, (size_t)(f->end - f->at));
    a->job->to.first = false;
}

static bool take_row(each *a, tl_row_frame *f)
{
    for (uint32_t i = 0; i < a->cells; i++)
        if (!tl_row_frame_value(f, &a->cell[i]))
            return false;
    return f->at == f->end;
}

/* 1: a row; 0: something else; < 0: error. */
static int take(each *a, tl_row_frame *f, tl_error *e)
{
    int status = 0;
    switch (f->kind) {
    case TL_ROWS_MESSAGE:
        tl_say_line((const char *)f->at, (size_t)(f->end - f->at));
        return 0;
    case TL_ROWS_TEXT:
        print_text(a, f);
        return 0;
    case TL_ROWS_COLUMNS:
        status = take_columns(a, f, e);
        if (status != TL_EINVAL)
            return status;
        end_trace(a, TL_EXIT_USAGE, true, true);
        return 0;
    case TL_ROWS_ONE:
        if (a->column && take_row(a, f))
            return 1;
        break;
    case TL_ROWS_END:
        take_end(a, f);
        return 0;
    }
    tl_say_error(path_of(a), "the process that read it sent no rows");
    end_trace(a, TL_EXIT_DAMAGED, true, true);
    return 0;
}

/* Reads more of an answer. What was printed is shown before it is waited for. */
static int receive(each *a, tl_error *e)
{
    const tl_each_process *p = tl_each_first(&a->processes);
    int status = 0;
    if (!tl_each_ready(&a->processes, false)) {
        status = tl_output_flush(a->job->to.out, e);
        if (status < 0 || !tl_each_ready(&a->processes, true))
            return status;
    }
    status = p->pid > 0 ? tl_receive(&a->in, p->fd, e) : 0;
    if (status == 0 && !tl_query_is_stopped())
        say_dead(a);
    return status < 0 ? status : 0;
}

/* 1: a row or, before the first one, its columns; 0: the end of all; < 0: error. */
static int read_on(each *a, tl_error *e)
{
    const bool has_columns = a->column != NULL;
    int status = 0;
    while (status == 0) {
        tl_row_frame f;
        if (tl_query_is_stopped())
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "interrupted");
        if (a->is_wrong_everywhere || !tl_each_first(&a->processes))
            return 0;
        status = a->is_begun ? 0 : begin_trace(a, e);
        if (status == 0)
            status = tl_row_frame_take(&a->in, &f) ? take(a, &f, e) : receive(a, e);
        if (status == 0 && !has_columns && a->column)
            return 1;
    }
    return status;
}

/* -- the result -----------------------------------------------------------------------------------------------------
 */

static const tl_column_info *column(const tl_result *r, uint32_t i)
{
    return &((const each *)(const void *)r)->column[i];
}

static int next(tl_result *r, tl_error *e)
{
    return read_on((each *)(void *)r, e);
}

static const tl_sql_value *value(tl_result *r, uint32_t i)
{
    static const tl_sql_value null = {.kind = TL_VALUE_NULL};
    const each *a = (each *)(void *)r;
    if (i < FRONT)
        return &a->value[i];
    return a->from[i - FRONT] ? &a->cell[a->from[i - FRONT] - 1] : &null;
}

int tl_query_each_check(const tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    const char *second = j->text.sql ? tl_sql_second(j->text.sql) : NULL;
    size_t line = 1;
    if (!a->each && a->jobs) {
        tl_say_error(NULL, "--jobs needs --each");
        return TL_EXIT_USAGE;
    }
    if (!a->each)
        return TL_EXIT_DONE;
    if (a->schema || j->text.is_shell) {
        tl_say_error(NULL,
                     a->schema ? "--each does not go with --schema" : "--each needs SQL, which follows the files");
        return TL_EXIT_USAGE;
    }
    if (!second)
        return TL_EXIT_DONE;
    for (const char *p = j->text.sql; p < second; p++)
        line += *p == '\n';
    tl_say_error(j->text.name, "line %zu: --each runs one statement, and this is the second", line);
    return TL_EXIT_USAGE;
}

int tl_query_each(tl_query_job *j, bool *is_useful)
{
    each *a = calloc(1, sizeof *a);
    tl_error e = {0};
    uint64_t rows = 0;
    if (!a) {
        tl_say_error(NULL, "no memory for workers");
        return TL_EXIT_DAMAGED;
    }
    a->job = j;
    j->to.first = true;
    j->to.is_stopped = tl_query_is_stopped;
    tl_each_begin(&a->processes, j->cli, &j->text, j->cli->args->jobs ? j->cli->args->jobs : 1);
    int status = read_on(a, &e);
    if (status > 0) {
        a->result = (tl_result){a->result.columns, a->is_first_ns, column, next, value};
        status = j->form->print(&a->result, &j->to, &rows, &e);
    }
    tl_each_end(&a->processes);
    int exit_status = a->status;
    if (status < 0)
        exit_status = tl_exit_worse(exit_status, tl_say_failure(NULL, &e));
    else if (a->failed && j->text.nfile > 1 && !a->is_wrong_everywhere)
        tl_say_error(NULL, "%zu of %zu traces have no whole answer", a->failed, j->text.nfile);
    *is_useful = status >= 0 && a->answered > 0;
    tl_receiver_fini(&a->in);
    free(a->column);
    free(a->names);
    free(a->cell);
    free(a->from);
    free(a->path);
    free(a);
    return exit_status;
}
