/* traceloom serve: reads the inputs, shows their page at an address of this machine, and answers its questions. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/io/output.h"
#include "cli/inputs.h"
#include "cli/message.h"
#include "cli/serve/serve_answers.h"
#include "cli/serve/serve_open.h"
#include "cli/serve/serve_socket.h"
#include "view/page/page.h"

#define LOOK_NS 200000000L /* between two looks whether the file of --open has served its purpose */

typedef struct serving {
    const tl_cli *cli;
    tl_serve_answers *answers;
    tl_serve_socket socket;
    tl_serve_redirect redirect;
    char token[TL_SERVE_TOKEN + 1];
    char *policy;
    tl_server *server;
} serving;

static int check(const tl_cli *c)
{
    const tl_arguments *a = c->args;
    for (size_t i = 0; i < a->file.n; i++)
        if (strcmp(a->file.word[i], "-") == 0) {
            tl_say_error(NULL, "serve reads its inputs more than once, which standard input cannot be");
            return TL_EXIT_USAGE;
        }
    if (a->socket && (a->port || a->ipv6 || a->opens)) {
        tl_say_error(NULL, "--socket does not go with --%s", a->port ? "port" : a->ipv6 ? "ipv6" : "open");
        return TL_EXIT_USAGE;
    }
    return tl_check_inputs(c);
}

/* 128 random bits. */
static bool make_token(char token[static TL_SERVE_TOKEN + 1])
{
    unsigned char bytes[TL_SERVE_TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* The policy of the page, as a header. */
static char *make_policy(void)
{
    tl_output *out = NULL;
    char *policy = NULL;
    size_t n;
    if (tl_output_open_memory(&out, TL_PLAIN, NULL) < 0)
        return NULL;
    tl_html_put_policy(out, true);
    tl_output_puts(out, "; frame-ancestors 'none'");
    tl_output_write(out, "", 1);
    if (tl_output_finish(out, NULL) == 0)
        policy = tl_output_take_memory(out, &n);
    tl_output_close(out);
    return policy;
}

/* The signals that end it; ignored ones stay ignored. */
static void find_signals(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(set, numbers[i]);
    }
}

/* Until a signal. */
static void wait_for_end(serving *s, const sigset_t *ending)
{
    const struct timespec step = {.tv_nsec = LOOK_NS};
    while (sigtimedwait(ending, NULL, s->redirect.path ? &step : &(struct timespec){.tv_sec = 3600}) < 0)
        if (s->redirect.path && tl_serve_answers_shown(s->answers))
            tl_serve_redirect_remove(&s->redirect);
}

static int start(serving *s)
{
    const tl_arguments *a = s->cli->args;
    tl_error e = {0};
    s->policy = make_policy();
    if (!make_token(s->token) || !s->policy) {
        tl_say_error(NULL, "no random numbers, or no memory, to serve");
        return TL_EXIT_DAMAGED;
    }
    const tl_server_options options = {.token = s->token,
                                       .policy = s->policy,
                                       .limit_ns = a->timeout ? a->timeout : TL_SERVE_TIME_USUAL,
                                       .answer = tl_serve_answers_ask,
                                       .page = tl_serve_answers_page,
                                       .news = tl_serve_answers_news,
                                       .arg = s->answers};
    int status = tl_serve_listen(&s->socket, a, &e);
    if (status == 0)
        status = tl_server_start(&s->server, s->socket.fd, &options, &e);
    return status < 0 ? tl_say_failure(NULL, &e) : TL_EXIT_DONE;
}

static int announce(serving *s)
{
    char url[TL_SERVE_URL];
    tl_error e = {0};
    tl_serve_url(&s->socket, s->token, url);
    if (s->cli->args->socket)
        printf("%s at %s\n", url, s->cli->args->socket);
    else
        printf("%s\n", url);
    if (fflush(stdout) != 0) {
        tl_say_error(NULL, "standard output cannot be written");
        return TL_EXIT_DAMAGED;
    }
    if (s->cli->out.tty)
        tl_say(s->cli, NULL, "it ends with Ctrl-C");
    if (s->cli->args->opens && tl_serve_redirect_open(&s->redirect, url, &e) < 0)
        tl_say(s->cli, NULL, "%s; open the address above", e.message);
    return TL_EXIT_DONE;
}

int tl_verb_serve(tl_cli *c)
{
    serving s = {.cli = c};
    sigset_t ending;
    int losses = TL_EXIT_DONE, status = check(c);
    if (status == TL_EXIT_DONE)
        status = tl_serve_check_build();
    if (status == TL_EXIT_DONE)
        status = tl_serve_answers_open(&s.answers, c, &losses);
    if (status != TL_EXIT_DONE)
        return status;
    find_signals(&ending);
    pthread_sigmask(SIG_BLOCK, &ending, NULL); /* before there are threads, which inherit it */
    signal(SIGPIPE, SIG_IGN);
    status = start(&s);
    if (status == TL_EXIT_DONE)
        status = announce(&s);
    if (status == TL_EXIT_DONE)
        wait_for_end(&s, &ending);
    signal(SIGINT, SIG_DFL);                     /* SQL has a handler of its own */
    pthread_sigmask(SIG_UNBLOCK, &ending, NULL); /* the second one ends it at once */
    tl_serve_redirect_remove(&s.redirect);
    tl_serve_socket_remove(&s.socket);
    tl_server_stop(s.server);
    tl_serve_answers_close(s.answers);
    free(s.policy);
    return status;
}
