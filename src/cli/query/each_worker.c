/* A worker of `query --each`: a session over one trace, whose rows and messages go through a pipe. */
#include "cli/query/each_worker.h"

#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/query/query_job.h"
#include "cli/query/row_pipe.h"
#include "query/query_control.h"

typedef struct worker {
    tl_query_job job;
    tl_row_sender sender;
} worker;

static void send_message(void *sender, const char *line)
{
    tl_send_text(sender, TL_ROWS_MESSAGE, line, strlen(line));
}

static int send_rows(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    worker *w = (worker *)(void *)((char *)to->sender - offsetof(worker, sender));
    int status;
    tl_send_columns(&w->sender, r);
    for (; (status = r->next(r, e)) > 0; ++*rows) {
        w->sender.waited = 0;
        tl_send_row(&w->sender, r);
        tl_query_delay(w->job.query, w->sender.waited); /* until the rows of others are read */
    }
    return status;
}

static int run(worker *w)
{
    tl_error e = {0};
    tl_output *text = NULL;
    size_t n;
    if (w->job.explains && tl_output_open_memory(&text, TL_PLAIN, &e) < 0)
        return tl_say_failure(w->job.trace, &e);
    w->job.to.out = text;
    int status = tl_query_job_run(&w->job);
    if (text && tl_output_finish(text, &e) < 0)
        status = tl_say_failure(w->job.trace, &e);
    char *lines = text ? tl_output_take_memory(text, &n) : NULL;
    if (lines)
        tl_send_text(&w->sender, TL_ROWS_TEXT, lines, n);
    free(lines);
    tl_output_close(text);
    return status;
}

void tl_each_work(const tl_cli *c, const tl_query_text *text, size_t index, unsigned threads, int fd)
{
    static const tl_result_form form = {"rows", "", send_rows, false};
    static worker w; /* large; the only one of this process */
    tl_arguments arguments = *c->args;
    tl_cli cli = *c;
    arguments.threads = threads;
    cli.args = &arguments;
    w = (worker){.job = {.cli = &cli, .text = *text, .form = &form, .explains = arguments.explain},
                 .sender = {.fd = fd}};
    w.job.text.file = text->file + index;
    w.job.text.nfile = 1;
    w.job.trace = text->file[index];
    w.job.to.sender = &w.sender;
    tl_messages_to(send_message, &w.sender);
    int status = tl_query_job_open(&w.job);
    if (status == TL_EXIT_DONE)
        status = run(&w);
    const unsigned failed = status != TL_EXIT_DONE ? TL_END_FAILED : 0;
    status = tl_query_job_close(&w.job, status);
    tl_messages_to(NULL, NULL);
    tl_send_end(&w.sender, status, failed | (w.job.is_wrong_everywhere ? TL_END_EVERYWHERE : 0));
}
