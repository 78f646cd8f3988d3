/* Samples: a timer of each thread sends it a signal whenever it used a period of processor time, and the handler walks
 * its stack. */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "clr/clr_door.h"
#include "clr/clr_stack.h"

static int number; /* of the signal; 0: none */
static __thread timer_t timer;
static __thread bool has_timer;

static void walk(managed_walk *w, uintptr_t ip, clr_place place)
{
    managed_walk_frame(w, NULL, ip);
    while ((ip = clr_stack_next(&place)) != 0 && managed_walk_frame(w, NULL, ip))
        ;
}

static void handle(int signal_number, siginfo_t *unused, void *context)
{
    const ucontext_t *c = context;
    managed_thread *t = managed_self;
    managed_walk w;
    (void)signal_number;
    (void)unused;
    if (!t || !managed_recording())
        return;
    const uint32_t n = managed_cpu_samples(t);
    if (n == 0)
        return;
    const uint64_t now = managed_now();
    managed_walk_begin(&w, t, &t->samples);
#if defined(__x86_64__)
    const clr_place place = {(uintptr_t)c->uc_mcontext.gregs[REG_RSP], (uintptr_t)c->uc_mcontext.gregs[REG_RBP]};
    walk(&w, (uintptr_t)c->uc_mcontext.gregs[REG_RIP], place);
#else
    const clr_place place = {(uintptr_t)c->uc_mcontext.sp, (uintptr_t)c->uc_mcontext.regs[29]};
    walk(&w, (uintptr_t)c->uc_mcontext.pc, place);
#endif
    managed_walk_end(&w, now, MANAGED_SAMPLE, n);
}

/* Does nobody use it? */
static bool is_free(int signal_number)
{
    struct sigaction now;
    return sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}

bool clr_samples_begin(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    if (managed_set.clock == MANAGED_NO_SAMPLES)
        return true;
    /* The last ones are what programs use least; the first one is the runtime's. */
    for (int i = SIGRTMAX; i > SIGRTMIN && !number; i--)
        if (is_free(i))
            number = i;
    sigemptyset(&action.sa_mask);
    if (number && sigaction(number, &action, NULL) == 0)
        return true;
    number = 0;
    managed_say("no samples: all signals are in use", NULL, 0);
    return false;
}

void clr_samples_thread(void)
{
    struct sigevent how = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    const struct timespec period = {managed_set.period_ms / 1000, (long)(managed_set.period_ms % 1000) * 1000000};
    const struct itimerspec every = {period, period};
    if (!number || !clr_stack_high)
        return;
    how._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    has_timer =
        timer_create(managed_set.clock == MANAGED_CPU ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &how, &timer) == 0 &&
        timer_settime(timer, 0, &every, NULL) == 0;
}

void clr_samples_thread_end(void)
{
    if (has_timer)
        timer_delete(timer);
    has_timer = false;
}
