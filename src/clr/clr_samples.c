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

/* Several frames above each other; `of_runtime`: the first is called by the runtime. */
static bool is_chain(clr_place place, bool of_runtime)
{
    enum { LINKS = 3 };
    for (int n = 0; n < LINKS; n++) {
        const uintptr_t ip = clr_stack_next(&place);
        if (!ip || (n == 0 && of_runtime && !clr_stack_is_runtime(ip)))
            return false;
    }
    return true;
}

/* Functions of libc, in which threads wait, use the register of the frame pointer for something else, and keep what it
 * was on the stack: the first that can be it. Threads wait in functions of the runtime, or of libraries. */
static clr_place kept_place(uintptr_t sp)
{
    enum { WORDS = 256 };
    for (int of_runtime = 1; of_runtime >= 0; of_runtime--)
        for (uintptr_t at = sp, i = 0; i < WORDS && clr_stack_holds(at); i++, at += sizeof at) {
            const clr_place place = {at + sizeof at, *(const uintptr_t *)at};
            if (is_chain(place, of_runtime))
                return place;
        }
    return (clr_place){sp, 0};
}

static void walk(managed_walk *w, uintptr_t ip, clr_place place)
{
    managed_walk_frame(w, NULL, ip);
    if (!is_chain(place, false))
        place = kept_place(place.sp);
    while ((ip = clr_stack_next(&place)) != 0 && managed_walk_frame(w, NULL, ip))
        ;
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;
    managed_thread *t = managed_on ? managed_thread_find() : NULL;
    managed_walk w;
#if defined(__x86_64__)
    const uintptr_t ip = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
    const clr_place place = {(uintptr_t)c->uc_mcontext.gregs[REG_RSP], (uintptr_t)c->uc_mcontext.gregs[REG_RBP]};
#else
    const uintptr_t ip = (uintptr_t)c->uc_mcontext.pc;
    const clr_place place = {(uintptr_t)c->uc_mcontext.sp, (uintptr_t)c->uc_mcontext.regs[29]};
#endif
    (void)signal_number;
    if (!t || !managed_recording())
        return;
    const uint32_t n = managed_set.clock == MANAGED_CPU ? managed_cpu_samples(t) : 1 + (uint32_t)info->si_overrun;
    if (n == 0)
        return;
    const uint64_t now = managed_now();
    managed_walk_begin(&w, t, &t->samples);
    if (!clr_stack_high)
        clr_stack_guess(place.sp);
    walk(&w, ip, place);
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
    clr_stack_know_runtime();
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

void clr_samples_thread(managed_thread *t)
{
    struct sigevent how = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    const struct timespec period = {managed_set.period_ms / 1000, (long)(managed_set.period_ms % 1000) * 1000000};
    const struct itimerspec every = {period, period};
    if (!number)
        return;
    how._sigev_un._tid = (pid_t)t->tid;
    if (timer_create(managed_set.clock == MANAGED_CPU ? managed_thread_clock(t->tid) : CLOCK_MONOTONIC, &how,
                     &t->timer) != 0)
        return;
    t->has_timer = true;
    timer_settime(t->timer, 0, &every, NULL);
}

void clr_samples_thread_end(managed_thread *t)
{
    if (atomic_exchange(&t->has_timer, false))
        timer_delete(t->timer);
}
