/* Runs a pager and waits for it. */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    volatile pid_t pid; /* 0: none runs */
    int out, err;       /* the terminal; err < 0: messages do not go through the pager */
    int nowhere;        /* takes output after a signal */
    volatile sig_atomic_t ended_by;
} pager;

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* The user's pager; "": none; NULL: less. */
static const char *chosen(void)
{
    const char *ours = getenv("TRACELOOM_PAGER");
    const char *command = ours ? ours : getenv("PAGER");
    return command && strcmp(command, "cat") == 0 ? "" : command;
}

static void wait_for_it(void)
{
    while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Other threads may continue to write: to nowhere. */
static void end_after_it(int number)
{
    pager.ended_by = number;
    dup2(pager.nowhere, STDOUT_FILENO); /* the pager sees the end */
    if (pager.err >= 0)
        dup2(pager.nowhere, STDERR_FILENO);
    wait_for_it();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct sigaction before, act = {.sa_handler = end_after_it};
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &act, NULL);
}

/* Runs it with the end of a pipe as its input; false if that fails. */
static bool spawn(const char *command, int in)
{
    const char *const less[] = {"less", "-FRX", NULL}, *const shell[] = {"sh", "-c", command, NULL};
    const char *const *words = command ? shell : less;
    posix_spawn_file_actions_t actions;
    pid_t pid;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    const bool ok = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO) == 0 &&
                    posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)(uintptr_t)words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (ok)
        pager.pid = pid;
    return ok;
}

void tl_pager_start(const tl_cli *c)
{
    const char *command = chosen(), *term = getenv("TERM");
    int end[2];
    if (pager.pid || !c->out.tty || c->args->no_pager || is_set("NO_PAGER") || !term || !*term ||
        strcmp(term, "dumb") == 0 || (command && !*command))
        return;
    if (pipe2(end, O_CLOEXEC) < 0)
        return;
    setenv("LESS", "FRX", false); /* for those whose pager is less without options */
    pager.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    pager.nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pager.err = isatty(STDERR_FILENO) ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (pager.out >= 0 && pager.nowhere >= 0 && spawn(command, end[0])) {
        catch_signals();
        dup2(end[1], STDOUT_FILENO);
        if (pager.err >= 0)
            dup2(end[1], STDERR_FILENO);
    }
    close(end[0]);
    close(end[1]);
}

void tl_pager_stop(void)
{
    if (!pager.pid)
        return;
    dup2(pager.out, STDOUT_FILENO);
    if (pager.err >= 0)
        dup2(pager.err, STDERR_FILENO);
    wait_for_it();
    if (pager.ended_by) { /* the thread that took the signal still waits for its turn */
        signal(pager.ended_by, SIG_DFL);
        raise(pager.ended_by);
    }
}
