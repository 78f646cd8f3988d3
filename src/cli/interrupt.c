/* Ctrl-C as a way to end in good order. */
#include "cli/interrupt.h"

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
