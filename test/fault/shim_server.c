/* One process for many runs, which saves loading the program each time: TL_FAULT_SERVER="IN OUT" names two descriptors.
 * For each line "FAULT" from IN it forks a child that goes on to main() with that fault: its output goes to the files
 * TL_FAULT_STDOUT and TL_FAULT_STDERR, its input is a pipe with TL_FAULT_STDIN if that is set. The answer is its wait
 * status; SIGALRM ends a child that does not end. The line "end" ends the server. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim.h"

enum { PATIENCE = 60, PIPE_SIZE = 1 << 20 };

/* The shim would count its own read and write. */
static int get_line(int fd, char *line, size_t size)
{
    size_t n = 0;
    while (n + 1 < size && syscall(SYS_read, fd, line + n, 1L) == 1) {
        if (line[n] == '\n') {
            line[n] = 0;
            return 1;
        }
        n++;
    }
    return 0;
}

static void redirect(const char *variable, int fd)
{
    const int file =
        (int)syscall(SYS_openat, AT_FDCWD, getenv(variable), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, fd) < 0)
        _exit(99);
    syscall(SYS_close, file);
}

/* A pipe with the whole file, then its end. */
static void feed(const char *path)
{
    static char bytes[PIPE_SIZE];
    int ends[2];
    const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    const long n = syscall(SYS_read, file, bytes, sizeof(bytes));
    if (n < 0 || pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE) < 0)
        _exit(99);
    (void)!syscall(SYS_write, ends[1], bytes, (size_t)n);
    syscall(SYS_close, file);
    syscall(SYS_close, ends[1]);
    dup2(ends[0], STDIN_FILENO);
    syscall(SYS_close, ends[0]);
}

static void become_run(int in, int out, const char *fault)
{
    syscall(SYS_close, in);
    syscall(SYS_close, out);
    redirect("TL_FAULT_STDOUT", STDOUT_FILENO);
    redirect("TL_FAULT_STDERR", STDERR_FILENO);
    if (getenv("TL_FAULT_STDIN") != NULL)
        feed(getenv("TL_FAULT_STDIN"));
    unsetenv("LD_PRELOAD"); /* leaves programs that the command runs alone */
    signal(SIGPIPE, SIG_IGN);
    alarm(PATIENCE);
    tl_fault_begin(fault);
}

static void serve(int in, int out)
{
    char fault[64], answer[16];
    while (get_line(in, fault, sizeof(fault)) && strcmp(fault, "end") != 0) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0) {
            become_run(in, out, fault);
            return;
        }
        if (child > 0)
            waitpid(child, &status, 0);
        const int n = snprintf(answer, sizeof(answer), "%d\n", status);
        (void)!syscall(SYS_write, out, answer, (size_t)n);
    }
    _exit(0);
}

__attribute__((constructor)) static void begin(void)
{
    const char *server = getenv("TL_FAULT_SERVER"), *fault = getenv("TL_FAULT");
    int in, out;
    if (server != NULL && sscanf(server, "%d %d", &in, &out) == 2)
        serve(in, out);
    else if (fault != NULL)
        tl_fault_begin(fault);
}
