/* Shared by the programs about the life of a process. Before each process ends, it prints its calls (count.h):
 *
 *   process PID done|live    how its recording ends: under its final name, or the live one
 *   call NAME N
 *   open NAME N              up to N of these may be missing, because they never returned
 *   more NAME N              up to N more may be there: calls made meanwhile */
#ifndef LIFE_H
#define LIFE_H

#include "count.h"

#include <string.h>
#include <unistd.h>

#define LIFE_LINE(name) told += (size_t)snprintf(text + told, sizeof text - told, "call " #name " %lu\n", CALLS(name));
#define LIFE_ZERO(name) __atomic_store_n(&calls_of_##name, 0, __ATOMIC_RELAXED);

/* In one write, and without anything that a signal handler may have interrupted. */
UNTRACED __attribute__((unused)) static void tell(const char *end, const char *more)
{
    char text[4096];
    size_t told = (size_t)snprintf(text, sizeof text, "process %d %s\n", (int)getpid(), end);
    FUNCTIONS(LIFE_LINE)
    told += (size_t)snprintf(text + told, sizeof text - told, "%s", more);
    if (write(1, text, told) != (ssize_t)told)
        _exit(3);
}

/* In a child: earlier calls are the parent's. */
UNTRACED __attribute__((unused)) static void forget_calls(void)
{
    FUNCTIONS(LIFE_ZERO)
}

#endif
