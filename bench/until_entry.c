/* Starts a program, stops it at its own first instruction, and ends it there: what its start costs until then.
 *
 *     until_entry [NAME=VALUE ...] COMMAND [ARGUMENT...]
 *
 * Prints ns from the end of exec, ns of processor time of its first thread, and KiB of memory: resident, and changed by
 * it alone. By then the loader has run the constructors of all libraries, so a preloaded recorder has patched the
 * program. Variables are set for the command only. */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what)
{
    fprintf(stderr, "until_entry: %s: %s\n", what, errno ? strerror(errno) : "unexpected");
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static FILE *file_of(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail(path);
    return file;
}

static unsigned long entry_of(pid_t pid)
{
    uint64_t pair[2] = {0, 0};
    FILE *file = file_of(pid, "auxv");
    while (fread(pair, sizeof(pair), 1, file) == 1 && pair[0] != AT_ENTRY)
        ;
    fclose(file);
    if (pair[0] != AT_ENTRY)
        fail("AT_ENTRY");
    return pair[1];
}

static double processor_ns(pid_t pid)
{
    double ns = 0;
    FILE *file = file_of(pid, "schedstat");
    if (fscanf(file, "%lf", &ns) != 1)
        ns = 0;
    fclose(file);
    return ns;
}

static void print_memory(pid_t pid)
{
    char line[256];
    unsigned long resident = 0, own = 0, n;
    FILE *file = file_of(pid, "smaps_rollup");
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "Rss: %lu", &n) == 1)
            resident = n;
        else if (sscanf(line, "Private_Dirty: %lu", &n) == 1)
            own = n;
    }
    fclose(file);
    printf("%lu %lu\n", resident, own);
}

static void child(char **argument)
{
    for (; *argument && strchr(*argument, '='); argument++)
        putenv(*argument);
    if (!*argument || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
        fail("nothing to run");
    execvp(*argument, argument);
    fail(*argument);
}

static int wait_for(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
        errno = 0;
        fail("it ended before its first instruction");
    }
    return WSTOPSIG(status);
}

int main(int argc, char **argv)
{
    (void)argc;
    pid_t pid = fork();
    if (pid == 0)
        child(argv + 1);
    if (pid < 0)
        fail("fork");
    wait_for(pid);
    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
    unsigned long entry = entry_of(pid), at = entry & ~7UL, shift = (entry & 7) * 8;
    errno = 0;
    unsigned long word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);
    word = (word & ~(0xffUL << shift)) | 0xccUL << shift; /* int3 */
    if (errno || ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)word))
        fail("its first instruction");
    double work = processor_ns(pid), begin = now();
    for (int sig = 0;;) {
        struct user_regs_struct r;
        ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
        sig = wait_for(pid);
        if (sig == SIGTRAP && !ptrace(PTRACE_GETREGS, pid, NULL, &r) && r.rip == entry + 1)
            break;
    }
    double took = now() - begin;
    printf("%.0f %.0f ", took, processor_ns(pid) - work);
    print_memory(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return 0;
}
