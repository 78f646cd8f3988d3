/* Samples: a timer of each thread sends it a signal whenever it used a period of processor time, and the handler
 * follows the frame pointers, which compiled code and the runtime keep. Which methods these are is asked later, by the
 * writer. */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "clr/clr_door.h"

static int number; /* of the signal; 0: none */
static __thread timer_t timer;
static __thread bool has_timer;
static __thread uintptr_t stack_begin __attribute__((tls_model("initial-exec")));
static __thread uintptr_t stack_end __attribute__((tls_model("initial-exec")));

static void walk(managed_walk *w, uintptr_t ip, uintptr_t fp, uintptr_t sp)
{
    managed_walk_frame(w, NULL, ip);
    /* Frames rise, lie in the part of the stack that is in use, and are aligned. A handler's own stack is another one:
     * between both there may be no memory. */
    while (sp >= stack_begin && fp >= sp && fp % sizeof(uintptr_t) == 0 && stack_end - fp >= 2 * sizeof(uintptr_t) &&
           fp < stack_end) {
        const uintptr_t *frame = (const uintptr_t *)fp;
        /* The address behind the call may be in the next method. */
        if (!frame[1] || !managed_walk_frame(w, NULL, frame[1] - 1))
            return;
        sp = fp + 2 * sizeof(uintptr_t);
        fp = frame[0];
    }
}

static void handle(int signal_number, siginfo_t *unused, void *context)
{
    const ucontext_t *c = context;
    managed_thread *t = managed_self;
    managed_walk w;
    (void)signal_number;
    (void)unused;
    if (!t || !managed_on || !stack_end)
        return;
    const uint32_t n = managed_cpu_samples(t);
    if (n == 0)
        return;
    const uint64_t now = managed_now();
    managed_walk_begin(&w, t, &t->samples);
#if defined(__x86_64__)
    walk(&w, (uintptr_t)c->uc_mcontext.gregs[REG_RIP], (uintptr_t)c->uc_mcontext.gregs[REG_RBP],
         (uintptr_t)c->uc_mcontext.gregs[REG_RSP]);
#else
    walk(&w, (uintptr_t)c->uc_mcontext.pc, (uintptr_t)c->uc_mcontext.regs[29], (uintptr_t)c->uc_mcontext.sp);
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
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (!number || pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0)
        stack_begin = (uintptr_t)low, stack_end = stack_begin + size;
    pthread_attr_destroy(&attributes);
    how._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    has_timer =
        stack_end &&
        timer_create(managed_set.clock == MANAGED_CPU ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &how, &timer) == 0 &&
        timer_settime(timer, 0, &every, NULL) == 0;
}

void clr_samples_thread_end(void)
{
    if (has_timer)
        timer_delete(timer);
    has_timer = false;
}
