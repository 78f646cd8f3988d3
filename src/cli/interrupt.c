/* Orderly ending on Ctrl-C. */
#include "cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

static void remember(int number)
{
    (void)number;
    interrupted = 1;
}

void tl_interrupt_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before, act = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND}; /* no SA_RESTART */
        sigemptyset(&act.sa_mask);
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &act, NULL);
    }
}

bool tl_interrupted(void)
{
    return interrupted != 0;
}

/* --- cleaning --- */

static sigset_t ending;

static void *wait_for_end(void *clean_)
{
    void (*const *clean)(void) = clean_;
    sigset_t only;
    int number;
    while (sigwait(&ending, &number) != 0)
        ;
    (*clean)();
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
    return NULL;
}

void tl_interrupt_clean(void (*clean)(void))
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    static void (*kept)(void);
    pthread_t waiting;
    kept = clean;
    sigemptyset(&ending);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaddset(&ending, numbers[i]);
    }
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    if (pthread_create(&waiting, NULL, wait_for_end, &kept) == 0)
        pthread_detach(waiting);
    else
        pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
}
