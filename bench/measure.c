/* Runs a command and prints "<exit status> <seconds> <peak memory in KiB> <seconds of processor>" to standard error,
 * its own output to /dev/null.
 *
 * The kernel counts what a process had before exec() into its peak; a script's interpreter is larger than what we
 * measure, so that the parent has to be as small as this. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec begin, end;
    struct rusage usage;
    int status;
    if (argc < 2)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    fprintf(stderr, "%d %.6f %ld %.6f\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9, usage.ru_maxrss,
            (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    return 0;
}
