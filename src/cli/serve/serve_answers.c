/* Answers are what `report` and `query` print, with inputs that stay open. */
#include "cli/serve/serve_answers.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/serve/serve_inputs.h"
#include "cli/serve/serve_sql.h"
#include "cli/service.h"
#include "view/page/section_scan.h"

#define MESSAGE_SIZE 1024u
/* Of inputs that are larger, the page is shown before it has times and tables, which take several passes. */
#define SUMS_FIRST   UINT64_C(8388608)

struct tl_serve_answers {
    const tl_cli *cli;
    tl_arguments base; /* of the verb `report`, about the inputs as they are now */
    tl_serve_inputs inputs;
    tl_source_pool *pool;
    tl_serve_queue *queue; /* of the running question; NULL: the page is being made */
    tl_output *out;        /* of the running question */
    char message[MESSAGE_SIZE];
    pthread_mutex_t lock; /* of the page, and of the inputs' names */
    char *page;
    size_t page_n;
    bool is_whole;  /* the page; or it has only sums */
    bool is_making; /* the whole page, for as long as it takes */
    bool has_sums;  /* the page made last */
    atomic_bool shown;
};

/* The first message is the reason. */
static void keep_message(void *answers, const char *line)
{
    tl_serve_answers *a = answers;
    static const char ours[] = "traceloom: ";
    if (!*a->message)
        snprintf(a->message, sizeof a->message, "%s", strncmp(line, ours, strlen(ours)) ? line : line + strlen(ours));
}

static bool is_too_long(const tl_serve_answers *a)
{
    return a->out && tl_output_bytes(a->out) > TL_SERVE_ANSWER_MAX;
}

/* Asked while a question reads. */
static bool ends(void *answers)
{
    const tl_serve_answers *a = answers;
    const int why = a->queue ? tl_serve_queue_why(a->queue) : 0;
    return (why && !(why == 408 && a->is_making)) || is_too_long(a);
}

/* -- a question -- */

/* The options of a question: those that serve was given, and what its keys say, checked as on the command line. */
typedef struct asked {
    tl_arguments arguments, parsed;
    char *word[5];
    int n;
    bool failed;
} asked;

static void add(asked *q, const char *option, const char *value)
{
    char *word = NULL;
    if (value && asprintf(&word, "--%s=%s", option, value) < 0)
        word = NULL;
    if (value && word)
        q->word[q->n++] = word;
    q->failed = q->failed || (value && !word);
}

static void asked_fini(asked *q)
{
    tl_arguments_fini(&q->parsed);
    for (int i = 0; i < q->n; i++)
        free(q->word[i]);
}

/* False, with a message, if a value is wrong. */
static bool asked_init(asked *q, tl_serve_answers *a, const tl_serve_request *r)
{
    const char *words[6] = {"report"};
    char message[TL_USAGE_SIZE] = "no memory for the question";
    *q = (asked){.arguments = a->base};
    add(q, "by", r->by);
    add(q, "sort", r->sort);
    add(q, "top", r->top);
    add(q, "time", r->time);
    memcpy(words + 1, q->word, (size_t)q->n * sizeof *words);
    const bool good = !q->failed && tl_arguments_parse(&q->parsed, q->n + 1, words, message);
    if (!good)
        keep_message(a, message);
    q->arguments.by = q->parsed.by;
    q->arguments.sort = q->parsed.sort;
    q->arguments.time = q->parsed.time;
    q->arguments.top = q->parsed.top;
    q->arguments.has_top = q->parsed.has_top;
    return good;
}

static int run_report(tl_serve_answers *a, const tl_arguments *arguments, bool only_profile, tl_output *out)
{
#ifdef TL_HAVE_SQLITE
#define SERVED "{\"schema\":1,\"sql\":true,\"whole\":"
#else
#define SERVED "{\"schema\":1,\"sql\":false,\"whole\":"
#endif
    const tl_service service = {.pool = a->pool,
                                .out = out,
                                .only_profile = only_profile,
                                .has_sums = &a->has_sums,
                                .served = only_profile ? SERVED "false}" : SERVED "true}"};
    tl_cli c = {.args = arguments, .files = a->cli->files, .service = &service};
    return tl_verb_report(&c);
}

/* The status of an answer that a verb could not give. */
static int status_of(const tl_serve_answers *a, int exit)
{
    const int why = a->queue ? tl_serve_queue_why(a->queue) : 0;
    if (why || is_too_long(a))
        return why ? why : 413;
    return exit == TL_EXIT_USAGE ? 400 : exit == TL_EXIT_NO ? 404 : exit == TL_EXIT_LIMIT ? 413 : 500;
}

static void refuse(const tl_serve_answers *a, int exit, tl_serve_answer *answer)
{
    const int status = status_of(a, exit);
    const char *message = status == 408    ? "it took longer than its time limit"
                          : status == 503  ? "cancelled"
                          : is_too_long(a) ? "the answer has more than 64 MiB; ask for fewer rows"
                          : *a->message    ? a->message
                                           : "there is no answer";
    tl_serve_refuse(answer, status, message, TL_NO_OFFSET);
}

/* Takes what was written. */
static void take(tl_serve_answers *a, int exit, tl_serve_answer *answer)
{
    tl_error e = {0};
    const bool good = exit != TL_EXIT_LIMIT && exit != TL_EXIT_USAGE && tl_output_bytes(a->out) > 0 && !is_too_long(a);
    if (!good) {
        refuse(a, exit, answer);
        return;
    }
    *answer = (tl_serve_answer){.status = 200};
    if (tl_output_finish(a->out, &e) == 0)
        answer->body = tl_output_take_memory(a->out, &answer->n);
}

static void put_sections(tl_output *out, const char *page, size_t n)
{
    tl_html_scanned s;
    const char *at = page;
    const char *before = "{\"schema\":1,\"sections\":{";
    while (tl_html_scan(&at, page + n, &s)) {
        tl_output_printf(out, "%s\"%.*s\":", before, (int)s.name_n, s.name);
        if (s.n)
            tl_output_printf(out, "{\"n\":%.*s,\"data\":\"", (int)s.n_n, s.n);
        tl_output_write(out, s.text, s.text_n);
        tl_output_puts(out, s.n ? "\"}" : "");
        before = ",";
    }
    tl_output_puts(out, "}}\n");
}

/* A page in memory. Returns a tl_exit, after messages. */
static int make_page(tl_serve_answers *a, const tl_arguments *arguments, bool only_profile, char **page, size_t *n)
{
    tl_error e = {0};
    if (tl_output_open_memory(&a->out, TL_PLAIN, &e) < 0)
        return tl_say_failure(NULL, &e);
    int status = run_report(a, arguments, only_profile, a->out);
    if (tl_output_bytes(a->out) > 0 && tl_output_finish(a->out, &e) < 0)
        status = tl_say_failure(NULL, &e);
    *page = tl_output_bytes(a->out) > 0 ? tl_output_take_memory(a->out, n) : NULL;
    tl_output_close(a->out);
    a->out = NULL;
    return status;
}

static tl_arguments of_page(const tl_serve_answers *a)
{
    tl_arguments arguments = a->base;
    arguments.to = "html";
    return arguments;
}

/* Makes the whole page. */
static int make_whole(tl_serve_answers *a)
{
    const tl_arguments arguments = of_page(a);
    char *page = NULL;
    size_t n = 0;
    a->is_making = true;
    const int status = make_page(a, &arguments, false, &page, &n);
    a->is_making = false;
    if (!page)
        return status == TL_EXIT_DONE ? TL_EXIT_DAMAGED : status;
    pthread_mutex_lock(&a->lock);
    char *const old = a->page;
    a->page = page;
    a->page_n = n;
    a->is_whole = true;
    pthread_mutex_unlock(&a->lock);
    free(old);
    return TL_EXIT_DONE;
}

/* Reads the inputs again. */
static int renew(tl_serve_answers *a)
{
    tl_source_pool_empty(a->pool);
    pthread_mutex_lock(&a->lock);
    tl_serve_inputs_look(&a->inputs);
    pthread_mutex_unlock(&a->lock);
    return make_whole(a);
}

/* The first page: of large inputs only sums, if there are any. Returns losses, or why there is no page. */
static int make_first(tl_serve_answers *a)
{
    const tl_arguments arguments = of_page(a);
    a->is_whole = tl_serve_inputs_news(&a->inputs).bytes <= SUMS_FIRST;
    int status = make_page(a, &arguments, !a->is_whole, &a->page, &a->page_n);
    if (a->page && !a->is_whole && !a->has_sums) {
        free(a->page);
        a->is_whole = true;
        status = make_page(a, &arguments, false, &a->page, &a->page_n);
    }
    return status;
}

/* Sections of the whole, or of a range: the profile alone, which takes less time, or all. */
static int ask_profile(tl_serve_answers *a, const tl_serve_request *r, const asked *q, tl_output *out)
{
    if (!r->time) {
        put_sections(out, a->page, a->page_n);
        return TL_EXIT_DONE;
    }
    tl_arguments arguments = q->arguments;
    char *page = NULL;
    size_t n = 0;
    arguments.to = "html";
    const int status = make_page(a, &arguments, r->what == TL_SERVE_PROFILE, &page, &n);
    if (page)
        put_sections(out, page, n);
    free(page);
    return status;
}

static int ask_table(tl_serve_answers *a, const asked *q, tl_output *out)
{
    tl_arguments arguments = q->arguments;
    arguments.json = true;
    return run_report(a, &arguments, false, out);
}

static int ask_sql(tl_serve_answers *a, const tl_serve_request *r, const asked *q, tl_output *out)
{
    tl_arguments arguments = q->arguments;
    arguments.verb = tl_verb_find("query");
    arguments.called = "query";
    const tl_service service = {.pool = a->pool, .out = out};
    tl_cli c = {.args = &arguments, .files = a->cli->files, .service = &service};
    return tl_serve_sql(&c, r, ends, a);
}

static void put_meta(const tl_serve_answers *a, tl_output *out)
{
    tl_html_scanned s;
    const char *at = a->page;
    while (tl_html_scan(&at, a->page + a->page_n, &s))
        if (s.name_n == 4 && memcmp(s.name, "meta", 4) == 0)
            tl_output_write(out, s.text, s.text_n);
    tl_output_puts(out, "\n");
}

static int ask(tl_serve_answers *a, const tl_serve_request *r, const asked *q, tl_output *out)
{
    const bool of_whole = !r->time && (r->what == TL_SERVE_PROFILE || r->what == TL_SERVE_SPANS);
    const int status = r->fresh ? renew(a) : of_whole && !a->is_whole ? make_whole(a) : TL_EXIT_DONE;
    if (status != TL_EXIT_DONE)
        return status;
    switch (r->what) {
    case TL_SERVE_META:
        put_meta(a, out);
        return TL_EXIT_DONE;
    case TL_SERVE_PROFILE:
    case TL_SERVE_SPANS:
        return ask_profile(a, r, q, out);
    case TL_SERVE_TABLE:
        return ask_table(a, q, out);
    default:
        return ask_sql(a, r, q, out);
    }
}

void tl_serve_answers_ask(void *answers, tl_serve_queue *queue, const tl_serve_request *r, tl_serve_answer *answer)
{
    tl_serve_answers *a = answers;
    tl_output *out = NULL;
    asked q;
    a->queue = queue;
    a->message[0] = '\0';
    tl_messages_to(keep_message, a);
    int status = asked_init(&q, a, r) ? TL_EXIT_DONE : TL_EXIT_USAGE;
    if (status == TL_EXIT_DONE && tl_output_open_memory(&out, TL_PLAIN, NULL) < 0)
        status = TL_EXIT_DAMAGED;
    if (status == TL_EXIT_DONE) {
        a->out = r->what == TL_SERVE_PROFILE || r->what == TL_SERVE_SPANS ? NULL : out; /* a page is bounded */
        status = ask(a, r, &q, out);
    }
    a->out = out;
    /* Status 3 is also that of a whole report of a trace with losses. Of these nothing is said: serve is quiet. */
    const bool is_cut = status != TL_EXIT_DONE && *a->message;
    if (status == TL_EXIT_USAGE || is_cut || !out)
        refuse(a, status, answer);
    else
        take(a, status, answer);
    a->out = NULL;
    tl_output_close(out);
    asked_fini(&q);
    tl_messages_to(NULL, NULL);
}

/* -- in any thread -- */

bool tl_serve_answers_page(void *answers, char **body, size_t *n)
{
    tl_serve_answers *a = answers;
    pthread_mutex_lock(&a->lock);
    char *copy = malloc(a->page_n + 1);
    if (copy)
        memcpy(copy, a->page, a->page_n);
    *n = a->page_n;
    pthread_mutex_unlock(&a->lock);
    *body = copy;
    atomic_store(&a->shown, true);
    return copy != NULL;
}

bool tl_serve_answers_shown(const tl_serve_answers *a)
{
    return atomic_load(&a->shown);
}

void tl_serve_answers_news(void *answers, char text[static TL_SERVE_NEWS_MAX])
{
    tl_serve_answers *a = answers;
    pthread_mutex_lock(&a->lock);
    const tl_serve_news news = tl_serve_inputs_news(&a->inputs);
    pthread_mutex_unlock(&a->lock);
    snprintf(text, TL_SERVE_NEWS_MAX, "{\"schema\":1,\"bytes\":%" PRIu64 ",\"changed\":%s,\"live\":%s}", news.bytes,
             news.is_changed ? "true" : "false", news.is_live ? "true" : "false");
}

/* -- open, close -- */

int tl_serve_answers_open(tl_serve_answers **out, const tl_cli *c, int *losses)
{
    tl_serve_answers *a = calloc(1, sizeof *a);
    if (!a) {
        tl_say_error(NULL, "no memory to serve");
        return TL_EXIT_DAMAGED;
    }
    a->cli = c;
    a->base = *c->args;
    a->base.verb = tl_verb_find("report");
    a->base.called = "report";
    pthread_mutex_init(&a->lock, NULL);
    a->pool = tl_source_pool_new(ends, a);
    int status = TL_EXIT_DONE;
    if (!a->pool || !tl_serve_inputs_init(&a->inputs, &a->base.file)) {
        tl_say_error(NULL, "no memory to serve");
        status = TL_EXIT_DAMAGED;
    }
    if (status == TL_EXIT_DONE) {
        *losses = make_first(a);
        status = a->page ? TL_EXIT_DONE : *losses;
        a->base.quiet = true; /* from here on, whoever asks reads the answer */
    }
    if (status != TL_EXIT_DONE)
        tl_serve_answers_close(a);
    else
        *out = a;
    return status;
}

void tl_serve_answers_close(tl_serve_answers *a)
{
    tl_source_pool_free(a->pool);
    tl_serve_inputs_fini(&a->inputs);
    pthread_mutex_destroy(&a->lock);
    free(a->page);
    free(a);
}
