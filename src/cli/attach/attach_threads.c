/* Stops threads of another process, and lets them go. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/message.h"

#ifdef __linux__
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { STEP_US = 100, PATIENCE_US = 2000000 };

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

void tl_attach_say_refused(const char *name, int why)
{
    char value[16] = "";
    FILE *f = why == EPERM ? fopen(YAMA, "re") : NULL;
    if (f && !fgets(value, sizeof value, f))
        *value = 0;
    if (f)
        fclose(f);
    value[strcspn(value, "\n")] = 0;
    if (*value && *value != '0' && geteuid() != 0)
        tl_say_error(name, "cannot be attached to: %s; " YAMA " is %s: as root, or set it to 0", strerror(why), value);
    else if (why == EPERM && geteuid() != 0)
        tl_say_error(name, "cannot be attached to: %s; only its user and root may, if it does not protect itself",
                     strerror(why));
    else
        tl_say_error(name, "cannot be attached to: %s", strerror(why));
}

bool tl_attach_interrupt(pid_t thread)
{
    if (ptrace(PTRACE_SEIZE, thread, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0) {
        const int why = errno;
        if (why == EPERM && ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0)
            return true; /* it is ours already, and did not stop in time before */
        errno = why;
        return false;
    }
    return ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0;
}

bool tl_attach_stopped(pid_t thread, int *number)
{
    int status;
    *number = 0;
    for (long waited = 0; waited < PATIENCE_US; waited += STEP_US) {
        const pid_t got = waitpid(thread, &status, __WALL | WNOHANG);
        if (got == thread && !WIFSTOPPED(status)) {
            errno = ESRCH;
            return false;
        }
        if (got == thread) {
            if (status >> 16 == 0) /* a signal arrives; otherwise it stops as we asked, or with its whole process */
                *number = WSTOPSIG(status);
            return true;
        }
        if (got < 0 && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){0, STEP_US * 1000L}, NULL);
    }
    errno = ETIMEDOUT; /* a system call that cannot be interrupted, such as vfork(): tl_attach_let_go_late() */
    return false;
}

void tl_attach_let_go(pid_t thread, int number)
{
    ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)number);
}

void tl_attach_let_go_late(void)
{
    int status;
    pid_t thread;
    while ((thread = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
        if (WIFSTOPPED(status))
            tl_attach_let_go(thread, status >> 16 ? 0 : WSTOPSIG(status));
}

#else
void tl_attach_let_go_late(void)
{
}

void tl_attach_say_refused(const char *name, int why)
{
    tl_say_error(name, "cannot be attached to: %s", strerror(why));
}

bool tl_attach_interrupt(pid_t thread)
{
    (void)thread;
    errno = ENOSYS;
    return false;
}

bool tl_attach_stopped(pid_t thread, int *number)
{
    (void)thread;
    *number = 0;
    errno = ENOSYS;
    return false;
}

void tl_attach_let_go(pid_t thread, int number)
{
    (void)thread;
    (void)number;
}
#endif
