/* Runs a command and prints "<how it ended> <seconds> <peak memory in KiB> <seconds of processor>" to standard error,
 * the command's own output to /dev/null.
 *
 *     measure [-s SECONDS] [-m MEGABYTES] COMMAND [ARGUMENT...]
 *
 * How it ended: its exit status, 128 + the signal, or "time" or "memory" if it was stopped at that limit.
 *
 * The kernel includes a process's memory before exec() in its peak. A script's interpreter is larger than what we
 * measure, so the parent has to be small. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 100 }; /* interval of checks; the end of the command wakes us at once */

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double resident_megabytes(pid_t pid)
{
    char path[64];
    long pages = 0;
    snprintf(path, sizeof(path), "/proc/%ld/statm", (long)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static pid_t start(char **command, const sigset_t *blocked)
{
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* interrupting the benchmark ends this, too */
        sigprocmask(SIG_UNBLOCK, blocked, NULL);
        execvp(command[0], command);
        _exit(127);
    }
    return child;
}

int main(int argc, char **argv)
{
    const struct timespec look = {.tv_nsec = LOOK_MS * 1000000};
    const char *stopped = NULL;
    double most_seconds = 0, most_megabytes = 0;
    struct timespec begin;
    struct rusage usage;
    sigset_t ended;
    pid_t done;
    int status;
    for (int option; (option = getopt(argc, argv, "+s:m:")) != -1;) {
        if (option == '?')
            return 2;
        *(option == 's' ? &most_seconds : &most_megabytes) = atof(optarg);
    }
    if (optind == argc)
        return 2;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const pid_t child = start(argv + optind, &ended);
    while ((done = wait4(child, &status, WNOHANG, &usage)) == 0) {
        if (sigtimedwait(&ended, NULL, &look) == SIGCHLD || stopped != NULL)
            continue;
        if (most_seconds > 0 && seconds_since(&begin) > most_seconds)
            stopped = "time";
        else if (most_megabytes > 0 && resident_megabytes(child) > most_megabytes)
            stopped = "memory";
        if (stopped != NULL)
            kill(-child, SIGKILL);
    }
    const double seconds = seconds_since(&begin);
    char code[16];
    if (child < 0 || done != child)
        return 1;
    snprintf(code, sizeof(code), "%d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fprintf(stderr, "%s %.6f %ld %.6f\n", stopped != NULL ? stopped : code, seconds, usage.ru_maxrss,
            seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
    return 0;
}
