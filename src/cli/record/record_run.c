/* Runs the program to record, and waits for its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "cli/message.h"
#include "cli/record/control_page.h"
#include "cli/record/record.h"

/* Signals sent to us that are meant for the program. */
static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
/* Signals that a terminal sends to both: the program decides their meaning. */
static const int left_alone[] = {SIGINT, SIGQUIT};
enum { NPASSED = TL_COUNT(passed_on), NLEFT = TL_COUNT(left_alone) };

static volatile sig_atomic_t running; /* the program's pid; 0: not running */

static void pass_on(int number)
{
    const int kept = errno;
    if (running > 0)
        kill((pid_t)running, number);
    errno = kept;
}

typedef struct handlers {
    struct sigaction before[NPASSED + NLEFT];
    sigset_t mask;
} handlers;

/* Ignored signals stay ignored: nohup means both of us. */
static void take_signals(handlers *h)
{
    struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART}, leave = {.sa_handler = SIG_IGN};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &h->mask);
    sigemptyset(&pass.sa_mask);
    sigemptyset(&leave.sa_mask);
    for (int i = 0; i < NPASSED + NLEFT; i++) {
        const int number = i < NPASSED ? passed_on[i] : left_alone[i - NPASSED];
        sigaction(number, NULL, &h->before[i]);
        if (h->before[i].sa_handler != SIG_IGN)
            sigaction(number, i < NPASSED ? &pass : &leave, NULL);
    }
}

static void give_signals_back(const handlers *h)
{
    for (int i = 0; i < NPASSED + NLEFT; i++)
        sigaction(i < NPASSED ? passed_on[i] : left_alone[i - NPASSED], &h->before[i], NULL);
    sigprocmask(SIG_SETMASK, &h->mask, NULL);
}

/* What the program gets; to be freed. */
typedef struct environment {
    char *settings, *preload; /* preload: NULL: as it is */
} environment;

static bool make_environment(environment *env, const tl_record *r)
{
    *env = (environment){0};
    if (r->command) /* records by itself */
        return true;
    env->settings = tl_record_settings(r);
    env->preload = *r->library ? tl_record_preload(r) : NULL;
    return env->settings && (!*r->library || env->preload);
}

static void free_environment(environment *env)
{
    free(env->settings);
    free(env->preload);
}

/* In the child. Reports failures through the pipe, which closes by itself when the program runs. */
static void become(const tl_record *r, char **argv, const environment *env, const handlers *h, int pipe_end)
{
    give_signals_back(h);
    /* Here, since nothing else that the command starts is recorded. */
    if ((env->settings && setenv("TRACELOOM", env->settings, 1) != 0) ||
        (env->preload && setenv("LD_PRELOAD", env->preload, 1) != 0) || (r->prepare && !r->prepare(r)))
        goto failed;
    execv(r->command ? argv[0] : r->program, argv);
    if (errno == ENOEXEC) { /* a script without its first line, which shells run anyway */
        char *shell[3] = {(char[]){"sh"}, (char *)r->program, NULL};
        size_t n = 0;
        while (argv[n])
            n++;
        char **words = calloc(n + 2, sizeof *words);
        if (words) {
            memcpy(words, shell, 2 * sizeof *words);
            memcpy(words + 2, argv + 1, n * sizeof *words);
            execv("/bin/sh", words);
        }
        errno = ENOEXEC;
    }
failed:;
    const int why = errno;
    ssize_t written = write(pipe_end, &why, sizeof why);
    _exit(written ? TL_EXIT_CANNOT_RUN : TL_EXIT_RECORD);
}

uint64_t tl_record_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool has_ended(const tl_record *r)
{
    siginfo_t ended = {.si_pid = 0};
    return waitid(P_PID, (id_t)r->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid;
}

static void stop_recorder(const tl_record *r)
{
    char answer[TL_CONTROL_RESULT];
    tl_control page;
    if (!tl_control_find(&page, "record", (long)r->pid)) {
        if (!has_ended(r))
            tl_say_error(NULL,
                         "record: --for ends nothing: process %ld (%s) has no recorder that takes commands; what is "
                         "recorded there goes on to its end",
                         (long)r->pid, page.name);
        return;
    }
    const int status = tl_control_ask(&page, "stop", answer);
    if (status == TL_EXIT_DONE)
        tl_say(r->cli, NULL, "process %ld: %s", (long)r->pid, answer);
    else if (status == TL_EXIT_NO)
        tl_say_error(NULL, "record: process %ld: %s", (long)r->pid, answer);
    tl_control_close(&page);
}

/* After the time of --for, its recorder stops. */
static void wait_for_time(const tl_record *r)
{
    enum { STEP_NS = 20000000 };
    const uint64_t wanted = r->cli->args->duration, from = tl_record_now();
    for (uint64_t waited = 0; waited < wanted; waited = tl_record_now() - from) {
        if (has_ended(r))
            return;
        const uint64_t rest = wanted - waited;
        nanosleep(&(struct timespec){0, (long)(rest < STEP_NS ? rest : STEP_NS)}, NULL);
    }
    stop_recorder(r);
}

static int wait_for(tl_record *r)
{
    if (r->cli->args->duration)
        wait_for_time(r);
    while (waitpid(r->pid, &r->status, 0) < 0)
        if (errno != EINTR)
            return errno;
    running = 0;
    return 0;
}

int tl_record_run(tl_record *r)
{
    const tl_words *words = &r->cli->args->file;
    char **own = calloc(words->n + 1, sizeof *own), **argv = r->command ? r->command : own;
    environment env;
    int ends[2], why = 0;
    handlers h;
    if (!make_environment(&env, r) || !own || pipe2(ends, O_CLOEXEC) != 0) {
        free(own);
        free_environment(&env);
        tl_say_error(NULL, "record: %s", strerror(errno));
        return TL_EXIT_RECORD;
    }
    if (env.settings)
        tl_say_more(r->cli, NULL, "TRACELOOM=%s", env.settings);
    if (env.preload)
        tl_say_more(r->cli, NULL, "LD_PRELOAD=%s", env.preload);
    for (size_t i = 0; i < words->n; i++)
        own[i] = (char *)(uintptr_t)words->word[i];
    clock_gettime(CLOCK_REALTIME, &r->begin);
    take_signals(&h);
    r->pid = fork();
    if (r->pid == 0)
        become(r, argv, &env, &h, ends[1]);
    running = r->pid > 0 ? (sig_atomic_t)r->pid : 0;
    if (r->pid < 0)
        why = errno;
    close(ends[1]);
    sigprocmask(SIG_SETMASK, &h.mask, NULL);
    const bool failed = why || read(ends[0], &why, sizeof why) == (ssize_t)sizeof why;
    close(ends[0]);
    if (!failed && r->cli->args->start && strcmp(r->cli->args->start, "off") == 0)
        tl_say(r->cli, NULL, "process %ld is not recorded yet: traceloom ctl %ld start", (long)r->pid, (long)r->pid);
    if (r->pid > 0) {
        const int lost = wait_for(r);
        why = failed ? why : lost;
    }
    give_signals_back(&h);
    signal(SIGXFSZ, SIG_IGN); /* a result that is too large is then an error */
    free(own);
    free_environment(&env);
    if (!why)
        return TL_EXIT_DONE;
    tl_say_error(words->word[0], "cannot be run: %s", strerror(why));
    return why == ENOENT ? TL_EXIT_NOT_FOUND : r->pid < 0 || why == ENOMEM ? TL_EXIT_RECORD : TL_EXIT_CANNOT_RUN;
}
