/* Lets one system call of the recorder fail in a program that runs: patch_inject CALL ERRNO N PROGRAM [ARGUMENT...]
 *
 * The N-th one (from 1) of a number that is made by code of libtraceloom-rt.so is not carried out, and returns -ERRNO.
 * Ends as the program does; 99 if there were fewer. Its own faults: 98. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEWER = 99, OWN_FAULT = 98 };

static void fault(const char *what)
{
    perror(what);
    exit(OWN_FAULT);
}

/* Does code at the address belong to the recorder? */
static bool is_recorder(pid_t pid, unsigned long long address)
{
    char name[64], line[8192];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(name, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        unsigned long long from = 0, to = 0;
        found = sscanf(line, "%llx-%llx", &from, &to) == 2 && address >= from && address < to &&
                strstr(line, "libtraceloom-rt");
    }
    if (file)
        fclose(file);
    return found;
}

static bool fails(pid_t pid, struct user_regs_struct *r, unsigned long call, long *left)
{
    if (ptrace(PTRACE_GETREGS, pid, NULL, r) != 0 || r->orig_rax != call || !is_recorder(pid, r->rip))
        return false;
    return --*left == 0;
}

static int run(pid_t pid, unsigned long call, long error, long left)
{
    bool inside = false, failing = false;
    struct user_regs_struct r;
    for (int status, number = 0;; number = 0) {
        if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)number) != 0 || waitpid(pid, &status, 0) != pid)
            fault("ptrace");
        while (WIFSTOPPED(status) && WSTOPSIG(status) != (SIGTRAP | 0x80) && status >> 8 != SIGTRAP) {
            if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)WSTOPSIG(status)) != 0 ||
                waitpid(pid, &status, 0) != pid)
                fault("ptrace");
        }
        if (WIFEXITED(status) || WIFSIGNALED(status))
            return left > 0 ? FEWER : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (status >> 8 == SIGTRAP)
            continue;
        inside = !inside;
        if (inside && left > 0 && fails(pid, &r, call, &left)) {
            r.orig_rax = (unsigned long long)-1;
            failing = ptrace(PTRACE_SETREGS, pid, NULL, &r) == 0;
        } else if (!inside && failing && ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0) {
            r.rax = (unsigned long long)-error;
            failing = false;
            ptrace(PTRACE_SETREGS, pid, NULL, &r);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return OWN_FAULT;
    pid_t pid = fork();
    if (pid == 0) {
        const char *preload = getenv("INJECT_PRELOAD"); /* for the program, not for us */
        if (preload)
            setenv("LD_PRELOAD", preload, 1);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0)
            _exit(OWN_FAULT);
        execvp(argv[4], argv + 4);
        _exit(OWN_FAULT);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        fault("fork");
    if (ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) != 0)
        fault("ptrace");
    return run(pid, strtoul(argv[1], NULL, 0), strtol(argv[2], NULL, 0), strtol(argv[3], NULL, 0));
}
